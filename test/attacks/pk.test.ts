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
  test('does not accept the challenge as verifier [T253]', async () => {
    const { verifier } = newPkce()
    for (const code_challenge_method of ['plain', undefined])
      await refused({ code_challenge: verifier, code_challenge_method }, 'pub')
    const code = await attack.code({ code_challenge: verifier }, { client: 'spa' })
    const response = await attack.token({ code, code_verifier: verifier }, { client: 'spa' })
    expectJson(response, 400, 'invalid_grant')
  })
})

describe('PK-03 Missing or wrong verifier [T539]', () => {
  test('rejects the verifier of another authorization of the same user and client [T248]', async () => {
    const other = newPkce()
    await attack
      .grant({ code_challenge: other.challenge }, { client: 'spa' })
      .catch(() => undefined)
    const code = await attack.code({}, { client: 'spa' })
    const response = await attack.token({ code, code_verifier: other.verifier }, { client: 'spa' })
    expectJson(response, 400, 'invalid_grant')
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
