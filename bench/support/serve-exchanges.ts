import type { RequestListener, ServerResponse } from 'node:http'
import {
  type Exchange,
  type ExchangeName,
  type Exchanges,
  exchangeNames,
  redirectUri,
} from './exchanges.ts'
import { basic, serve } from './serve.ts'

/** A client of an exchange. */
export interface ExchangingClient {
  readonly clientId: string
  readonly clientSecret: string
}

/** A server whose code exchanges are measured. */
export interface ExchangeServer {
  readonly listener: RequestListener
  /** The path of the token endpoint. */
  readonly token: string
  /** Returns the client of one kind of exchange. For a kind with ID tokens, `name` is their signature algorithm. */
  readonly clientOf: (name: ExchangeName) => Promise<ExchangingClient>
  /** Creates a code, as the authorization endpoint does after the consent. */
  readonly newCode: (name: ExchangeName, client: ExchangingClient) => Promise<string>
}

/** Starts the server with the additional path `/codes/NAME?count=COUNT`, which creates codes. */
export const serveExchanges = async ({
  listener,
  token,
  clientOf,
  newCode,
}: ExchangeServer): Promise<void> => {
  const clients = new Map<ExchangeName, ExchangingClient>()
  for (const name of exchangeNames) clients.set(name, await clientOf(name))
  const create = async (address: string, response: ServerResponse): Promise<void> => {
    const { pathname, searchParams } = new URL(address, 'http://localhost')
    const name = pathname.slice('/codes/'.length) as ExchangeName
    const client = clients.get(name) as ExchangingClient
    const codes: string[] = []
    while (codes.length < Number(searchParams.get('count'))) codes.push(await newCode(name, client))
    response.end(JSON.stringify(codes))
  }
  const withCodes: RequestListener = (request, response) => {
    const { url = '' } = request
    if (!url.startsWith('/codes/')) return listener(request, response)
    create(url, response).catch((error: unknown) => response.writeHead(500).end(String(error)))
  }
  const exchangeOf = ([name, { clientId, clientSecret }]: [ExchangeName, ExchangingClient]): [
    ExchangeName,
    Exchange,
  ] => [
    name,
    {
      codes: `/codes/${name}`,
      token,
      authorization: basic(clientId, clientSecret),
      body: `grant_type=authorization_code&redirect_uri=${encodeURIComponent(redirectUri)}&code=`,
    },
  ]
  const exchanges = Object.fromEntries([...clients].map(exchangeOf)) as Exchanges
  await serve(withCodes, () => ({ exchanges }))
}
