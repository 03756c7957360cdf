import { digestOf } from '../crypto/digest.ts'
import { randomString } from '../crypto/random.ts'
import {
  Client,
  type ClientContext,
  type ClientFields,
  type ClientOwner,
  type TokenEndpointAuthMethod,
} from '../model/client.ts'
import { validDescription, validName, validWebsite } from '../model/field-rules.ts'
import { InvalidField } from '../model/invalid-field.ts'
import {
  type RedirectUriRules,
  redirectUriProblem,
  splitRedirectUris,
} from '../model/redirect-uri.ts'
import type { UserId } from '../model/user.ts'
import type { SealedClient, Store } from '../store/store.ts'
import { clientClaims } from './claims.ts'
import { type RecordsContext, untilUnique } from './context.ts'
import { resealConsents, resealTokens } from './reseal.ts'
import { Users } from './users.ts'

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
  readonly allowedScopes?: readonly string[] | null
  readonly grantTypes?: readonly string[] | null
  readonly responseTypes?: readonly string[] | null
  readonly tokenEndpointAuthMethod?: TokenEndpointAuthMethod | null
}

/** A client with its secret, which is shown this once. */
export interface ClientWithSecret {
  readonly client: Client
  readonly clientSecret: string
}

type CheckedFields = Omit<ClientFields, 'clientId' | 'clientSecret' | 'createdAt'>

const mostRedirectUris = 50
const authMethods: readonly TokenEndpointAuthMethod[] = [
  'client_secret_basic',
  'client_secret_post',
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
}

/** Registers client applications, finds them and changes them. */
export class Clients {
  readonly #context: RecordsContext
  readonly #clientContext: ClientContext
  readonly #users: Users

