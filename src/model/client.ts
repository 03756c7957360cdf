import { constantTimeEqual, type Digest, digestOf } from '../crypto/digest.ts'
import { ScopeDoesNotExists, type ScopeRegistry } from './scope.ts'
import type { User, UserId } from './user.ts'

/** The grant types that the specification names. */
export type GrantType = 'authorization_code' | 'password' | 'client_credentials' | 'refresh_token'

/** `code` serves the authorization code grant, `token` the implicit grant. */
export type ResponseType = 'code' | 'token'

export type TokenEndpointAuthMethod =
  | 'client_secret_basic'
  | 'client_secret_post'
  | 'private_key_jwt'
  | 'none'

/** Who vouches for what a client says of itself: its owner here, its own registration, or a document at its address. */
export type ClientOrigin = 'owner' | 'registration' | 'metadata_document'

/** A client application, as it is stored. */
export interface ClientFields {
  /** The primary key, by which tokens, authorizations and consents refer to the client: a reset keeps it. */
  readonly clientKey: number
  readonly clientId: string
  /** The digest of the client secret; the secret itself is shown once and kept nowhere. */
  readonly clientSecret: Digest
  /** The digest of the former secret, and until when it is valid beside the new one. */
  readonly previousClientSecret: Digest | null
  /** Milliseconds since the epoch. */
  readonly previousClientSecretExpires: number | null
  readonly name: string
  readonly description: string
  readonly website: string
  /** The creator, who owns the client; null for a client without an owner. */
  readonly userId: UserId | null
  readonly isConfidential: boolean
  readonly isInternal: boolean
  /** True for the client row behind a personal token, which is a client at no OAuth endpoint. */
  readonly isPersonal: boolean
  readonly redirectUris: readonly string[]
  readonly defaultScopes: readonly string[]
  /** Scopes that the user may refuse on the consent page while granting the rest. */
  readonly optionalScopes: readonly string[]
  /** The most that this client may ask for; null: every registered scope that is not internal. */
  readonly allowedScopes: readonly string[] | null
  readonly grantTypes: readonly string[] | null
  readonly responseTypes: readonly string[] | null
  readonly tokenEndpointAuthMethod: TokenEndpointAuthMethod | null
  /** Whether an administrator has checked who makes it. */
  readonly isVerified: boolean
  /** Whether an administrator has switched it off: until that is taken back, it and its tokens are refused. */
  readonly isDisabled: boolean
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly origin: ClientOrigin
  /** Its public keys (RFC 7517 §5) as JSON, where it has no address of them. */
  readonly jwks: string | null
  readonly jwksUri: string | null
  /** The digest of the token with which the client manages its own registration (RFC 7592). */
  readonly registrationToken: Digest | null
  /** What else it says of itself (RFC 7591 §2), as JSON: nothing that decides who may do what. */
  readonly metadata: string
}

/** The owner of a client. */
export type ClientOwner = User

/** What a client needs to know of the server that it is registered at. */
export interface ClientContext {
  readonly scopes: ScopeRegistry
  readonly allowedGrantTypes: readonly string[]
  readonly allowedResponseTypes: readonly string[]
  /** Every grant type there is, also those that are off. */
  readonly knownGrantTypes: readonly string[]
  readonly defaultScopes: readonly string[]
  countUsers(clientId: string, most: number): Promise<number>
}

export interface Client extends ClientFields {}

/** A registered client application (RFC 6749 §1.1). */
export class Client {
  /** The creator's record; null for a client without an owner. */
  readonly owner: ClientOwner | null
  readonly #context: ClientContext
  // Neither a client nor the settings change while it lives.
  #grantTypes: readonly string[] | undefined

  constructor(fields: ClientFields, owner: ClientOwner | null, context: ClientContext) {
    Object.assign(this, fields)
    this.owner = owner
    this.#context = context
  }

  get clientType(): 'confidential' | 'public' {
    return this.isConfidential ? 'confidential' : 'public'
  }

  /** Who answers for it: the e-mail address of its owner, or the host at which it describes itself. */
  get maker(): string | undefined {
    return this.origin === 'metadata_document' ? new URL(this.clientId).host : this.owner?.email
  }

  /** The first redirect URI, or undefined without any. */
  get defaultRedirectUri(): string | undefined {
    return this.redirectUris[0]
  }

  /** The configured grant types, narrowed by this client's own limit. */
  get allowedGrantTypes(): readonly string[] {
    this.#grantTypes ??= narrowed(this.#context.allowedGrantTypes, this.grantTypes)
    return this.#grantTypes
  }

  get allowedResponseTypes(): readonly string[] {
    return narrowed(this.#context.allowedResponseTypes, this.responseTypes)
  }

  /**
   * When its secret became known to others and was ended, in milliseconds since the epoch; null: it was not, or its
   * owner has made another since.
   */
  get secretLeakedAt(): number | null {
    const { secret_leaked_at: at }: { secret_leaked_at?: number } = JSON.parse(this.metadata)
    return at ?? null
  }

  /** Whether client and owner are fit to act: an inactive owner invalidates the client. */
  get isActive(): boolean {
    return !this.isDisabled && (this.userId === null || this.owner?.active === true)
  }

  /** The most that this client may ask a user for; internal scopes are never part of it. */
  get scopeCeiling(): readonly string[] {
    const { scopes } = this.#context
    return this.allowedScopes ? scopes.visible(this.allowedScopes) : scopes.requestable()
  }

  /** What is asked for where a request names no scope. */
  get scopesWhenOmitted(): readonly string[] {
    const scopes = this.defaultScopes.length > 0 ? this.defaultScopes : this.#context.defaultScopes
    const ceiling = this.scopeCeiling
    return scopes.filter((scope) => ceiling.includes(scope))
  }

  /** The most that this client may have where nobody is asked: `client_credentials`. */
  get scopeCeilingWithoutConsent(): readonly string[] {
    return this.allowedScopes ? this.scopeCeiling : this.scopesWhenOmitted
  }

  /** True when all scopes are registered, false when one does not exist. */
  validateScopes(scopes: readonly string[]): boolean {
    try {
      this.#context.scopes.validated(scopes)
      return true
    } catch (error) {
      if (error instanceof ScopeDoesNotExists) return false
      throw error
    }
  }

  /**
   * The number of this client's tokens that are neither personal nor internal.
   * @param most ends the count there. Without it every token is counted, which takes long for a client with millions.
   */
  getUsers(most: number = Number.MAX_SAFE_INTEGER): Promise<number> {
    return this.#context.countUsers(this.clientId, most)
  }

  /** Compares a client secret in constant time; `now` is in milliseconds since the epoch. */
  checkSecret(secret: string, now: number): boolean {
    const digest = digestOf('client_secret', secret)
    const isCurrent = constantTimeEqual(digest, this.clientSecret)
    const { previousClientSecret: previous, previousClientSecretExpires: expires } = this
    if (previous === null || expires === null || expires <= now) return isCurrent
    return constantTimeEqual(digest, previous) || isCurrent
  }
}

const narrowed = (
  configured: readonly string[],
  limit: readonly string[] | null,
): readonly string[] =>
  limit === null ? configured : configured.filter((type) => limit.includes(type))
