import { generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { createAuthorizationServer, type LeakReport, StoreUnavailable } from 'svc-oauth2server'
import { sqlite } from 'svc-oauth2server/sqlite'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { settingsFrom } from '../../src/settings/settings-from-environment.ts'
import { secretKey, startServer, type TestServer } from '../support/server.ts'
import { logIn } from '../support/session.ts'
import { en } from '../support/texts.ts'
import { authorizationOf, clientOf, statusOf } from '../support/tokens.ts'
import { TestClient, tokenRequest, UserAgent } from '../support/user-agent.ts'

// These reports follow the protocol of GitHub's secret scanning partner program.

const keyId = 'f9525bf080f75b3506ca1ead061add62b8633a346606dc5fe544e29231c6ee0d'
const pair = () => generateKeyPairSync('ec', { namedCurve: 'P-256' })
const { publicKey, privateKey } = pair()
const pem = publicKey.export({ type: 'spki', format: 'pem' }).toString()
const jwk = { ...publicKey.export({ format: 'jwk' }) }

const signed = (body: string, key: KeyObject = privateKey, id = keyId): Record<string, string> => ({
  'github-public-key-identifier': id,
  'github-public-key-signature': sign('sha256', Buffer.from(body), key).toString('base64'),
})

interface HttpResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: unknown
}

const post = async (
  { issuer }: Pick<TestServer, 'issuer'>,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
): Promise<HttpResponse> => {
  const response = await fetch(`${issuer}/oauth/leaked`, {
    method: 'POST',
    body,
    headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: JSON.parse(text) }
}

const type = 'notes_token'
const url = 'https://github.com/octocat/hello/blob/main/config.yml'
const item = (token: string) => ({ token, type, url, source: 'content' })

let app: TestServer
let failing: string | undefined
const reported: LeakReport[] = []
beforeAll(async () => {
  app = await startServer({
    leakReportKeys: { [keyId]: pem },
    onLeaked: (report) => void reported.push(report),
    aroundStore: ({ name }, run) => {
      if (name === failing) throw new StoreUnavailable('the disk is gone')
      return run()
    },
  })
})
beforeEach(() => {
  reported.length = 0
})
afterEach(() => {
  failing = undefined
})
afterAll(() => app.close())

const report = (items: unknown, of: TestServer = app): Promise<HttpResponse> => {
  const body = JSON.stringify(items)
  return post(of, body, signed(body))
}
const labelsOf = async (...tokens: readonly string[]): Promise<readonly string[]> => {
  const { status, body } = await report(tokens.map(item))
  expect(status).toBe(200)
  return (body as { label: string }[]).map(({ label }) => label)
}

describe('the endpoint for leak reports', () => {
  test('accepts only POST, and omits the endpoint from the metadata', async () => {
    const answer = await fetch(`${app.issuer}/oauth/leaked`)
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'POST'])
    const metadata = await fetch(`${app.issuer}/.well-known/oauth-authorization-server`)
    expect(await metadata.text()).not.toContain('leaked')
  })

  test('returns 404 if neither a key nor unsigned reports are configured', async () => {
    await using off = await startServer()
    const token = await off.personalToken()
    expect((await report([item(token)], off)).status).toBe(404)
    expect(await statusOf(off, token)).toBe(200)
  })
})

