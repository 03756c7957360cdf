import { join } from 'node:path'
import { decodeJwt } from 'jose'
import type { User } from 'svc-oauth2server'
import { postgres } from 'svc-oauth2server/postgres'
import { sqlite } from 'svc-oauth2server/sqlite'
import { describe, expect, test } from 'vitest'
import { storeNames } from '../attacks/support/database-writer.ts'
import { makeDatabase } from '../support/postgres.ts'
import { startServer } from '../support/server.ts'
import { TestClient, UserAgent } from '../support/user-agent.ts'

// OpenID Connect Core §8: "never reassigned". An application may give the ID of a deleted user to a new user.

const id = 7

describe.each(storeNames)('on %s', (store) => {
  const start = async () => {
    let user: User | undefined
    const base = await startServer()
    const database = store === 'PostgreSQL' ? await makeDatabase() : undefined
    const app = await startServer({
      beside: base,
      store: database
        ? postgres(database.url, { poolSize: 3 })
        : sqlite(join(base.folder, 'own-users.db')),
      openidConnect: true,
      accessTokenFormat: 'jwt',
      loginUrl: '/host-login',
      resourceOwner: () => user && { id, sessionId: `session of ${user.email}` },
      users: { keyType: 'integer', find: async () => user },
    })
    const make = (createdAt?: number): void => {
      const email = `${createdAt ?? 'unknown'}@example.org`
      user = { id, email, active: true, emailVerified: true, isAdmin: false, createdAt }
    }
    const close = async () => {
      await app.close()
      await base.close()
      await database?.drop()
    }
    return { app, make, [Symbol.asyncDispose]: close }
  }

  const subjectsOf = async (client: TestClient): Promise<readonly unknown[]> => {
    const tokens = await client.tokens({ scope: 'openid', prompt: 'consent' })
    const refreshed = await client.refresh(tokens.refresh_token)
    const headers = { authorization: `Bearer ${refreshed.body.access_token}` }
    const userinfo = await fetch(`${client.app.issuer}/oauth/userinfo`, { headers })
    return [
      decodeJwt(tokens.id_token ?? '').sub,
      decodeJwt(refreshed.body.id_token ?? '').sub,
      decodeJwt(refreshed.body.access_token).sub,
      ((await userinfo.json()) as { readonly sub: string }).sub,
    ]
  }

  test.each([
    ['public', {}],
    ['pairwise', { redirectUris: 'https://a.example/cb', openid: { subject_type: 'pairwise' } }],
  ] as const)(
    'Core §8 a new user with the ID of a former user has another subject at a %s client [T4050]',
    async (_what, input) => {
      await using started = await start()
      const { app, make } = started
      make(app.now() - 5_000_000)
      const client = await TestClient.register(app, new UserAgent(), { ...input, userId: null })
      const first = await subjectsOf(client)
      expect(new Set(first).size).toBe(1)
      expect(new Set([...(await subjectsOf(client)), ...first]).size).toBe(1)
      app.advance(600)
      make(app.now())
      app.advance(1)
      const second = await subjectsOf(client)
      expect(new Set(second).size).toBe(1)
      expect(second).not.toContain(first[0])
      // The application sees the ID of the user; a public client does too.
      const { body } = await client.redeem(await client.code({ scope: 'openid' }))
      if (Object.keys(input).length === 0) {
        expect(first).toContain(String(id))
        expect(body.user?.id).toBe(id)
      } else expect(body.user?.id).toBe(second[0])
    },
  )

  test('Core §8 without creation times, the deletion that the application reports separates the users [T4051]', async () => {
    await using started = await start()
    const { app, make } = started
    make()
    const client = await TestClient.register(app, new UserAgent(), { userId: null })
    expect(new Set(await subjectsOf(client))).toEqual(new Set([String(id)]))
    await app.server.users.deleted(id)
    const second = await subjectsOf(client)
    expect(second).not.toContain(String(id))
    app.advance(60)
    await app.server.users.deleted(id)
    expect(await subjectsOf(client)).not.toContain(second[0])
  })
})
