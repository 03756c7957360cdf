import { InvalidSettings } from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { authorizationOf, statusOf } from '../support/tokens.ts'

const tokenPersonalPrefix = 'notes_'

/** Starts a server that counts its store operations. */
const counting = async (options = {}) => {
  let operations = 0
  const app = await startServer({
    ...options,
    aroundStore: (_, run) => {
      operations += 1
      return run()
    },
  })
  const during = async (work: () => Promise<unknown>): Promise<number> => {
    const before = operations
    await work()
    return operations - before
  }
  return { app, during, [Symbol.asyncDispose]: () => app.close() }
}

const bearer = (app: TestServer, token: string, path = '/api/me') =>
  fetch(`${app.issuer}${path}`, { headers: { authorization: `Bearer ${token}` } })

describe('the setting OAUTH2SERVER_TOKEN_PERSONAL_PREFIX', () => {
  test('without a prefix, a token has the specified format', async () => {
    await using app = await startServer()
    expect(app.server.settings.tokenPersonalPrefix).toBe('')
    expect(await app.personalToken()).toMatch(/^[A-Za-z0-9]{60}$/)
  })

  test('a token begins with the prefix, ends with a checksum of six characters, and is valid at all endpoints', async () => {
    await using app = await startServer({ tokenPersonalPrefix, tokenPersonalSaltLen: 30 })
    const token = await app.personalToken(['notes:read'])
    expect(token).toMatch(/^notes_[A-Za-z0-9]{36}$/)
    expect(await statusOf(app, token)).toBe(200)
    expect((await fetch(`${app.issuer}/api/me?access_token=${token}`)).status).toBe(200)
    const { id } = await app.server.personalTokens.create('T', app.user.id)
    const { accessToken } = await app.server.personalTokens.rotate(id)
    expect(accessToken).toMatch(/^notes_[A-Za-z0-9]{36}$/)
    expect(await statusOf(app, accessToken)).toBe(200)
  })

  test('a token with a wrong checksum is rejected without a store operation, with the response for any invalid token', async () => {
    await using counted = await counting({ tokenPersonalPrefix })
    const { app, during } = counted
    const token = await app.personalToken()
    const unknown = await (await bearer(app, 'x'.repeat(60))).text()
    for (const wrong of [
      token.slice(0, -1),
      `${token}x`,
      token.replace(/.$/, (last) => (last === 'x' ? 'y' : 'x')),
      `notes_${'x'.repeat(66)}`,
      'notes_',
      'notes_x',
    ]) {
      const asked = await during(async () => {
        const response = await bearer(app, wrong)
        expect(response.status, wrong).toBe(401)
        expect(response.headers.get('www-authenticate')).toContain('error="invalid_token"')
        expect(await response.text()).toBe(unknown)
        expect((await bearer(app, wrong, '/api/public')).status).toBe(401)
        expect(await app.server.tokens.find({ accessToken: wrong })).toBeUndefined()
      })
      expect(asked, wrong).toBe(0)
    }
    // The server looks up only tokens with a valid checksum and tokens without a prefix.
    expect(await during(() => bearer(app, token))).toBeGreaterThan(0)
    expect(await during(() => bearer(app, 'x'.repeat(60)))).toBeGreaterThan(0)
    expect(await statusOf(app, token)).toBe(200)
  })

  test('applies only to personal tokens, and not to tokens of clients', async () => {
    await using app = await startServer({ tokenPersonalPrefix })
    const { clientId } = await app.client()
    const { accessToken, refreshToken } = await authorizationOf(app, clientId)
    for (const value of [accessToken, refreshToken]) expect(value).toMatch(/^[A-Za-z0-9]{43}$/)
    expect(await statusOf(app, accessToken)).toBe(200)
    expect(await app.server.tokens.find({ refreshToken })).toBeDefined()
  })

  test('tokens that were issued before the prefix was set, changed or removed remain valid', async () => {
    await using none = await startServer()
    await using first = await startServer({ beside: none, tokenPersonalPrefix: 'a_' })
    await using second = await startServer({ beside: none, tokenPersonalPrefix: 'B1_' })
    const nodes = [none, first, second]
    const tokens: string[] = []
    for (const node of nodes) tokens.push(await node.personalToken())
    expect(tokens).toEqual([
      expect.not.stringContaining('_'),
      expect.stringMatching(/^a_/),
      expect.stringMatching(/^B1_/),
    ])
    for (const node of nodes)
      for (const token of tokens) expect(await statusOf(node, token), token).toBe(200)
  })

  test.each(['x', '_', 'a-b_', 'ä_', 'a b_', `${'x'.repeat(21)}_`, 'a_b_', ' a_', 'a_\n', 'a._'])(
    'rejects the prefix %j at start-up',
    async (prefix) => {
      await expect(startServer({ tokenPersonalPrefix: prefix })).rejects.toThrow(InvalidSettings)
      await expect(startServer({ tokenPersonalPrefix: prefix })).rejects.toThrow(
        'OAUTH2SERVER_TOKEN_PERSONAL_PREFIX',
      )
    },
  )

  test('a token with prefix and checksum may have at most 255 characters', async () => {
    const longest = `${'x'.repeat(20)}_`
    await using app = await startServer({
      tokenPersonalPrefix: longest,
      tokenPersonalSaltLen: 255 - longest.length - 6,
    })
    const token = await app.personalToken()
    expect(token).toHaveLength(255)
    expect(await statusOf(app, token)).toBe(200)
  })
})
