import { type Digest, digestOf } from '../../crypto/digest.ts'
import type { Client } from '../../model/client.ts'
import { blankClient, type ClientFields } from '../../model/entities/client.ts'
import { InvalidField } from '../../model/invalid-field.ts'
import { anything, flag, oneOf, onlyMembers, orNull, text, whole } from '../../model/members.ts'
import type { UserId } from '../../model/user.ts'
import type { AuthorizedSummary, ClientSummary } from '../../store/contract/clients.ts'
import { ReferenceNotFound } from '../../store/contract/errors.ts'
import type { Cursor, Page } from '../../store/contract/page.ts'
import { ofClient } from '../audit/audit-trail.ts'
import { earliestRow, type RecordsContext, retryOnCollision } from '../context.ts'
import {
  type ChangeGuard,
  changeClient,
  endTokensOfClient,
  type Marks,
  markClient,
  requestLogo,
} from './change-client.ts'
import { checkedFields, definedOf } from './checked-fields.ts'
import type { ClientInput, ClientWithSecret, ListedClient, Registration } from './client-input.ts'
import { ClientRows } from './client-rows.ts'
import { insertClient } from './insert-client.ts'
import {
  endLeakedSecret,
  endRegistrationToken,
  resetClientId,
  resetClientSecret,
  resetCredentials,
} from './reset-credentials.ts'
import { describedClient, keepDescribed } from './self-described.ts'

