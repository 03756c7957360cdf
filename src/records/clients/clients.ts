import type { Client, ClientFields } from '../../model/client.ts'
import { InvalidField } from '../../model/invalid-field.ts'
import type { UserId } from '../../model/user.ts'
import { ReferenceNotFound } from '../../store/contract/errors.ts'
import type { Cursor, Page } from '../../store/contract/page.ts'
import { ofClient } from '../audit/audit-trail.ts'
import { type RecordsContext, retryOnCollision } from '../context.ts'
import { type ChangeGuard, changeClient, type Marks, markClient } from './change-client.ts'
import { checkedFields, definedOf } from './checked-fields.ts'
import {
  blank,
  type ClientInput,
  type ClientWithSecret,
  type ListedClient,
  type Registration,
} from './client-input.ts'
import { ClientRows } from './client-rows.ts'
import { insertClient } from './insert-client.ts'
import {
  endLeakedSecret,
  resetClientId,
  resetClientSecret,
  resetCredentials,
} from './reset-credentials.ts'
import { describedClient, keepDescribed } from './self-described.ts'

/** Registers client applications, finds them and changes them. */
export class Clients {
  readonly #context: RecordsContext
  readonly #rows: ClientRows

  constructor(context: RecordsContext) {
    this.#context = context
    this.#rows = new ClientRows(context)
  }

  /** Returns the client, or undefined if it does not exist or its row was tampered with. */
  async find(clientId: string): Promise<Client | undefined> {
    return this.#rows.find(clientId)
  }

