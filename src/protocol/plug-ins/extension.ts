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
  /** The parameters of the token request; empty at the authorization endpoint. */
  readonly params: Parameters
  readonly http: HttpRequest
  /** The values that extensions stored with the authorization request, by their names. */
  readonly remembered: Readonly<Record<string, unknown>>
}

/** A standard that is added to the protocol. A hook refuses a request by throwing, and adds to it by returning. */
export interface ExtensionFor<Server> {
  readonly name: string
  /** Returns whether the settings switch it on. Without this function it is always on. */
  isOn?(settings: Settings): boolean
  readonly endpoints?: readonly EndpointFor<Server>[]
  readonly grants?: readonly GrantFor<Server>[]
  /** Its own error codes, limits, audit events and short-lived values: the result of `extensionNames`. */
  readonly names?: Pick<ExtensionNames, 'extension' | 'declared'>
  /** Parameters of the authorization request. A request that repeats one of them is refused. */
  readonly authorizationParameters?: readonly string[]
  /** Parameters of the token request. A request that repeats one of them is refused. */
  readonly tokenParameters?: readonly string[]
  /** Returns members of the server's metadata. RFC 8414 §2. */
  metadata?(server: Server): Readonly<Record<string, unknown>>
  /** Returns members of the metadata of a protected resource. RFC 9728 §2. */
  resourceMetadata?(server: Server): Readonly<Record<string, unknown>>
  /**
   * Finds the client of an ID that this extension handles, or null for an unknown one. Returns undefined for other
   * IDs.
   */
  findClient?(
    clientId: string,
    server: Server,
    lookup: ClientLookup,
  ): Promise<Client | null> | undefined
  /** Returns the parameters of the stored request that a request refers to, or undefined without a reference. */
  onAuthorizationParameters?(
    params: Parameters,
    server: Server,
  ): Promise<Parameters | undefined> | undefined
  /** Returns parameters to add to a pushed authorization request. Runs after all checks. RFC 9126 §2.1. */
  onPushedRequest?(
    params: Parameters,
    http: HttpRequest,
    server: Server,
  ): Promise<Readonly<Record<string, string>>>
  /** Returns a value to store with the authorization request, under the extension's name. */
  onAuthorizationRequest?(
    params: Parameters,
    request: Pick<AuthorizationRequest, 'responseType'> & { readonly client: Client },
    server: Server,
  ): unknown
  /**
   * Returns parameters for every authorization response, including errors.
   * @param answered the stored values of a request that was granted or denied; undefined for other responses
   */
  onAuthorizationResponse?(
    server: Server,
    answered?: Readonly<Record<string, unknown>>,
  ): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
  /** Checks a token request against the value that was stored with the authorization request. */
  onCodeRedemption?(params: Parameters, binding: CodeBinding): void
  /** Restricts a token before it is issued. Runs after the grant, and before a code or refresh token is consumed. */
  onTokenIssue?(issue: TokenIssue, server: Server): Redemption | Promise<Redemption>
  /** Returns headers for a token response and for the response to a pushed request. */
  answerHeaders?(http: HttpRequest, server: Server): Readonly<Record<string, string>>
  /** Checks whether a valid token may be used for this request. Runs on every request, so it must be fast. */
  onProtectedRequest?(
    presented: PresentedToken,
    found: FoundToken,
    server: Server,
  ): void | Promise<void>
}
