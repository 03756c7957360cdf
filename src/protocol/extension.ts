import type { SecretKind } from '../crypto/digest.ts'
import type { RandomSource } from '../crypto/random.ts'
import type { KeyRing } from '../crypto/sealed.ts'
import type { Answer } from '../http/answer.ts'
import type { Outbound } from '../http/outbound/outbound.ts'
import type { HttpRequest } from '../http/request.ts'
import type { PresentedToken } from '../model/auth.ts'
import type { AuthorizationCode, CodeBinding } from '../model/authorization.ts'
import type { AuthorizationRequest } from '../model/authorization-request.ts'
import type { Client, TokenEndpointAuthMethod } from '../model/client.ts'
import type { Health } from '../model/health.ts'
import type { OnLeaked } from '../model/leak-report.ts'
import type { LogSink } from '../model/log.ts'
import type { Parameters } from '../model/parameters.ts'
import type { ProtectedResource } from '../model/protected-resource.ts'
import type { Redemption } from '../model/redemption.ts'
import type { RegisterClient } from '../model/register-client.ts'
import type { ScopeRegistry } from '../model/scope.ts'
import type { FoundToken } from '../model/token.ts'
import type { User } from '../model/user.ts'
import type { Brand, FrameLinks } from '../pages/frame.ts'
import type { Pages } from '../pages/pages.ts'
import type { SigningKeys } from '../records/keys/signing-keys.ts'
import type { Limits } from '../records/limits.ts'
import type { Records } from '../records/records.ts'
import type { TransientValues } from '../records/transient-values.ts'
import type { Settings } from '../settings/settings.ts'
import type { ResourceServer } from './resource-server.ts'
import type { KnownBrowsers } from './session/known-browsers.ts'
import type { Sessions } from './session/sessions.ts'
import type { TokenQueues } from './token-queues.ts'

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

/** What a client is looked up for, where that makes a difference to who looks. */
export interface ClientLookup {
  /** The address of who asks. */
  readonly address?: string
  /** Whether a user is to be asked for an authorization; otherwise the client goes on with one that it has. */
  readonly forAuthorization?: boolean
}

/** All that grants, endpoints and extensions work with. */
export interface ServerContext extends Records, ProviderOperations {
  /** @throws OAuthError for a client that could not be looked up now, or is none */
  getClient(clientId: string, lookup?: ClientLookup): Promise<Client | undefined>
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
  /** Counts a grant of tokens by its outcome. @throws what `run` throws */
  readonly countGrant: <T>(type: string, run: () => Promise<T>) => Promise<T>
  readonly codes: TransientValues<AuthorizationCode>
  readonly pending: TransientValues<PendingAuthorization>
  /** By session and address. */
  readonly notices: TransientValues<Notice>
  /** By session and content. */
  readonly forms: TransientValues<Outcome>
  /** Whether requests should be sent to this process. */
  isReady(): Promise<boolean>
  /** The same, and what is away all the same. */
  health(): Promise<Health>
  /** Writes what the audit log has gathered, as far as this process knows. */
  flushAudit(): Promise<void>
  /** Writes when tokens were used last, as far as this process knows. */
  flushTokenUses(): Promise<void>
  readonly sessions: Sessions
  readonly knownBrowsers: KnownBrowsers
  readonly resourceServer: ResourceServer
  readonly grants: readonly Grant[]
  readonly clientAuthentication: readonly ClientAuthenticationMethod[]
  readonly extensions: readonly Extension[]
  readonly endpoints: readonly Endpoint[]
  /** Where the error view stands: an address that errors can be appended to. */
  readonly errorView: string
  /** Requests that the server itself sends. */
  readonly outbound: Outbound
  /** What is protected here; the first is the issuer, that is the whole application. RFC 8707 §2. */
  readonly resources: readonly ProtectedResource[]
  readonly limits: Limits
  /** Token requests that wait, so that one client's do not delay those of others. */
  readonly tokenQueues: TokenQueues
  readonly keys: KeyRing
  readonly signingKeys: SigningKeys
  /** The host's say about clients that register themselves. */
  readonly registerClient: RegisterClient | undefined
  /** The host's way to tell owners that a credential of theirs has leaked. */
  readonly onLeaked: OnLeaked | undefined
  /** Short-lived values of one kind, for extensions. */
  transientValues<T>(kind: SecretKind): TransientValues<T>
}

/** A token request after its client was authenticated. RFC 6749 §4. */
export interface TokenRequest {
  readonly client: Client
  readonly params: Parameters
  readonly http: HttpRequest
  /** Milliseconds since the epoch. */
  readonly now: number
}

/** Redeems a token request: decides who may have what, and never mints. One per `grant_type`. */
export interface Grant {
  readonly type: string
  /** The parameters it reads, which must not be given twice. */
  readonly parameters: readonly string[]
  /** The client of a request that needs no client authentication; undefined: it has to authenticate as any other. */
  findClient?(
    request: Pick<TokenRequest, 'params' | 'http'>,
    server: ServerContext,
  ): Promise<Client | undefined>
  /** Members of its answer beside those of RFC 6749 §5.1. */
  readonly answer?: Readonly<Record<string, unknown>>
  /** @throws OAuthError; nothing is consumed then */
  redeem(request: TokenRequest, server: ServerContext): Promise<Redemption>
}

