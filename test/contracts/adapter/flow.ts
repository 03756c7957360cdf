import { describe, expect, test } from 'vitest'
import { newPkce } from '../../support/user-agent.ts'
import { password, redirectUri } from './harness.ts'
import { basic, newBrowser, type World } from './world.ts'

/** Defines tests of the code flow and of the client_credentials grant. */
export const describeFlow = (world: () => World): void => {
  test('completes the code flow: login, consent, token request, request to a resource, refresh', async () => {
    const { app, user } = world()
    const { verifier, challenge } = newPkce()
    const url = world().authorizeUrl({
      state: 'x y&z',
      code_challenge: challenge,
      code_challenge_method: 'S256',
    })
    const agent = newBrowser(app)
    const first = await agent.fetch(url)
    expect(first.status).toBe(303)
    const login = new URL(first.headers.get('location') ?? '', url)
    expect(login.pathname).toBe(world().path(app.place.loginPath))
    const next = login.searchParams.get('next') ?? ''
    expect(next.startsWith(world().oauth('/authorize?'))).toBe(true)

    const entered = await agent.submit(await agent.browse(login), {
      email: user.email,
      password,
    })
    expect([entered.status, entered.headers.get('location')]).toEqual([303, next])
    const consent = await agent.browse(new URL(next, url))
    expect(consent.status).toBe(200)
    const decided = await agent.submit(consent, { confirm: 'yes' })
    expect(decided.status).toBe(303)
    const response = new URL(decided.headers.get('location') ?? '')
    expect(response.origin + response.pathname).toBe(redirectUri)
    expect(response.searchParams.get('state')).toBe('x y&z')
    expect(response.searchParams.get('iss')).toBe(app.place.issuer)

    const redeemed = await world().token(
      `${new URLSearchParams({
        grant_type: 'authorization_code',
        code: response.searchParams.get('code') ?? '',
        redirect_uri: redirectUri,
        code_verifier: verifier,
      })}`,
    )
    expect(redeemed.status).toBe(200)
    expect(redeemed.headers.get('cache-control')).toBe('no-store')
    const issued = JSON.parse(redeemed.text)
    const authorization = `Bearer ${issued.access_token}`
    expect((await world().ask('/api/me', { authorization })).body).toEqual({
      id: user.id,
      kind: 'access_token',
    })
    const info = await world().send(world().oauth('/info'), { authorization })
    expect(JSON.parse(info.text)).toMatchObject({ user: { id: user.id }, scopes: ['notes:read'] })

    const refreshed = await world().token(
      `grant_type=refresh_token&refresh_token=${issued.refresh_token}`,
    )
    expect(refreshed.status).toBe(200)
    const { access_token } = JSON.parse(refreshed.text)
    const bearer = { authorization: `Bearer ${access_token}` }
    expect((await world().ask('/api/me', bearer)).status).toBe(200)
  })

  test('redirects to the client with access_denied if the user denies the request', async () => {
    const { app, session } = world()
    const consent = await session.agent.browse(world().authorizeUrl({ prompt: 'consent' }))
    const decided = await session.agent.submit(consent, { confirm: 'no' })
    const response = new URL(decided.headers.get('location') ?? '')
    expect(response.searchParams.get('error')).toBe('access_denied')
    expect(response.searchParams.get('iss')).toBe(app.place.issuer)
  })

  describe('the client_credentials grant', () => {
    const grant = 'grant_type=client_credentials'
    const inBody = () => {
      const { clientId, clientSecret } = world().client
      return `&client_id=${clientId}&client_secret=${clientSecret}`
    }

    test.each(['in the header', 'in the body'])(
      'issues a token of the owner of the client for a secret %s',
      async (where) => {
        const response =
          where === 'in the header'
            ? await world().token(grant)
            : await world().token(grant + inBody(), { authorization: '' })
        expect(response.status).toBe(200)
        const authorization = `Bearer ${JSON.parse(response.text).access_token}`
        const { body } = await world().ask('/api/me', { authorization })
        expect(body).toEqual({ id: world().user.id, kind: 'access_token' })
      },
    )

    test.each<[string, () => Promise<{ status: number; headers: Headers; text: string }>, string]>([
      [
        'a request without credentials',
        () => world().token(grant, { authorization: '' }),
        '401 invalid_client',
      ],
      [
        'a wrong secret',
        () =>
          world().token(grant, {
            authorization: basic({ ...world().client, clientSecret: 'wrong' }),
          }),
        '401 invalid_client Basic',
      ],
      [
        'an unknown client',
        () => world().token(grant, { authorization: `Basic ${btoa('nobody:x')}` }),
        '401 invalid_client Basic',
      ],
      [
        'credentials in the header and in the body',
        () => world().token(grant + inBody()),
        '400 invalid_request',
      ],
      [
        'a malformed Basic header',
        () => world().token(grant, { authorization: 'Basic !' }),
        '401 invalid_client Basic',
      ],
      [
        'a bearer token instead of client credentials',
        () => world().token(grant, { authorization: 'Bearer a' }),
        '401 invalid_client',
      ],
    ])('rejects %s', async (_, send, expected) => {
      const { status, headers, text } = await send()
      const challenge = headers.get('www-authenticate')?.split(' ')[0]
      const said = [status, JSON.parse(text).error, challenge].filter(Boolean).join(' ')
      expect(said.startsWith(expected)).toBe(true)
    })

    test('rejects the client of an inactive owner with 401 invalid_client', async () => {
      const { app, other } = world()
      const client = await app.control.createClient(other.id)
      const authorization = basic(client)
      await app.control.setActive(other.id, false)
      const refused = await world().token(grant, { authorization })
      await app.control.setActive(other.id, true)
      expect([refused.status, JSON.parse(refused.text).error]).toEqual([401, 'invalid_client'])
    })
  })
}
