import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keepDescribed } from '../support/internals.ts'
import { type RawResponse, rawHttp } from '../support/raw-http.ts'
import { register } from '../support/registration.ts'
import { browser } from '../support/session.ts'
import { clientOf } from '../support/tokens.ts'
import { UserAgent } from '../support/user-agent.ts'
import {
  type AttackServer,
  expectBearer,
  formOf,
  type HttpResponse,
  startAttackServer,
} from './support/attack-server.ts'

/** Endpoints of the application and the server that require a credential. */
const guarded = ['/api/me', '/oauth/ping', '/oauth/info'] as const
/** An endpoint that allows anonymous callers. */
const open = '/api/public'

let attack: AttackServer
/** A valid token of user-a. */
let token: string
beforeAll(async () => {
  attack = await startAttackServer()
  token = (await attack.grant({ scope: 'r w' })).accessToken
})
afterAll(() => attack.close())

const bearer = (value: string) => ({ authorization: `Bearer ${value}` })

const ask = (path: string, headers: Record<string, string> = {}): Promise<HttpResponse> =>
  attack.request(path, { headers })

/** Sends a request with exactly these header lines. */
const raw = (target: string, headers: readonly string[], method = 'GET'): Promise<RawResponse> =>
  rawHttp(attack.server, { method, target, headers })

const kindOf = async (path: string, headers: Record<string, string> = {}): Promise<unknown> => {
  const { status, body } = await ask(path, headers)
  return status === 200 ? body.kind : status
}

/** Expects the 400 response to a request with two credentials. */
const expectTwo = ({ status, headers, text }: Pick<RawResponse, 'status' | 'headers' | 'text'>) => {
  expect([status, JSON.parse(text).error]).toEqual([400, 'invalid_request'])
  expect(headers.get('www-authenticate')).toContain('error="invalid_request"')
}

describe('BR-01 Missing, malformed, expired or revoked token', () => {
  test('returns a challenge without an error to a request without a credential', async () => {
    for (const path of guarded) {
      const response = await ask(path, { accept: 'text/html' })
      expectBearer(response)
      const challenge = response.headers.get('www-authenticate')
      expect(challenge).toContain(`realm="${attack.issuer}"`)
      const metadata = `${attack.issuer}/.well-known/oauth-protected-resource`
      expect(challenge).toContain(`resource_metadata="${metadata}"`)
      expect((await ask(metadata)).status).toBe(200)
      expect(response.headers.get('content-type')).toMatch(/^application\/json\b/)
      expect(Object.keys(response.body)).not.toContain('error')
    }
  })

  const worthless: Readonly<Record<string, () => Promise<string>>> = {
    'a malformed token': async () => 'bad',
    'an expired token': async () => {
      const { accessToken } = await attack.server.server.tokens.createPersonal(
        'Short',
        attack.users.a.user.id,
        { expiresIn: 1 },
      )
      attack.server.advance(1)
      return accessToken
    },
    'a revoked token': async () => {
      const { accessToken } = await attack.grant()
      await attack.server.server.tokens.revoke(await found(accessToken))
      return accessToken
    },
    'a token of a deactivated user': async () => {
      const { users } = attack.server.server
      const user = await users.create({ email: 'gone@example.org', password: null })
      const made = await attack.server.server.tokens.createPersonal('Gone', user.id)
      expect((await attack.ping(made.accessToken)).status).toBe(200)
      await users.setActive(user.id, false)
      return made.accessToken
    },
    'a token of a client with a deactivated owner': async () => {
      const { users } = attack.server.server
      const owner = await users.create({ email: 'owner@example.org', password: null })
      const client = await attack.client({ userId: owner.id })
      const { accessToken } = await attack.grant({}, { client })
      expect((await attack.ping(accessToken)).status).toBe(200)
      await users.setActive(owner.id, false)
      return accessToken
    },
    'a token of a deleted client': async () => {
      const client = await attack.client()
      const { accessToken } = await attack.grant({}, { client })
      await attack.server.server.clients.delete(client.clientId)
      return accessToken
    },
    'a refresh token': async () => (await attack.grant()).refreshToken,
    'an authorization code': () => attack.code(),
    'a client secret': async () => attack.clients.conf.clientSecret,
  }
  const found = async (accessToken: string) => {
    const known = await attack.server.server.tokens.find({ accessToken })
    if (!known) throw new Error('The token does not exist.')
    return known.token
  }

  test.each(Object.entries(worthless))('rejects %s', async (_, make) => {
    const value = await make()
    for (const path of [...guarded, open]) {
      const response = await ask(path, { accept: 'text/html', ...bearer(value) })
      expectBearer(response, 'invalid_token')
      expect(response.body.error).toBe('invalid_token')
      expect(response.text).not.toContain(value)
    }
    // A valid session does not replace the invalid token.
    const { cookie } = await attack.browser('a')
    const both = { cookie, 'user-agent': browser, ...bearer(value) }
    for (const path of [...guarded, open]) expectBearer(await ask(path, both), 'invalid_token')
    expect((await attack.ping(token)).status).toBe(200)
  })
})

