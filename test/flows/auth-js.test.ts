import { expect, test } from 'vitest'
import { startServer } from '../support/server.ts'
import { jwksOf, newClientKey } from '../support/signing-client.ts'
import { UserAgent } from '../support/user-agent.ts'

// Login with a secret, refresh and logout: test/full/pages/log-in-with.test.ts

// The types of Auth.js need those of a browser, so the package is imported without its types.
const packageName: string = '@auth/core'
const { Auth } = await import(packageName)

test('Auth.js logs in by the issuer with private_key_jwt [T3140]', async () => {
  await using app = await startServer({ openidConnect: true, clock: () => Date.now() })
  const url = 'http://localhost:3998'
  const key = await newClientKey('ES256')
  const { clientId } = await app.client({
    redirectUris: [`${url}/auth/callback/notes`],
    tokenEndpointAuthMethod: 'private_key_jwt',
    jwks: jwksOf(key),
  })
  const cookies = new Map<string, string>()
  /** Sends a request of the browser to the application. */
  const ask = async (path: string, form?: Record<string, string>): Promise<Response> => {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const request = new Request(new URL(path, url), {
      headers: { cookie },
      ...(form && { method: 'POST', body: new URLSearchParams(form) }),
    })
    const answer = await Auth(request, {
      secret: 'a secret of the application with more than 32 bytes',
      trustHost: true,
      basePath: '/auth',
      providers: [
        {
          id: 'notes',
          name: 'Notes',
          type: 'oidc',
          issuer: app.issuer,
          idToken: false,
          clientId,
          client: { token_endpoint_auth_method: 'private_key_jwt' },
          token: { clientPrivateKey: { key: key.privateKey, kid: String(key.jwk.kid) } },
        },
      ],
    })
    for (const set of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
      cookies.set(name, value)
    }
    return answer
  }
  const { csrfToken } = (await (await ask('/auth/csrf')).json()) as { csrfToken: string }
  const started = await ask('/auth/signin/notes', { csrfToken })
  const agent = new UserAgent()
  const arrived = await agent.authorize(app, started.headers.get('location') ?? '')
  const finished = await ask(arrived.href)
  expect(finished.headers.get('location')).toBe(url)
  const session = await (await ask('/auth/session')).json()
  expect(session).toMatchObject({ user: { email: app.user.email } })
})
