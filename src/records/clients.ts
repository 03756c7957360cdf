import { type Digest, digestOf } from '../crypto/digest.ts'
import { bits256, randomNumber, randomString } from '../crypto/random.ts'
import {
  Client,
  type ClientContext,
  type ClientFields,
  type ClientOwner,
  type TokenEndpointAuthMethod,
} from '../model/client.ts'
import { validJwks, validJwksUri } from '../model/client-keys.ts'
import { keptMetadata } from '../model/client-metadata.ts'
import { countLimit } from '../model/count-limit.ts'
import { validDescription, validName, validWebsite } from '../model/field-rules.ts'
import { InvalidField } from '../model/invalid-field.ts'
import {
  type RedirectUriRules,
  redirectUriProblem,
  splitRedirectUris,
} from '../model/redirect-uri.ts'
import type { UserId } from '../model/user.ts'
import {
  type ClientWithOwner,
  type Cursor,
  type Page,
  ReferenceNotFound,
  type SealedClient,
  type Store,
  UniqueViolation,
} from '../store/store.ts'
import { changedFields, ofClient } from './audit/audit-trail.ts'
import { type RecordsContext, retryOnCollision } from './context.ts'
import { mustHaveKeyOf } from './keys/noted-keys.ts'
import { clientClaims, clientStateClaims } from './seals/claims.ts'
import { Users } from './users/users.ts'

/** A client as its creator describes it. What is left out takes the specified default. */
export interface ClientInput {
  readonly name: string
  readonly description?: string
  readonly website?: string
  readonly userId?: UserId | null
  readonly isConfidential?: boolean
  readonly isInternal?: boolean
  /** A list, or a text with one URI a line. The first is the default. */
  readonly redirectUris?: string | readonly string[]
  readonly defaultScopes?: readonly string[]
  /** Scopes that a user may refuse on the consent page while granting the rest. */
  readonly optionalScopes?: readonly string[]
  readonly allowedScopes?: readonly string[] | null
  readonly grantTypes?: readonly string[] | null
  readonly responseTypes?: readonly string[] | null
  readonly tokenEndpointAuthMethod?: TokenEndpointAuthMethod | null
  /** Its public keys as a JSON Web Key Set, for `private_key_jwt`. */
  readonly jwks?: string | null
  /** Where they stand; an https address. */
  readonly jwksUri?: string | null
}

/** Where a client comes from that no user has registered, and what else it says of itself. */
export type Registration = Pick<ClientFields, 'origin' | 'registrationToken' | 'metadata'>

/** A client with its secret, which is shown this once. */
export interface ClientWithSecret {
  readonly client: Client
  readonly clientSecret: string
}

/** An application with the number of its users: the specification's `get_users`. */
export interface ListedClient {
  readonly client: Client
  readonly users: number
}

type CheckedFields = Omit<ClientFields, 'clientKey' | 'clientId' | 'clientSecret' | 'createdAt'>

/** Seconds that a former secret may stay valid at most. */
const longestOverlap = 2_592_000
const mostRedirectUris = 50
const authMethods: readonly TokenEndpointAuthMethod[] = [
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
  'none',
]

const blank: CheckedFields = {
  name: '',
  description: '',
  website: '',
  userId: null,
  isConfidential: true,
  isInternal: false,
  isPersonal: false,
  redirectUris: [],
  defaultScopes: [],
  allowedScopes: null,
  grantTypes: null,
  responseTypes: null,
  tokenEndpointAuthMethod: null,
  optionalScopes: [],
  previousClientSecret: null,
  previousClientSecretExpires: null,
  isVerified: false,
  isDisabled: false,
  origin: 'owner',
  jwks: null,
  jwksUri: null,
  registrationToken: null,
  metadata: '{}',
}

/** Registers client applications, finds them and changes them. */
export class Clients {
  readonly #context: RecordsContext
  readonly #clientContext: ClientContext
  readonly #users: Users
  /** The store gives the very same row again as long as nothing in it has changed. */
  readonly #known = new WeakMap<ClientWithOwner, Client>()

