import * as oauth from 'oauth4webapi'
import type { ClientKey } from '../../support/signing-client.ts'

export type Metadata = Readonly<Record<string, unknown>>
/** What a client says of itself when it registers. */
export type Registration = Parameters<typeof oauth.dynamicClientRegistrationRequest>[1]
export type Tokens = oauth.TokenEndpointResponse
/** Parameters of a request; those that may be repeated need the second form. */
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

/** A client library as an application uses it: told an issuer, and no address beside it. */
export interface Library {
  readonly name: string
  discover(
    issuer: string,
    credentials: Credentials,
    options?: { readonly dpop?: boolean },
  ): Promise<LibraryClient>
  /** By dynamic registration. Where no method is asked for, the library's own default. */
  register(
    issuer: string,
    metadata: Registration,
    options?: { readonly initialAccessToken?: string; readonly key?: ClientKey },
  ): Promise<LibraryClient>
}

export interface LibraryClient {
  /** What discovery found. */
  readonly server: Metadata
  /** What the client knows of itself. */
  readonly self: oauth.Client
  /** Of its DPoP key, where it has one. */
  readonly keyThumbprint: string | undefined
  begin(asked: Asked, options?: { readonly isPushed?: boolean }): Promise<Begun>
  refresh(refreshToken: string, asked?: Asked): Promise<Tokens>
  clientCredentials(asked?: Asked): Promise<Tokens>
  /** By another grant, such as token exchange. */
  grant(grantType: string, asked: Asked): Promise<Tokens>
  device(asked: Asked): Promise<DeviceFlow>
  revoke(token: string, hint?: string): Promise<void>
  introspect(token: string): Promise<Metadata>
  /** A request with an access token; a challenge is thrown. */
  request(token: string, url: string, init?: RequestOptions): Promise<Response>
}

export interface RequestOptions {
  readonly method?: string
  readonly body?: string
}

/** An authorization that waits for its user. */
export interface Begun {
  /** Where the user is sent. */
  readonly url: URL
  /** Checks where the user came back, and redeems the code. */
  finish(callback: URL, asked?: Asked): Promise<Tokens>
}

export interface DeviceFlow {
  readonly codes: oauth.DeviceAuthorizationResponse
  /** Polls until the user has decided. */
  tokens(): Promise<Tokens>
}

/** How work was refused: by the server as the library understood it, or by the library itself. */
export const refusalOf = async (work: Promise<unknown>): Promise<string> => {
  const error: unknown = await work.then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  // openid-client throws those of oauth4webapi, which it is built on.
  if (error instanceof oauth.ResponseBodyError) return `${error.status} ${error.error}`
  if (error instanceof oauth.AuthorizationResponseError) return `redirected ${error.error}`
  if (error instanceof oauth.WWWAuthenticateChallengeError) {
    const [challenge] = error.cause
    return `${error.status} ${challenge?.scheme} ${challenge?.parameters.error}`
  }
  if (error instanceof Error && 'code' in error) return `the client: ${error.code}`
  throw error ?? new Error('Nothing was refused.')
}
