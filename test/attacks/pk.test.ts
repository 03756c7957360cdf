import { createHash } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newPkce } from '../support/user-agent.ts'
import {
  type AttackServer,
  expectJson,
  expectLocal400,
  expectNoChange,
  expectRedirect,
  type Over,
  startAttackServer,
} from './support/attack-server.ts'

let attack: AttackServer
beforeAll(async () => {
  attack = await startAttackServer()
})
afterAll(() => attack.close())

type Named = 'conf' | 'pub' | 'spa' | 'evil'

/** Expects that a GET, POST and pushed request are rejected. */
const refused = (over: Over, client: Named = 'conf', server = attack): Promise<void> =>
  expectNoChange(server, async () => {
    const { redirectUri } = server.clients[client]
    for (const method of ['GET', 'POST'] as const) {
      const response = await server.authorize(over, { client, method, submit: null })
      expectRedirect(response, 'invalid_request', { redirectUri })
    }
    expectJson(await server.push(over, { client }), 400, 'invalid_request')
  })

const without = { code_challenge: undefined, code_challenge_method: undefined }

describe('PK-01 Public client without challenge [T537]', () => {
  test.each(['pub', 'spa'] as const)(
    'rejects the public client %s in a GET, POST and pushed request',
    async (client) => {
      await refused(without, client)
      await refused({ code_challenge: undefined }, client)
    },
  )

  test('rejects a public client with another redirect URI', async () => {
    const own = await attack.client({
      isConfidential: false,
      redirectUris: ['https://x.example/cb'],
    })
    const response = await attack.authorize(without, { client: own, submit: null })
    expectRedirect(response, 'invalid_request', { redirectUri: own.redirectUri })
  })

  test('requires a challenge from every client with requirePkce=always, and from no client with requirePkce=never', async () => {
    await using always = await startAttackServer({ requirePkce: 'always' })
    await refused(without, 'conf', always)
    await refused(without, 'evil', always)
    await using never = await startAttackServer({ requirePkce: 'never' })
    const code = await never.code(without, { client: 'spa' })
    const response = await never.token({ code, code_verifier: undefined }, { client: 'spa' })
    expect(response.status).toBe(200)
  })

  test('rejects the decision if the client became public in the meantime', async () => {
    const own = await attack.client({ redirectUris: ['https://x.example/cb'] })
    const page = await attack.authorize(without, { client: own, submit: null })
    await attack.server.server.clients.update(own.clientId, { isConfidential: false })
    const { agent } = await attack.browser('a')
    expectLocal400(await attack.submit(page, agent, { confirm: 'yes' }))
  })
})

describe('PK-02 Challenge methods other than S256 [T538]', () => {
  test.each(['plain', undefined, '', 's256', 'S512', 'S256 ', ' S256', 'S256\0', 'SHA256', 'none'])(
    'rejects the method %j',
    async (code_challenge_method) => {
      for (const client of ['conf', 'pub'] as const)
        await refused({ code_challenge_method }, client)
    },
  )

  test('does not accept the challenge as verifier [T253]', async () => {
    const { verifier } = newPkce()
    for (const code_challenge_method of ['plain', undefined])
      await refused({ code_challenge: verifier, code_challenge_method }, 'pub')
    const code = await attack.code({ code_challenge: verifier }, { client: 'spa' })
    const response = await attack.token({ code, code_verifier: verifier }, { client: 'spa' })
    expectJson(response, 400, 'invalid_grant')
  })
})

const flipped = (text: string) =>
  text.replaceAll(/[a-z]/gi, (letter) =>
    letter === letter.toLowerCase() ? letter.toUpperCase() : letter.toLowerCase(),
  )

