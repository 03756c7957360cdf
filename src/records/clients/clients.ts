import { digestOf } from '../../crypto/digest.ts'
import { bits256, randomNumber, randomString } from '../../crypto/random.ts'
import { Client, type ClientFields, type ClientOwner } from '../../model/client.ts'
import { InvalidField } from '../../model/invalid-field.ts'
import type { UserId } from '../../model/user.ts'
import { ReferenceNotFound, UniqueViolation } from '../../store/contract/errors.ts'
import type { Cursor, Page } from '../../store/contract/page.ts'
import { changedFields, ofClient } from '../audit/audit-trail.ts'
import { type RecordsContext, retryOnCollision } from '../context.ts'
import { checkedFields, definedOf } from './checked-fields.ts'
import {
  blank,
  type CheckedFields,
  type ClientInput,
  type ClientWithSecret,
  type ListedClient,
  type Registration,
} from './client-input.ts'
import { ClientRows } from './client-rows.ts'
import { hasSameIdentity, keptOf } from './identity.ts'
import {
  endLeakedSecret,
  resetClientId,
  resetClientSecret,
  resetCredentials,
} from './reset-credentials.ts'
import { withSecret } from './secret-fields.ts'

/** Registers client applications, finds them and changes them. */
export class Clients {
  readonly #context: RecordsContext
  readonly #rows: ClientRows

  constructor(context: RecordsContext) {
    this.#context = context
    this.#rows = new ClientRows(context)
  }

  /** The client, or undefined where there is none or its row was tampered with. */
  async find(clientId: string): Promise<Client | undefined> {
    return this.#rows.find(clientId)
  }

