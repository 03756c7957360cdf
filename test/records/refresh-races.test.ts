import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { newKey, proofBy } from '../support/dpop.ts'
import { basicOf } from '../support/form.ts'
import type { TestServer } from '../support/server.ts'
import { type ServersWithSteps, startWithSteps } from '../support/steps.ts'
import { authorizationOf, statusOf } from '../support/tokens.ts'
import { databaseKinds } from '../users/databases.ts'

describe.each(databaseKinds)('a rotated refresh token on %s', (kind) => {
  let app: TestServer
  let beside: TestServer
  let during: ServersWithSteps['during']
  let close: ServersWithSteps['close']
  beforeAll(async () => {
    ;({ app, beside, during, close } = await startWithSteps(kind))
  })
  afterAll(() => close())

  type Answer = { readonly status: number; readonly body: Record<string, unknown> }

  const refresh = async (
    at: TestServer,
    client: Awaited<ReturnType<TestServer['client']>>,
    refresh_token: unknown,
    headers: Record<string, string> = {},
  ): Promise<Answer> => {
    const response = await at.server.fetch(
      new Request(`${app.issuer}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'refresh_token',
          refresh_token: String(refresh_token),
        }),
        headers: { ...basicOf(client), ...headers },
      }),
    )
    return { status: response.status, body: (await response.json()) as Answer['body'] }
  }

  test.each([
    ['the same request', false],
    ['a request with another key', true],
  ])(
    'is repeated by %s while its successor is redeemed, at any step: the response is the same, or the authorization is revoked [T4667]',
    async (_what, hasOwnKey) => {
      const outcomes = new Set<number>()
      for (let at = 0, count = 1; at < count; at += 1) {
        const client = await app.client()
        const { refreshToken } = await authorizationOf(app, client.clientId)
        const { body: first } = await refresh(app, client, refreshToken)
        const key = hasOwnKey ? { dpop: await proofBy(await newKey(), { app }) } : {}
        const answers: Answer[] = []
        const repeat = async () => {
          answers.push(await refresh(beside, client, refreshToken, key))
        }
        let latest: unknown
        const redeem = async () => {
          latest = (await refresh(app, client, first.refresh_token)).body.access_token
        }
        count = await during(repeat, at, redeem)
        const { status, body } = answers[0] ?? { status: 0, body: {} }
        outcomes.add(status)
        // In SQLite, nobody can redeem the successor within a transaction.
        if (latest === undefined) continue
        const isRevoked = (await statusOf(app, String(latest))) === 401
        expect([at, body.error, body.refresh_token, isRevoked]).toEqual(
          status === 200
            ? [at, undefined, first.refresh_token, false]
            : [at, 'invalid_grant', undefined, true],
        )
      }
      expect(outcomes).toEqual(new Set([200, 400]))
    },
  )
})