  constructor(context: RecordsContext) {
    this.#context = context
    this.#users = new Users(context)
    const { store, clientContext } = context
    this.#clientContext = {
      ...clientContext,
      countUsers: (clientId, most) => store.clients.countUsers(clientId, most),
    }
  }

  /** The client, or undefined where there is none or its row was tampered with. */
  async find(clientId: string): Promise<Client | undefined> {
    return this.#found(clientId, this.#context.store)
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
    const fields = { ...this.#checked(blank, input), ...registration }
    const { userId } = fields
    if (userId === null || most === Number.POSITIVE_INFINITY) return this.#insert(fields)
    const { store, turns } = this.#context
    return turns.transaction(store, `user ${userId}`, async (tx) => {
      // Holds the user, so that of several at once no more are written than there is room for.
      await this.#owner(userId, tx)
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
      const before = await this.#found(client.clientId, tx)
      if (before?.origin !== client.origin)
        throw new ReferenceNotFound('The row of the client cannot be used.')
      const kept = {
        ...client,
        ...keptOf(before, client),
        clientKey: this.#keyAfter(before, client),
      }
      await tx.clients.update(client.clientId, this.#sealed(kept), clock())
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
      ...this.#checked(blank, input),
      ...registration,
      clientKey: randomNumber(random),
      clientId,
      clientSecret: digestOf('client_secret', randomString(bits256, random)),
      createdAt: clock(),
    }
    const kept = stored ? keptOf(stored, fields) : {}
    return new Client({ ...fields, ...kept }, null, this.#clientContext)
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
    const before = await this.#found(clientId, store)
    if (!before) throw new ReferenceNotFound('The client behind a personal token is gone.')
    const changed = definedOf({ name, defaultScopes })
    const after = { ...before, ...changed } as ClientFields
    await store.clients.update(clientId, this.#sealed(after), clock())
  }

  /** The applications that a user registered, each with the number of its users, counted up to `countLimit`. */
  ofOwner(userId: UserId, cursor: Cursor): Promise<Page<ListedClient>> {
    return this.#listed(this.#context.store.clients.ofOwner(userId, cursor))
  }

  /** Applications whose name, id or owner's e-mail address contains the text; all of them without one. */
  search(text: string, cursor: Cursor): Promise<Page<ListedClient>> {
    return this.#listed(this.#context.store.clients.search(text.normalize('NFC'), cursor))
  }

  /** The applications that act for a user. */
  async authorizedBy(userId: UserId, cursor: Cursor): Promise<Page<Client>> {
    const { store, clock } = this.#context
    const { items, next } = await store.clients.authorizedBy(userId, clock(), cursor)
    return { items: await this.#intact(items), next }
  }

  /** Whether an administrator has checked who makes the client, and whether it is switched off. */
  async mark(
    clientId: string,
    marks: Partial<Pick<ClientFields, 'isVerified' | 'isDisabled'>>,
  ): Promise<Client> {
    const { store, audit, clock } = this.#context
    return store.transaction(async (tx) => {
      const before = await this.#existing(clientId, tx)
      await tx.clients.update(clientId, this.#sealed({ ...before, ...marks }), clock())
      for (const event of marked(marks))
        await audit.add(tx, event, { ...ofClient(before, before.owner), details: {} })
      return this.#existing(clientId, tx)
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
      const clientSecret = this.#newSecret()
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
      const before = await this.#existing(clientId, tx)
      const checked = { ...this.#checked(before, changes), ...registration }
      // Looked up, and so held, only where it is another: somebody may be deleting the owner with all clients.
      const isSame = before.owner !== null && checked.userId === before.userId
      const owner = isSame ? before.owner : await this.#owner(checked.userId, tx)
      const changed = { ...checked, userId: owner?.id ?? null }
      const isVerified = before.isVerified && hasSameIdentity(before, changed)
      const clientKey = this.#keyAfter(before, changed)
      const kept = { ...before, ...changed, isVerified, clientKey }
      const after = clientSecret === undefined ? kept : withSecret(kept, clientSecret)
      if (!(await tx.clients.update(clientId, this.#sealed(after), clock())))
        throw new UniqueViolation()
      const fields = changedFields<CheckedFields>(before, { ...changed, isVerified })
      const about = { ...ofClient(after, owner), details: { fields } }
      if (fields.length > 0) await audit.add(tx, 'client.edited', about)
      if (after.clientSecret !== before.clientSecret) {
        const aboutSecret = { ...ofClient(after, owner), details: { overlap: 0 } }
        await audit.add(tx, 'client.secret_reset', aboutSecret)
      }
      return [before, await this.#existing(clientId, tx)]
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
  async resetClientId(clientId: string): Promise<Client> {
    return this.#reset(clientId, () => ({ clientId: this.#newId() }))
  }

  /**
   * Gives the client another secret.
   * @param overlap seconds for which the old one stays valid, at most 30 days; without it, it stops at once
   * @throws InvalidField for an overlap that is no such number
   */
  async resetClientSecret(
    clientId: string,
    { overlap = 0 }: { readonly overlap?: number } = {},
  ): Promise<ClientWithSecret> {
    if (!Number.isSafeInteger(overlap) || overlap < 0 || overlap > longestOverlap) {
      throw new InvalidField('overlap', 'The overlap must be from 0 seconds to 30 days.', {
        problem: 'overlapInvalid',
      })
    }
    let clientSecret = ''
    const client = await this.#reset(
      clientId,
      (before) => {
        clientSecret = this.#newSecret()
        return {
          clientSecret: digestOf('client_secret', clientSecret),
          ...leakedAt(before, null),
          ...former(
            overlap === 0 ? null : before.clientSecret,
            this.#context.clock() + overlap * 1000,
          ),
        }
      },
      overlap,
    )
    return { client, clientSecret }
  }

  /**
   * Ends a secret that became known to others. With the present one end the tokens that the client got for itself,
   * and it has none until it is given another; with a former one, that alone.
   * @returns the client; undefined where it is nobody's secret now
   */
  async endLeakedSecret(secret: string): Promise<Client | undefined> {
    const { store, audit, clock } = this.#context
    const digest = digestOf('client_secret', secret)
    // Most of what is reported is none: no transaction for that.
    if (!(await store.clients.findBySecret(digest))) return undefined
    const ended = await retryOnCollision(() =>
      store.transaction(async (tx) => {
        const row = await tx.clients.findBySecret(digest)
        const before = row && (await this.#opened(row))
        if (!before?.checkSecret(secret, this.#context.clock())) return { client: undefined }
        const isFormer = before.clientSecret !== digest
        const after = isFormer ? { ...before, ...former(null) } : this.#withoutSecret(before)
        if (!(await tx.clients.update(before.clientId, this.#sealed(after), clock())))
          return undefined
        if (!isFormer) await tx.clients.endOwnTokens(before.clientId)
        await audit.add(tx, 'client.secret_leaked', {
          ...ofClient(before, before.owner),
          details: {},
        })
        return { client: before }
      }),
    )
    return ended.client
  }

  /** Gives the client another id and another secret at once. */
  async resetCredentials(clientId: string): Promise<ClientWithSecret> {
    let clientSecret = ''
    const client = await this.#reset(clientId, (before) => {
      clientSecret = this.#newSecret()
      return {
        clientId: this.#newId(),
        clientSecret: digestOf('client_secret', clientSecret),
        ...leakedAt(before, null),
        ...former(null),
      }
    })
    return { client, clientSecret }
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
    const row = this.#sealed(client)
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
    const owner = await this.#owner(fields.userId, store)
    return retryOnCollision(async () => {
      const clientSecret = this.#newSecret()
      const created: ClientFields = {
        ...fields,
        // A key that came as text is kept, and sealed, as the key that the user has.
        userId: owner?.id ?? null,
        clientKey: randomNumber(this.#context.random),
        clientId: this.#newId(),
        clientSecret: digestOf('client_secret', clientSecret),
        createdAt: clock(),
      }
      if (!(await this.#inserted(created, owner))) return undefined
      return { client: new Client(created, owner, this.#clientContext), clientSecret }
    })
  }

  async #listed(found: Promise<Page<ClientWithOwner>>): Promise<Page<ListedClient>> {
    const { items, next } = await found
    const clients = await this.#intact(items)
    const users = await this.#context.store.clients.countUsersOf(
      clients.map(({ clientId }) => clientId),
      countLimit,
    )
    return {
      items: clients.map((client) => ({ client, users: users.get(client.clientId) ?? 0 })),
      next,
    }
  }

  async #intact(rows: readonly ClientWithOwner[]): Promise<readonly Client[]> {
    // Users who live elsewhere are asked for once each, however many applications they have.
    const owners = new Map<UserId, Promise<ClientOwner | null>>()
    const ownerOf = ({ fields, owner }: ClientWithOwner) => {
      const { userId } = fields
      if (userId === null) return null
      const asked = owners.get(userId) ?? this.#users.joined(userId, owner)
      owners.set(userId, asked)
      return asked
    }
    const clients = await Promise.all(
      rows.map(async (row) => this.#intactClient(row, await ownerOf(row))),
    )
    return clients.filter((client) => client !== undefined)
  }

  async #reset(
    clientId: string,
    renew: (before: Client) => Partial<ClientFields>,
    overlap = 0,
  ): Promise<Client> {
    const { audit, clock } = this.#context
    return retryOnCollision(() =>
      this.#context.store.transaction(async (tx) => {
        const before = await this.#existing(clientId, tx)
        const after: ClientFields = { ...before, ...renew(before) }
        if (!(await tx.clients.update(clientId, this.#sealed(after), clock()))) return undefined
        if (after.clientId !== clientId) {
          const about = { ...ofClient(after, before.owner), details: { former: clientId } }
          await audit.add(tx, 'client.id_reset', about)
        }
        if (after.clientSecret !== before.clientSecret) {
          const about = { ...ofClient(after, before.owner), details: { overlap } }
          await audit.add(tx, 'client.secret_reset', about)
        }
        return this.#existing(after.clientId, tx)
      }),
    )
  }

  async #existing(clientId: string, store: Store = this.#context.store): Promise<Client> {
    const client = await this.#found(clientId, store)
    if (!client || client.isPersonal)
      throw new InvalidField('client_id', 'There is no such client.')
    return client
  }

  async #owner(userId: UserId | null, store: Store): Promise<ClientOwner | null> {
    if (userId === null) return null
    const owner = await new Users({ ...this.#context, store }).find(userId)
    if (!owner) throw new InvalidField('user_id', 'There is no such user.')
    return owner
  }

  async #found(clientId: string, store: Store): Promise<Client | undefined> {
    const found = await store.clients.find(clientId)
    return found && this.#opened(found)
  }

  async #opened(row: ClientWithOwner): Promise<Client | undefined> {
    if (!this.#known.has(row)) await mustHaveKeyOf(row.seal, this.#context)
    return this.#intactClient(row, await this.#users.joined(row.fields.userId, row.owner))
  }

  #intactClient(row: ClientWithOwner, owner: ClientOwner | null): Client | undefined {
    const { keys, log } = this.#context
    const { fields, seal } = row
    const known = this.#known.get(row)
    if (known?.owner === owner) return known
    if (known || keys.isIntact(seal, clientClaims(fields))) {
      const client = new Client(fields, owner, this.#clientContext)
      this.#known.set(row, client)
      return client
    }
    log({
      level: 'error',
      event: 'client.tampered',
      message:
        'A client row was not written by this server, or by another secret key; it is refused.',
      clientId: fields.clientId,
    })
    return undefined
  }

  #sealed(fields: ClientFields): SealedClient {
    const { keys } = this.#context
    return {
      fields,
      seal: keys.sealRow(clientClaims(fields)),
      stateSeal: keys.sealRow(clientStateClaims({ ...fields, ownerId: fields.userId })),
    }
  }

  #newId(): string {
    return randomString(this.#context.settings.clientIdSaltLen, this.#context.random)
  }

  // A secret that nobody was ever told.
  #withoutSecret(client: Client): ClientFields {
    const clientSecret = digestOf('client_secret', this.#newSecret())
    return { ...client, clientSecret, ...leakedAt(client, this.#context.clock()) }
  }

  #newSecret(): string {
    return randomString(this.#context.settings.clientSecretSaltLen, this.#context.random)
  }

  #checked(before: CheckedFields, input: Partial<ClientInput>): CheckedFields {
    const { scopes, settings, clientContext } = this.#context
    const { defaultScopes, optionalScopes, allowedScopes } = input
    const merged = { ...before, ...definedOf(input) }
    checkRedirectUris(merged.redirectUris, {
      privateUse: settings.allowPrivateUseRedirectUris && !merged.isConfidential,
    })
    const method = merged.tokenEndpointAuthMethod
    limit('token_endpoint_auth_method', method && [method], authMethods)
    if (method !== null && (method === 'none') === merged.isConfidential) {
      throw new InvalidField(
        'token_endpoint_auth_method',
        'A public client authenticates by none, a confidential one by its secret or its keys.',
      )
    }
    const keys = checkedKeys(merged, { allowPrivate: settings.dangerouslyAllowPrivateAddresses })
    return {
      name: validName(merged.name),
      description: validDescription(merged.description),
      website: validWebsite(merged.website),
      userId: merged.userId,
      isConfidential: merged.isConfidential,
      isInternal: merged.isInternal,
      isPersonal: before.isPersonal,
      redirectUris: splitRedirectUris(merged.redirectUris),
      // Only what is set is validated: a scope that was given up since is no mistake in another field.
      defaultScopes: defaultScopes ? scopes.validated(defaultScopes) : before.defaultScopes,
      allowedScopes: allowedScopes ? scopes.validated(allowedScopes) : merged.allowedScopes,
      grantTypes: limit('grant_types', merged.grantTypes, clientContext.knownGrantTypes),
      responseTypes: limit('response_types', merged.responseTypes, ['code', 'token']),
      tokenEndpointAuthMethod: method,
      optionalScopes: optionalScopes ? scopes.validated(optionalScopes) : before.optionalScopes,
      // Neither a form nor an owner decides these.
      isVerified: before.isVerified,
      isDisabled: before.isDisabled,
      previousClientSecret: before.previousClientSecret,
      previousClientSecretExpires: before.previousClientSecretExpires,
      origin: before.origin,
      registrationToken: before.registrationToken,
      ...keys,
      metadata: before.metadata,
    }
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

const former = (
  secret: Digest | null,
  expires?: number,
): Pick<ClientFields, 'previousClientSecret' | 'previousClientSecretExpires'> => ({
  previousClientSecret: secret,
  previousClientSecretExpires: secret === null ? null : (expires ?? null),
})

const withSecret = (client: ClientFields, secret: string): ClientFields => ({
  ...client,
  clientSecret: digestOf('client_secret', secret),
  ...leakedAt(client, null),
  ...former(null),
})

// For the page of its owner; a client that nobody here owns has none.
const leakedAt = (
  { origin, metadata }: Pick<ClientFields, 'origin' | 'metadata'>,
  at: number | null,
): Pick<ClientFields, 'metadata'> => {
  if (origin !== 'owner') return { metadata }
  const said = { ...JSON.parse(metadata), secret_leaked_at: at ?? undefined }
  return { metadata: JSON.stringify(said) }
}

// Of a client that describes itself, this was decided here.
const keptOf = (
  stored: Client,
  described: CheckedFields,
): Pick<
  ClientFields,
  'clientKey' | 'clientSecret' | 'createdAt' | 'isDisabled' | 'isVerified'
> => ({
  clientKey: stored.clientKey,
  clientSecret: stored.clientSecret,
  createdAt: stored.createdAt,
  isDisabled: stored.isDisabled,
  isVerified: stored.isVerified && hasSameIdentity(withoutTime(stored), withoutTime(described)),
})

// When its document was last seen is no part of what it says.
const withoutTime = (client: CheckedFields): CheckedFields => ({
  ...client,
  metadata: JSON.stringify({ ...JSON.parse(client.metadata), confirmed_at: undefined }),
})

const checkedKeys = (
  {
    jwks,
    jwksUri,
    tokenEndpointAuthMethod: method,
  }: Pick<CheckedFields, 'jwks' | 'jwksUri' | 'tokenEndpointAuthMethod'>,
  rules: { readonly allowPrivate: boolean },
): Pick<ClientFields, 'jwks' | 'jwksUri'> => {
  if (jwks !== null && jwksUri !== null)
    throw new InvalidField('jwks', 'There must not be both keys and an address of keys.')
  if (method === 'private_key_jwt' && jwks === null && jwksUri === null)
    throw new InvalidField('jwks', 'private_key_jwt needs keys, or an address of keys.')
  return {
    jwks: jwks === null ? null : validJwks(jwks),
    jwksUri: jwksUri === null ? null : validJwksUri(jwksUri, rules),
  }
}

// What an administrator has looked at: under another name, of another owner, or leading elsewhere, it was not checked.
const hasSameIdentity = (before: CheckedFields, after: CheckedFields): boolean =>
  before.name === after.name &&
  before.description === after.description &&
  before.userId === after.userId &&
  before.website === after.website &&
  linksOf(before) === linksOf(after) &&
  after.redirectUris.every((uri) => before.redirectUris.includes(uri))

const linksOf = (client: Pick<ClientFields, 'metadata'>): string => {
  const { tos_uri: terms, policy_uri: privacy } = keptMetadata(client)
  return JSON.stringify([terms, privacy])
}

const definedOf = <T extends object>(input: T): T =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as T

const checkRedirectUris = (value: string | readonly string[], rules: RedirectUriRules): void => {
  if (splitRedirectUris(value).length > mostRedirectUris) {
    throw new InvalidField(
      'redirect_uris',
      `There can be at most ${mostRedirectUris} redirect URIs.`,
      { problem: 'tooManyRedirectUris', value: mostRedirectUris },
    )
  }
  // Line by line as it was typed, blank ones too, so that the number is the one that its author sees.
  const lines = typeof value === 'string' ? value.split('\n') : value
  lines.forEach((text, index) => {
    const uri = text.trim()
    const found = uri === '' ? undefined : redirectUriProblem(uri, rules)
    if (!found) return
    const { sentence, ...detail } = found
    const line = index + 1
    throw new InvalidField('redirect_uris', `Line ${line}: ${sentence}`, { ...detail, line })
  })
}

const limit = (
  field: string,
  types: readonly string[] | null,
  known: readonly string[],
): readonly string[] | null => {
  for (const type of types ?? []) {
    if (!known.includes(type))
      throw new InvalidField(field, `${JSON.stringify(type)} is none of ${known.join(', ')}.`)
  }
  return types && [...new Set(types)]
}
