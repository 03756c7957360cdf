import { postgres } from 'svc-oauth2server/postgres'
import { describe, expect, test } from 'vitest'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'
import { startServer } from '../support/server.ts'
import { logIn } from '../support/session.ts'
import { TestClient } from '../support/user-agent.ts'

const noDatabase = { url: '', drop: async () => undefined }

const isLacking = await lacks('postgres')

describe.each(['sqlite', 'postgres'] as const)('a redemption of a code on %s', (kind) => {
  test.skipIf(kind === 'postgres' && isLacking)(
    'issues no token if the user was deactivated after the first check [T4505]',
    async () => {
      const database = kind === 'postgres' ? await makeDatabase() : noDatabase
      let deactivate = async () => {}
      try {
        await using app = await startServer({
          ...(kind === 'postgres' && { store: postgres(database.url) }),
          aroundStore: async ({ name }, run) => {
            // The operations with which the redemption writes.
            if (name === 'transaction' || name === 'authorizations.insertWithToken') {
              const once = deactivate
              deactivate = async () => {}
              await once()
            }
            return run()
          },
        })
        const { agent } = await logIn(app)
        const client = await TestClient.register(app, agent)
        const code = await client.code()
        let isDone = false
        deactivate = async () => {
          await app.server.users.setActive(app.user.id, false)
          isDone = true
        }
        const { status, body } = await client.redeem(code)
        expect(isDone).toBe(true)
        expect([status, body.error]).toEqual([400, 'invalid_grant'])
        await app.server.users.setActive(app.user.id, true)
        expect((await client.redeem(code)).status).toBe(200)
      } finally {
        await database.drop()
      }
    },
  )
})
