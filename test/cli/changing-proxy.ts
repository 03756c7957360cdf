import { createServer, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { type AuthorizationServerOptions, createAuthorizationServer } from 'svc-oauth2server'
import { mount } from 'svc-oauth2server/node'
import { sqlite } from 'svc-oauth2server/sqlite'
import { examine } from '../../src/cli/doctor/examine.ts'
import type { Finding } from '../../src/cli/doctor/finding.ts'
import { secretKey, testScopes } from '../support/server.ts'

/** A request in a proxy, with its response. `before` and `after` may change the values. */
export interface Passing {
  readonly method: string
  path: string
  requestHeaders: Record<string, string | string[] | undefined>
  requestBody: string
  status: number
  headers: Record<string, string | string[] | undefined>
  body: string
}

export interface ChangingProxy {
  /** Runs before the request is forwarded. If `before` returns true, the proxy sends the response in `passing` and does not forward the request. */
  readonly before?: (passing: Passing, url: string) => boolean
  readonly after?: (passing: Passing, url: string) => void
  readonly options?: Partial<AuthorizationServerOptions>
  readonly basePath?: string
  /** The issuer in the configuration of the server. Default: the URL of the proxy. */
  readonly issuer?: string
  /** The IP address to which the host name of the server resolves for the doctor. */
  readonly reachedAt?: string
}

/** Returns the findings of the doctor for a server behind a proxy. */
export const throughProxy = async (
  { before, after, options, basePath = '', issuer: configured, reachedAt }: ChangingProxy,
  { logIn = false } = {},
): Promise<readonly Finding[]> => {
  const inner = createServer()
  const outer = createServer()
  await Promise.all(
    [inner, outer].map(
      (http) => new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve)),
    ),
  )
  const [innerPort, outerPort] = [inner, outer].map((http) => (http.address() as AddressInfo).port)
  const url = `http://localhost:${outerPort}`
  const issuer = `${url}${basePath}`
  const server = await createAuthorizationServer({
    issuer: configured ?? issuer,
    secretKeys: [secretKey],
    store: sqlite(':memory:'),
    scopes: testScopes,
    log: () => undefined,
    sweepInterval: 0,
    ...options,
  })
  const app = mount(server)
  inner.on('request', (request, response) => {
    app(request, response, () => response.writeHead(404).end())
  })
  outer.on('request', async (request, response) => {
    const passing: Passing = {
      method: request.method ?? '',
      path: request.url ?? '',
      requestHeaders: { ...request.headers },
      requestBody: (await buffer(request)).toString(),
      status: 200,
      headers: {},
      body: '',
    }
    if (!before?.(passing, url)) {
      const { method, path, requestHeaders } = passing
      const headers = {
        ...requestHeaders,
        ...(passing.requestBody === ''
          ? {}
          : { 'content-length': Buffer.byteLength(passing.requestBody) }),
      }
      await new Promise<void>((resolve) => {
        const sent = send({ port: innerPort, host: '127.0.0.1', method, path, headers })
        sent.on('response', async (answer) => {
          passing.status = answer.statusCode ?? 0
          passing.headers = answer.headers
          passing.body = (await buffer(answer)).toString()
          resolve()
        })
        sent.end(passing.requestBody)
      })
      after?.(passing, url)
    }
    const { 'content-length': _, 'transfer-encoding': __, ...headers } = passing.headers
    const sent = Object.entries(headers).filter(([, value]) => value !== undefined)
    response.writeHead(passing.status, Object.fromEntries(sent)).end(passing.body)
  })
  try {
    return await examine({
      issuer,
      send: (request) => fetch(request),
      isOurs: false,
      reachedAt,
      ...(logIn ? { records: server } : {}),
    })
  } finally {
    for (const http of [inner, outer]) {
      http.close()
      http.closeAllConnections()
    }
    await server.close()
  }
}
