import * as oauth from 'oauth4webapi'
import type { ClientKey } from '../../support/signing-client.ts'

export type Metadata = Readonly<Record<string, unknown>>
/** The metadata of a registration. */
export type Registration = Parameters<typeof oauth.dynamicClientRegistrationRequest>[1]
export type Tokens = oauth.TokenEndpointResponse
/** The parameters of a request; repeated ones need the second form. */
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

/** A client library as an application uses it: it receives only the issuer. */
export interface Library {
  readonly name: string
  discover(
    issuer: string,
    credentials: Credentials,
    options?: { readonly dpop?: boolean },
  ): Promise<LibraryClient>
  /** Registers dynamically; by default, with the library's authentication method. */
  register(
    issuer: string,
    metadata: Registration,
    options?: { readonly initialAccessToken?: string; readonly key?: ClientKey },
  ): Promise<LibraryClient>
}

export interface LibraryClient {
  /** The discovered metadata. */
  readonly server: Metadata
  /** The client's registration. */
  readonly self: oauth.Client
  /** The thumbprint of its DPoP key, if it has one. */
  readonly keyThumbprint: string | undefined
  begin(asked: Asked, options?: { readonly isPushed?: boolean }): Promise<Begun>
  refresh(refreshToken: string, asked?: Asked): Promise<Tokens>
  clientCredentials(asked?: Asked): Promise<Tokens>
  /** Gets a token by another grant, such as token exchange. */
  grant(grantType: string, asked: Asked): Promise<Tokens>
  device(asked: Asked): Promise<DeviceFlow>
  revoke(token: string, hint?: string): Promise<void>
  introspect(token: string): Promise<Metadata>
  /** Sends a request with an access token; throws for a challenge. */
  request(token: string, url: string, init?: RequestOptions): Promise<Response>
}

export interface RequestOptions {
  readonly method?: string
  readonly body?: string
}

/** An authorization request that waits for the user. */
export interface Begun {
  /** The URL for the user. */
  readonly url: URL
  /** Validates the redirect of the user, and redeems the code. */
  finish(callback: URL, asked?: Asked): Promise<Tokens>
}

export interface DeviceFlow {
  readonly codes: oauth.DeviceAuthorizationResponse
  /** Polls until the user has decided. */
  tokens(): Promise<Tokens>
}

/** Returns the error of the server as the library parsed it, or the library's own error. */
export const refusalOf = async (work: Promise<unknown>): Promise<string> => {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  // openid-client throws the errors of oauth4webapi, on which it is built.
  if (error instanceof oauth.ResponseBodyError) return `${error.status} ${error.error}`
  if (error instanceof oauth.AuthorizationResponseError) return `redirected ${error.error}`
  if (error instanceof oauth.WWWAuthenticateChallengeError) {
    const [challenge] = error.cause
    return `${error.status} ${challenge?.scheme} ${challenge?.parameters.error}`
  }
  if (error instanceof Error && 'code' in error) return `the client: ${error.code}`
  throw error ?? new Error('Nothing was refused.')
}