/** One way for a client to authenticate at the token endpoint. RFC 6749 §2.3. */
export interface ClientAuthenticationMethod {
  readonly name: TokenEndpointAuthMethod
  readonly parameters: readonly string[]
  /** What this request presents by this method; undefined where it is not used. */
  presented(authorization: string | null, params: Parameters): ClientCredentials | undefined
  /** Whether that proves the client. Without a client it never does, and takes as long all the same. */
  proves(
    credentials: ClientCredentials,
    client: Client | undefined,
    server: ServerContext,
    lookup: ClientLookup,
  ): boolean | Promise<boolean>
  /** Members of the server's metadata. RFC 8414 §2. */
  readonly metadata?: Readonly<Record<string, unknown>>
}

export interface ClientCredentials {
  readonly clientId: string
  /** The secret or the assertion; undefined for a public client, which has none. */
  readonly proof?: string
}

/** An address of the authorization server. */
export interface Endpoint {
  /**
   * Its path under the path of the issuer; `:name` stands for a part that differs, which the request's
   * `param('name')` gives. One that ends in a slash is found without it too, and is redirected.
   */
  path(settings: Settings): string
  /** The identifiers that it is about: it stands at the root of the host, and before and behind the path of each. */
  wellKnown?(server: ServerContext): readonly string[]
  readonly methods: readonly ('GET' | 'POST' | 'PUT' | 'DELETE')[]
  /** Scripts of any origin may call it: without credentials of a browser (RFC 9700 §2.6). */
  readonly cors?: boolean
  /** How its errors are delivered. */
  readonly errors: 'json' | 'page' | 'challenge'
  /** The metadata member that names its address. RFC 8414 §2. */
  readonly advertisedAs?: string
  handle(request: HttpRequest, server: ServerContext): Promise<Response | Answer>
}

/** A token that is about to be issued. */
export interface TokenIssue {
  readonly redemption: Redemption
  /** Of the token request; at the authorization endpoint, there are none. */
  readonly params: Parameters
  readonly http: HttpRequest
  /** What extensions remembered of the authorization request, by their names. */
  readonly remembered: Readonly<Record<string, unknown>>
}

/** One standard: what it adds to the protocol, phase by phase. Hooks refuse by throwing and add by returning. */
export interface Extension {
  readonly name: string
  /** Whether it is switched on; without this, it always is. */
  isOn?(settings: Settings): boolean
  readonly endpoints?: readonly Endpoint[]
  readonly grants?: readonly Grant[]
  /** Parameters of the authorization request, which must not be given twice. */
  readonly authorizationParameters?: readonly string[]
  /** Parameters of the token request, which must not be given twice. */
  readonly tokenParameters?: readonly string[]
  /** Members of the server's metadata. RFC 8414 §2. */
  metadata?(server: ServerContext): Readonly<Record<string, unknown>>
  /** Members of the metadata of a protected resource. RFC 9728 §2. */
  resourceMetadata?(server: ServerContext): Readonly<Record<string, unknown>>
  /** The client of an id that is of this extension's kind; undefined for every other id. */
  findClient?(
    clientId: string,
    server: ServerContext,
    lookup: ClientLookup,
  ): Promise<Client | null> | undefined
  /** The request that a request refers to; undefined where it says everything itself. */
  onAuthorizationParameters?(
    params: Parameters,
    server: ServerContext,
  ): Promise<Parameters | undefined> | undefined
  /** Parameters that a pushed authorization request has besides those of its body. It runs last of all checks. RFC 9126 §2.1. */
  onPushedRequest?(
    params: Parameters,
    http: HttpRequest,
    server: ServerContext,
  ): Promise<Readonly<Record<string, string>>>
  /** What to remember of an authorization request, under the extension's name. */
  onAuthorizationRequest?(
    params: Parameters,
    request: Pick<AuthorizationRequest, 'responseType'> & { readonly client: Client },
    server: ServerContext,
  ): unknown
  /**
   * Parameters of every authorization answer, errors included.
   * @param answered what extensions remembered of a request that was granted or denied; undefined for any other answer
   */
  onAuthorizationResponse?(
    server: ServerContext,
    answered?: Readonly<Record<string, unknown>>,
  ): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
  /** Checks a token request against what was remembered of the authorization request. */
  onCodeRedemption?(params: Parameters, binding: CodeBinding): void
  /** Restricts a token before it is issued. It runs after the grant, and before anything is spent. */
  onTokenIssue?(issue: TokenIssue, server: ServerContext): Redemption | Promise<Redemption>
  /** Headers of the answer to a client that got tokens, or whose pushed request was taken. */
  answerHeaders?(http: HttpRequest, server: ServerContext): Readonly<Record<string, string>>
  /** Checks a token that is valid for the request that presents it. It runs on every request: be quick. */
  onProtectedRequest?(
    presented: PresentedToken,
    found: FoundToken,
    server: ServerContext,
  ): void | Promise<void>
}
