import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { formIn, TestClient, UserAgent } from '../support/user-agent.ts'

// OAuth 2.0 Form Post Response Mode. This mode does not require OpenID Connect.

describe('Form Post §2', () => {
  let app: TestServer
  let agent: UserAgent
  let client: TestClient
  beforeAll(async () => {
    app = await startServer()
    agent = new UserAgent()
    await agent.logIn(app)
    client = await TestClient.register(app, agent)
  })
  afterAll(() => app.close())

  /** Opens the request, and submits the decision if the server shows the consent page. */
  const answered = async (given: Record<string, string> = {}, confirm = 'yes') => {
    const url = client.url({ response_mode: 'form_post', ...given })
    const page = await agent.browse(url)
    const html = await page.clone().text()
    if (!html.includes('name="authorization_request"')) return page
    return agent.submit(page, { confirm })
  }

  test('returns a code in a form whose target is the redirect URI [T1550]', async () => {
    const page = await answered({ state: `"'><script>` })
    expect(page.status).toBe(200)
    expect(page.headers.getSetCookie()).toEqual([])
    expect(page.headers.get('cache-control')).toBe('no-store')
    const policy = page.headers.get('content-security-policy') ?? ''
    expect(policy).not.toContain('form-action')
    expect(policy).toContain("script-src 'self'")
    const html = await page.text()
    expect(html).not.toContain('<script>')
    const { action, hidden } = formIn(html)
    expect(action).toBe(client.redirectUri)
    expect(hidden).toEqual({ code: expect.any(String), state: `"'><script>`, iss: app.issuer })
    expect(html).toContain('<button type="submit">')
    const { status, body } = await client.redeem(hidden.code ?? '')
    expect([status, body.token_type]).toEqual([200, 'Bearer'])
  })

  test('returns the form immediately if the consent is remembered [T1551]', async () => {
    await answered()
    expect(formIn(await (await answered()).text()).hidden).toHaveProperty('code')
  })

  test('returns errors in a form: a denial by the user, and an invalid request [T1552]', async () => {
    const refused = formIn(await (await answered({ prompt: 'consent' }, 'no')).text())
    expect(refused.hidden).toMatchObject({ error: 'access_denied', state: 'xyz' })
    const invalid = formIn(await (await answered({ scope: 'unknown' })).text())
    expect(invalid.action).toBe(client.redirectUri)
    expect(invalid.hidden).toMatchObject({ error: 'invalid_scope', state: 'xyz', iss: app.issuer })
  })

  test('returns an access token of the implicit grant in a form instead of the fragment [T1553]', async () => {
    const { hidden } = formIn(await (await answered({ response_type: 'token' })).text())
    expect(hidden).toMatchObject({ token_type: 'Bearer', access_token: expect.any(String) })
  })

  test.each([
    ['code', 'fragment'],
    ['token', 'query'],
    ['code', 'web_message'],
    ['code', 'form_post.jwt'],
  ])(
    'rejects the response type %s with the mode %s [T1554]',
    async (response_type, response_mode) => {
      const answer = await agent.browse(client.url({ response_type, response_mode }))
      const location = new URL(answer.headers.get('location') ?? '')
      expect(location.searchParams.get('error')).toBe('invalid_request')
    },
  )

  test('never returns a form whose target is the redirect URI of another client [T1555]', async () => {
    const page = await agent.browse(
      client.url({ response_mode: 'form_post', redirect_uri: 'https://evil.example/cb' }),
    )
    expect(await page.text()).not.toContain('evil.example')
  })

  test('lists the mode in the metadata [T1556]', async () => {
    const metadata = await fetch(`${app.issuer}/.well-known/oauth-authorization-server`)
    expect(await metadata.json()).toMatchObject({
      response_modes_supported: expect.arrayContaining(['query', 'fragment', 'form_post']),
    })
  })
})
