import { constantTimeEqual, type Digest, digestOf } from '../crypto/digest.ts'
import { shownEmail } from './email-address.ts'
import type { ClientFields } from './entities/client.ts'
import { frozen } from './entities/entity.ts'
import type { ProtectedResource } from './protected-resource.ts'
import { returnsIdToken } from './response-type.ts'
import { ScopeDoesNotExists, type ScopeRegistry } from './scope.ts'
import type { User } from './user.ts'

/** The built-in grant types. */
export type GrantType = 'authorization_code' | 'password' | 'client_credentials' | 'refresh_token'

/**
 * Returns whether a client is trusted: a user or the host registered the client, or an administrator verified it. Anyone
 * can register a client by itself, with any name and any redirect URI.
 */
export const isTrusted = ({
  origin,
  isVerified,
}: Pick<ClientFields, 'origin' | 'isVerified'>): boolean => origin === 'owner' || isVerified

/** The owner of a client. */
export type ClientOwner = User

/** The settings and queries of the server that a client needs. */
export interface ClientContext {
  readonly scopes: ScopeRegistry
  readonly allowedGrantTypes: readonly string[]
  readonly allowedResponseTypes: readonly string[]
  /** Every grant type that the server implements, including disabled grant types. */
  readonly knownGrantTypes: readonly string[]
  readonly defaultScopes: readonly string[]
  readonly resources: readonly ProtectedResource[]
  /** Counts the client's tokens, up to `max`, without personal, internal and exchanged tokens. */
  countTokens(clientId: string, max: number): Promise<number>
}

export interface Client extends ClientFields {}

/**
 * A registered client application (RFC 6749 §1.1). The object is frozen: `clients.update` validates and saves changes.
 */
export class Client {
  /** The user record of the owner; null for a client without an owner. */
  readonly owner: ClientOwner | null
  readonly #context: ClientContext
  // Cached, because neither the client nor the settings change during the lifetime of this object.
  #grantTypes: readonly string[] | undefined

  constructor(fields: ClientFields, owner: ClientOwner | null, context: ClientContext) {
    Object.assign(this, fields)
    this.owner = owner
    this.#context = context
    frozen(this)
  }

  /** The client type (RFC 6749 §2.1). */
  get clientType(): 'confidential' | 'public' {
    return this.isConfidential ? 'confidential' : 'public'
  }

  /**
   * The e-mail address of the client's owner, or the host of the client's metadata document. Undefined for other
   * clients, such as a client that registered itself.
   */
  get maker(): string | undefined {
    if (this.origin === 'metadata_document') return new URL(this.clientId).host
    return this.owner ? shownEmail(this.owner.email) : undefined
  }

  /** The first redirect URI; undefined for a client without redirect URIs. */
  get defaultRedirectUri(): string | undefined {
    return this.redirectUris[0]
  }

  /** The grant types that the settings enable and this client may use. */
  get allowedGrantTypes(): readonly string[] {
    this.#grantTypes ??= narrowed(this.#context.allowedGrantTypes, this.grantTypes)
    return this.#grantTypes
  }

  /**
   * The response types that the settings enable and this client may use. A client without registered response types
   * cannot use the types with an ID token, because the client might not check the nonce.
   */
  get allowedResponseTypes(): readonly string[] {
    const { allowedResponseTypes: configured } = this.#context
    return this.responseTypes === null
      ? configured.filter((type) => !returnsIdToken(type))
      : narrowed(configured, this.responseTypes)
  }

  /**
   * The time at which the client secret was revoked after a leak report, in milliseconds since the epoch. Null without
   * a report, after a reset of the secret, and for every client whose `origin` is not `owner`.
   */
  get secretLeakedAt(): number | null {
    const { secret_leaked_at: at }: { secret_leaked_at?: number } = JSON.parse(this.metadata)
    return at ?? null
  }

  /** Whether the client is enabled, and its owner is active if the client has an owner. */
  get isActive(): boolean {
    return !this.isDisabled && (this.userId === null || this.owner?.active === true)
  }

  /** The scopes that this client may request from a user, without internal scopes. */
  get scopeCeiling(): readonly string[] {
    const { scopes } = this.#context
    return this.allowedScopes ? scopes.visible(this.allowedScopes) : scopes.requestable()
  }

  /** The scopes of a request without the parameter `scope`. */
  get scopesWhenOmitted(): readonly string[] {
    const scopes = this.defaultScopes.length > 0 ? this.defaultScopes : this.#context.defaultScopes
    const ceiling = this.scopeCeiling
    return scopes.filter((scope) => ceiling.includes(scope))
  }

  /**
   * The scopes that this client may receive without a user's consent, for `client_credentials`. A client without
   * `allowedScopes` may receive only `scopesWhenOmitted`, because no user decides about further scopes.
   */
  get scopeCeilingWithoutConsent(): readonly string[] {
    return this.allowedScopes ? this.scopeCeiling : this.scopesWhenOmitted
  }

  /** Returns whether all scopes are registered. */
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
   * Counts this client's tokens, without personal, internal and exchanged tokens, as the specification defines
   * `get_users`. A user with several tokens is counted several times.
   * @param max the number at which counting stops, because counting millions of tokens is slow
   */
  getUsers(max: number = Number.MAX_SAFE_INTEGER): Promise<number> {
    return this.#context.countTokens(this.clientId, max)
  }

  /**
   * Returns whether this is the current secret, or the former secret during the overlap. Compares in constant time.
   * @param now milliseconds since the epoch
   */
  checkSecret(secret: string, now: number): boolean {
    return this.hasSecretDigest(digestOf('client_secret', secret), now)
  }

  /** Does the same as `checkSecret`, for the digest of a secret. @internal */
  hasSecretDigest(digest: Digest, now: number): boolean {
    const isCurrent = constantTimeEqual(digest, this.clientSecret)
    const { previousClientSecret: previous, previousClientSecretExpires: expires } = this
    if (previous === null || expires === null || expires <= now) return isCurrent
    return constantTimeEqual(digest, previous) || isCurrent
  }
}

/** A security rule that a client can enable for itself in its metadata. */
type SelfImposedRule =
  | 'dpop_bound_access_tokens' // RFC 9449 §5.2
  | 'require_pushed_authorization_requests' // RFC 9126 §6
  | 'require_signed_request_object' // RFC 9101 §10.5

/** Returns whether a client has enabled a rule for itself. */
export const hasImposed = (
  { metadata }: Pick<ClientFields, 'metadata'>,
  rule: SelfImposedRule,
): boolean => {
  // Most clients enable no rule, so avoid parsing their metadata.
  if (!metadata.includes(rule)) return false
  const value: unknown = JSON.parse(metadata)
  return typeof value === 'object' && value !== null && Reflect.get(value, rule) === true
}

/** Returns whether a client authenticates with a secret. A public client and a client with keys have no secret. */
export const usesSecret = ({
  isConfidential,
  tokenEndpointAuthMethod,
}: Pick<ClientFields, 'isConfidential' | 'tokenEndpointAuthMethod'>): boolean =>
  isConfidential && tokenEndpointAuthMethod !== 'private_key_jwt'

const narrowed = (
  configured: readonly string[],
  limit: readonly string[] | null,
): readonly string[] =>
  limit === null ? configured : configured.filter((type) => limit.includes(type))
