import { describe, expect, test, vi } from 'vitest'
import { oneOf } from '../../src/records/tokens/token-bounds.ts'
import { count, query } from '../support/database.ts'
import { startServer } from '../support/server.ts'
import { authorizationOf } from '../support/tokens.ts'
import { tokenRequest } from '../support/user-agent.ts'

describe('oneOf()', () => {
  test.each([10, 64, 1_000])('returns true about once in %i calls', (many) => {
    const isDrawn = oneOf(many)
    let drawn = 0
    for (let n = 0; n < many * 1_000; n += 1) if (isDrawn()) drawn += 1
    expect(drawn).toBeGreaterThan(900)
    expect(drawn).toBeLessThan(1_100)
  })

  test('returns true for each of several alternating callers', () => {
    const isDrawn = oneOf(1_000)
    const drawn = new Set<number>()
    for (let n = 0; n < 200_000; n += 1) if (isDrawn()) drawn.add(n % 10)
    expect(drawn.size).toBe(10)
  })
})

describe('limits for the number of tokens', () => {
  test('a client that requests very many tokens retains about tokensPerClient tokens, and is never rejected', async () => {
    await using app = await startServer({ tokensPerClient: 100 })
    const { clientId } = await app.client()
    const other = await app.client()
    const client = await app.server.clients.find(clientId)
    const beside = await app.server.clients.find(other.clientId)
    if (!client || !beside) throw new Error('The client is gone.')
    const issue = (of = client) =>
      app.server.tokens.issue({ type: 'client', client: of, subject: app.user, scopes: [] })
    const kept = await issue(beside)
    const { refreshToken } = await authorizationOf(app, clientId)
    const first = await issue()
    for (let n = 0; n < 60; n += 1) await Promise.all(Array.from({ length: 100 }, () => issue()))
    const last = await issue()
    // The server checks the limit after at most 1,500 tokens.
    await vi.waitFor(
      () => expect(count(app.database, 'oauth2server_token')).toBeLessThan(1_700),
      10_000,
    )
    const find = (accessToken: string) => app.server.tokens.find({ accessToken })
    expect(await find(first.accessToken)).toBeUndefined()
    expect(await find(last.accessToken)).toBeDefined()
    expect(await find(kept.accessToken)).toBeDefined()
    expect(await app.server.tokens.find({ refreshToken: String(refreshToken) })).toBeDefined()
  })

  test('an authorization retains about 1,000 rotated refresh tokens, and an older token is rejected without a revocation', async () => {
    await using app = await startServer()
    const basic = await app.client()
    const { refreshToken } = await authorizationOf(app, basic.clientId)
    const refresh = async (token: unknown) =>
      (
        await tokenRequest(
          app.issuer,
          { grant_type: 'refresh_token', refresh_token: String(token) },
          { basic },
        )
      ).body
    let latest: unknown = refreshToken
    for (let n = 0; n < 1_200; n += 1) {
      app.advance(1)
      latest = (await refresh(latest)).refresh_token
    }
    // The server checks the limit after at most 96 rotations.
    await vi.waitFor(
      () => expect(count(app.database, 'oauth2server_rotated_refresh_token')).toBeLessThan(1_100),
      10_000,
    )
    expect(count(app.database, 'oauth2server_rotated_refresh_token')).toBeGreaterThanOrEqual(1_000)
    expect((await refresh(refreshToken)).error).toBe('invalid_grant')
    const again = await refresh(latest)
    expect(again.refresh_token).toBeDefined()
    const [authorization] = query(app.database, 'select revoked_at from oauth2server_authorization')
    expect(authorization?.revoked_at).toBeNull()
  })

  test('deletes rotated refresh tokens after refreshTokenExpiresIn', async () => {
    await using app = await startServer({ refreshTokenExpiresIn: 3_600 })
    const basic = await app.client()
    const { refreshToken } = await authorizationOf(app, basic.clientId)
    let latest: unknown = refreshToken
    const refresh = async () => {
      const { body } = await tokenRequest(
        app.issuer,
        { grant_type: 'refresh_token', refresh_token: String(latest) },
        { basic },
      )
      latest = body.refresh_token
    }
    for (let n = 0; n < 300; n += 1) {
      app.advance(60)
      await refresh()
    }
    // While a removal is running, the server skips another removal until the next refresh.
    await vi.waitFor(
      async () => {
        await refresh()
        expect(count(app.database, 'oauth2server_rotated_refresh_token')).toBeLessThan(220)
      },
      { timeout: 60_000, interval: 200 },
    )
    expect(count(app.database, 'oauth2server_rotated_refresh_token')).toBeGreaterThanOrEqual(59)
  })
})
