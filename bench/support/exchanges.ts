/** The kinds of code exchanges: without OpenID Connect, and with an ID token in the named signature algorithm. */
export const exchangeNames = ['code', 'RS256', 'ES256'] as const
export type ExchangeName = (typeof exchangeNames)[number]

/** The requests with which a client exchanges codes. Each code is sent once. */
export interface Exchange {
  /** The path that returns new codes as JSON, without its parameter `count`. */
  readonly codes: string
  readonly token: string
  readonly authorization: string
  /** The beginning of the form. Each request appends a code. */
  readonly body: string
}

export type Exchanges = Readonly<Record<ExchangeName, Exchange>>

/** The redirect URI of every client. */
export const redirectUri = 'https://client.example/cb'

/** The scope of each exchange. */
export const scopeOf = (name: ExchangeName): string =>
  name === 'code' ? 'notes:read' : 'openid notes:read'