describe('BR-02 More than one credential', () => {
  const line = (value: string) => `Authorization: Bearer ${value}`

  test.each<[string, () => readonly [query: string, ...lines: string[]]]>([
    ['the same token in header and query', () => [`?access_token=${token}`, line(token)]],
    ['different tokens in header and query', () => ['?access_token=bad', line(token)]],
    ['a repeated query parameter', () => [`?access_token=${token}&access_token=${token}`]],
    [
      'a repeated query parameter with an encoded name',
      () => [`?access_token=a&access%5Ftoken=${token}`],
    ],
    [
      'two header lines, of which the first is invalid',
      () => ['', 'Authorization: junk', line(token)],
    ],
    [
      'two header lines, of which the second is invalid',
      () => ['', line(token), 'Authorization: junk'],
    ],
    ['two valid header lines', () => ['', line(token), line(token)]],
    [
      'two header lines with names in different cases',
      () => ['', line(token), `aUTHORIZATION: Bearer x`],
    ],
    ['a header line followed by an empty header line', () => ['', line(token), 'Authorization:']],
    ['a list of credentials in one line', () => ['', `${line(token)}, Bearer ${token}`]],
  ])('returns 400 for %s', async (_, present) => {
    const [query, ...lines] = present()
    for (const path of [...guarded, open]) expectTwo(await raw(`${path}${query}`, lines))
  })

  test('does not accept access_token[] as access_token', async () => {
    expect((await raw(`/api/me?access_token[]=${token}`, [])).status).toBe(400)
    for (const path of ['/oauth/ping', '/oauth/info'])
      expectBearer(await ask(`${path}?access_token%5B%5D=${token}`))
  })

  test('ignores a token in the body if the header has a token', async () => {
    const body = new URLSearchParams({ access_token: 'bad' })
    const init = { method: 'POST', body }
    expect((await attack.request('/oauth/ping', { ...init, headers: bearer(token) })).status).toBe(
      200,
    )
  })
})

describe('BR-05 Tokens in the query', () => {
  test('never returns or logs the token, and sends no-store and no-referrer', async () => {
    const { agent } = await attack.newBrowser('a')
    const query = `access_token=${token}`
    const authorize = `${new URL(attack.authorizeUrl()).search}&${query}`
    const paths = [
      `/api/me?${query}`,
      `/api/notes?${query}`,
      `/api/absent?${query}`,
      `/api/me?a=[&${query}`,
      `/oauth/ping?${query}`,
      `/oauth/info?${query}`,
      `/oauth/absent?${query}`,
      `/oauth/token?${query}`,
      `/oauth/errors?error=x&${query}`,
      `/oauth/device?${query}`,
      `/oauth/authorize${authorize}`,
      `/oauth/authorize?client_id=nope&${query}`,
      `/login?${query}`,
      `/account/settings/applications?${query}`,
      `/account/settings/applications/?${query}&clients_after=x`,
      `/account/settings/applications/tokens/new/?access%5Ftoken=${token}`,
    ]
    for (const path of paths) {
      for (const who of [undefined, agent]) {
        const response = await attack.request(path, who ? { agent: who } : {})
        expect(response.status, path).toBeLessThan(500)
        expect(response.text, path).not.toContain(token)
        expect([...response.headers.values()].join('\n'), path).not.toContain(token)
        expect(response.headers.get('cache-control'), path).toMatch(/no-store/)
        expect(response.headers.get('referrer-policy'), path).toBe('no-referrer')
      }
    }
    expect(JSON.stringify(attack.server.log)).not.toContain(token)
  })

  test('ignores query tokens if they are disabled', async () => {
    await using off = await startAttackServer({ acceptQueryAccessToken: false })
    const { value } = await off.personalToken()
    const response = await off.request(`/oauth/ping?access_token=${value}`)
    expectBearer(response)
    expect((await off.ping(value)).status).toBe(200)
    expectBearer(await off.request(`/api/me?access_token=${value}`))
    expect((await off.request(`/api/public?access_token=${value}`)).body.kind).toBe('anonymous')
    const metadata = await off.request('/.well-known/oauth-protected-resource')
    expect(metadata.body.bearer_methods_supported).toEqual(['header'])
  })
})

