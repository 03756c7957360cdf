import { betterAuth } from 'better-auth'
import { memoryAdapter } from 'better-auth/adapters/memory'
import { createPrivateKeyJwtClientAssertionGetter } from 'better-auth/oauth2'
import { genericOAuth } from 'better-auth/plugins'
import { exportPKCS8 } from 'jose'
import { expect, test, vi } from 'vitest'
import { startServer } from '../support/server.ts'
import { jwksOf, newClientKey } from '../support/signing-client.ts'
import { statusOf } from '../support/tokens.ts'
import { UserAgent } from '../support/user-agent.ts'

// The configuration of better-auth contains only the discovery document and the client.

const methods = ['client_secret_post', 'private_key_jwt'] as const

test.each(methods)(
  'better-auth logs in, refreshes and logs out with %s [T2403]',
  async (method) => {
    await using app = await startServer({
      openidConnect: true,
      clock: () => Date.now(),
      claims: () => ({ name: 'Ada Lovelace' }),
    })
    const baseURL = 'http://localhost:3999'
    const returnUri = `${baseURL}/bye`
    const key = await newClientKey('RS256')
    const { clientId, clientSecret } = await app.client({
      redirectUris: [`${baseURL}/api/auth/callback/notes`],
      openid: { post_logout_redirect_uris: [returnUri] },
      ...(method === 'private_key_jwt' && {
        tokenEndpointAuthMethod: 'private_key_jwt',
        jwks: jwksOf(key),
      }),
    })
    const getClientAssertion = createPrivateKeyJwtClientAssertionGetter({
      privateKeyPem: await exportPKCS8(key.privateKey),
    })
    const auth = betterAuth({
      baseURL,
      secret: 'a secret of the application with more than 32 bytes',
      database: memoryAdapter({ user: [], session: [], account: [], verification: [] }),
      telemetry: { enabled: false },
      plugins: [
        genericOAuth({
          config: [
            {
              providerId: 'notes',
              discoveryUrl: `${app.issuer}/.well-known/openid-configuration`,
              clientId,
              ...(method === 'private_key_jwt'
                ? { tokenEndpointAuth: { method, getClientAssertion } }
                : { clientSecret }),
              scopes: ['openid', 'profile', 'email'],
              requireIdTokenVerification: true,
              postLogoutRedirectURI: returnUri,
            },
          ],
        }),
      ],
    })
    const cookies = new Map<string, string>()
    /** Sends a request of the browser to the application. */
    const ask = async (path: string, body?: object): Promise<Response> => {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const headers = { cookie, origin: baseURL, 'content-type': 'application/json' }
      const request = new Request(new URL(path, baseURL), {
        headers,
        ...(body && { method: 'POST', body: JSON.stringify(body) }),
      })
      const answer = await auth.handler(request)
      for (const set of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? []
        cookies.set(name, value)
      }
      return answer
    }
    const agent = new UserAgent()
    const started = await ask('/api/auth/sign-in/social', {
      provider: 'notes',
      callbackURL: '/home',
    })
    const { url } = (await started.json()) as { url: string }
    const finished = await ask((await agent.authorize(app, url)).href)
    expect(finished.headers.get('location')).toBe('/home')

    const session = await ask('/api/auth/get-session')
    expect(await session.json()).toMatchObject({
      user: { email: app.user.email, name: 'Ada Lovelace' },
    })
    const accounts = await ask('/api/auth/list-accounts')
    const [{ id: accountId } = { id: '' }] = (await accounts.json()) as { id: string }[]
    const tokenOf = async (path: string) => {
      const answer = await ask(path, { accountId })
      return ((await answer.json()) as { accessToken: string }).accessToken
    }
    const token = await tokenOf('/api/auth/get-access-token')
    expect(await statusOf(app, token)).toBe(200)
    const refreshed = await tokenOf('/api/auth/refresh-token')
    expect(refreshed).not.toBe(token)
    expect(await statusOf(app, refreshed)).toBe(200)

    const ended = (await (await ask('/api/auth/sign-out', {})).json()) as { url?: string }
    expect(new URL(ended.url ?? '').pathname).toBe('/oauth/logout')
    const answer = await agent.browse(ended.url ?? '')
    expect(answer.headers.get('location')).toBe(returnUri)
    // The access ends after the response of the logout.
    await vi.waitFor(async () => expect(await statusOf(app, refreshed)).toBe(401))
  },
)
