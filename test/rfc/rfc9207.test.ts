import { InvalidField } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { responseTo, TestClient, UserAgent } from '../support/user-agent.ts'

describe.each(['', '/app'])('RFC 9207 for an issuer with the path "%s"', (basePath) => {
  let app: TestServer
  let agent: UserAgent
  let conf: TestClient
  beforeAll(async () => {
    app = await startServer({ basePath })
    agent = new UserAgent()
    await agent.logIn(app)
    conf = await TestClient.register(app, agent)
  })
  afterAll(() => app.close())

  const metadata = async (): Promise<Record<string, unknown>> => {
    const { origin } = new URL(app.issuer)
    const url = `${origin}/.well-known/oauth-authorization-server${basePath}`
    return (await fetch(url)).json() as never
  }

  test('§3 announces the parameter iss in the metadata [T397]', async () => {
    expect(await metadata()).toMatchObject({
      issuer: app.issuer,
      authorization_response_iss_parameter_supported: true,
    })
  })

  // `responseTo` also asserts that no parameter is repeated.
  test.each<[string, Record<string, string | undefined>, 'yes' | 'no']>([
    ['a code', {}, 'yes'],
    ['access_denied', {}, 'no'],
    ['invalid_scope', { scope: 'bogus' }, 'yes'],
    ['invalid_request', { response_type: undefined }, 'yes'],
    ['unsupported_response_type', { response_type: 'bogus' }, 'yes'],
  ])('§2 returns the issuer as iss in a response with %s [T289]', async (_what, given, confirm) => {
    const { issuer } = await metadata()
    const answer = await conf.ask({ prompt: 'consent', ...given }, confirm)
    expect(responseTo(conf, answer).iss).toBe(issuer)
  })

  test('§2 returns iss in the fragment of an implicit response, and in the query and the fragment of an implicit error [T395]', async () => {
    const token = await conf.ask({ response_type: 'token' })
    expect(responseTo(conf, token, 'fragment').iss).toBe(app.issuer)
    const error = await conf.ask({ response_type: 'token', scope: 'bogus' })
    expect(responseTo(conf, error, 'query').iss).toBe(app.issuer)
    expect(responseTo(conf, error, 'fragment').iss).toBe(app.issuer)
  })

  test('§2 returns iss with the errors login_required and consent_required [T394]', async () => {
    const visitor = await new UserAgent().authorize(app, conf.url({ prompt: 'none' }))
    expect(responseTo(conf, visitor)).toMatchObject({ error: 'login_required', iss: app.issuer })
    const fresh = await TestClient.register(app, agent)
    expect(responseTo(fresh, await fresh.ask({ prompt: 'none' }))).toMatchObject({
      error: 'consent_required',
      iss: app.issuer,
    })
  })

  test('RFC 9700 §4.4 attacks MX-02 ignores iss in the request [T399]', async () => {
    const evil = 'https://evil.example'
    for (const given of [{}, { scope: 'bogus' }])
      expect(responseTo(conf, await conf.ask({ iss: evil, ...given })).iss).toBe(app.issuer)
    const page = await agent.browse(conf.url({ prompt: 'consent' }))
    const answer = await agent.submit(page, { confirm: 'yes', iss: evil, issuer: evil })
    expect(responseTo(conf, new URL(answer.headers.get('location') ?? '')).iss).toBe(app.issuer)
  })

  test('returns the configured issuer as iss even if forwarding headers name another host [T396]', async () => {
    for (const name of ['x-forwarded-host', 'forwarded', 'x-forwarded-proto']) {
      const response = await agent.fetch(conf.url(), {
        headers: {
          [name]: name === 'forwarded' ? 'host=evil.example;proto=https' : 'evil.example',
        },
      })
      const location = response.headers.get('location') ?? ''
      expect(responseTo(conf, new URL(location)).iss).toBe(app.issuer)
    }
  })

  test.each(['iss', 'code', 'state', 'error', 'error_description', 'access_token'])(
    'attacks MX-02 rejects the registration of a redirect URI with the parameter %s',
    async (name) => {
      for (const query of [`?${name}=x`, `?a=1&${name}=https%3A%2F%2Fevil.example`]) {
        const redirectUris = [`https://client.example/cb${query}`]
        await expect(app.client({ redirectUris })).rejects.toThrow(InvalidField)
      }
      const harmless = [`https://client.example/${name}=x?my_${name}=x`]
      await expect(app.client({ redirectUris: harmless })).resolves.toBeDefined()
    },
  )
})
