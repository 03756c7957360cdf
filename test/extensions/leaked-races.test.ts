import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { basicOf } from '../support/form.ts'
import type { TestServer } from '../support/server.ts'
import { type ServersWithSteps, startWithSteps } from '../support/steps.ts'
import { statusOf } from '../support/tokens.ts'
import { TestClient, UserAgent } from '../support/user-agent.ts'
import { databaseKinds } from '../users/databases.ts'

const options = {
  acceptUnsignedLeakReports: true,
  dangerouslyIgnoreLimits: true,
} as const

describe.each(databaseKinds)('a leak report on %s', (kind) => {
  let app: TestServer
  let beside: TestServer
  let during: ServersWithSteps['during']
  let close: ServersWithSteps['close']
  beforeAll(async () => {
    ;({ app, beside, during, close } = await startWithSteps(kind, options))
  })
  afterAll(() => close())

  const report = (at: TestServer, token: string) => async (): Promise<void> => {
    const response = await at.server.fetch(
      new Request(`${app.issuer}/oauth/leaked`, {
        method: 'POST',
        body: JSON.stringify([{ token, type: 'test' }]),
        headers: { 'content-type': 'application/json' },
      }),
    )
    expect(await response.json()).toMatchObject([{ label: 'true_positive' }])
  }

  /** A personal token, whose user deletes and restores it. */
  const personal = async (at = app) => {
    const { id, accessToken } = await app.server.tokens.createPersonal('Raced', app.user.id)
    let undo = ''
    return {
      accessToken,
      async delete() {
        undo = (await at.server.endedTokens.end(app.user.id, [id])).undo
      },
      restore: () => at.server.endedTokens.restore(app.user.id, undo, 1_000),
    }
  }

  test('leaves no valid token if its user deletes it at any step of the report, and restores it later [T4261]', async () => {
    for (let at = 0, count = 1; at < count; at += 1) {
      const token = await personal()
      count = await during(report(beside, token.accessToken), at, token.delete)
      await token.restore()
      expect([at, await statusOf(app, token.accessToken)]).toEqual([at, 401])
    }
  })

  test('leaves no valid token if the report arrives at any step of a deletion and its undo [T4262]', async () => {
    for (let at = 0, count = 1; at < count; at += 1) {
      const token = await personal(beside)
      const work = async () => {
        await token.delete()
        await token.restore()
      }
      count = await during(work, at, report(app, token.accessToken))
      await token.restore()
      // In SQLite, a report cannot arrive within a transaction.
      if ((await statusOf(app, token.accessToken)) === 200) {
        expect(kind).toBe('SQLite')
        await report(app, token.accessToken)()
      }
      expect([at, await statusOf(app, token.accessToken)]).toEqual([at, 401])
    }
  })

  test('leaves no valid token if its user deletes it at any step of the report, and restores it at a later step [T4660]', async () => {
    let restored = 0
    for (let at = 0, count = 2; at < count - 1; at += 1) {
      for (let then = at + 1; then < count; then += 1) {
        const token = await personal()
        const restore = async () => {
          restored += await token.restore()
        }
        count = await during(report(beside, token.accessToken), at, token.delete, {
          at: then,
          act: restore,
        })
        await token.restore()
        expect([at, then, await statusOf(app, token.accessToken)]).toEqual([at, then, 401])
      }
    }
    expect(restored).toBeGreaterThan(0)
  })

  // Check the tokens before the code is redeemed again too, because a repeated redemption revokes them.
  const expectInvalid = async (tokens: readonly string[], at: number) => {
    for (const token of tokens) expect([at, await statusOf(app, token)]).toEqual([at, 401])
  }

  /** A code, and its redemption at a node. The result of each redemption must be invalid after a report. */
  const codeOf = async (at: TestServer) => {
    const client = await TestClient.register(app, new UserAgent())
    const code = await client.code()
    const tokens: string[] = []
    const redeem = async () => {
      const response = await at.server.fetch(
        new Request(`${app.issuer}/oauth/token`, {
          method: 'POST',
          body: new URLSearchParams({
            grant_type: 'authorization_code',
            code,
            redirect_uri: client.redirectUri,
            code_verifier: client.pkce.verifier,
          }),
          headers: basicOf(client),
        }),
      )
      const body = (await response.json()) as { readonly access_token?: string }
      if (body.access_token !== undefined) tokens.push(body.access_token)
    }
    return { code, redeem, tokens }
  }

  test('leaves no valid token if the code is redeemed at any step of the report of the code [T4263]', async () => {
    let redeemed = 0
    for (let at = 0, count = 1; at < count; at += 1) {
      const { code, redeem, tokens } = await codeOf(app)
      count = await during(report(beside, code), at, redeem)
      redeemed += tokens.length
      await expectInvalid(tokens, at)
      await redeem()
      await expectInvalid(tokens, at)
    }
    expect(redeemed).toBeGreaterThan(0)
  })

  test('leaves no valid token if the code is reported at any step of its redemption [T4264]', async () => {
    let redeemed = 0
    for (let at = 0, count = 1; at < count; at += 1) {
      const { code, redeem, tokens } = await codeOf(beside)
      let isReported = false
      const act = async () => {
        isReported = true
        await report(app, code)()
      }
      count = await during(redeem, at, act)
      if (!isReported) await act()
      redeemed += tokens.length
      await expectInvalid(tokens, at)
      await redeem()
      await expectInvalid(tokens, at)
    }
    expect(redeemed).toBeGreaterThan(0)
  })
})
