import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { refusal, responseTo, TestClient, UserAgent } from '../support/user-agent.ts'

let app: TestServer
let agent: UserAgent
let conf: TestClient
let pub: TestClient

beforeAll(async () => {
  app = await startServer()
  agent = new UserAgent()
  await agent.logIn(app)
  conf = await TestClient.register(app, agent)
  pub = await TestClient.register(app, agent, { isConfidential: false })
})
afterAll(() => app.close())

const challengeOf = (verifier: string): string =>
  createHash('sha256').update(verifier).digest('base64url')

const withoutPkce = { code_challenge: undefined, code_challenge_method: undefined }

const errorOf = async (client: TestClient, given: Record<string, string | undefined>) =>
  responseTo(client, await client.ask(given)).error

describe('decision §4.9 the setting OAUTH2SERVER_REQUIRE_PKCE', () => {
  const outcome = async (client: TestClient) =>
    (await errorOf(client, withoutPkce)) ??
    (
      await client.token({
        grant_type: 'authorization_code',
        code: await client.code(withoutPkce),
        redirect_uri: client.redirectUri,
      })
    ).status

  test('requires a challenge only from public clients by default [T250]', async () => {
    expect(await outcome(pub)).toBe('invalid_request')
    expect(await outcome(conf)).toBe(200)
  })

  test.each([
    ['public', 'invalid_request', 200],
    ['always', 'invalid_request', 'invalid_request'],
    ['never', 200, 200],
  ] as const)(
    'with the value %s, the result without a challenge is %s for a public and %s for a confidential client [T252]',
    async (requirePkce, open, secret) => {
      await using other = await startServer({ requirePkce })
      const browser = new UserAgent()
      expect(
        await outcome(await TestClient.register(other, browser, { isConfidential: false })),
      ).toBe(open)
      expect(await outcome(await TestClient.register(other, browser))).toBe(secret)
    },
  )

  test('§4.4.1 returns an error instead of the consent page if the challenge is missing [T249]', async () => {
    const url = pub.url(withoutPkce)
    const got = await agent.fetch(url)
    const posted = await agent.fetch(`${app.issuer}/oauth/authorize`, {
      method: 'POST',
      body: new URL(url).searchParams,
    })
    for (const response of [got, posted]) {
      expect(response.status).toBe(303)
      const answer = responseTo(pub, new URL(response.headers.get('location') ?? ''))
      expect(answer).toEqual({
        error: 'invalid_request',
        error_description: 'code_challenge is missing.',
        state: 'xyz',
        iss: app.issuer,
      })
    }
  })

  test('verifies a challenge even if the setting does not require it [T247]', async () => {
    await using other = await startServer({ requirePkce: 'never' })
    const client = await TestClient.register(other, new UserAgent())
    const code = await client.code()
    expect(refusal(await client.redeem(code, { code_verifier: undefined }))).toBe(
      '400 invalid_grant',
    )
    expect((await client.redeem(code)).status).toBe(200)
  })
})

