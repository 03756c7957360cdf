import type { HttpRequest } from '../../http/request.ts'
import type { PresentedToken, SignedIn } from '../../model/auth.ts'
import type { CodeBinding } from '../../model/authorization.ts'
import type { AuthorizationRequest } from '../../model/authorization-request.ts'
import type { Client } from '../../model/client.ts'
import type { Consent } from '../../model/entities/consent.ts'
import type { OAuthError } from '../../model/oauth-error.ts'
import type { ParameterList, Parameters } from '../../model/parameters.ts'
import type { Redemption } from '../../model/redemption.ts'
import type { FoundToken, IssuedToken } from '../../model/token.ts'
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
  /** The values that extensions stored with the authorization request, by the name of the extension. */
  readonly remembered: Readonly<Record<string, unknown>>
}

/** The code and the token that the authorization endpoint issued for a request that the user granted. */
export interface AuthorizationIssue {
  readonly client: Client
  readonly signedIn: SignedIn
  readonly consent: Consent
  readonly code?: string | undefined
  readonly token?: IssuedToken | undefined
  /** The values that extensions store with a code, by the name of the extension. */
  readonly remembered: Readonly<Record<string, unknown>>
}

/** `again`: the user must log in again. `as_other_user`: the request is for another user than the logged-in user. */
export type RequiredLogin = 'again' | 'as_other_user'

/** The request to which the parameters of an authorization request refer. */
export interface ReferredRequest {
  readonly params: Parameters
  /** Parameters to add when the browser repeats the request after a login. */
  readonly added?: Readonly<Record<string, string>>
  /** The error for a refused reference. The server sends the error to the redirect URI in `params` if this URI is valid. */
  readonly refusal?: OAuthError
}

/** A standard that is added to the protocol. A hook throws an error to refuse a request. A hook returns values to add. */
export interface ExtensionFor<Server> {
  readonly name: string
  /** Returns whether the settings enable the extension. Without this function, the extension is always enabled. */
  isOn?(settings: Settings): boolean
  readonly endpoints?: readonly EndpointFor<Server>[]
  readonly grants?: readonly GrantFor<Server>[]
  /** The error codes, limits, audit events and short-lived values of the extension, created by `extensionNames`. */
  readonly names?: Pick<ExtensionNames, 'extension' | 'declared'>
  /** Parameters of the authorization request. The server refuses a request that repeats a parameter. */
  readonly authorizationParameters?: ParameterList
  /** Parameters of the token request. The server refuses a request that repeats a parameter. */
  readonly tokenParameters?: ParameterList
  /** Returns members of the server's metadata. RFC 8414 §2. */
  metadata?(server: Server): Readonly<Record<string, unknown>>
  /** Returns members of the metadata of a protected resource. RFC 9728 §2. */
  resourceMetadata?(server: Server): Readonly<Record<string, unknown>>
  /** Finds a client by its ID. Returns null for an unknown client, and undefined for an ID of another format. */
  findClient?(
    clientId: string,
    server: Server,
    lookup: ClientLookup,
  ): Promise<Client | null> | undefined
  /**
   * Returns the request to which `params` refers, or undefined without a reference.
   * @param lookup the IP address of the sender
   * @throws OAuthError, which the server must show instead of redirecting
   */
  onAuthorizationParameters?(
    params: Parameters,
    server: Server,
    lookup: Pick<ClientLookup, 'address'>,
  ): Promise<ReferredRequest | undefined> | undefined
  /** Returns parameters to add to a pushed authorization request. Runs after the request was validated. RFC 9126 §2.1. */
  onPushedRequest?(
    params: Parameters,
    http: HttpRequest,
    server: Server,
  ): Promise<Readonly<Record<string, string>>>
  /** Adds scopes to an authorization request, or removes scopes. Returns the resulting scopes. */
  onRequestedScopes?(
    scopes: readonly string[],
    params: Parameters,
    request: Pick<AuthorizationRequest, 'responseType'> & { readonly client: Client },
    server: Server,
  ): readonly string[]
  /** Returns a value to store with the authorization request. */
  onAuthorizationRequest?(
    params: Parameters,
    request: Pick<AuthorizationRequest, 'responseType' | 'scopes'> & { readonly client: Client },
    server: Server,
  ): unknown
  /**
   * Returns the reason why this request requires a new login; undefined if an existing session suffices.
   * @param asking.signedIn undefined if nobody is logged in
   */
  requiredLogin?(
    request: AuthorizationRequest,
    asking: { readonly client: Client; readonly signedIn: SignedIn | undefined },
    server: Server,
  ): RequiredLogin | undefined | Promise<RequiredLogin | undefined>
  /**
   * Returns the value to store with a new code, or undefined to store the result of `onAuthorizationRequest`. Runs before
   * a code or a token is issued. @throws OAuthError to refuse the request
   */
  onAuthorizationGranted?(
    request: AuthorizationRequest,
    granted: { readonly client: Client; readonly signedIn: SignedIn },
    server: Server,
  ): unknown
  /** Returns parameters to add to a successful authorization response. Runs after the code or the token was issued. */
  onAuthorizationIssued?(
    request: AuthorizationRequest,
    issued: AuthorizationIssue,
    server: Server,
  ): Promise<Readonly<Record<string, string>>>
  /**
   * Returns parameters for every authorization response, including errors.
   * @param answered the stored values of a request that the user granted or denied; otherwise undefined
   */
  onAuthorizationResponse?(
    server: Server,
    answered?: Readonly<Record<string, unknown>>,
  ): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>
  /** Checks a token request before its client is authenticated. @throws OAuthError */
  onTokenRequest?(http: HttpRequest, server: Server): void
  /** Checks a token request against the values that were stored with the authorization request. @throws OAuthError */
  onCodeRedemption?(params: Parameters, binding: CodeBinding): void
  /** Restricts a token before it is issued. Called after the grant and before a code or refresh token is consumed. */
  onTokenIssue?(issue: TokenIssue, server: Server): Redemption | Promise<Redemption>
  /** Returns members to add to the response of the token endpoint. */
  onTokenResponse?(
    issued: IssuedToken,
    issue: TokenIssue,
    server: Server,
  ): object | undefined | Promise<object | undefined>
  /** Returns headers for token responses and for responses to pushed requests. */
  responseHeaders?(http: HttpRequest, server: Server): Readonly<Record<string, string>>
  /** Checks that a request may use a valid token. Must be fast, because every request with a token calls this hook. */
  onProtectedRequest?(
    presented: PresentedToken,
    found: FoundToken,
    server: Server,
  ): void | Promise<void>
}
