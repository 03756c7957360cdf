import type { UserId } from 'svc-oauth2server'

/**
 * Operations of the suite that bypass the application. Arguments and results can be sent to another process, so that
 * the same suite runs over an application in its own process.
 */
export interface Control {
  /** A user with the password `password`. */
  createUser(email: string): Promise<UserId>
  setActive(user: UserId, active: boolean): Promise<void>
  /** The value of a new personal token. */
  personalToken(
    user: UserId,
    options: { readonly scopes: readonly string[]; readonly expiresIn?: number },
  ): Promise<string>
  /** A confidential client with `redirectUri`. */
  createClient(owner: UserId): Promise<ClientCredentials>
  /** The value of a new access token, as the authorization code grant issues it. */
  accessToken(user: UserId, clientId: string, scopes: readonly string[]): Promise<string>
  revoke(token: string): Promise<void>
  /** Moves the clock of the server. @returns its time in milliseconds */
  advance(seconds: number): Promise<number>
  /** Makes every operation of the store fail, or work again. */
  breakStore(isBroken: boolean): Promise<void>
  /** The names of all log entries so far. */
  events(): Promise<readonly string[]>
}

export interface ClientCredentials {
  readonly clientId: string
  readonly clientSecret: string
}

/** The path of the server in the application. */
export interface Place {
  readonly issuer: string
  readonly oauthPrefix: string
  readonly loginPath: string
  readonly logoutPath: string
  /** Whether this machine is a trusted proxy. */
  readonly isProxied: boolean
}

/** An application that embeds the server by an adapter, and listens on a port. */
export interface Embedded extends AsyncDisposable {
  /** Its address, with the path of the issuer and without a trailing slash. */
  readonly url: string
  readonly place: Place
  readonly control: Control
}

export const secretKey = 'the secret key of the adapter contract, 32 bytes'
export const password = 'correct horse battery staple'
export const redirectUri = 'https://client.example/cb'