describe('PK-03 Missing or wrong verifier [T539]', () => {
  const wrong = (): Record<string, string | undefined> => ({
    missing: undefined,
    other: newPkce().verifier,
    'the challenge itself': attack.challenge,
    'one more character': `${attack.verifier}A`,
    'one less': attack.verifier.slice(0, -1),
    'changed case': flipped(attack.verifier),
    'one character': 'a',
  })
  test.each(['conf', 'spa'] as const)(
    'rejects wrong verifiers of %s without consuming the code',
    async (client) => {
      const code = await attack.code({}, { client })
      await expectNoChange(attack, async () => {
        for (const [name, code_verifier] of Object.entries(wrong())) {
          const response = await attack.token({ code, code_verifier }, { client })
          expect([name, response.status]).toEqual([name, 400])
          expectJson(response, 400, 'invalid_grant')
        }
      })
      expect((await attack.token({ code }, { client })).status).toBe(200)
    },
  )

  test('rejects the verifier of another authorization of the same user and client [T248]', async () => {
    const other = newPkce()
    await attack
      .grant({ code_challenge: other.challenge }, { client: 'spa' })
      .catch(() => undefined)
    const code = await attack.code({}, { client: 'spa' })
    const response = await attack.token({ code, code_verifier: other.verifier }, { client: 'spa' })
    expectJson(response, 400, 'invalid_grant')
  })

  test('deletes the code after 20 wrong verifiers of its client, and does not count other failures', async () => {
    const survives = await attack.code()
    const dies = await attack.code()
    const code_verifier = newPkce().verifier
    for (let time = 0; time < 19; time += 1) {
      expectJson(await attack.token({ code: survives, code_verifier }), 400, 'invalid_grant')
      expectJson(await attack.token({ code: dies, code_verifier }), 400, 'invalid_grant')
      // Failures of other clients and with another redirect URI are not counted.
      await attack.token({ code: survives, code_verifier }, { client: 'conf2' })
      await attack.token({ code: survives, code_verifier }, { client: 'spa' })
      await attack.token({ code: survives, code_verifier, redirect_uri: 'https://x.example' })
    }
    expect((await attack.token({ code: survives })).status).toBe(200)
    expectJson(await attack.token({ code: dies, code_verifier }), 400, 'invalid_grant')
    expectJson(await attack.token({ code: dies }), 400, 'invalid_grant')
  })
})

describe('PK-04 PKCE downgrade [T540]', () => {
  test('rejects a verifier for a code without a challenge', async () => {
    const code = await attack.code(without)
    await expectNoChange(attack, async () => {
      expectJson(await attack.token({ code }), 400, 'invalid_grant')
    })
    expect((await attack.token({ code, code_verifier: undefined })).status).toBe(200)
  })

  test('rejects a method with a missing or empty challenge', async () => {
    await refused({ code_challenge: undefined })
    await refused({ code_challenge: '' })
  })

  test('requires the verifier of a challenge even if PKCE is not required', async () => {
    await using never = await startAttackServer({ requirePkce: 'never' })
    const code = await never.code(without, { client: 'spa' })
    expectJson(await never.token({ code }, { client: 'spa' }), 400, 'invalid_grant')
    const bound = await never.code({}, { client: 'spa' })
    const response = await never.token({ code: bound, code_verifier: undefined }, { client: 'spa' })
    expectJson(response, 400, 'invalid_grant')
  })

  test('ignores a challenge at the token endpoint', async () => {
    const own = newPkce()
    const code = await attack.code()
    const given = {
      code,
      code_verifier: own.verifier,
      code_challenge: own.challenge,
      code_challenge_method: 'plain',
    }
    expectJson(await attack.token(given), 400, 'invalid_grant')
    const more = { code_challenge_method: 'plain', code_challenge: attack.verifier }
    expect((await attack.token({ code, ...more })).status).toBe(200)
  })
})

