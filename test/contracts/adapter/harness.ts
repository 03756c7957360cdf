import type { UserId } from 'svc-oauth2server'

/**
 * Operations of the suite that access the server directly instead of through the application. Their arguments and
 * results can be sent to another process, because the application may run in another process than the suite.
 */
export interface Control {
  /** Creates a user with the password `password`. */
  createUser(email: string): Promise<UserId>
  setActive(user: UserId, active: boolean): Promise<void>
  /** Creates a personal token, and returns its value. */
  personalToken(
    user: UserId,
    options: { readonly scopes: readonly string[]; readonly expiresIn?: number },
  ): Promise<string>
  /** Creates a confidential client with `redirectUri`. */
  createClient(owner: UserId): Promise<ClientCredentials>
  /** Issues an access token like the authorization code grant, and returns its value. */
  accessToken(user: UserId, clientId: string, scopes: readonly string[]): Promise<string>
  revoke(token: string): Promise<void>
  /** Advances the clock of the server, and returns its time in milliseconds. */
  advance(seconds: number): Promise<number>
  /** Makes all store operations fail, or succeed again. */
  breakStore(isBroken: boolean): Promise<void>
  /** Returns the events of all log entries. */
  events(): Promise<readonly string[]>
}

export interface ClientCredentials {
  readonly clientId: string
  readonly clientSecret: string
}

/** The issuer and the paths of the server in the application. */
export interface Place {
  readonly issuer: string
  readonly oauthPrefix: string
  readonly loginPath: string
  readonly logoutPath: string
  /** Whether this machine is a trusted proxy. */
  readonly isProxied: boolean
}

/** An application that embeds the server with an adapter, and listens on a port. */
export interface Embedded extends AsyncDisposable {
  /** The URL of the application, with the path of the issuer and without a trailing slash. */
  readonly url: string
  readonly place: Place
  readonly control: Control
}

export const secretKey = 'the secret key of the adapter contract, 32 bytes'
export const password = 'correct horse battery staple'
export const redirectUri = 'https://client.example/cb'