  /**
   * Registers a client with a generated id and secret.
   * @param registration where it registers itself
   * @param most applications that its owner may have; without it, any number
   * @throws InvalidField, ScopeDoesNotExists: nothing was written
   */
  async create(
    input: ClientInput,
    registration?: Registration,
    { most = Number.POSITIVE_INFINITY }: { readonly most?: number } = {},
  ): Promise<ClientWithSecret> {
    const fields = { ...checkedFields(blank, input, this.#context), ...registration }
    const { userId } = fields
    if (userId === null || most === Number.POSITIVE_INFINITY) return this.#insert(fields)
    const { store, turns } = this.#context
    return turns.transaction(store, `user ${userId}`, async (tx) => {
      // Holds the user, so that of several at once no more are written than there is room for.
      await this.#rows.ownerOf(userId, tx)
      if ((await tx.clients.countOfOwner(userId, most)) >= most) throw tooMany(most)
      return new Clients({ ...this.#context, store: tx }).#insert(fields)
    })
  }

  /**
   * Writes a client that was found elsewhere, so that something can hang from it; marks that an administrator gave
   * it here stay. Others are there already.
   * @throws ReferenceNotFound where its row was tampered with
   */
  async keep(client: Client): Promise<void> {
    if (client.origin !== 'metadata_document') return
    const { store, clock } = this.#context
    if (await this.#inserted(client, client.owner)) return
    const [former, after] = await store.transaction(async (tx) => {
      const before = await this.#rows.find(client.clientId, tx)
      if (before?.origin !== client.origin)
        throw new ReferenceNotFound('The row of the client cannot be used.')
      const kept = {
        ...client,
        ...keptOf(before, client),
        clientKey: this.#keyAfter(before, client),
      }
      await tx.clients.update(client.clientId, this.#rows.sealed(kept), clock())
      return [before, kept]
    })
    await this.#rekeyed(former, after)
  }

  /**
   * A client as the document at its address describes it.
   * @param stored as it was kept before: what is not the document's to say is taken from there
   * @throws InvalidField, ScopeDoesNotExists
   */
  described(
    clientId: string,
    input: ClientInput,
    registration: Registration,
    stored?: Client,
  ): Client {
    const { random, clock } = this.#context
    const fields = {
      ...checkedFields(blank, input, this.#context),
      ...registration,
      clientKey: randomNumber(random),
      clientId,
      clientSecret: digestOf('client_secret', randomString(bits256, random)),
      createdAt: clock(),
    }
    const kept = stored ? keptOf(stored, fields) : {}
    return new Client({ ...fields, ...kept }, null, this.#rows.clientContext)
  }

  /** The client behind a personal token. Not for hosts: `tokens.createPersonal` makes both. */
  async insertPersonal(name: string, userId: UserId, scopes: readonly string[]): Promise<Client> {
    const { client } = await this.#insert({
      ...blank,
      name,
      userId,
      isConfidential: false,
      isInternal: true,
      isPersonal: true,
      defaultScopes: scopes,
    })
    return client
  }

  /** Writes checked fields of the client behind a personal token. */
  async rewritePersonal(
    clientId: string,
    {
      name,
      defaultScopes,
    }: { name?: string | undefined; defaultScopes?: readonly string[] | undefined },
  ): Promise<void> {
    const { store, clock } = this.#context
    const before = await this.#rows.find(clientId, store)
    if (!before) throw new ReferenceNotFound('The client behind a personal token is gone.')
    const changed = definedOf({ name, defaultScopes })
    const after = { ...before, ...changed } as ClientFields
    await store.clients.update(clientId, this.#rows.sealed(after), clock())
  }

  /** The applications that a user registered, each with the number of its users, counted up to `countLimit`. */
  ofOwner(userId: UserId, cursor: Cursor): Promise<Page<ListedClient>> {
    return this.#rows.listed(this.#context.store.clients.ofOwner(userId, cursor))
  }

  /** Applications whose name, id or owner's e-mail address contains the text; all of them without one. */
  search(text: string, cursor: Cursor): Promise<Page<ListedClient>> {
    return this.#rows.listed(this.#context.store.clients.search(text.normalize('NFC'), cursor))
  }

  /** The applications that act for a user. */
  async authorizedBy(userId: UserId, cursor: Cursor): Promise<Page<Client>> {
    const { store, clock } = this.#context
    const { items, next } = await store.clients.authorizedBy(userId, clock(), cursor)
    return { items: await this.#rows.intact(items), next }
  }

  /** Whether an administrator has checked who makes the client, and whether it is switched off. */
  async mark(
    clientId: string,
    marks: Partial<Pick<ClientFields, 'isVerified' | 'isDisabled'>>,
  ): Promise<Client> {
    const { store, audit, clock } = this.#context
    return store.transaction(async (tx) => {
      const before = await this.#rows.existing(clientId, tx)
      await tx.clients.update(clientId, this.#rows.sealed({ ...before, ...marks }), clock())
      for (const event of marked(marks))
        await audit.add(tx, event, { ...ofClient(before, before.owner), details: {} })
      return this.#rows.existing(clientId, tx)
    })
  }

  /**
   * Changes the given fields of a client. A confidential one that becomes public loses all authorizations.
   * @throws InvalidField, ScopeDoesNotExists: nothing was written
   */
  async update(
    clientId: string,
    changes: Partial<ClientInput>,
    registration?: Partial<Registration>,
  ): Promise<Client> {
    return this.#update(clientId, changes, registration)
  }

  /** The same for a client that becomes confidential: it was never told a secret, and gets one in the same step. */
  async updateWithSecret(
    clientId: string,
    changes: Partial<ClientInput>,
    registration?: Partial<Registration>,
  ): Promise<ClientWithSecret> {
    return retryOnCollision(async () => {
      const clientSecret = this.#rows.newSecret()
      const client = await this.#update(clientId, changes, registration, clientSecret)
      return { client, clientSecret }
    })
  }

  async #update(
    clientId: string,
    changes: Partial<ClientInput>,
    registration: Partial<Registration> | undefined,
    clientSecret?: string,
  ): Promise<Client> {
    const { store, audit, clock } = this.#context
    const [former, updated] = await store.transaction(async (tx) => {
      const before = await this.#rows.existing(clientId, tx)
      const checked = { ...checkedFields(before, changes, this.#context), ...registration }
      // Looked up, and so held, only where it is another: somebody may be deleting the owner with all clients.
      const isSame = before.owner !== null && checked.userId === before.userId
      const owner = isSame ? before.owner : await this.#rows.ownerOf(checked.userId, tx)
      const changed = { ...checked, userId: owner?.id ?? null }
      const isVerified = before.isVerified && hasSameIdentity(before, changed)
      const clientKey = this.#keyAfter(before, changed)
      const kept = { ...before, ...changed, isVerified, clientKey }
      const after = clientSecret === undefined ? kept : withSecret(kept, clientSecret)
      if (!(await tx.clients.update(clientId, this.#rows.sealed(after), clock())))
        throw new UniqueViolation()
      const fields = changedFields<CheckedFields>(before, { ...changed, isVerified })
      const about = { ...ofClient(after, owner), details: { fields } }
      if (fields.length > 0) await audit.add(tx, 'client.edited', about)
      if (after.clientSecret !== before.clientSecret) {
        const aboutSecret = { ...ofClient(after, owner), details: { overlap: 0 } }
        await audit.add(tx, 'client.secret_reset', aboutSecret)
      }
      return [before, await this.#rows.existing(clientId, tx)]
    })
    await this.#rekeyed(former, updated)
    return updated
  }

  // What was granted to a client that proved itself is not for one that anybody can pose as: everything refers to the
  // former key, and is dead with the update that gives another.
  #keyAfter(before: Client, { isConfidential }: Pick<ClientFields, 'isConfidential'>): number {
    const isProofLost = before.isConfidential && !isConfidential
    return isProofLost ? randomNumber(this.#context.random) : before.clientKey
  }

  async #rekeyed(before: ClientFields, { clientKey }: ClientFields): Promise<void> {
    const { clientKey: key } = before
    if (key !== clientKey) await this.#context.removed({ kind: 'client', key })
  }

  /** Gives the client another id. Its tokens go on working, its pending codes end. */
  resetClientId(clientId: string): Promise<Client> {
    return resetClientId(this.#rows, clientId)
  }

  /**
   * Gives the client another secret.
   * @param overlap seconds for which the old one stays valid, at most 30 days; without it, it stops at once
   * @throws InvalidField for an overlap that is no such number
   */
  resetClientSecret(
    clientId: string,
    { overlap = 0 }: { readonly overlap?: number } = {},
  ): Promise<ClientWithSecret> {
    return resetClientSecret(this.#rows, clientId, overlap)
  }

  /** Gives the client another id and another secret at once. */
  resetCredentials(clientId: string): Promise<ClientWithSecret> {
    return resetCredentials(this.#rows, clientId)
  }

  /**
   * Ends a secret that became known to others. With the current secret, the tokens that the client got for itself end,
   * and the client has no secret until it gets another; with a former secret, that secret alone ends.
   * @returns the client; undefined if no client has this secret now
   */
  endLeakedSecret(secret: string): Promise<Client | undefined> {
    return endLeakedSecret(this.#rows, secret)
  }

  /**
   * Deletes the client: its tokens, authorizations and consents are of no use from the next request on, and are
   * removed in the background. False where there was none.
   */
  async delete(clientId: string): Promise<boolean> {
    const { store, audit, clock, removed } = this.#context
    const before = await store.clients.find(clientId)
    if (!before) return false
    const isDeleted = await store.transaction(async (tx) => {
      if (!(await tx.clients.delete(clientId, clock()))) return false
      const { fields, owner } = before
      const event = fields.isPersonal ? 'personal_token.deleted' : 'client.deleted'
      await audit.add(tx, event, { ...ofClient(fields, owner), details: {} })
      return true
    })
    if (isDeleted) await removed({ kind: 'client', key: before.fields.clientKey })
    return isDeleted
  }

  async #inserted(client: ClientFields, owner: ClientOwner | null): Promise<boolean> {
    const { store, audit } = this.#context
    const row = this.#rows.sealed(client)
    // What is recorded of it is that of the personal token.
    if (client.isPersonal) return store.clients.insert(row)
    return store.transaction(async (tx) => {
      if (!(await tx.clients.insert(row))) return false
      const { origin } = client
      await audit.add(tx, 'client.created', { ...ofClient(client, owner), details: { origin } })
      return true
    })
  }

  async #insert(fields: CheckedFields): Promise<ClientWithSecret> {
    const { store, clock } = this.#context
    const owner = await this.#rows.ownerOf(fields.userId, store)
    return retryOnCollision(async () => {
      const clientSecret = this.#rows.newSecret()
      const created: ClientFields = {
        ...fields,
        // A key that came as text is kept, and sealed, as the key that the user has.
        userId: owner?.id ?? null,
        clientKey: randomNumber(this.#context.random),
        clientId: this.#rows.newId(),
        clientSecret: digestOf('client_secret', clientSecret),
        createdAt: clock(),
      }
      if (!(await this.#inserted(created, owner))) return undefined
      return { client: new Client(created, owner, this.#rows.clientContext), clientSecret }
    })
  }
}

const tooMany = (most: number): InvalidField =>
  new InvalidField('user_id', `The user has ${most} applications already, which is the most.`, {
    problem: 'tooManyClients',
    value: most,
  })

const marked = ({
  isVerified,
  isDisabled,
}: Partial<Pick<ClientFields, 'isVerified' | 'isDisabled'>>) => [
  ...(isVerified === undefined
    ? []
    : [isVerified ? ('client.verified' as const) : ('client.unverified' as const)]),
  ...(isDisabled === undefined
    ? []
    : [isDisabled ? ('client.disabled' as const) : ('client.enabled' as const)]),
]