describe('RFC 7636 §4.3 the code challenge', () => {
  test.each<[string, string | undefined]>([
    ['the code_challenge_method plain', 'plain'],
    ['a missing code_challenge_method, which would mean plain', undefined],
    ['an empty code_challenge_method', ''],
    ['the code_challenge_method s256', 's256'],
    ['the code_challenge_method S512', 'S512'],
    ['the code_challenge_method S256 with a trailing space', 'S256 '],
    ['the code_challenge_method S256 with a trailing NUL', 'S256\0'],
    ['the code_challenge_method S256 with a leading space', ' S256'],
    ['the code_challenge_method SHA256', 'SHA256'],
    ['the code_challenge_method none', 'none'],
  ])('rejects %s [T244]', async (_what, code_challenge_method) => {
    for (const client of [conf, pub])
      expect(await errorOf(client, { code_challenge_method })).toBe('invalid_request')
  })

  test.each<[string, string]>([
    ['an empty value', ''],
    ['42 characters', 'x'.repeat(42)],
    ['44 characters', 'x'.repeat(44)],
    ['128 characters', 'x'.repeat(128)],
    ['padding', `${'x'.repeat(42)}=`],
    ['a plus sign', `${'x'.repeat(42)}+`],
    ['a slash', `${'x'.repeat(42)}/`],
    ['a dot', `${'x'.repeat(42)}.`],
    ['a non-ASCII letter', `${'x'.repeat(42)}\u00e9`],
    ['a trailing line feed', `${'x'.repeat(43)}\n`],
    ['a trailing space', `${'x'.repeat(43)} `],
    ['a NUL character', `${'x'.repeat(42)}\0`],
    ['5,000 characters', 'x'.repeat(5_000)],
  ])('PK-05 rejects a malformed challenge: %s [T245]', async (_what, code_challenge) => {
    for (const client of [conf, pub])
      expect(await errorOf(client, { code_challenge })).toBe('invalid_request')
  })

  test('PK-07 treats an empty challenge as missing', async () => {
    const empty = { code_challenge: '', code_challenge_method: undefined }
    expect(await errorOf(pub, empty)).toBe('invalid_request')
    const code = await conf.code(empty)
    expect(refusal(await conf.redeem(code))).toBe('400 invalid_grant')
    expect((await conf.redeem(code, { code_verifier: '' })).status).toBe(200)
  })

  test('rejects a code_challenge_method without a code_challenge [T246]', async () => {
    expect(await errorOf(conf, { code_challenge: undefined })).toBe('invalid_request')
  })
})

