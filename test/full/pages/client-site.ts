import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import * as oidc from 'openid-client'
import type { ClientInput } from 'svc-oauth2server'
import { onTestFinished } from 'vitest'
import type { TestServer } from '../../support/server.ts'
import { selfSigned } from './self-signed.ts'

/** The web application of a third party, which uses a client library. */
export interface ClientSite {
  readonly clientId: string
  readonly name: string
  /** The URL of the start page, which has a link that begins the flow. */
  readonly url: string
  readonly host: string
  /** The results of the completed authorizations. */
  readonly tokens: readonly oidc.TokenEndpointResponse[]
}

export interface ClientSiteOptions extends Partial<ClientInput> {
  /** The host of the client's https site. Without a host, the client is a program on this computer. */
  readonly host?: string
  /** The scopes to request if the link that begins the flow contains no scopes. */
  readonly scope?: string
}

/** Starts a site that returns a page for every request until the test ends. @returns the origin of the site */
export const startSite = async (
  pageAt: (url: URL) => Promise<string | URL> | string | URL,
  host?: string,
): Promise<string> => {
  const http = host ? createTlsServer(selfSigned(host)) : createServer()
  await new Promise<void>((listens) => http.listen(0, '127.0.0.1', listens))
  onTestFinished(() => {
    http.close()
    http.closeAllConnections()
  })
  const { port } = http.address() as AddressInfo
  const origin = host ? `https://${host}:${port}` : `http://127.0.0.1:${port}`
  http.on('request', async ({ url = '/' }: IncomingMessage, response: ServerResponse) => {
    try {
      const page = await pageAt(new URL(url, origin))
      if (page instanceof URL) response.writeHead(303, { location: page.href }).end()
      else response.setHeader('content-type', 'text/html; charset=utf-8').end(around(page))
    } catch (error) {
      response.writeHead(500).end(String(error))
    }
  })
  return origin
}

const around = (content: string): string =>
  `<!doctype html><html lang="en"><title>A client</title><link rel="icon" href="data:,"><meta name="viewport" content="width=device-width"><style>:focus-visible { outline: 2px solid }</style>${content}`

/** Registers a client, and starts its site until the test ends. */
export const startClientSite = async (
  app: TestServer,
  { host, scope = 'notes:read user:email', ...input }: ClientSiteOptions = {},
): Promise<ClientSite> => {
  const name = input.name ?? 'Photo Print'
  const tokens: oidc.TokenEndpointResponse[] = []
  // One verifier suffices, because the tests run one flow at a time.
  const pkceCodeVerifier = oidc.randomPKCECodeVerifier()
  const expectedState = oidc.randomState()

  const begin = async (asked: string | null): Promise<URL> =>
    oidc.buildAuthorizationUrl(config, {
      redirect_uri: redirectUri,
      scope: asked ?? scope,
      state: expectedState,
      code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
      code_challenge_method: 'S256',
    })

  const finish = async (url: URL): Promise<string> => {
    try {
      const answer = await oidc.authorizationCodeGrant(config, url, {
        pkceCodeVerifier,
        expectedState,
      })
      tokens.push(answer)
      return `<h1>Welcome to ${name}</h1><p>Granted: <output>${answer.scope}</output></p>`
    } catch (error) {
      if (!(error instanceof oidc.AuthorizationResponseError)) throw error
      return `<h1>No access</h1><p>Refused: <output>${error.error}</output></p>`
    }
  }

  const origin = await startSite((url) => {
    if (url.pathname === '/go') return begin(url.searchParams.get('scope'))
    return url.pathname === '/cb' ? finish(url) : `<a href="/go${url.search}">Log in with Notes</a>`
  }, host)
  const redirectUri = `${origin}/cb`
  const registered = await app.client({ name, redirectUris: [redirectUri], ...input })
  const { clientId, clientSecret } = registered
  const proof = input.isConfidential === false ? oidc.None() : oidc.ClientSecretBasic(clientSecret)
  const config = await oidc.discovery(new URL(app.issuer), clientId, undefined, proof, {
    algorithm: 'oauth2',
    execute: [oidc.allowInsecureRequests],
  })
  return { clientId, name, url: `${origin}/`, host: new URL(origin).host, tokens }
}