describe('PK-05 Syntax of verifiers and challenges', () => {
  const v = (length: number) => 'v'.repeat(length)
  test.each([
    v(42),
    v(129),
    `${v(43)}\n`,
    `${v(43)}\r\n`,
    `\n${v(43)}`,
    `${v(43)}%0A`,
    `${v(42)} `,
    `${v(42)}+`,
    `${v(42)}=`,
    `${v(42)}/`,
    `${v(42)}é`,
    `${v(42)}ｖ`,
    `${v(43)}\0`,
    v(100_000 / 2),
  ])('rejects the malformed verifier %j although its hash matches', async (code_verifier) => {
    // The hash of the verifier is the challenge, so only the syntax check can reject the verifier.
    const code_challenge = createHash('sha256').update(code_verifier).digest('base64url')
    const code = await attack.code({ code_challenge })
    await expectNoChange(attack, async () => {
      const response = await attack.token({ code, code_verifier })
      expect(response.body.error).toMatch(/^invalid_(?:grant|request)$/)
      expectJson(response, 400, String(response.body.error))
    })
  })

  test.each([43, 128])(
    'accepts a verifier of %i characters of the whole alphabet',
    async (length) => {
      const verifier = 'AZaz09-._~'.repeat(13).slice(0, length)
      const code_challenge = createHash('sha256').update(verifier).digest('base64url')
      const code = await attack.code({ code_challenge })
      expect((await attack.token({ code, code_verifier: verifier })).status).toBe(200)
    },
  )

  test.each([
    `${v(43)}=`,
    `${v(42)}=`,
    `${v(42)}+`,
    `${v(42)}/`,
    `${v(42)}.`,
    v(42),
    v(44),
    `${v(43)}\n`,
    `${v(42)}\n`,
    `${v(43)} `,
    `${v(42)}é`,
    `${v(42)}\0`,
    v(5_000),
  ])('rejects the challenge %j', async (code_challenge) => {
    await refused({ code_challenge })
    await refused({ code_challenge }, 'pub')
  })
})

describe('PK-07 Empty challenges and verifiers', () => {
  test('rejects an empty challenge', async () => {
    for (const client of ['pub', 'conf'] as const) await refused({ code_challenge: '' }, client)
    await refused({ code_challenge: '', code_challenge_method: '' }, 'pub')
    await refused({ code_challenge: '', code_challenge_method: undefined }, 'pub')
  })

  test.each([
    ['an empty text', ''],
    ['a NUL character', '\0'],
    ['43 NUL characters', '\0'.repeat(43)],
    ['spaces', ' '.repeat(43)],
    ['the text undefined', 'undefined'],
    ['the text null', 'null'],
  ])('rejects a verifier of %s', async (_, code_verifier) => {
    const code = await attack.code()
    await expectNoChange(attack, async () => {
      const error = code_verifier.includes('\0') ? 'invalid_request' : 'invalid_grant'
      expectJson(await attack.token({ code, code_verifier }), 400, error)
    })
  })

  test('rejects a verifier for a code with an empty challenge', async () => {
    const code = await attack.code({ code_challenge: '', code_challenge_method: '' })
    expectJson(await attack.token({ code }), 400, 'invalid_grant')
  })
})

describe.each(['conf', 'imp'] as const)(
  'PK-09 PKCE without client authentication: %s',
  (client) => {
    const attempts = (): Parameters<AttackServer['token']>[] => {
      const { clientId } = attack.clients[client]
      const basicOf = (secret: string) => ({
        authorization: `Basic ${Buffer.from(`${clientId}:${secret}`).toString('base64')}`,
      })
      return [
        [{}, { client, auth: 'none' }],
        [{ client_id: undefined }, { client, auth: 'none' }],
        [{ client_secret: '' }, { client, auth: 'none' }],
        [{}, { client, auth: 'none', headers: basicOf('') }],
        [{}, { client, auth: 'none', headers: basicOf('wrong') }],
        [{ client_secret: 'undefined' }, { client, auth: 'none' }],
      ]
    }

    test('rejects a correct verifier without the secret', async () => {
      const code = await attack.code({}, { client })
      await expectNoChange(attack, async () => {
        for (const [over, redeeming] of attempts())
          expectJson(await attack.token({ code, ...over }, redeeming), 401, 'invalid_client')
      })
      expect((await attack.token({ code }, { client })).status).toBe(200)
    })

    test('rejects a refresh without the secret', async () => {
      const { refreshToken } = await attack.grant({}, { client })
      for (const [over, redeeming] of attempts()) {
        const response = await attack.refresh(refreshToken, over, redeeming)
        expectJson(response, 401, 'invalid_client')
      }
      expect((await attack.refresh(refreshToken, {}, { client })).status).toBe(200)
    })
  },
)
