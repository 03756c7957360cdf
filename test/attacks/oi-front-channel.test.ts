import { createHash } from 'node:crypto'
import { decodeJwt } from 'jose'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { formIn, ping, responseTo, TestClient, UserAgent } from '../support/user-agent.ts'

// ID tokens in the response of the authorization endpoint.

const types = ['id_token', 'code id_token', 'id_token token'] as const
const request = { scope: 'openid', nonce: 'n-1' }

let app: TestServer
let agent: UserAgent
/** A client that may use every response type with an ID token. */
let front: TestClient
/** A client that registered only the response type `code`. */
let back: TestClient
/** A web application without registered response types. */
let unlimited: TestClient

beforeAll(async () => {
  app = await startServer({
    openidConnect: true,
    allowFrontChannelIdTokens: true,
    dynamicRegistration: 'open',
  })
  agent = new UserAgent()
  await agent.logIn(app)
  front = await TestClient.register(app, agent, { responseTypes: ['code', ...types] })
  back = await TestClient.register(app, agent, { responseTypes: ['code'] })
  unlimited = await TestClient.register(app, agent)
  for (const client of [front, back, unlimited]) await client.tokens({ scope: 'openid' })
})
afterAll(() => app.close())

/** Everything that the browser received from the server and would send to the client. */
const received = (answer: URL | string): string => decodeURIComponent(String(answer))

const hasToken = (text: string): boolean => /id_token=|access_token=|eyJ/.test(text)

describe('OI-06 response types', () => {
  test.each(types)(
    'rejects the response type %s in a link for a client that may not use this type [T3133]',
    async (response_type) => {
      for (const client of [back, unlimited])
        for (const prompt of [undefined, 'none']) {
          const answer = await client.ask({ ...request, response_type, prompt })
          expect(responseTo(client, answer, 'fragment').error).toBe('unauthorized_client')
          expect(hasToken(received(answer))).toBe(false)
        }
    },
  )

  test('ignores a response type with an ID token that is added to the consent form', async () => {
    const page = await agent.browse(front.url({ ...request, prompt: 'consent' }))
    const tampered = { confirm: 'yes', response_type: 'code id_token', response_mode: 'form_post' }
    const answer = await agent.submit(page, tampered)
    const location = answer.headers.get('location') ?? ''
    expect(responseTo(front, new URL(location))).toHaveProperty('code')
    expect(hasToken(received(location))).toBe(false)
  })

  test('rejects a pending consent after the client lost the response type', async () => {
    const client = await TestClient.register(app, agent, { responseTypes: ['id_token'] })
    const page = await agent.browse(client.url({ ...request, response_type: 'id_token' }))
    await app.server.clients.update(client.clientId, { responseTypes: ['code'] })
    const answer = await agent.submit(page, { confirm: 'yes' })
    expect([answer.status, answer.headers.get('location')]).toEqual([400, null])
    expect(hasToken(await answer.text())).toBe(false)
  })

  test.each([
    'id_token id_token',
    'id_token code code',
    'code id_token token',
    'code token',
    'id_token ',
    'ID_TOKEN',
    'id_token,code',
    'id_token+code',
    'id_token none',
  ])('rejects %j as a response type', async (response_type) => {
    const answer = await front.ask({ ...request, response_type })
    expect(answer.searchParams.get('error')).toBe('unsupported_response_type')
    expect(hasToken(received(answer))).toBe(false)
  })

  test('rejects repeated parameters without a redirect', async () => {
    for (const more of ['response_type=code', 'response_mode=query', 'nonce=n-2']) {
      const url = front.url({ ...request, response_type: 'id_token', response_mode: 'fragment' })
      const answer = await agent.browse(`${url}&${more}`)
      expect(answer.address).toContain('/oauth/errors')
    }
  })
})

