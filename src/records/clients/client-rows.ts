import { randomString } from '../../crypto/random.ts'
import { Client, type ClientContext, type ClientOwner } from '../../model/client.ts'
import { countLimit } from '../../model/count-limit.ts'
import {
  type ClientFields,
  clientClaims,
  clientStateClaims,
  type SealedClient,
} from '../../model/entities/client.ts'
import { InvalidField } from '../../model/invalid-field.ts'
import { earliestRowOf, type UserId } from '../../model/user.ts'
import type { ClientWithOwner } from '../../store/contract/clients.ts'
import type { Page } from '../../store/contract/page.ts'
import type { Store } from '../../store/store.ts'
import { type RecordsContext, userOfRow } from '../context.ts'
import { mustHaveKeyOf } from '../keys/noted-keys.ts'
import type { ListedClient } from './client-input.ts'

/** Reads clients from sealed rows, and seals clients for writing. */
export class ClientRows {
  readonly context: RecordsContext
  readonly clientContext: ClientContext
  /**
   * The verified clients by their rows. A store with a cache returns the same row object while the row is unchanged.
   */
  readonly #known = new WeakMap<ClientWithOwner, Client>()

  constructor(context: RecordsContext) {
    this.context = context
    const { store, clientContext } = context
    this.clientContext = {
      ...clientContext,
      countTokens: (clientId, most) => store.clients.countTokens(clientId, most),
    }
  }

  /** @throws InvalidField if the client does not exist or belongs to a personal token */
  async existing(clientId: string, store: Store = this.context.store): Promise<Client> {
    const client = await this.find(clientId, store)
    if (!client || client.isPersonal)
      throw new InvalidField('client_id', 'There is no such client.')
    return client
  }

  /** @throws InvalidField if the user does not exist */
  async ownerOf(userId: UserId | null, store: Store): Promise<ClientOwner | null> {
    if (userId === null) return null
    const owner = await this.context.users.find(userId, { ...this.context, store })
    if (!owner) throw new InvalidField('user_id', 'There is no such user.')
    return owner
  }

  /** Returns undefined for a missing row, and for a row that was tampered with. */
  async find(clientId: string, store: Store = this.context.store): Promise<Client | undefined> {
    const found = await store.clients.find(clientId)
    return found && this.open(found)
  }

  /** Whether `recall` may ever return a client. */
  get canRecall(): boolean {
    const { store, users } = this.context
    // The version does not change when the application deactivates an owner whom the store cannot read.
    return users.areInStore && store.recallClient !== undefined
  }

  /**
   * Returns the client and the version that this process last read and verified; undefined if no client is cached.
   * Returns no client of a personal token, and no client with a metadata document.
   */
  recall(clientId: string): { readonly client: Client; readonly version: string } | undefined {
    const recalled = this.canRecall ? this.context.store.recallClient?.(clientId) : undefined
    const client = recalled && this.#known.get(recalled.row)
    const isOwn = client && !client.isPersonal && client.origin !== 'metadata_document'
    return isOwn ? { client, version: recalled.version } : undefined
  }

  /** Returns the client of a row; undefined if the row was tampered with. */
  async open(row: ClientWithOwner): Promise<Client | undefined> {
    const owner = await userOfRow(row.fields, row.owner, this.context)
    const client = this.#intactClient(row, owner)
    if (client) return client
    await mustHaveKeyOf(row.seal, this.context)
    return this.#tampered(row)
  }

  #intactClient(row: ClientWithOwner, owner: ClientOwner | null): Client | undefined {
    const { fields, seal } = row
    const known = this.#known.get(row)
    if (known?.owner === owner) return known
    if (!known && !this.context.keys.isIntact(seal, clientClaims(fields))) return undefined
    const client = new Client(fields, owner, this.clientContext)
    this.#known.set(row, client)
    return client
  }

  #tampered({ fields: { clientId } }: ClientWithOwner): undefined {
    this.context.log({
      level: 'error',
      event: 'client.tampered',
      message:
        'A client row was tampered with, or sealed with another secret key; the server refuses the row.',
      clientId,
    })
  }

  /** Seals the fields for writing. */
  sealed(fields: ClientFields): SealedClient {
    const { keys } = this.context
    return {
      fields,
      seal: keys.sealRow(clientClaims(fields)),
      stateSeal: keys.sealRow(clientStateClaims(fields)),
    }
  }

  /**
   * Adds to each client the number of its tokens, without personal, internal and exchanged tokens, up to `countLimit`.
   */
  async listed(found: Promise<Page<ClientWithOwner>>): Promise<Page<ListedClient>> {
    const { items, next } = await found
    const clients = await this.intact(items)
    const users = await this.context.store.clients.countTokensOf(
      clients.map(({ clientId }) => clientId),
      countLimit,
    )
    return {
      items: clients.map((client) => ({ client, users: users.get(client.clientId) ?? 0 })),
      next,
    }
  }

  /** Returns the clients whose rows are intact. */
  async intact(rows: readonly ClientWithOwner[]): Promise<readonly Client[]> {
    // Look up each user of the application once, even if the user owns several clients.
    const owners = new Map<UserId, Promise<ClientOwner | null>>()
    const ownerOfRow = async ({ fields, owner }: ClientWithOwner) => {
      const { userId, createdAt } = fields
      if (userId === null) return null
      const asked =
        owners.get(userId) ??
        Promise.resolve(this.context.users.current(userId, owner, this.context))
      owners.set(userId, asked)
      const current = await asked
      return createdAt >= earliestRowOf(current) ? current : null
    }
    const clients = await Promise.all(
      rows.map(
        async (row) => this.#intactClient(row, await ownerOfRow(row)) ?? this.#tampered(row),
      ),
    )
    return clients.filter((client) => client !== undefined)
  }

  newId(): string {
    return randomString(this.context.settings.clientIdSaltLen, this.context.random)
  }

  newSecret(): string {
    return randomString(this.context.settings.clientSecretSaltLen, this.context.random)
  }
}
