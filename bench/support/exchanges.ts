import { hash } from 'node:crypto'

/** The kinds of code exchanges: without OpenID Connect, and with an ID token that ES256 signs. */
export const exchangeNames = ['code', 'ES256'] as const
export type ExchangeName = (typeof exchangeNames)[number]

/** The requests with which users log in at one client: each user authorizes, and the client exchanges the code. */
export interface Exchange {
  /** The path of the authorization endpoint, with its query. */
  readonly authorize: string
  /** The `Cookie` header of each user, who has consented to this client before. */
  readonly cookies: readonly string[]
  /** The path of the token endpoint. */
  readonly token: string
  /** The `Authorization` header of the client. */
  readonly authorization: string
}

export type Exchanges = Readonly<Partial<Record<ExchangeName, Exchange>>>

/** The number of users who log in. Without code exchanges, a server creates no users for them. */
export const accountCount = Number(process.env.BENCH_ACCOUNTS ?? 0)

/** Returns the numbers of the users who log in. */
export const accounts = (): readonly number[] => Array.from({ length: accountCount }, (_, at) => at)

/** The browser of every user. */
export const userAgent = 'bench'

/** The redirect URI of every client. */
export const redirectUri = 'https://client.example/cb'

/** The code verifier of every exchange, and its challenge. RFC 7636 §4. */
export const verifier = 'a code verifier of the measurement'.replaceAll(' ', '-').padEnd(64, '0')
const challenge = hash('sha256', verifier, 'base64url')

/** The scopes of each exchange. */
export const scopesOf = (name: ExchangeName): readonly string[] =>
  name === 'code' ? ['notes:read'] : ['openid', 'notes:read']

/** Returns the query of an authorization request. */
export const authorizeQuery = (name: ExchangeName, clientId: string, more = {}): string =>
  new URLSearchParams({
    response_type: 'code',
    client_id: clientId,
    redirect_uri: redirectUri,
    scope: scopesOf(name).join(' '),
    state: 'a-state',
    ...(name !== 'code' && { nonce: 'a-nonce' }),
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...more,
  }).toString()

/** The body of a token request, without the code at its end. */
export const exchangeBody = `grant_type=authorization_code&redirect_uri=${encodeURIComponent(redirectUri)}&code_verifier=${verifier}&code=`