describe('authorization of leak reports', () => {
  test('accepts a report that was signed with a configured key, in the format PEM or JWK', async () => {
    await using other = await startServer({ leakReportKeys: { a: pem, [keyId]: jwk } })
    for (const of of [app, other]) {
      const body = ` [ ${JSON.stringify(item('nothing of öurs'))} ]\n`
      const { status, body: answer } = await post(of, body, signed(body))
      expect(status).toBe(200)
      expect(answer).toEqual([
        { token_raw: 'nothing of öurs', token_type: type, label: 'false_positive' },
      ])
    }
  })

  test('accepts the example in the documentation of GitHub', async () => {
    const id = '90a421169f0a406205f1563a953312f0be898d3c7b6c06b681aa86a874555f4a'
    const key =
      '-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE9MJJHnMfn2+H4xL4YaPDA4RpJqUq\nkCmRCBnYERxZanmcpzQSXs1X/AljlKkbJ8qpVIW4clayyef9gWhFbNHWAA==\n-----END PUBLIC KEY-----\n'
    await using github = await startServer({ leakReportKeys: { [id]: key } })
    const body = '[{"token":"some_token","type":"some_type","url":"some_url"}]'
    const headers = {
      'github-public-key-identifier': id,
      'github-public-key-signature':
        'MEUCIQDKZokqnCjrRtw0tni+2Ltvl/uiMJ1EGumEsp1BsNr32AIgQY1YXD2nlj+XNfGK4rBfkMJ1JDOQcYXxa2sY8FNkrKc=',
    }
    expect(await post(github, body, headers)).toMatchObject({
      status: 200,
      body: [{ token_raw: 'some_token', token_type: 'some_type', label: 'false_positive' }],
    })
    expect((await post(github, body.replace('some_url', 'some_url2'), headers)).status).toBe(403)
  })

  test('rejects reports without a valid signature, without revoking the credential', async () => {
    const token = await app.personalToken()
    const body = JSON.stringify([item(token)])
    const right = signed(body)
    const { publicKey: _, privateKey: otherKey } = pair()
    const wrong: readonly Record<string, string>[] = [
      {},
      signed(body, otherKey),
      signed(body, privateKey, 'unknown'),
      signed(body, privateKey, 'toString'),
      signed(body, privateKey, '__proto__'),
      signed(`${body} `),
      { 'github-public-key-identifier': keyId },
      { 'github-public-key-signature': right['github-public-key-signature'] ?? '' },
      ...[
        '',
        'x',
        '!!!',
        'MAA=',
        'MEUCIQDKZokqnCjrRtw0tni',
        `${right['github-public-key-signature']}, x`,
      ].map((signature) => ({ ...right, 'github-public-key-signature': signature })),
    ]
    for (const headers of wrong) {
      expect(await post(app, body, headers), JSON.stringify(headers)).toMatchObject({
        status: 403,
        body: {
          error: 'access_denied',
          error_description: 'The report is not signed with a known key.',
        },
      })
    }
    expect(await statusOf(app, token)).toBe(200)
    expect((await post(app, body, right)).status).toBe(200)
    expect(await statusOf(app, token)).toBe(401)
  })

  test('refuses to start with a key that is not a public P-256 key, and does not show the key in the error', async () => {
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey
    const p384 = generateKeyPairSync('ec', { namedCurve: 'P-384' }).publicKey
    const keys: readonly (string | object)[] = [
      '',
      'x',
      rsa.export({ type: 'spki', format: 'pem' }).toString(),
      p384.export({ format: 'jwk' }),
      privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      privateKey.export({ format: 'jwk' }),
      { kty: 'oct', k: 'AAAA' },
    ]
    for (const key of keys) {
      const started = createAuthorizationServer({
        issuer: 'http://localhost',
        secretKeys: [secretKey],
        store: sqlite(':memory:'),
        leakReportKeys: { [keyId]: key as string },
      })
      await expect(started).rejects.toThrow(
        /^Some settings cannot be used:\n {2}leakReportKeys \(OAUTH2SERVER_LEAK_REPORT_KEYS\) accepts a JSON object .*; something else was given\.$/,
      )
    }
  })

  test('accepts the keys as a JSON object in an environment variable', () => {
    const text = JSON.stringify({ [keyId]: pem })
    expect(settingsFrom({ OAUTH2SERVER_LEAK_REPORT_KEYS: text })).toEqual({
      leakReportKeys: { [keyId]: pem },
    })
    for (const wrong of ['x', '[]', '"x"', '{"a":1}', '{"a":"x"}'])
      expect(() => settingsFrom({ OAUTH2SERVER_LEAK_REPORT_KEYS: wrong })).toThrow(/accepts a JSON/)
  })

  test('counts an unsigned report with many credentials like several reports, and a signed report never [T4403]', async () => {
    await using open = await startServer({
      acceptUnsignedLeakReports: true,
      leakReportKeys: { [keyId]: pem },
    })
    const body = JSON.stringify(Array.from({ length: 250 }, (_, index) => item(`unknown-${index}`)))
    const statuses = []
    for (let count = 0; count < 7; count += 1) statuses.push((await post(open, body)).status)
    expect(statuses).toEqual([200, 200, 200, 200, 200, 200, 429])
    expect((await post(open, body, signed(body))).status).toBe(200)
  })

  test('with acceptUnsignedLeakReports, logs a warning and accepts 60 unsigned reports per minute from one IP address', async () => {
    await using open = await startServer({
      acceptUnsignedLeakReports: true,
      leakReportKeys: { [keyId]: pem },
      trustedProxies: ['127.0.0.1'],
    })
    expect(open.log).toContainEqual(
      expect.objectContaining({
        event: 'settings.loosened',
        message: expect.stringContaining('leaked credentials'),
      }),
    )
    const token = await open.personalToken()
    const from = (address: string, headers = {}) =>
      post(open, JSON.stringify([item(token)]), { 'x-forwarded-for': address, ...headers })
    // A request with signature headers must have a valid signature.
    expect((await from('192.0.2.9', { 'github-public-key-identifier': keyId })).status).toBe(403)
    expect(await statusOf(open, token)).toBe(200)
    expect((await from('192.0.2.1')).status).toBe(200)
    expect(await statusOf(open, token)).toBe(401)
    for (let count = 1; count < 60; count += 1) await from('192.0.2.1')
    const refused = await from('192.0.2.1')
    expect(refused).toMatchObject({ status: 429, body: { error: 'temporarily_unavailable' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    expect((await from('192.0.2.2')).status).toBe(200)
    const body = JSON.stringify([item(token)])
    const signedByScanner = { ...signed(body), 'x-forwarded-for': '192.0.2.1' }
    expect((await post(open, body, signedByScanner)).status).toBe(200)
  })
})

describe('revocation of leaked credentials', () => {
  test('revokes only the authorization of a leaked access token', async () => {
    const { clientId } = await app.client()
    const [found, other] = [
      await authorizationOf(app, clientId),
      await authorizationOf(app, clientId),
    ]
    expect(await labelsOf(found.accessToken)).toEqual(['true_positive'])
    expect(await statusOf(app, found.accessToken)).toBe(401)
    expect(await statusOf(app, other.accessToken)).toBe(200)
    expect(await app.server.tokens.find({ refreshToken: found.refreshToken })).toBeUndefined()
    expect(reported).toEqual([
      {
        kind: 'access_token',
        clientId,
        name: 'Client',
        userId: app.user.id,
        tokenId: found.token.id,
        url,
        source: 'content',
      },
    ])
  })

  test('revokes the authorization of a leaked refresh token, even if the token was rotated', async () => {
    const { clientId, clientSecret } = await app.client()
    const basic = { clientId, clientSecret }
    const refresh = (refreshToken: string) =>
      tokenRequest(
        app.issuer,
        { grant_type: 'refresh_token', refresh_token: refreshToken },
        { basic },
      )
    const current = await authorizationOf(app, clientId)
    expect(await labelsOf(current.refreshToken)).toEqual(['true_positive'])
    expect(await statusOf(app, current.accessToken)).toBe(401)
    expect((await refresh(current.refreshToken)).status).toBe(400)

    const first = await authorizationOf(app, clientId)
    const { body } = await refresh(first.refreshToken)
    expect(await labelsOf(first.refreshToken)).toEqual(['true_positive'])
    expect(await statusOf(app, `${body.access_token}`)).toBe(401)
    expect((await refresh(`${body.refresh_token}`)).status).toBe(400)
    expect(reported.map(({ kind, tokenId }) => [kind, tokenId])).toEqual([
      ['refresh_token', current.token.id],
      ['refresh_token', first.token.id],
    ])
  })

  test('revokes a leaked JWT access token', async () => {
    await using jwts = await startServer({
      accessTokenFormat: 'jwt',
      leakReportKeys: { [keyId]: pem },
    })
    const { clientId } = await jwts.client()
    const { accessToken } = await authorizationOf(jwts, clientId)
    expect(accessToken).toContain('.')
    expect((await report([item(accessToken)], jwts)).body).toMatchObject([
      { label: 'true_positive' },
    ])
    expect(await statusOf(jwts, accessToken)).toBe(401)
  })

  test('revokes a leaked personal token, or only its former value if only the former value was leaked', async () => {
    const { personalTokens, tokens } = app.server
    const made = await tokens.createPersonal('Build job', app.user.id)
    const next = await personalTokens.rotate(made.id, { overlap: 3600 })
    expect(await statusOf(app, made.accessToken)).toBe(200)
    expect(await labelsOf(made.accessToken)).toEqual(['true_positive'])
    expect(await statusOf(app, made.accessToken)).toBe(401)
    expect(await statusOf(app, next.accessToken)).toBe(200)
    expect(await labelsOf(next.accessToken)).toEqual(['true_positive'])
    expect(await statusOf(app, next.accessToken)).toBe(401)
    expect(await app.server.clients.find(made.clientId)).toBeUndefined()
    expect(reported).toMatchObject([
      { kind: 'personal_token', name: 'Build job', userId: app.user.id },
      { kind: 'personal_token', name: 'Build job', userId: app.user.id, tokenId: made.id },
    ])
  })

  test('revokes a leaked client secret and the client_credentials tokens, but no authorizations of users', async () => {
    const { clientId, clientSecret } = await app.client({ defaultScopes: ['notes:read'] })
    const forItself = (secret: string) =>
      tokenRequest(
        app.issuer,
        { grant_type: 'client_credentials' },
        { basic: { clientId, clientSecret: secret } },
      )
    const own = `${(await forItself(clientSecret)).body.access_token}`
    const { accessToken } = await authorizationOf(app, clientId)
    expect(await statusOf(app, own)).toBe(200)
    expect(await labelsOf(clientSecret)).toEqual(['true_positive'])
    expect((await forItself(clientSecret)).status).toBe(401)
    expect(await statusOf(app, own)).toBe(401)
    expect(await statusOf(app, accessToken)).toBe(200)
    expect(reported).toEqual([
      {
        kind: 'client_secret',
        clientId,
        name: 'Client',
        userId: app.user.id,
        tokenId: null,
        url,
        source: 'content',
      },
    ])
    const { clientSecret: next } = await app.server.clients.resetClientSecret(clientId)
    expect((await forItself(next)).status).toBe(200)
    expect(await labelsOf(clientSecret)).toEqual(['true_positive'])
    expect((await forItself(next)).status).toBe(200)
  })

  test('rejects a leaked client secret immediately on another node', async () => {
    const { clientId, clientSecret } = await app.client({ defaultScopes: ['notes:read'] })
    const forItself = (of: TestServer) =>
      tokenRequest(
        of.issuer,
        { grant_type: 'client_credentials' },
        { basic: { clientId, clientSecret } },
      )
    await using other = await startServer({ beside: app })
    expect((await forItself(other)).status).toBe(200)
    expect(await labelsOf(clientSecret)).toEqual(['true_positive'])
    expect((await forItself(other)).status).toBe(401)
  })

  test('revokes only the leaked secret if a client has a former and a current secret', async () => {
    const { clientId, clientSecret: first } = await app.client({ defaultScopes: ['notes:read'] })
    const status = async (secret: string) =>
      (
        await tokenRequest(
          app.issuer,
          { grant_type: 'client_credentials' },
          { basic: { clientId, clientSecret: secret } },
        )
      ).status
    const renew = async () =>
      (await app.server.clients.resetClientSecret(clientId, { overlap: 3600 })).clientSecret
    const second = await renew()
    expect(await labelsOf(first)).toEqual(['true_positive'])
    expect([await status(first), await status(second)]).toEqual([401, 200])
    expect((await clientOf(app, clientId)).secretLeakedAt).toBeNull()
    const third = await renew()
    expect(await labelsOf(third)).toEqual(['true_positive'])
    expect([await status(second), await status(third)]).toEqual([200, 401])
    app.advance(3601)
    // The overlap has ended, so the second secret is no longer valid.
    expect(await labelsOf(second)).toEqual(['false_positive'])
  })

  test('shows on the page of the client that its secret was revoked, until the owner resets it', async () => {
    const { clientId, clientSecret } = await app.client()
    const { agent } = await logIn(app)
    const address = `${app.issuer}/account/settings/applications/clients/${clientId}/`
    const sentence = en.client.secretLeaked('').split('.')[0] ?? ''
    const page = async () => (await agent.fetch(address)).text()
    expect(await page()).not.toContain(sentence)
    await labelsOf(clientSecret)
    expect(await page()).toContain(sentence)
    await app.server.clients.update(clientId, { name: 'Another name' })
    expect(await page()).toContain(sentence)
    await app.server.clients.resetClientSecret(clientId)
    expect(await page()).not.toContain(sentence)
    await labelsOf(await app.server.clients.resetClientSecret(clientId).then((c) => c.clientSecret))
    await app.server.clients.resetCredentials(clientId).then(({ client }) => {
      expect(client.secretLeakedAt).toBeNull()
    })
  })

  test('labels values that are not credentials of this server as false positives', async () => {
    const agent = new UserAgent()
    const conf = await TestClient.register(app, agent)
    const code = await conf.code()
    const token = await app.personalToken()
    const none = ['', ' ', 'x', token.slice(1), `${token} `, conf.clientId, 'a.b.c', 'ü', '\u0000']
    expect(await labelsOf(...none)).toEqual(none.map(() => 'false_positive'))
    expect(await statusOf(app, token)).toBe(200)
    expect((await conf.redeem(code)).status).toBe(200)
    expect(reported).toEqual([])
  })
})

describe('the format and repetition of reports', () => {
  test('returns the same response to a repeated report or credential, and calls the hook once for each credential', async () => {
    const { clientSecret } = await app.client()
    const token = await app.personalToken()
    const all = [token, clientSecret, token, 'x', token]
    const labels = [
      'true_positive',
      'true_positive',
      'true_positive',
      'false_positive',
      'true_positive',
    ]
    for (let round = 0; round < 3; round += 1) expect(await labelsOf(...all)).toEqual(labels)
    expect(reported.map(({ kind }) => kind)).toEqual(['personal_token', 'client_secret'])
    app.advance(86_401)
    expect(await labelsOf(token, clientSecret)).toEqual(['false_positive', 'false_positive'])
  })

  test('calls the hook once for each credential in twenty concurrent reports', async () => {
    const { clientId, clientSecret } = await app.client()
    const { accessToken } = await authorizationOf(app, clientId)
    const responses = await Promise.all(
      Array.from({ length: 20 }, () => report([clientSecret, accessToken].map(item))),
    )
    expect(responses.map(({ status }) => status)).toEqual(responses.map(() => 200))
    expect(reported.map(({ kind }) => kind).sort()).toEqual(['access_token', 'client_secret'])
  })

  test('accepts reports of up to 250 credentials and 64 KiB', async () => {
    expect(await report([])).toMatchObject({ status: 200, body: [] })
    const many = (length: number) => Array.from({ length }, (_, at) => ({ token: `t${at}`, type }))
    const { status, body } = await report(many(250))
    expect([status, (body as unknown[]).length]).toEqual([200, 250])
    expect(await report(many(251))).toMatchObject({
      status: 400,
      body: { error_description: 'A report must not contain more than 250 credentials.' },
    })
    expect((await report(many(10_000))).status).toBe(413)
  })

  test('returns 400 and describes the expected format if the report is not an array of objects', async () => {
    const token = await app.personalToken()
    const good = item(token)
    const wrong = [
      {},
      null,
      'x',
      [[]],
      [null],
      ['x'],
      [{ ...good, token: 1 }],
      [{ ...good, type: null }],
      [{ token }],
      [good, { type }],
      [{ ...good, url: {} }],
    ]
    for (const items of wrong) {
      expect(await report(items), JSON.stringify(items)).toMatchObject({
        status: 400,
        body: {
          error: 'invalid_request',
          error_description:
            'A report must be a JSON array of objects with the strings token and type.',
        },
      })
    }
    const texts = [
      ['', 'This is not JSON.'],
      ['[', 'This is not JSON.'],
      ['token=x', 'This is not JSON.'],
      [
        `[{"token":"a","token":"${token}","type":"x"}]`,
        'An object of the JSON contains a name twice.',
      ],
      ['['.repeat(1000) + ']'.repeat(1000), 'The JSON is nested too deeply.'],
    ] as const
    for (const [text, description] of texts) {
      expect(await post(app, text, signed(text)), text).toMatchObject({
        status: 400,
        body: { error: 'invalid_request', error_description: description },
      })
    }
    expect(await statusOf(app, token)).toBe(200)
  })

  test('accepts a report without url and source, and with unknown members', async () => {
    const token = await app.personalToken()
    const { body } = await report([{ token, type, url: null, more: { x: 1 } }])
    expect(body).toEqual([{ token_raw: token, token_type: type, label: 'true_positive' }])
    expect(reported).toMatchObject([{ url: '', source: '' }])
  })

  test('rejects a report with another content type or encoding', async () => {
    const body = JSON.stringify([item('x')])
    const others = [
      { 'content-type': 'application/x-www-form-urlencoded' },
      { 'content-type': 'application/json; charset=utf-16' },
      { 'content-encoding': 'gzip' },
    ]
    for (const headers of others)
      expect((await post(app, body, { ...signed(body), ...headers })).status).toBe(400)
    const bytes = Buffer.from([
      ...Buffer.from('[{"token":"'),
      0xff,
      ...Buffer.from('","type":"x"}]'),
    ])
    const headers = {
      'github-public-key-identifier': keyId,
      'github-public-key-signature': sign('sha256', bytes, privateKey).toString('base64'),
    }
    expect((await post(app, new Uint8Array(bytes), headers)).status).toBe(403)
  })

  test('returns 503 if the store fails, and revokes all credentials when the report is repeated', async () => {
    const [one, two] = [await app.personalToken(), await app.personalToken()]
    const { clientSecret } = await app.client()
    for (const operation of ['tokens.findByAccess', 'clients.find', 'transients.set']) {
      failing = operation
      const { status, headers } = await report([one, clientSecret, two].map(item))
      expect([status, headers.get('retry-after')], operation).toEqual([503, expect.any(String)])
      failing = undefined
    }
    expect((await labelsOf(two, clientSecret)).at(0)).toBe('true_positive')
    for (const token of [one, two]) expect(await statusOf(app, token)).toBe(401)
  })
})

describe('notifications about leaked credentials', () => {
  test('revokes the credential and responds even if the hook throws, rejects or does not return', async () => {
    const ways = [
      () => {
        throw new Error('no mail server')
      },
      () => Promise.reject(new Error('no mail server')),
      () => new Promise<void>(() => {}),
    ]
    for (const [at, onLeaked] of ways.entries()) {
      await using broken = await startServer({ leakReportKeys: { [keyId]: pem }, onLeaked })
      const token = await broken.personalToken()
      expect((await report([item(token)], broken)).body).toMatchObject([{ label: 'true_positive' }])
      expect(await statusOf(broken, token)).toBe(401)
      const failures = () => broken.log.filter(({ event }) => event === 'leak_hook.failed').length
      await vi.waitFor(() => expect(failures()).toBe(at === 2 ? 0 : 1))
    }
  })

  test('logs one event for each credential, and returns the value only in the response', async () => {
    const { clientId, clientSecret } = await app.client()
    const { accessToken, token } = await authorizationOf(app, clientId)
    const from = app.log.length
    const { body } = await report(
      [accessToken, clientSecret].map((value) => ({
        token: value,
        type: 'x',
        url: `https://paste.example/?found=${value}`,
        source: `wiki ${value}`,
      })),
    )
    expect((body as { token_raw: string }[]).map(({ token_raw: raw }) => raw)).toEqual([
      accessToken,
      clientSecret,
    ])
    const entries = app.log.slice(from).filter(({ event }) => event === 'credential.leaked')
    const userId = app.user.id
    expect(entries).toMatchObject([
      { level: 'warn', kind: 'access_token', clientId, userId, tokenId: token.id },
      { level: 'warn', kind: 'client_secret', clientId, userId, tokenId: null },
    ])
    expect(reported.map(({ url: at, source }) => [at, source])).toEqual([
      ['https://paste.example/?found=…', 'wiki …'],
      ['https://paste.example/?found=…', 'wiki …'],
    ])
    const tables = new Set((await app.place.columns()).map(({ table }) => table))
    const rows = await Promise.all([...tables].map((table) => app.query(`select * from ${table}`)))
    const database = JSON.stringify(rows)
    for (const value of [accessToken, clientSecret]) {
      expect(JSON.stringify(app.log)).not.toContain(value)
      expect(database).not.toContain(value)
    }
  })
})
