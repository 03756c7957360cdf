import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decideOn } from '../support/device.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { type LoggedIn, logIn } from '../support/session.ts'
import { ping } from '../support/user-agent.ts'
import { type Method, methods, refusalOf } from './libraries/library.ts'
import { newClient } from './libraries/new-client.ts'
import { oauth4webapi } from './libraries/oauth4webapi.ts'
import { openidClient } from './libraries/openid-client.ts'

// These tests run concurrently, because the libraries poll only every five seconds. The tests in libraries.test.ts run
// one after the other.

describe.concurrent.each(
  [oauth4webapi, openidClient].flatMap((library) =>
    ['', '/app'].map((basePath) => ({ library, name: library.name, basePath })),
  ),
)('the device flow with $name and the issuer path "$basePath"', ({ library, basePath }) => {
  let app: TestServer
  let person: LoggedIn
  beforeAll(async () => {
    app = await startServer({ basePath, deviceAuthorization: true, clock: () => Date.now() })
    person = await logIn(app)
  })
  afterAll(() => app.close())

  const flow = async (method: Method, dpop: boolean): Promise<void> => {
    const client = await newClient(app, library, { method, dpop })
    const { codes, tokens } = await client.device({ scope: 'notes:read user:email' })
    expect(codes.verification_uri).toBe(`${app.issuer}/oauth/device`)
    const polling = tokens()
    await decideOn(app, person, codes)
    const given = await polling
    expect(given.scope).toBe('notes:read user:email')
    expect(given.token_type).toBe(dpop ? 'dpop' : 'bearer')
    const me = await client.request(given.access_token, `${app.issuer}/oauth/info`)
    expect(await me.json()).toMatchObject({ user: { id: app.user.id } })
    const refreshed = await client.refresh(given.refresh_token ?? '')
    const again = await client.request(refreshed.access_token, `${app.issuer}/oauth/info`)
    expect(again.status).toBe(200)
    expect(await ping(app, refreshed.access_token)).toBe(dpop ? 401 : 200)
  }

  test('RFC 8628 §3 supports polling and refresh with every authentication method and with DPoP', async () => {
    await Promise.all([...methods.map((method) => flow(method, false)), flow('none', true)])
  })

  test('RFC 8628 §3.5 returns access_denied if the user denies access', async () => {
    const client = await newClient(app, library, { method: 'none' })
    const { codes, tokens } = await client.device({})
    const refusal = refusalOf(tokens())
    await decideOn(app, person, codes, 'no')
    expect(await refusal).toBe('400 access_denied')
  })
})