  constructor(context: RecordsContext) {
    this.#context = context
    this.#users = new Users(context)
    const { store, clientContext } = context
    this.#clientContext = {
      ...clientContext,
      countUsers: (clientId) => store.clients.countUsers(clientId),
    }
  }

  /** The client, or undefined where there is none or its row was tampered with. */
  async find(clientId: string): Promise<Client | undefined> {
    return this.#found(clientId, this.#context.store)
  }

  /**
   * Registers a client with a generated id and secret.
   * @throws InvalidField, ScopeDoesNotExists: nothing was written
   */
  async create(input: ClientInput): Promise<ClientWithSecret> {
    return this.insert(this.#checked(blank, input))
  }

  /** Inserts checked fields under generated credentials. Not for hosts: `create` checks. */
  async insert(fields: CheckedFields): Promise<ClientWithSecret> {
    const { store, clock } = this.#context
    const owner = await this.#owner(fields.userId, store)
    return untilUnique(async () => {
      const clientSecret = this.#newSecret()
      const created: ClientFields = {
        ...fields,
        // A key that came as text is kept, and sealed, as the key that the user has.
        userId: owner?.id ?? null,
        clientId: this.#newId(),
        clientSecret: digestOf('client_secret', clientSecret),
        createdAt: clock(),
      }
      if (!(await store.clients.insert(this.#sealed(created)))) return undefined
      return { client: new Client(created, owner, this.#clientContext), clientSecret }
    })
  }

  /**
   * Changes the given fields of a client. A confidential one that becomes public loses all authorizations.
   * @throws InvalidField, ScopeDoesNotExists: nothing was written
   */
  async update(clientId: string, changes: Partial<ClientInput>): Promise<Client> {
    return this.#context.store.transaction(async (tx) => {
      const before = await this.#existing(clientId, tx)
      const checked = this.#checked(before, changes)
      const owner = await this.#owner(checked.userId, tx)
      const after = { ...before, ...checked, userId: owner?.id ?? null }
      await tx.clients.update(clientId, this.#sealed(after))
      if (before.isConfidential && !after.isConfidential) {
        // What was granted to a client that proved itself is not for one that anybody can pose as.
        await tx.authorizations.revokeOfClient(clientId, this.#context.clock())
        await tx.consents.deleteOfClient(clientId)
      }
      return this.#existing(clientId, tx)
    })
  }

  /** Gives the client another id. Its tokens go on working, its pending codes end. */
  async resetClientId(clientId: string): Promise<Client> {
    return this.#reset(clientId, () => ({ clientId: this.#newId() }))
  }

  /** Gives the client another secret. The old one stops at once. */
  async resetClientSecret(clientId: string): Promise<ClientWithSecret> {
    let clientSecret = ''
    const client = await this.#reset(clientId, () => {
      clientSecret = this.#newSecret()
      return { clientSecret: digestOf('client_secret', clientSecret) }
    })
    return { client, clientSecret }
  }

  /** Gives the client another id and another secret at once. */
  async resetCredentials(clientId: string): Promise<ClientWithSecret> {
    let clientSecret = ''
    const client = await this.#reset(clientId, () => {
      clientSecret = this.#newSecret()
      return { clientId: this.#newId(), clientSecret: digestOf('client_secret', clientSecret) }
    })
    return { client, clientSecret }
  }

  /** Deletes the client and all that hangs from it. False where there was none. */
  delete(clientId: string): Promise<boolean> {
    return this.#context.store.clients.delete(clientId)
  }

  async #reset(clientId: string, renew: () => Partial<ClientFields>): Promise<Client> {
    return untilUnique(() =>
      this.#context.store.transaction(async (tx) => {
        const before = await this.#existing(clientId, tx)
        const after: ClientFields = { ...before, ...renew() }
        const consents = await tx.consents.ofClient(clientId)
        const tokens = await tx.tokens.ofClient(clientId)
        if (!(await tx.clients.update(clientId, this.#sealed(after)))) return undefined
        if (after.clientId !== clientId) {
          // The foreign keys followed; what is sealed under the old id must follow too.
          const context = { ...this.#context, store: tx }
          await resealConsents(context, consents, after.clientId)
          await resealTokens(context, tokens, after.clientId)
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
    const { keys, log } = this.#context
    const found = await store.clients.find(clientId)
    if (!found) return undefined
    const { fields, seal } = found
    const owner = await this.#users.joined(fields.userId, found.owner)
    if (keys.isIntact(seal, clientClaims(fields)))
      return new Client(fields, owner, this.#clientContext)
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
    return { fields, seal: this.#context.keys.sealRow(clientClaims(fields)) }
  }

  #newId(): string {
    return randomString(this.#context.settings.clientIdSaltLen, this.#context.random)
  }

  #newSecret(): string {
    return randomString(this.#context.settings.clientSecretSaltLen, this.#context.random)
  }

  #checked(before: CheckedFields, input: Partial<ClientInput>): CheckedFields {
    const { scopes, settings, clientContext } = this.#context
    const { defaultScopes, allowedScopes } = input
    const merged = { ...before, ...definedOf(input) }
    const redirectUris = splitRedirectUris(merged.redirectUris)
    checkRedirectUris(redirectUris, {
      privateUse: settings.allowPrivateUseRedirectUris && !merged.isConfidential,
    })
    const method = merged.tokenEndpointAuthMethod
    limit('token_endpoint_auth_method', method && [method], authMethods)
    if (method !== null && (method === 'none') === merged.isConfidential) {
      throw new InvalidField(
        'token_endpoint_auth_method',
        'A public client authenticates by none, a confidential one by its secret.',
      )
    }
    return {
      name: validName(merged.name),
      description: validDescription(merged.description),
      website: validWebsite(merged.website),
      userId: merged.userId,
      isConfidential: merged.isConfidential,
      isInternal: merged.isInternal,
      isPersonal: before.isPersonal,
      redirectUris,
      // Only what is set is validated: a scope that was given up since is no mistake in another field.
      defaultScopes: defaultScopes ? scopes.validated(defaultScopes) : before.defaultScopes,
      allowedScopes: allowedScopes ? scopes.validated(allowedScopes) : merged.allowedScopes,
      grantTypes: limit('grant_types', merged.grantTypes, clientContext.knownGrantTypes),
      responseTypes: limit('response_types', merged.responseTypes, ['code', 'token']),
      tokenEndpointAuthMethod: method,
    }
  }
}

const definedOf = <T extends object>(input: T): T =>
  Object.fromEntries(Object.entries(input).filter(([, value]) => value !== undefined)) as T

const checkRedirectUris = (uris: readonly string[], rules: RedirectUriRules): void => {
  if (uris.length > mostRedirectUris) {
    throw new InvalidField(
      'redirect_uris',
      `There can be at most ${mostRedirectUris} redirect URIs.`,
    )
  }
  uris.forEach((uri, index) => {
    const problem = redirectUriProblem(uri, rules)
    if (problem) throw new InvalidField('redirect_uris', `Line ${index + 1}: ${problem}`)
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