const checkMost = onlyMembers<{ readonly most?: number }>('clients.create()', { most: whole(0) })
const checkRegistration = onlyMembers<Registration>('clients: the registration', {
  origin: oneOf('owner', 'registration', 'metadata_document'),
  registrationToken: orNull(text),
  metadata: text,
})
const checkMarks = onlyMembers<Marks>('clients.mark()', {
  isVerified: flag,
  isDisabled: flag,
  isPinned: flag,
})
const checkReset = onlyMembers<{ readonly overlap?: number }>('clients.resetClientSecret()', {
  overlap: anything,
})

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

  /** Whether `recall` may ever return a client. @internal */
  get canRecall(): boolean {
    return this.#rows.canRecall
  }

  /**
   * Returns the client that this process last read from the store, without a store operation. The client may have
   * changed. Therefore, the caller must pass the version to `tokens.issue`, and must call `find` before refusing a
   * request.
   * @internal
   */
  recall(clientId: string): { readonly client: Client; readonly version: string } | undefined {
    return this.#rows.recall(clientId)
  }

  /**
   * Registers a client with a generated ID, and with a generated secret if it authenticates with a secret.
   * @param registration the fields of a client that registers itself
   * @param most the maximum number of applications of the owner. Default: unlimited
   * @throws InvalidField, ScopeDoesNotExists: nothing was written
   */
  async create(
    input: ClientInput,
    registration?: Registration,
    options: { readonly most?: number } = {},
  ): Promise<ClientWithSecret> {
    checkMost(options)
    checkRegistration(registration)
    const { most = Number.POSITIVE_INFINITY } = options
    const fields = { ...checkedFields(blankClient, input, this.#context), ...registration }
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
   * Checks the input of a new or existing client, without writing.
   * @throws InvalidField, InvalidFields, ScopeDoesNotExists
   * @internal
   */
  check(input: Partial<ClientInput>, before?: Client): void {
    checkedFields(before ?? blankClient, input, this.#context)
  }

  /**
   * Stores a client with a metadata document, so that authorizations can refer to the client. A disabled or pinned
   * client remains disabled or pinned. A verified client remains verified only if its identity is unchanged. Does
   * nothing for other clients, because they are already stored.
   * @throws ReferenceNotFound if the stored row was tampered with
   * @internal
   */
  async keep(client: Client): Promise<void> {
    if (client.origin === 'metadata_document') await keepDescribed(this.#rows, client)
  }

  /**
   * Builds a client from its metadata document.
   * @param stored the stored client, with the fields that the metadata document cannot determine
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

  /** Inserts the client of a personal token. Applications use `tokens.createPersonal` instead. @internal */
  async insertPersonal(name: string, userId: UserId, scopes: readonly string[]): Promise<Client> {
    const { client } = await insertClient(this.#rows, {
      ...blankClient,
      name,
      userId,
      isConfidential: false,
      isInternal: true,
      isPersonal: true,
      defaultScopes: scopes,
    })
    return client
  }

  /** Changes validated fields of the client of a personal token. @internal */
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

  /** Lists the applications that a user registered, without internal clients. */
  ofOwner(userId: UserId, cursor: Cursor): Promise<Page<ListedClient>> {
    return this.#rows.listed(this.#context.store.clients.ofOwner(userId, cursor))
  }

  /**
   * Lists the summaries of the applications that a user registered. An HTML page searches and sorts the summaries, and
   * then calls `ownAmong` for the applications on the page.
   */
  async summariesOfOwner(userId: UserId, cursor: Cursor): Promise<Page<ClientSummary>> {
    const { items, next } = await this.#context.store.clients.summariesOfOwner(userId, cursor)
    return { items: await this.#ofUser(userId, items), next }
  }

  /** Returns the user's applications that have these client IDs, in the order of the IDs. Omits other IDs. */
  async ownAmong(userId: UserId, clientIds: readonly string[]): Promise<readonly ListedClient[]> {
    const found = await this.listedAmong(clientIds)
    return found.filter(({ client }) => client.userId === userId && !client.isInternal)
  }

  /**
   * Returns the applications with these client IDs, of all owners, in the order of the IDs. Omits unknown IDs and
   * personal tokens.
   * @internal
   */
  async listedAmong(clientIds: readonly string[]): Promise<readonly ListedClient[]> {
    const found = this.#context.store.clients.among(clientIds)
    const { items } = await this.#rows.listed(found.then((rows) => ({ items: rows, next: null })))
    const shown = items.filter(({ client }) => !client.isPersonal)
    return inOrder(clientIds, shown, ({ client }) => client.clientId)
  }

  /** Lists the summaries of the applications that a user authorized. @internal */
  async summariesAuthorizedBy(userId: UserId, cursor: Cursor): Promise<Page<AuthorizedSummary>> {
    const { store, clock } = this.#context
    return store.clients.summariesAuthorizedBy(userId, clock(), cursor)
  }

  /** Returns the applications with these IDs, in the order of the IDs. Omits unknown IDs. @internal */
  async among(clientIds: readonly string[]): Promise<readonly Client[]> {
    const clients = await this.#rows.intact(await this.#context.store.clients.among(clientIds))
    return inOrder(clientIds, clients, ({ clientId }) => clientId)
  }

  // Omits applications that a former user with the same ID registered.
  async #ofUser<T extends { readonly createdAt: number }>(
    userId: UserId,
    items: readonly T[],
  ): Promise<readonly T[]> {
    const earliest = await earliestRow(userId, this.#context)
    return items.filter(({ createdAt }) => createdAt >= earliest)
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
   * Sets the marks of an administrator: whether the client is verified, disabled, or pinned. For a pinned client, the
   * server uses the stored copy of the metadata document and does not fetch the document again. For a client that
   * becomes verified, the server fetches the logo in the background.
   * @throws InvalidField if the client does not exist, or if a client to pin has no metadata document
   */
  async mark(clientId: string, marks: Marks): Promise<Client> {
    checkMarks(marks)
    const client = await markClient(this.#rows, clientId, marks)
    if (marks.isVerified) this.#context.fetchLogo(clientId)
    return client
  }

  /**
   * Fetches the logo of a verified client again, in the background.
   * @throws InvalidField if the client does not exist, is not verified, or has no logo URL
   */
  async fetchLogo(clientId: string): Promise<void> {
    const { store, clock } = this.#context
    await store.transaction(async (tx) => {
      const client = await this.#rows.existing(clientId, tx)
      if (!client.isVerified || !(await requestLogo(client, tx, clock())))
        throw new InvalidField('act', 'The client is not verified, or has no logo URL.')
    })
    this.#context.fetchLogo(clientId)
  }

  /**
   * Changes the given fields of a client. If a confidential client becomes public, all its authorizations are revoked.
   * @throws InvalidField, ScopeDoesNotExists, UniqueViolation; the client remains unchanged
   */
  async update(
    clientId: string,
    changes: Partial<ClientInput>,
    registration?: Partial<Registration>,
    guard?: ChangeGuard,
  ): Promise<Client> {
    checkRegistration(registration)
    return changeClient(this.#rows, clientId, { changes, registration, guard })
  }

  /** Updates a client that becomes confidential, and creates its first secret in the same transaction. */
  async updateWithSecret(
    clientId: string,
    changes: Partial<ClientInput>,
    registration?: Partial<Registration>,
    guard?: ChangeGuard,
  ): Promise<ClientWithSecret> {
    checkRegistration(registration)
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
   * @param overlap seconds for which the former secret remains valid, at most 30 days. Default: 0
   * @throws InvalidField for an unknown client, a client without a secret, or an invalid overlap
   */
  async resetClientSecret(
    clientId: string,
    options: { readonly overlap?: number } = {},
  ): Promise<ClientWithSecret> {
    checkReset(options)
    const { overlap = 0 } = options
    return resetClientSecret(this.#rows, clientId, overlap)
  }

  /** Replaces the ID of the client, and the secret if the client has one, in one transaction. */
  resetCredentials(clientId: string): Promise<ClientWithSecret> {
    return resetCredentials(this.#rows, clientId)
  }

  /**
   * Revokes a leaked secret. A current secret is replaced with a random secret that nobody knows, and the tokens of
   * `client_credentials` are also revoked. The owner must then reset the secret. If a former secret leaked, only this
   * secret is revoked.
   * @returns the client; undefined if no client currently has this secret
   * @internal
   */
  endLeakedSecret(secret: string): Promise<Client | undefined> {
    return this.endLeakedDigest(digestOf('client_secret', secret))
  }

  /** Revokes the leaked secret with this digest, like `endLeakedSecret`. @internal */
  endLeakedDigest(digest: Digest): Promise<Client | undefined> {
    return endLeakedSecret(this.#rows, digest)
  }

  /** Returns the client that manages its registration with the token of this digest. @internal */
  async findByRegistrationToken(digest: Digest): Promise<Client | undefined> {
    const row = await this.#context.store.clients.findByRegistrationToken(digest)
    const client = row && (await this.#rows.open(row))
    return client?.registrationToken === digest ? client : undefined
  }

  /**
   * Revokes the leaked registration token with this digest. The client can no longer manage its registration. Returns
   * false if no client has this token. @internal
   */
  endRegistrationToken(digest: Digest): Promise<boolean> {
    return endRegistrationToken(this.#rows, digest)
  }

  /** Returns the client with this secret; undefined if no valid secret matches. @internal */
  async findBySecret(secret: string): Promise<Client | undefined> {
    const { store, clock } = this.#context
    const row = await store.clients.findBySecret(digestOf('client_secret', secret))
    const client = row && (await this.#rows.open(row))
    return client?.checkSecret(secret, clock()) ? client : undefined
  }

  /**
   * Revokes all tokens and authorizations of the client, and the consents of its users. The secret of the client
   * remains valid.
   * @throws InvalidField if the client does not exist
   */
  endTokens(clientId: string): Promise<void> {
    return endTokensOfClient(this.#rows, clientId)
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
      const about = ofClient(fields, owner)
      if (fields.isPersonal)
        await audit.add(tx, 'personal_token.deleted', { ...about, details: { ending: null } })
      else await audit.add(tx, 'client.deleted', { ...about, details: {} })
      return true
    })
    if (isDeleted) await removed({ kind: 'client', key: before.fields.clientKey })
    return isDeleted
  }
}

const inOrder = <T>(
  ids: readonly string[],
  items: readonly T[],
  idOf: (item: T) => string,
): readonly T[] => {
  const known = new Map(items.map((item) => [idOf(item), item]))
  return ids.flatMap((id) => known.get(id) ?? [])
}

const tooMany = (most: number): InvalidField =>
  new InvalidField('user_id', `The user has ${most} applications already, which is the maximum.`, {
    problem: 'tooManyClients',
    value: most,
  })