describe('BR-06 Syntax of the Authorization header', () => {
  const flipped = (value: string): string =>
    [...value].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join('')

  test.each<[string, (value: string) => string]>([
    ['the scheme in lower case', (value) => `bearer ${value}`],
    ['the scheme in upper case', (value) => `BEARER ${value}`],
    ['two spaces after the scheme', (value) => `Bearer  ${value}`],
    // Whitespace around a header value is not part of the value (RFC 9110 §5.5).
    ['a trailing space after the token', (value) => `Bearer ${value} `],
  ])('accepts a header with %s', async (_, header) => {
    for (const path of guarded) {
      expect((await raw(path, [`Authorization: ${header(token)}`])).status).toBe(200)
    }
  })

  test.each<[string, (value: string) => string]>([
    ['a tab after the scheme', (value) => `Bearer\t${value}`],
    ['no space after the scheme', (value) => `Bearer${value}`],
    ['a scheme but no token', () => 'Bearer'],
    ['a token but no scheme', (value) => value],
    ['an empty value', () => ''],
    ['a word after the token', (value) => `Bearer ${value} extra`],
    ['a parameter instead of a token', (value) => `Bearer token=${value}`],
    ['a quoted token', (value) => `Bearer "${value}"`],
    ['two credentials', (value) => `Bearer ${value},Bearer ${value}`],
    ['the scheme twice', (value) => `Bearer Bearer ${value}`],
    ['the scheme DPoP', (value) => `DPoP ${value}`],
    ['a colon after the scheme', (value) => `Bearer: ${value}`],
    ['an 8-bit character', (value) => `Bearer ${value}\xE9`],
    ['a colon after the token', (value) => `Bearer ${value}:`],
    ['a token whose upper and lower case are swapped', (value) => `Bearer ${flipped(value)}`],
    ['the characters %00 after the token', (value) => `Bearer ${value}%00`],
    ['an equals sign after the token', (value) => `Bearer ${value}=`],
    ['a token with an additional letter', (value) => `Bearer ${value}A`],
    ['a token without its last letter', (value) => `Bearer ${value.slice(0, -1)}`],
    ['the first half of the token', (value) => `Bearer ${value.slice(0, value.length / 2)}`],
    [
      'a token whose last letter is replaced with the LIKE wildcard _',
      (value) => `Bearer ${value.slice(0, -1)}_`,
    ],
    ['a token of 10 kB', () => `Bearer ${'A'.repeat(10_000)}`],
  ])('rejects a header with %s', async (_, header) => {
    for (const path of [...guarded, open]) {
      const { status, headers, text } = await raw(path, [`Authorization: ${header(token)}`])
      const { error } = JSON.parse(text) as { error?: string }
      expect(['400 invalid_request', '401 invalid_token'], path).toContain(`${status} ${error}`)
      expect(headers.get('www-authenticate')).toMatch(/^(?:Bearer|DPoP) /)
    }
  })

  test.each<[string, (value: string) => string]>([
    ['Token', (value) => `Token ${value}`],
    ['Basic', (value) => `Basic ${value}`],
  ])(
    'treats a request with a token in the scheme %s as a request without a credential',
    async (_, header) => {
      const line = `Authorization: ${header(token)}`
      for (const path of guarded) {
        const { status, headers, text } = await raw(path, [line])
        expect([status, JSON.parse(text).error], path).toEqual([401, undefined])
        expect(headers.get('www-authenticate')).toMatch(/^Bearer realm/)
      }
      expect(JSON.parse((await raw(open, [line])).text).kind).toBe('anonymous')
    },
  )

  test('rejects a header of 100 kB with 431', async () => {
    const { status } = await raw('/api/me', [`Authorization: Bearer ${'A'.repeat(100_000)}`])
    expect(status).toBe(431)
    expect((await attack.ping(token)).status).toBe(200)
  })
})