  /**
   * Registers a client with a generated ID and secret.
   * @param registration for a client that registers itself
   * @param most the maximum number of applications of the owner. Default: unlimited
   * @throws InvalidField, ScopeDoesNotExists: nothing was written
   */
  async create(
    input: ClientInput,
    registration?: Registration,
    { most = Number.POSITIVE_INFINITY }: { readonly most?: number } = {},
  ): Promise<ClientWithSecret> {
    const fields = { ...checkedFields(blank, input, this.#context), ...registration }
    const { userId } = fields
    if (userId === null || most === Number.POSITIVE_INFINITY)
      return insertClient(this.#rows, fields)
    const { store, turns } = this.#context
    return turns.transaction(store, `user ${userId}`, async (tx) => {
      // Lock the user, so that concurrent requests cannot exceed the maximum.
      await this.#rows.ownerOf(userId, tx)
      if ((await tx.clients.countOfOwner(userId, most)) >= most) throw tooMany(most)
      return insertClient(new ClientRows({ ...this.#context, store: tx }), fields)
    })
  }

  /**
   * Checks the input of a new or existing client, without a write.
   * @throws InvalidField, InvalidFields, ScopeDoesNotExists
   * @internal
   */
  check(input: Partial<ClientInput>, before?: Client): void {
    checkedFields(before ?? blank, input, this.#context)
  }

  /**
   * Stores a client that describes itself in a document, so that authorizations can refer to the client. Does not
   * change whether the client is verified or disabled. Does nothing for other clients, which are already stored.
   * @throws ReferenceNotFound if the row was tampered with
   * @internal
   */
  async keep(client: Client): Promise<void> {
    if (client.origin === 'metadata_document') await keepDescribed(this.#rows, client)
  }

  /**
   * Builds a client from its document.
   * @param stored the stored client, with the fields that the document cannot determine
   * @throws InvalidField, ScopeDoesNotExists
   * @internal
   */
  described(
    clientId: string,
    input: ClientInput,
    registration: Registration,
    stored?: Client,
  ): Client {
    return describedClient(this.#rows, clientId, { input, registration, stored })
  }

  /** Inserts the client of a personal token. Applications use `tokens.createPersonal`, which creates both. @internal */
  async insertPersonal(name: string, userId: UserId, scopes: readonly string[]): Promise<Client> {
    const { client } = await insertClient(this.#rows, {
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

  /** Writes checked fields of the client behind a personal token. @internal */
  async rewritePersonal(
    clientId: string,
    {
      name,
      defaultScopes,
    }: { name?: string | undefined; defaultScopes?: readonly string[] | undefined },
  ): Promise<void> {
    const { store, clock } = this.#context
    const before = await this.#rows.find(clientId, store)
    if (!before) throw new ReferenceNotFound('The client of the personal token was deleted.')
    const changed = definedOf({ name, defaultScopes })
    const after = { ...before, ...changed } as ClientFields
    await store.clients.update(clientId, this.#rows.sealed(after), clock())
  }

  /** Lists the applications that a user registered, each with the number of its users, counted up to `countLimit`. */
  ofOwner(userId: UserId, cursor: Cursor): Promise<Page<ListedClient>> {
    return this.#rows.listed(this.#context.store.clients.ofOwner(userId, cursor))
  }

  /**
   * Lists applications whose name, ID or owner's e-mail address contains the text; all applications for an empty text.
   */
  search(text: string, cursor: Cursor): Promise<Page<ListedClient>> {
    return this.#rows.listed(this.#context.store.clients.search(text.normalize('NFC'), cursor))
  }

  /** Lists the applications that a user authorized. @internal */
  async authorizedBy(userId: UserId, cursor: Cursor): Promise<Page<Client>> {
    const { store, clock } = this.#context
    const { items, next } = await store.clients.authorizedBy(userId, clock(), cursor)
    return { items: await this.#rows.intact(items), next }
  }

  /**
   * Sets the marks of an administrator: whether the client is verified, and whether it is disabled.
   */
  mark(clientId: string, marks: Marks): Promise<Client> {
    return markClient(this.#rows, clientId, marks)
  }

  /**
   * Changes the given fields of a client. If a confidential client becomes public, all its authorizations are revoked.
   * @throws InvalidField, ScopeDoesNotExists: nothing was written
   */
  update(
    clientId: string,
    changes: Partial<ClientInput>,
    registration?: Partial<Registration>,
    guard?: ChangeGuard,
  ): Promise<Client> {
    return changeClient(this.#rows, clientId, { changes, registration, guard })
  }

  /** Updates a client that becomes confidential, and creates its first secret in the same transaction. */
  async updateWithSecret(
    clientId: string,
    changes: Partial<ClientInput>,
    registration?: Partial<Registration>,
    guard?: ChangeGuard,
  ): Promise<ClientWithSecret> {
    return retryOnCollision(async () => {
      const clientSecret = this.#rows.newSecret()
      const change = { changes, registration, clientSecret, guard }
      const client = await changeClient(this.#rows, clientId, change)
      return { client, clientSecret }
    })
  }

  /** Replaces the ID of the client. Its tokens remain valid, and its pending codes become invalid. */
  resetClientId(clientId: string): Promise<Client> {
    return resetClientId(this.#rows, clientId)
  }

  /**
   * Replaces the secret of the client.
   * @param overlap seconds for which the old secret remains valid, at most 30 days. Default: 0
   * @throws InvalidField for an invalid overlap
   */
  resetClientSecret(
    clientId: string,
    { overlap = 0 }: { readonly overlap?: number } = {},
  ): Promise<ClientWithSecret> {
    return resetClientSecret(this.#rows, clientId, overlap)
  }

  /** Replaces the ID and the secret of the client in one transaction. */
  resetCredentials(clientId: string): Promise<ClientWithSecret> {
    return resetCredentials(this.#rows, clientId)
  }

  /**
   * Revokes a leaked secret. If it is the current secret, the tokens of `client_credentials` are also revoked, and the
   * client has no secret until it is reset. If it is a former secret, only that secret is revoked.
   * @returns the client; undefined if no client has this secret now
   * @internal
   */
  endLeakedSecret(secret: string): Promise<Client | undefined> {
    return endLeakedSecret(this.#rows, secret)
  }

  /**
   * Deletes the client. Its tokens, authorizations and consents are invalid from the next request on, and are removed
   * in the background. Returns false if the client does not exist.
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
}

const tooMany = (most: number): InvalidField =>
  new InvalidField('user_id', `The user has ${most} applications already, which is the maximum.`, {
    problem: 'tooManyClients',
    value: most,
  })
