/** The kinds of code exchanges: without OpenID Connect, and with ID tokens that an algorithm signs. */
export const exchangeNames = ['code', 'RS256', 'ES256'] as const
export type ExchangeName = (typeof exchangeNames)[number]

/** A code exchange of a client, in which each code is sent once. */
export interface Exchange {
  /** The path of new codes as JSON, without the parameter `count`. */
  readonly codes: string
  readonly token: string
  readonly authorization: string
  /** The form without the code, which the request appends. */
  readonly body: string
}

export type Exchanges = Readonly<Record<ExchangeName, Exchange>>

/** The redirect URI of every client. */
export const redirectUri = 'https://client.example/cb'

/** The scope of each exchange. */
export const scopeOf = (name: ExchangeName): string =>
  name === 'code' ? 'notes:read' : 'openid notes:read'
