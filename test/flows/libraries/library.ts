import * as oauth from 'oauth4webapi'
import type { ClientKey } from '../../support/signing-client.ts'

export type Metadata = Readonly<Record<string, unknown>>
/** The metadata that a client registers. */
export type Registration = Parameters<typeof oauth.dynamicClientRegistrationRequest>[1]
export type Tokens = oauth.TokenEndpointResponse
/** The parameters of a request. Only `URLSearchParams` can contain repeated parameters. */
export type Asked = Record<string, string> | URLSearchParams

export const methods = [
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
  'none',
] as const
export type Method = (typeof methods)[number]

export interface Credentials {
  readonly clientId: string
  readonly method: Method
  readonly secret?: string
  readonly key?: ClientKey
}

/** A client library, which discovers all URLs from the issuer. */
export interface Library {
  readonly name: string
  discover(
    issuer: string,
    credentials: Credentials,
    options?: { readonly dpop?: boolean },
  ): Promise<LibraryClient>
  /** Registers a client dynamically. By default, the library chooses the authentication method. */
  register(
    issuer: string,
    metadata: Registration,
    options?: { readonly initialAccessToken?: string; readonly key?: ClientKey },
  ): Promise<LibraryClient>
}

export interface LibraryClient {
  /** The discovered metadata of the server. */
  readonly server: Metadata
  /** The registered metadata of the client. */
  readonly self: oauth.Client
  /** The thumbprint of the client's DPoP key; undefined without DPoP. */
  readonly keyThumbprint: string | undefined
  begin(asked: Asked, options?: { readonly isPushed?: boolean }): Promise<Begun>
  refresh(refreshToken: string, asked?: Asked): Promise<Tokens>
  clientCredentials(asked?: Asked): Promise<Tokens>
  /** Requests a token with another grant type, such as token exchange. */
  grant(grantType: string, asked: Asked): Promise<Tokens>
  device(asked: Asked): Promise<DeviceFlow>
  revoke(token: string, hint?: string): Promise<void>
  introspect(token: string): Promise<Metadata>
  /** Sends a request with an access token. Throws an error if the response contains a challenge. */
  request(token: string, url: string, init?: RequestOptions): Promise<Response>
}

export interface RequestOptions {
  readonly method?: string
  readonly body?: string
}

/** An authorization request that the user has not completed. */
export interface Begun {
  /** The authorization URL, which the user has to open. */
  readonly url: URL
  /** Validates the redirect to the client, and redeems the code. */
  finish(callback: URL, asked?: Asked): Promise<Tokens>
}

export interface DeviceFlow {
  readonly codes: oauth.DeviceAuthorizationResponse
  /** Polls the token endpoint until the user has decided. */
  tokens(): Promise<Tokens>
}

/** Returns the error that the library threw: an error of the server, or an error of the library itself. */
export const refusalOf = async (work: Promise<unknown>): Promise<string> => {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  // openid-client also throws the error classes of oauth4webapi, because it uses this library.
  if (error instanceof oauth.ResponseBodyError) return `${error.status} ${error.error}`
  if (error instanceof oauth.AuthorizationResponseError) return `redirected ${error.error}`
  if (error instanceof oauth.WWWAuthenticateChallengeError) {
    const [challenge] = error.cause
    return `${error.status} ${challenge?.scheme} ${challenge?.parameters.error}`
  }
  if (error instanceof Error && 'code' in error) return `the client: ${error.code}`
  throw error ?? new Error('The operation did not fail.')
}
