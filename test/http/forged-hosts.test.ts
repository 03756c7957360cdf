import { readdirSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import type { UserLink } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { endpointsOf } from '../support/endpoints.ts'
import { everything } from '../support/observed-server.ts'
import { rawHttp } from '../support/raw-http.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { logIn } from '../support/session.ts'
import { formIn } from '../support/user-agent.ts'

// The sender of a request chooses the headers that name a host. Each URL that the server writes must come from its
// configuration, in JSON that clients follow and in e-mails too.

const settings = { ...everything, clientIdMetadataDocuments: false }

const forged = [
  'Host: evil.example',
  'X-Forwarded-Host: evil.example, evil.example',
  'X-Forwarded-Server: evil.example',
  'X-Forwarded-Proto: http',
  'X-Forwarded-Port: 8443',
  'X-Forwarded-Prefix: /evil.example',
  'X-Original-URL: https://evil.example/',
  'X-Rewrite-URL: https://evil.example/',
  'Forwarded: host=evil.example;proto=https',
  'Origin: https://evil.example',
  'Referer: https://evil.example/',
]

let app: TestServer
const links: UserLink[] = []
beforeAll(async () => {
  app = await startServer({
    ...settings,
    dynamicRegistration: 'open',
    dangerouslyIgnoreLimits: true,
    trustedProxies: ['127.0.0.0/8', '::1'],
    signUp: true,
    sendUserLink: (link) => void links.push(link),
  })
})
afterAll(() => app.close())

const formType = 'Content-Type: application/x-www-form-urlencoded'

describe('a request with a forged host', () => {
  test.each(
    endpointsOf(settings).flatMap(({ endpoint, path }) =>
      endpoint.methods.map((method) => [method, path] as const),
    ),
  )('%s %s writes no URL of this host [T4311]', async (method, path) => {
    const { cookie } = await logIn(app)
    const target = path.replaceAll(/:\w+/g, 'x')
    const { clientId, clientSecret } = await app.client()
    const credentials = `client_id=${clientId}&client_secret=${clientSecret}`
    for (const [type, body] of [
      ['Content-Type: application/json', '{"redirect_uris":["https://c.example/cb"]}'],
      [formType, `${credentials}&response_type=code&redirect_uri=https://client.example/cb`],
    ] as const)
      for (const host of ['', 'http://evil.example'])
        for (const accept of ['text/html', 'application/json'])
          for (const session of [`Cookie: ${cookie}`, 'X-Nothing: 1']) {
            const { headers, text, status } = await rawHttp(app, {
              method,
              target: `${host}${target}`,
              headers: [...forged, type, `Accept: ${accept}`, session],
              ...(method === 'GET' ? {} : { body }),
            })
            expect(status).toBeLessThan(500)
            expect(text + JSON.stringify([...headers])).not.toContain('evil.example')
          }
  })

  test('receives the URL of the issuer in a registration, for a device, and in metadata [T4312]', async () => {
    const send = async (target: string, type: string, body: string) => {
      const headers = [...forged, type]
      const { text } = await rawHttp(app, { method: 'POST', target, headers, body })
      return JSON.parse(text) as Record<string, unknown>
    }
    const metadata = { redirect_uris: ['https://c.example/cb'], scope: 'notes:read' }
    const device = 'urn:ietf:params:oauth:grant-type:device_code'
    const registered = await send(
      '/oauth/register',
      'Content-Type: application/json',
      JSON.stringify({ ...metadata, grant_types: ['authorization_code', device] }),
    )
    const { client_id, client_secret } = registered
    const granted = await send(
      '/oauth/device_authorization',
      formType,
      new URLSearchParams({ client_id, client_secret } as never).toString(),
    )
    for (const url of [
      registered.registration_client_uri,
      granted.verification_uri,
      granted.verification_uri_complete,
    ])
      expect(url).toEqual(expect.stringMatching(`^${app.issuer}/`))
  })

  test.each([
    ['reset_password', '/login/forgot-password'],
    ['sign_up', '/login/sign-up'],
    ['verify_email', '/account/settings/verify-email/'],
  ])('sends an e-mail to %s with the URL of the issuer [T4313]', async (purpose, target) => {
    links.length = 0
    const isNew = purpose === 'sign_up'
    const user = await app.newUser({ email: `${purpose}@example.org`, emailVerified: false })
    const { agent, csrfToken, cookie } = await logIn({ ...app, user })
    const page =
      isNew || purpose === 'reset_password' ? await agent.fetch(app.issuer + target) : null
    const hidden = page === null ? { csrf_token: csrfToken } : formIn(await page.text()).hidden
    const email = isNew ? 'new@example.org' : user.email
    const headers = forged.filter((line) => !/^Origin|^Referer/.test(line))
    const { status } = await rawHttp(app, {
      method: 'POST',
      target: `http://evil.example${target}`,
      headers: [
        ...headers,
        formType,
        `Cookie: ${cookie}`,
        'User-Agent: Mozilla/5.0 (a browser of the tests)',
      ],
      body: new URLSearchParams({ ...hidden, email }).toString(),
    })
    expect(status).toBeLessThan(400)
    await vi.waitFor(() => expect(links).toHaveLength(1))
    expect(links[0]?.purpose).toBe(purpose)
    expect(links[0]?.url).toMatch(new RegExp(`^${app.issuer}/login/link\\?token=[^&]+$`))
  })
})

test('no source reads a header that names a host [T4314]', () => {
  const src = resolve(import.meta.dirname, '../../src')
  const reading =
    /(?:header|get|has)\([^)]*['"`](?:host|forwarded|x-forwarded-(?!for)[a-z]+|x-[a-z]+-url)['"`]|headers\.(?:host|forwarded)\b|\breq(?:uest)?\.(?:host|hostname|protocol|subdomains)\b/i
  const found = readdirSync(src, { recursive: true, encoding: 'utf8' }).filter(
    (path) => path.endsWith('.ts') && reading.test(readFileSync(resolve(src, path), 'utf8')),
  )
  expect(found).toEqual([])
})