describe('BR-07 Client IDs that equal a user ID [T545]', () => {
  test('never lets a caller choose a client ID [T514]', async () => {
    const { a, m } = attack.users
    for (const client_id of [String(a.user.id), String(m.user.id), 'user-a', a.user.email]) {
      const metadata = { redirect_uris: ['https://evil.example/cb'], client_id, user_id: a.user.id }
      const { status, body } = await register(attack.server, metadata)
      attack.saw(body.client_secret, body.registration_access_token)
      expect(status).toBe(201)
      expect(body.client_id).toMatch(/^[A-Za-z0-9]{40}$/)
      expect(await attack.server.server.clients.find(client_id)).toBeUndefined()
      const taken = { grant_type: 'client_credentials', client_id, client_secret: 'x' }
      const response = await attack.token(taken, { auth: 'none' })
      expect([response.status, response.body.error]).toEqual([401, 'invalid_client'])
    }
  })

  const introspected = async (value: string, { clientId, clientSecret } = attack.clients.m2m) => {
    const credentials = btoa(`${clientId}:${clientSecret}`)
    return attack.request('/oauth/introspect', {
      method: 'POST',
      body: new URLSearchParams({ token: value }),
      headers: { authorization: `Basic ${credentials}` },
    })
  }

  test('reports the owner of the client as the user of a client_credentials token, or no user if the client has no owner', async () => {
    const machine = { grant_type: 'client_credentials' }
    const own = String((await attack.token(machine, { client: 'm2m' })).body.access_token)
    const { id } = attack.users.a.user
    const { m2m } = attack.clients
    expect((await ask('/oauth/info', bearer(own))).body).toEqual({
      user: { id },
      client: { client_id: m2m.clientId, name: 'M2M' },
      scopes: ['r'],
    })
    expect((await introspected(own)).body.sub).toBe(String(id))

    const nobody = await attack.client({ userId: null, allowedScopes: ['r', 'user:email'] })
    const given = { ...machine, scope: 'r user:email' }
    const response = await attack.token(given, { client: nobody })
    expect(response.body).not.toHaveProperty('user')
    const value = String(response.body.access_token)
    expect((await ask('/oauth/info', bearer(value))).body.user).toBeNull()
    expect((await ask('/api/me', bearer(value))).body).toEqual({ id: null, kind: 'access_token' })
    expect((await ask(open, bearer(value))).body).toEqual({ kind: 'access_token', user: null })
    expect((await introspected(value, nobody)).body.sub).toBe(nobody.clientId)
  })

  test('does not treat a client as a user if their IDs are equal', async () => {
    const { tokens } = attack.server.server
    const id = String(attack.users.a.user.id)
    // Only code of the host can create a client with such an ID.
    const registration = { origin: 'metadata_document', registrationToken: null, metadata: '{}' }
    await keepDescribed(attack.server.server, id, { name: 'Seeded' }, registration as never)
    const client = await clientOf(attack.server, id)
    const issued = await tokens.issue({ type: 'client', client, subject: null, scopes: ['r'] })
    attack.saw(issued.accessToken)
    const headers = bearer(issued.accessToken)
    expect((await ask('/api/me', headers)).body).toEqual({ id: null, kind: 'access_token' })
    expect((await ask('/oauth/info', headers)).body).toMatchObject({
      user: null,
      client: { client_id: id },
    })
    const page = await ask('/account/settings/applications/', headers)
    expect([page.status, page.location]).toEqual([303, expect.stringMatching(/^\/login\?/)])
  })
})

