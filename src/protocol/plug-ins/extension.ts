import type { HttpRequest } from '../../http/request.ts'
import type { PresentedToken } from '../../model/auth.ts'
import type { CodeBinding } from '../../model/authorization.ts'
import type { AuthorizationRequest } from '../../model/authorization-request.ts'
import type { Client } from '../../model/client.ts'
import type { Parameters } from '../../model/parameters.ts'
import type { Redemption } from '../../model/redemption.ts'
import type { FoundToken } from '../../model/token.ts'
import type { Settings } from '../../settings/settings.ts'
import type { ClientLookup } from '../client-lookup.ts'
import type { ExtensionNames } from '../extension-names.ts'
import type { EndpointFor } from './endpoint.ts'
import type { GrantFor } from './grant.ts'

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
export interface ExtensionFor<Server> {
  readonly name: string
  /** Whether it is switched on; without this, it always is. */
  isOn?(settings: Settings): boolean
  readonly endpoints?: readonly EndpointFor<Server>[]
  readonly grants?: readonly GrantFor<Server>[]
  /** Error codes, limits, audit events and short-lived values of its own: what `extensionNames` returns. */
  readonly names?: Pick<ExtensionNames, 'extension' | 'declared'>
  /** Parameters of the authorization request, which must not be given twice. */
  readonly authorizationParameters?: readonly string[]
  /** Parameters of the token request, which must not be given twice. */
  readonly tokenParameters?: readonly string[]
  /** Members of the server's metadata. RFC 8414 §2. */
  metadata?(server: Server): Readonly<Record<string, unknown>>
  /** Members of the metadata of a protected resource. RFC 9728 §2. */
  resourceMetadata?(server: Server): Readonly<Record<string, unknown>>
  /** The client of an id that is of this extension's kind; undefined for every other id. */
  findClient?(
    clientId: string,
    server: Server,
    lookup: ClientLookup,
  ): Promise<Client | null> | undefined
  /** The request that a request refers to; undefined where it says everything itself. */
  onAuthorizationParameters?(
    params: Parameters,
    server: Server,
  ): Promise<Parameters | undefined> | undefined
  /** Parameters that a pushed authorization request has besides those of its body. It runs last of all checks. RFC 9126 §2.1. */
  onPushedRequest?(
    params: Parameters,
    http: HttpRequest,
    server: Server,
  ): Promise<Readonly<Record<string, string>>>
  /** What to remember of an authorization request, under the extension's name. */
  onAuthorizationRequest?(
    params: Parameters,
    request: Pick<AuthorizationRequest, 'responseType'> & { readonly client: Client },
    server: Server,
  ): unknown
  /**
   * Parameters of every authorization answer, errors included.
   * @param answered what extensions remembered of a request that was granted or denied; undefined for any other answer
   */
  onAuthorizationResponse?(
    server: Server,
    answered?: Readonly<Record<string, unknown>>,
  ): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
  /** Checks a token request against what was remembered of the authorization request. */
  onCodeRedemption?(params: Parameters, binding: CodeBinding): void
  /** Restricts a token before it is issued. It runs after the grant, and before anything is spent. */
  onTokenIssue?(issue: TokenIssue, server: Server): Redemption | Promise<Redemption>
  /** Headers of the answer to a client that got tokens, or whose pushed request was taken. */
  answerHeaders?(http: HttpRequest, server: Server): Readonly<Record<string, string>>
  /** Checks a token that is valid for the request that presents it. It runs on every request: be quick. */
  onProtectedRequest?(
    presented: PresentedToken,
    found: FoundToken,
    server: Server,
  ): void | Promise<void>
}
