import type { RandomSource } from './crypto/random.ts'
import type { HttpRequest } from './http-request.ts'
import type { LogSink } from './log.ts'
import type { AuthorizationCode, CodeBinding } from './model/authorization.ts'
import type { AuthorizationRequest } from './model/authorization-request.ts'
import type { Client, TokenEndpointAuthMethod } from './model/client.ts'
import type { Parameters } from './model/parameters.ts'
import type { Redemption } from './model/redemption.ts'
import type { ScopeRegistry } from './model/scope.ts'
import type { FoundToken } from './model/token.ts'
import type { User } from './model/user.ts'
import type { Settings } from './options.ts'
import type { Brand, FrameLinks } from './pages/frame.ts'
import type { Pages } from './pages/pages.ts'
import type { Records } from './records/records.ts'
import type { TransientValues } from './records/transient-values.ts'
import type { ResourceServer } from './resource-server.ts'
import type { Sessions } from './session/sessions.ts'
import type { Telemetry } from './telemetry/telemetry.ts'
import type { Traces } from './telemetry/traces.ts'

/** The specification's provider operations, the host's own where it replaced them. */
export interface ProviderOperations {
  getClient(clientId: string): Promise<Client | undefined>
  /** By the access token; by the refresh token where that is absent. */
  getToken(by: {
    readonly accessToken?: string
    readonly refreshToken?: string
  }): Promise<FoundToken | undefined>
  /** For the `password` grant alone. */
  getUser(email: string, password: string): Promise<User | undefined>
}

/** An authorization request that waits for its user's decision, bound to whom it was shown. */
export interface PendingAuthorization {
  readonly request: AuthorizationRequest
  /** What the client was allowed when its user was asked. */
  readonly terms: string
  readonly userId: User['id']
  readonly sessionId: string
}

/** What the next settings page says, once, to the session that did something: that it was done, and a new secret. */
export interface Notice {
  readonly done?: string
  /** Shown this once, and kept nowhere else. */
  readonly secret?: string
}

/** Where a settings form led; null: it is at work still. */
export interface Outcome {
  readonly location: string | null
}

/** All that grants, endpoints and extensions work with. */
export interface ServerContext extends Records, ProviderOperations {
  /** The issuer identifier, to which every address is relative. RFC 8414 §2. */
  readonly issuer: string
  /** The path of the issuer, without a slash at its end. */
  readonly basePath: string
  /** Every page: the built-in one, or the host's. */
  readonly pages: Pages
  readonly brand: Brand
  /** The addresses that every page needs. */
  readonly links: FrameLinks
  readonly settings: Settings
  readonly scopes: ScopeRegistry
  readonly clock: () => number
  readonly random: RandomSource
  readonly log: LogSink
  readonly telemetry: Telemetry
  readonly traces: Traces
  readonly codes: TransientValues<AuthorizationCode>
  readonly pending: TransientValues<PendingAuthorization>
  /** By session and address. */
  readonly notices: TransientValues<Notice>
  /** By session and content. */
  readonly forms: TransientValues<Outcome>
  /** Whether requests should be sent to this process. */
  isReady(): Promise<boolean>
  /** Writes when tokens were used last, as far as this process knows. */
  flushTokenUses(): Promise<void>
  readonly sessions: Sessions
  readonly resourceServer: ResourceServer
  readonly grants: readonly Grant[]
  readonly clientAuthentication: readonly ClientAuthenticationMethod[]
  readonly extensions: readonly Extension[]
  readonly endpoints: readonly Endpoint[]
  /** Where the error view stands: an address that errors can be appended to. */
  readonly errorView: string
  /** For requests that the server itself sends. */
  readonly fetch: typeof fetch
}

/** A token request after its client was authenticated. RFC 6749 §4. */
export interface TokenRequest {
  readonly client: Client
  readonly params: Parameters
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** Redeems a token request: decides who may have what, and never mints. One per `grant_type`. */
export interface Grant {
  readonly type: string
  /** The parameters it reads, which must not be given twice. */
  readonly parameters: readonly string[]
  /** @throws OAuthError; nothing is consumed then */
  redeem(request: TokenRequest, server: ServerContext): Promise<Redemption>
}

/** One way for a client to authenticate at the token endpoint. RFC 6749 §2.3. */
export interface ClientAuthenticationMethod {
  readonly name: TokenEndpointAuthMethod
  readonly parameters: readonly string[]
  /** The client id that this request presents by this method; undefined where it is not used. */
  presented(authorization: string | null, params: Parameters): ClientCredentials | undefined
}

export interface ClientCredentials {
  readonly clientId: string
  /** Undefined for a public client, which has none. */
  readonly clientSecret?: string
}

/** An address of the authorization server. */
export interface Endpoint {
  /**
   * Its path under the path of the issuer; `:name` stands for a part that differs, which the request's
   * `param('name')` gives. One that ends in a slash is found without it too, and is redirected.
   */
  path(settings: Settings): string
  /** Stands at the root of the host, with the issuer's path behind it (RFC 8414 §3.1). */
  readonly wellKnown?: boolean
  readonly methods: readonly ('GET' | 'POST')[]
  /** How its errors are delivered. */
  readonly errors: 'json' | 'page' | 'challenge'
  /** The metadata member that names its address. RFC 8414 §2. */
  readonly advertisedAs?: string
  handle(request: HttpRequest, server: ServerContext): Promise<Response>
}

/** One standard: what it adds to the protocol, phase by phase. Hooks refuse by throwing and add by returning. */
export interface Extension {
  readonly name: string
  readonly endpoints?: readonly Endpoint[]
  readonly grants?: readonly Grant[]
  /** Parameters of the authorization request, which must not be given twice. */
  readonly authorizationParameters?: readonly string[]
  /** Members of the server's metadata. RFC 8414 §2. */
  metadata?(server: ServerContext): Readonly<Record<string, unknown>>
  /** What to remember of an authorization request, under the extension's name. */
  onAuthorizationRequest?(
    params: Parameters,
    request: Pick<AuthorizationRequest, 'responseType'> & { readonly client: Client },
    server: ServerContext,
  ): unknown
  /** Parameters of every authorization answer, errors included. */
  onAuthorizationResponse?(server: ServerContext): Readonly<Record<string, string>>
  /** Checks a token request against what was remembered of the authorization request. */
  onCodeRedemption?(params: Parameters, binding: CodeBinding): void
}