describe('OI-06 the nonce and the code', () => {
  test.each(types)('issues nothing for %s without a nonce [T3134]', async (response_type) => {
    const before = await app.query('select count(*) as n from oauth2server_authorization')
    for (const nonce of [undefined, '', 'x'.repeat(1_025)]) {
      const answer = await front.ask({ ...request, response_type, nonce })
      expect(responseTo(front, answer, 'fragment').error).toBe('invalid_request')
      expect(hasToken(received(answer))).toBe(false)
    }
    expect(await app.query('select count(*) as n from oauth2server_authorization')).toEqual(before)
  })

  test('the hash in the ID token reveals a substituted code, and the server rejects the code because of PKCE', async () => {
    const given = { ...request, response_type: 'code id_token' }
    const mine = responseTo(front, await front.ask(given), 'fragment')
    // The attacker logs in with the same client, and injects the code into the response for the victim.
    const attacker = new TestClient(app, agent, front, 'basic')
    const other = responseTo(attacker, await attacker.ask(given), 'fragment')
    const { c_hash, nonce } = decodeJwt(mine.id_token ?? '')
    const hashOf = (code = '') =>
      createHash('sha256').update(code).digest().subarray(0, 16).toString('base64url')
    expect([c_hash, nonce]).toEqual([hashOf(mine.code), 'n-1'])
    expect(c_hash).not.toBe(hashOf(other.code))
    expect((await front.redeem(other.code ?? '')).body.error).toBe('invalid_grant')
    expect((await back.redeem(mine.code ?? '')).body.error).toBe('invalid_grant')
    expect((await front.redeem(mine.code ?? '')).status).toBe(200)
  })

  test('an ID token of the front channel is neither an access token nor a code, and names its client', async () => {
    const answer = await front.ask({ ...request, response_type: 'id_token' })
    const { id_token = '' } = responseTo(front, answer, 'fragment')
    expect(decodeJwt(id_token).aud).toBe(front.clientId)
    expect(await ping(app, id_token)).toBe(401)
    expect((await front.redeem(id_token)).body.error).toBe('invalid_grant')
    const hint = await back.ask({ scope: 'openid', id_token_hint: id_token, prompt: 'none' })
    expect(hint.searchParams.get('error')).toBe('invalid_request')
  })
})

describe('OI-06 redirects and forms', () => {
  const evil = 'https://evil.example/cb'

  test.each(types)('sends %s only to registered URIs [T3135]', async (response_type) => {
    for (const response_mode of ['fragment', 'form_post'])
      for (const redirect_uri of [evil, `${front.redirectUri}#`, `${front.redirectUri}#a=b`]) {
        const url = front.url({ ...request, response_type, response_mode, redirect_uri })
        const page = await agent.browse(url)
        const html = await page.text()
        expect(page.address).toContain('/oauth/errors')
        expect(hasToken(page.address + html)).toBe(false)
        expect(html).not.toContain(`action="${redirect_uri}`)
      }
  })

  test.each(types)(
    'does not redirect the errors of %s to a client before the login',
    async (response_type) => {
      for (const response_mode of [undefined, 'form_post', 'query']) {
        const url = front.url({ scope: 'openid', nonce: undefined, response_type, response_mode })
        const page = await new UserAgent().browse(url)
        expect(page.address).toContain('/login')
        expect(page.headers.get('location')).toBeNull()
      }
    },
  )

  test('sends a form with an ID token to the registered redirect URI, and forbids storing the form', async () => {
    const url = front.url({ ...request, response_type: 'id_token', response_mode: 'form_post' })
    const first = await agent.browse(url)
    const page = (await first.clone().text()).includes('authorization_request')
      ? await agent.submit(first, { confirm: 'yes' })
      : first
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(page.headers.get('referrer-policy')).toBe('no-referrer')
    const html = await page.text()
    const { action, hidden } = formIn(html)
    expect([action, Object.keys(hidden).sort()]).toEqual([
      front.redirectUri,
      ['id_token', 'iss', 'state'],
    ])
    expect(html.replaceAll(`value="${hidden.id_token}"`, '')).not.toContain('eyJ')
  })

  test('forbids caching of a response with an ID token, and sends no referrer', async () => {
    const url = front.url({ ...request, response_type: 'id_token', prompt: 'none' })
    const answer = await agent.fetch(url)
    expect(hasToken(received(answer.headers.get('location') ?? ''))).toBe(true)
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([303, 'no-store'])
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
  })

  test('issues no ID token to a prefetch, and logs no ID token', async () => {
    const url = front.url({ ...request, response_type: 'id_token', prompt: 'none' })
    const early = await agent.fetch(url, { headers: { 'sec-purpose': 'prefetch' } })
    expect([early.status, early.headers.get('location')]).toEqual([403, null])
    expect(hasToken(JSON.stringify(app.log))).toBe(false)
  })
})

describe('OI-06 mix-up', () => {
  test.each(types)(
    'RFC 9207 §2.4 the response to %s has the same issuer in iss and in the ID token [T3136]',
    async (response_type) => {
      const answer = await front.ask({ ...request, response_type })
      const { iss, id_token = '' } = responseTo(front, answer, 'fragment')
      expect([iss, decodeJwt(id_token).iss]).toEqual([app.issuer, app.issuer])
      const refused = await front.ask({ ...request, response_type, prompt: 'consent' }, 'no')
      expect(responseTo(front, refused, 'fragment')).toMatchObject({
        error: 'access_denied',
        iss: app.issuer,
      })
    },
  )
})
