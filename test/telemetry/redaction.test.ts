import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { logTo } from 'svc-oauth2server'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { browser, logIn } from '../support/session.ts'
import { formIn, TestClient, UserAgent } from '../support/user-agent.ts'
import { type Sdk, startSdk } from './sdk.ts'

const metricsToken = randomBytes(24).toString('base64url')

let sdk: Sdk
let app: TestServer
let lines = ''
let failing = ''
beforeAll(async () => {
  sdk = startSdk()
  const logger = pino({ level: 'debug' }, { write: (text: string) => (lines += text) } as never)
  app = await startServer({
    log: logTo(logger),
    logLevel: 'debug',
    metricsToken,
    allowedResponseTypes: ['code', 'token'],
    allowedGrantTypes: ['authorization_code', 'refresh_token', 'client_credentials', 'password'],
    aroundStore: async ({ name }, run) => {
      const result = await run()
      if (name === failing) throw new Error(`The store failed after ${name}.`)
      return result
    },
  })
})
afterAll(async () => {
  await app.close()
  await sdk.stop()
})

/** Runs a step while the store fails after an operation. */
const whileFailing = async (operation: string, step: () => Promise<unknown>): Promise<void> => {
  failing = operation
  await step()
  failing = ''
}

/** Uses the login, the grants and the API, with and without errors. Returns the secrets that occurred, by name. */
const useFeatures = async (): Promise<ReadonlyMap<string, string>> => {
  const secrets = new Map([
    ['password', app.password],
    ['metrics token', metricsToken],
  ])
  const keep = (name: string, value: unknown): string => {
    expect(value, name).toMatch(/^.{16,}$/s)
    secrets.set(name, String(value))
    return String(value)
  }
  const { agent, identifier, jwt, csrfToken } = await logIn(app)
  keep('session cookie', identifier)
  keep('JWT', jwt)
  keep('signature of the JWT', jwt.split('.')[2])
  keep('CSRF token', csrfToken)
  const wrong = keep('wrong password', 'a wrong password of somebody')
  const stranger = new UserAgent()
  const login = await stranger.browse(`${app.issuer}/login`)
  await stranger.submit(login, { email: app.user.email, password: wrong })

  const client = await TestClient.register(app, agent, {
    allowedScopes: ['notes:read', 'user:email'],
  })
  keep('client secret', client.clientSecret)
  keep('code verifier', client.pkce.verifier)
  const state = keep('state', randomBytes(16).toString('hex'))
  const page = await agent.browse(client.url({ state }))
  keep('pending request', formIn(await page.clone().text()).hidden.authorization_request)
  const code = keep('code', await client.code({ state }))
  const response = await client.redeem(code)
  keep('access token', response.body.access_token)
  const refreshToken = keep('refresh token', response.body.refresh_token)
  await client.redeem(code)
  const other = (await client.tokens()).refresh_token
  keep('other refresh token', other)
  const rotated = await client.refresh(other)
  keep('rotated access token', rotated.body.access_token)
  keep('rotated refresh token', rotated.body.refresh_token)
  await client.refresh(rotated.body.refresh_token)
  await client.refresh(other)
  await client.refresh(refreshToken)
  const fragment = new URLSearchParams(
    (await client.ask({ response_type: 'token', state })).hash.slice(1),
  )
  keep('implicit token', fragment.get('access_token'))
  const byPassword = { grant_type: 'password', username: app.user.email, password: app.password }
  const living = keep('token by password', (await client.token(byPassword)).body.access_token)
  await client.token({ ...byPassword, password: wrong })
  keep(
    'machine token',
    (await client.token({ grant_type: 'client_credentials' })).body.access_token,
  )
  const personal = keep('personal token', await app.personalToken(['notes:read']))

  // Present tokens in valid and in invalid places.
  const ask = (path: string, authorization?: string) =>
    fetch(`${app.issuer}${path}`, {
      redirect: 'manual',
      headers: { 'user-agent': browser, ...(authorization && { authorization }) },
    })
  const malformed = keep(
    'malformed JWT',
    `${Buffer.from('{"alg":"HS256" secret').toString('base64url')}.${jwt.split('.').slice(1).join('.')}`,
  )
  const unknown = keep('unknown token', randomBytes(24).toString('hex'))
  for (const token of [personal, living, unknown, jwt, malformed]) {
    await ask(`/oauth/ping?access_token=${token}`)
    await ask(`/oauth/${token}`)
    await ask(`/account/settings/applications/clients/${token}/?next=${token}`)
    for (const word of ['Bearer', 'Basic', 'Digest']) await ask('/oauth/info', `${word} ${token}`)
    await ask('/api/me', `Bearer ${token}`)
    await ask('/metrics', `Bearer ${token}`)
    await agent.fetch(`${app.issuer}/api/me`, { headers: { authorization: `Bearer ${token}` } })
  }
  await ask('/metrics', `Bearer ${metricsToken}`)

  // Cause errors, which are logged with their details.
  await whileFailing('tokens.findByAccess', () => ask(`/oauth/ping?access_token=${personal}`))
  await whileFailing('sessions.find', () => agent.fetch(`${app.issuer}/account/settings/sessions/`))
  await whileFailing('users.find', () => client.token(byPassword))
  await whileFailing('transients.put', async () => {
    await agent.fetch(client.url({ state }))
  })
  const last = keep('last code', await client.code({ state }))
  await whileFailing('authorizations.insertWithToken', () => client.redeem(last))
  return secrets
}

test('writes no secret to the log at its lowest level, to a span or to a metric', async () => {
  const secrets = await useFeatures()
  const spans = sdk.spans().map(({ name, attributes, events, status, links }) => {
    return { name, attributes, events, status, links }
  })
  const authorization = `Bearer ${metricsToken}`
  const scraped = await fetch(`${app.issuer}/metrics`, { headers: { authorization } })
  const places = {
    log: lines,
    spans: JSON.stringify(spans),
    measurements: JSON.stringify(await sdk.metrics()),
    'page for Prometheus': await scraped.text(),
  }

  // Every place has content, so that the search can find a secret.
  const events = new Set(
    lines
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { event: string }).event),
  )
  expect([...events]).toEqual(
    expect.arrayContaining([
      'authorization_code.reused',
      'http.request',
      'refresh_token.reused',
      'request.failed',
      'request.refused',
    ]),
  )
  expect(spans.length).toBeGreaterThan(60)
  expect(secrets.size).toBeGreaterThan(18)
  for (const text of Object.values(places)) expect(text).toContain('/oauth/token')

  const found = Object.entries(places).flatMap(([place, text]) =>
    [...secrets]
      .flatMap(([name, secret]) => [
        [name, secret],
        [`${name}, encoded`, encodeURIComponent(secret)],
        [`${name}, in base64`, Buffer.from(secret).toString('base64').slice(0, -4)],
      ])
      .filter(([, secret = '']) => text.includes(secret))
      .map(([name]) => `${name} in ${place}`),
  )
  expect(found).toEqual([])
})