describe('RFC 7636 §4.6 the code verifier', () => {
  test.each<[string, (verifier: string) => string | undefined, string?]>([
    ['a missing verifier', () => undefined],
    ['an empty verifier', () => ''],
    ['a different verifier', () => 'x'.repeat(43)],
    ['the challenge itself', challengeOf],
    ['the verifier with one more character', (verifier) => `${verifier}a`],
    ['the verifier without its last character', (verifier) => verifier.slice(0, -1)],
    ['the verifier in swapped case', (verifier) => swapped(verifier)],
    ['the verifier with padding', (verifier) => `${verifier}=`],
    ['the verifier with a trailing space', (verifier) => `${verifier} `],
    ['the verifier with a line feed', (verifier) => `${verifier}\n`, '400 invalid_request'],
    ['43 NUL characters', () => '\0'.repeat(43), '400 invalid_request'],
    ['43 spaces', () => ' '.repeat(43)],
    ['the text undefined', () => 'undefined'],
    ['the text null', () => 'null'],
  ])(
    'PK-03 rejects a wrong verifier without consuming the code: %s [T251]',
    async (_what, wrong, expected = '400 invalid_grant') => {
      for (const client of [conf, pub]) {
        const code = await client.code()
        const code_verifier = wrong(client.pkce.verifier)
        expect(refusal(await client.redeem(code, { code_verifier }))).toBe(expected)
        expect((await client.redeem(code)).status).toBe(200)
      }
    },
  )
  const swapped = (text: string) =>
    [...text].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join('')

  test.each<[string, string, number]>([
    ['43 characters', 'a'.repeat(43), 200],
    ['128 characters of all allowed types', `${'aZ09-._~'.repeat(16)}`, 200],
    ['42 characters', 'a'.repeat(42), 400],
    ['129 characters', 'a'.repeat(129), 400],
    ['one character', 'a', 400],
    ['a plus sign', `${'a'.repeat(43)}+`, 400],
    ['padding', `${'a'.repeat(43)}=`, 400],
    ['a space', `${'a'.repeat(43)} `, 400],
    ['a non-ASCII letter', `${'a'.repeat(43)}\u00e9`, 400],
    ['a line feed', `${'a'.repeat(43)}\n`, 400],
    ['a line feed before it', `\n${'a'.repeat(43)}`, 400],
    ['an encoded line feed', `${'a'.repeat(43)}%0A`, 400],
    ['a slash', `${'a'.repeat(42)}/`, 400],
    ['a wide letter', `${'a'.repeat(42)}\uff56`, 400],
    ['a NUL character', `${'a'.repeat(43)}\0`, 400],
    ['50,000 characters', 'a'.repeat(50_000), 400],
  ])(
    'PK-05 §4.1 accepts a verifier with a matching digest only if it has 43 to 128 allowed characters: %s [T242]',
    async (_what, verifier, status) => {
      const code = await conf.code({ code_challenge: challengeOf(verifier) })
      expect((await conf.redeem(code, { code_verifier: verifier })).status).toBe(status)
    },
  )

  test('§4.6, Appendix B accepts the example of the RFC [T243]', async () => {
    const code = await pub.code({ code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM' })
    const code_verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
    expect((await pub.redeem(code, { code_verifier })).status).toBe(200)
  })

  test('RFC 9700 §4.8.2 returns invalid_grant for a verifier if the request had no challenge [T524]', async () => {
    const code = await conf.code(withoutPkce)
    expect(refusal(await conf.redeem(code))).toBe('400 invalid_grant')
    expect((await conf.redeem(code, { code_verifier: undefined })).status).toBe(200)
  })

  test('PK-03 decision §4.8 revokes the code after 20 wrong verifiers, but not after 19', async () => {
    for (const client of [conf, pub]) {
      const wrong = { code_verifier: 'x'.repeat(43) }
      const valid = await client.code()
      for (let tries = 0; tries < 19; tries += 1)
        expect(refusal(await client.redeem(valid, wrong))).toBe('400 invalid_grant')
      expect((await client.redeem(valid)).status).toBe(200)
      const revoked = await client.code()
      for (let tries = 0; tries < 20; tries += 1)
        expect(refusal(await client.redeem(revoked, wrong))).toBe('400 invalid_grant')
      expect(refusal(await client.redeem(revoked))).toBe('400 invalid_grant')
    }
  })

  test('decision §4.8 revokes the code after 40 concurrent wrong verifiers', async () => {
    const code = await conf.code()
    const wrong = { code_verifier: 'x'.repeat(43) }
    const responses = await Promise.all(Array.from({ length: 40 }, () => conf.redeem(code, wrong)))
    expect(new Set(responses.map(refusal))).toEqual(new Set(['400 invalid_grant']))
    expect(refusal(await conf.redeem(code))).toBe('400 invalid_grant')
  })

  test('PK-03 decision §4.8 does not revoke the code after other rejected requests', async () => {
    const other = await TestClient.register(app, agent)
    const code = await conf.code()
    for (let tries = 0; tries < 25; tries += 1) {
      const verifier = { code_verifier: conf.pkce.verifier }
      const refused = await Promise.all([
        other.redeem(code, verifier),
        pub.redeem(code, verifier),
        conf.redeem(code, { redirect_uri: 'https://client.example/other' }),
        conf.token(
          {
            client_id: conf.clientId,
            client_secret: 'wrong',
            grant_type: 'authorization_code',
            code,
          },
          'none',
        ),
      ])
      expect(refused.map(({ status }) => status)).toEqual([400, 400, 400, 401])
    }
    expect((await conf.redeem(code)).status).toBe(200)
  })
})

test('RFC 6749 §4.2.2 ignores the challenge of an implicit request', async () => {
  for (const client of [conf, pub]) {
    for (const given of [
      {},
      { code_challenge: 'short' },
      { code_challenge: client.pkce.challenge, code_challenge_method: 'S256' },
    ]) {
      const answer = await client.ask({ response_type: 'token', ...given })
      expect(responseTo(client, answer, 'fragment')).toHaveProperty('access_token')
    }
  }
})