describe('BR-08 Anonymous callers, HEAD and OPTIONS', () => {
  test('treats requests without a valid session as anonymous, but rejects an invalid token', async () => {
    const gone = await attack.newBrowser('a')
    const cookie = { cookie: gone.cookie, 'user-agent': browser }
    expect(await kindOf(open)).toBe('anonymous')
    expect(await kindOf(open, cookie)).toBe('anonymous')
    expect(await kindOf(open, { ...cookie, ...bearer(gone.jwt) })).toBe('session')
    await attack.request('/logout', {
      agent: gone.agent,
      method: 'POST',
      body: new URLSearchParams({ csrf_token: gone.csrfToken }),
    })
    expect(await kindOf(open, cookie)).toBe('anonymous')
    expectBearer(await ask(open, { ...cookie, ...bearer(gone.jwt) }))
    for (const value of ['bad', `${token}x`, 'a/b+c==']) {
      expectBearer(await ask(open, bearer(value)), 'invalid_token')
      expectBearer(await ask(`${open}?access_token=${encodeURIComponent(value)}`), 'invalid_token')
    }
    expect(await kindOf(open, { authorization: 'Basic eDp5' })).toBe('anonymous')
  })

  test('requires the same credentials for HEAD as for GET', async () => {
    for (const path of guarded) {
      const bare = await raw(path, [], 'HEAD')
      const bad = await raw(path, ['Authorization: Bearer bad'], 'HEAD')
      const good = await raw(path, [`Authorization: Bearer ${token}`], 'HEAD')
      expect([bare.status, bad.status, good.status], path).toEqual([401, 401, 200])
      expect([bare.text, bad.text, good.text]).toEqual(['', '', ''])
      expect(bare.headers.get('www-authenticate')).toMatch(/^Bearer realm/)
    }
    const bad = await raw(open, ['Authorization: Bearer bad'], 'HEAD')
    expect([bad.status, (await raw(open, [], 'HEAD')).status]).toEqual([401, 200])
    // The token lacks the scope that GET requires.
    const unfit = await raw('/api/notes', [`Authorization: Bearer ${token}`], 'HEAD')
    expect(unfit.status).toBe(403)
  })

  test('reveals neither data nor the validity of a token in responses to OPTIONS', async () => {
    for (const path of [...guarded, open, '/api/notes']) {
      const [nobody, somebody] = [
        await raw(path, ['Origin: https://evil.example'], 'OPTIONS'),
        await raw(path, [`Authorization: Bearer ${token}`], 'OPTIONS'),
      ]
      for (const { text, headers } of [nobody, somebody]) {
        expect(text, path).not.toMatch(/user-a|"id"|"kind"|pong/)
        expect(headers.get('access-control-allow-credentials')).toBeNull()
      }
      expect(somebody.status, path).toBe(nobody.status)
    }
  })
})

describe('BR-09 Token in the body', () => {
  const send = (path: string, init: RequestInit): Promise<HttpResponse> =>
    attack.request(path, { method: 'POST', ...init })
  const multipart = (): FormData => {
    const form = new FormData()
    form.set('access_token', token)
    return form
  }

  test.each<[string, () => RequestInit]>([
    [
      'a JSON body',
      () => ({
        body: JSON.stringify({ access_token: token, text: 'x' }),
        headers: { 'content-type': 'application/json' },
      }),
    ],
    ['a multipart form', () => ({ body: multipart() })],
    ['a form', () => ({ body: new URLSearchParams({ access_token: token }) })],
    [
      'a body of type text/plain',
      () => ({ body: `access_token=${token}`, headers: { 'content-type': 'text/plain' } }),
    ],
  ])('ignores a token in %s', async (_, init) => {
    for (const path of ['/oauth/ping', '/api/notes']) expectBearer(await send(path, init()))
  })

  test('ignores a token in the body of a GET request', async () => {
    const body = formOf({ access_token: token })
    const type = 'Content-Type: application/x-www-form-urlencoded'
    for (const target of guarded) {
      const response = await rawHttp(attack.server, { target, body, headers: [type] })
      expect(response.status).toBe(401)
      expect(response.headers.get('www-authenticate')).not.toContain('error=')
    }
  })

  test('ignores a token in other headers and in cookies', async () => {
    for (const path of guarded) {
      expectBearer(await ask(path, { 'x-access-token': token, 'x-authorization': token }))
      expectBearer(await ask(path, { cookie: `access_token=${token}; authorization=${token}` }))
    }
    const agent = new UserAgent()
    await agent.jar.setCookie(`oauth2server_session=${token.slice(0, 43)}; Path=/`, attack.issuer)
    expectBearer(await attack.request('/api/me', { agent }))
  })
})
