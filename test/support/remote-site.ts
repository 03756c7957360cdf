import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'

const pem = (name: string): string =>
  readFileSync(resolve(import.meta.dirname, 'tls', `${name}.pem`), 'utf8')

/** The certificate authority that issued the certificate of `client.example`. */
export const testAuthority = pem('authority')

export type Answering = (request: IncomingMessage, response: ServerResponse) => void

/** A third-party site with TLS on this machine, whose responses the test defines. */
export interface RemoteSite {
  readonly port: number
  /** Returns a URL of the site. */
  url(path: string, host?: string): string
  /** Sets the response for a path. An object is sent as JSON, and a text unchanged. */
  serve(path: string, body: object | string, headers?: Readonly<Record<string, string>>): void
  /** Sets the handler for a path. */
  respond(path: string, answering: Answering): void
  /** The received requests, in order. */
  readonly requests: readonly IncomingMessage[]
  /** The host names that were looked up. */
  readonly lookups: readonly string[]
  /** Options with which a server finds and trusts the site. */
  readonly outbound: {
    readonly resolve: (hostname: string) => Promise<readonly { address: string; family: number }[]>
    readonly certificateAuthorities: readonly string[]
  }
  close(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

export const remoteSite = async (): Promise<RemoteSite> => {
  const responses = new Map<string, Answering>()
  const requests: IncomingMessage[] = []
  const lookups: string[] = []
  const server = createServer({ cert: pem('site'), key: pem('site-key') }, (request, response) => {
    requests.push(request)
    const answering = responses.get(request.url ?? '')
    if (answering) return answering(request, response)
    response.writeHead(404, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const { port } = server.address() as AddressInfo
  const close = (): Promise<void> =>
    new Promise((done) => {
      server.close(() => done())
      server.closeAllConnections()
    })
  return {
    port,
    url: (path, host = 'client.example') => `https://${host}:${port}${path}`,
    serve(path, body, headers = {}) {
      const text = typeof body === 'string' ? body : JSON.stringify(body)
      responses.set(path, (_request, response) => {
        response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(text)
      })
    },
    respond: (path, answering) => {
      responses.set(path, answering)
    },
    requests,
    lookups,
    outbound: {
      async resolve(hostname) {
        lookups.push(hostname)
        return [{ address: '127.0.0.1', family: 4 }]
      },
      certificateAuthorities: [testAuthority],
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
