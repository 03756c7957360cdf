import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { beginSession } from '../../scripts/screenshots/browser-session.ts'
import { endpointsOf } from '../support/endpoints.ts'
import { everything } from '../support/observed-server.ts'
import { startServer, type TestServer } from '../support/server.ts'

const src = resolve(import.meta.dirname, '../../src')
const sources = readdirSync(src, { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.ts'))
  .map((path) => ({ path, text: readFileSync(resolve(src, path), 'utf8') }))

describe('every redirect of the server', () => {
  /** The ways to send a browser to another URL by a response. */
  const redirects = [
    /\.redirect\(/,
    /http-equiv/i,
    /status: *30[12378]\b/,
    /\.(?:set|append|header|setHeader)\(\s*['"](?:location|refresh)['"]/i,
    /headers\b[^;]{0,60}[{,]\s*['"]?(?:location|refresh)\b/i,
  ]

  test('is created by the two functions that ask for the destination [T3613]', () => {
    const found = sources.filter(({ text }) => redirects.some((one) => one.test(text)))
    expect(found.map(({ path }) => path)).toEqual(['protocol/endpoints/responses/responses.ts'])
    const [{ text = '' } = {}] = found
    const locations = [...text.matchAll(/\blocation\b.*/g)].map(([line]) => line)
    expect(locations).toEqual([
      'location = destinationOf({ page }, server)',
      'location } })',
      'location: destinationOf(target, server) },',
    ])
  })
})

// Without documents of clients, no request needs the network.
const settings = { ...everything, clientIdMetadataDocuments: false }

/** The names of all parameters that the code reads from a query or a form. */
const names = [
  ...new Set(
    sources.flatMap(({ path, text }) =>
      /^(protocol|account)\//.test(path)
        ? [...text.matchAll(/\.(?:optional|required|opaque|repeated)\(\s*'([a-z_]+)'/g)].map(
            ([, name = '']) => name,
          )
        : [],
    ),
  ),
]

const hostile = [
  'https://evil.example/x',
  '//evil.example/x',
  '/\\evil.example',
  '\\\\evil.example',
  'https:evil.example',
  '/%09/evil.example',
  '/\t/evil.example',
  '/\r\nlocation: https://evil.example/',
  '/..//evil.example',
  '/.//evil.example',
  '/%2e%2e//evil.example',
  '/x/../..//evil.example',
  '/%5Cevil.example',
  'javascript:alert(`evil.example`)',
  'data:text/html,evil.example',
  'https://localhost@evil.example/',
  'https://client.example@evil.example/',
  'https://client.example.evil.example/',
  '/\u3002evil.example',
  '/\uFF0Fevil.example',
  'https://evil\u3002example/',
  `//evil.example/${'a'.repeat(1_000)}`,
]

/** Returns the URLs to which a response leads: by a redirect, a refresh, a link, a form or a button. */
const leadsTo = async (response: Response): Promise<readonly string[]> => {
  const isPage = response.headers.get('content-type')?.startsWith('text/html') === true
  const html = isPage ? await response.text() : ''
  const written = [...html.matchAll(/\s(?:href|action|formaction|src)="([^"]*)"/g)].map(
    ([, address = '']) => address.replaceAll('&amp;', '&'),
  )
  const sent = [response.headers.get('location'), response.headers.get('refresh')]
  return [...sent.filter((address) => address !== null), ...written]
}

describe('no response leads a visitor to a site that only the request names', () => {
  let app: TestServer
  let clientId: string
  beforeAll(async () => {
    app = await startServer({ ...settings, dangerouslyIgnoreLimits: true, trustedProxies: [] })
    clientId = (await app.client()).clientId
  })
  afterAll(() => app.close())

  test.each(
    endpointsOf(settings).flatMap(({ endpoint, path }) =>
      endpoint.methods
        .filter((method) => method === 'GET' || method === 'POST')
        .map((method) => [method, path] as const),
    ),
  )('%s %s [T3614]', async (method, path) => {
    const url = `${app.issuer}${path.replaceAll(/:\w+/g, 'evil.example')}`
    const user = await app.newUser({ email: `${crypto.randomUUID()}@example.org`, isAdmin: true })
    const userAgent = 'test'
    const session = await beginSession(app.server, user.id, { address: '127.0.0.1', userAgent })
    const cookie = `${session.name}=${session.value}`
    const headers = { 'user-agent': userAgent, accept: 'text/html', cookie }
    const applications = await app.server.fetch(
      new Request(`${app.issuer}/account/settings/applications/`, { headers }),
      { remoteAddress: '127.0.0.1' },
    )
    const [, csrfToken = ''] =
      /name="csrf_token" value="([^"]+)"/.exec(await applications.text()) ?? []
    expect(csrfToken).not.toBe('')

    const problems: string[] = []
    const ask = async (given: Record<string, string>, isLoggedIn: boolean) => {
      const fields = new URLSearchParams({ ...given, csrf_token: csrfToken })
      const response = await app.server.fetch(
        method === 'GET'
          ? new Request(`${url}?${fields}`, { headers: isLoggedIn ? headers : {} })
          : new Request(url, { method, body: fields, headers: isLoggedIn ? headers : {} }),
        { remoteAddress: '127.0.0.1' },
      )
      expect(response.status, JSON.stringify(given)).toBeLessThan(500)
      for (const address of await leadsTo(response)) {
        const { hostname, protocol } = new URL(address, url)
        const isSafe = ['http:', 'https:', 'data:'].includes(protocol) && !/evil/.test(hostname)
        const isData = protocol === 'data:' && address !== 'data:,'
        if (!isSafe || isData) problems.push(`${JSON.stringify(given).slice(0, 200)}: ${address}`)
      }
    }
    for (const value of hostile) {
      const all = Object.fromEntries(names.map((name) => [name, value]))
      for (const isLoggedIn of [true, false]) {
        await ask(all, isLoggedIn)
        await ask({ ...all, client_id: clientId }, isLoggedIn)
      }
    }
    for (const name of names) await ask({ [name]: '//evil.example/x' }, true)
    expect(problems).toEqual([])
  })

  test('sends the values of all parameters that a response may depend on', () => {
    expect(names).toEqual(expect.arrayContaining(['next', 'redirect_uri', 'back']))
    expect(names.length).toBeGreaterThan(60)
  })
})
