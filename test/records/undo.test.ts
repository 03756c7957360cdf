import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { AuthorizationServer, StoreOpener, User } from 'svc-oauth2server'
import { postgres } from 'svc-oauth2server/postgres'
import { sqlite } from 'svc-oauth2server/sqlite'
import { createTestServer } from 'svc-oauth2server/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databaseFolder } from '../support/database-folder.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'

interface Database {
  readonly opener: StoreOpener
  remove(): Promise<unknown>
}

const inSqlite = async (): Promise<Database> => {
  const folder = await databaseFolder()
  return {
    opener: sqlite(join(folder, 'test.sqlite')),
    remove: () => rm(folder, { recursive: true }),
  }
}

const inPostgres = async (): Promise<Database> => {
  const { url, drop } = await makeDatabase()
  return { opener: postgres(url), remove: drop }
}

type Act = (server: AuthorizationServer, user: User) => Promise<unknown>

const finalActs: readonly (readonly [string, Act])[] = [
  [
    'an administrator revoked all tokens of the user',
    (server, user) => server.administration.endAllAccess(user),
  ],
  [
    'the user was deactivated, even if the user was activated again',
    async ({ users }, { id }) => {
      await users.setActive(id, false)
      await users.setActive(id, true)
    },
  ],
  [
    'the password was changed',
    ({ users }, { id }) => users.setPassword(id, 'another long password'),
  ],
]

describe.each([
  ['SQLite', inSqlite, false],
  ['PostgreSQL', inPostgres, await lacks('postgres')],
] as const)('the deletion of a personal token in %s', (_store, open, isLacking) => {
  describe.skipIf(isLacking)('with the store', () => {
    let database: Database
    let server: AuthorizationServer
    beforeAll(async () => {
      database = await open()
      server = await createTestServer({ store: database.opener })
    })
    afterAll(async () => {
      await server.close()
      await database.remove()
    })

    const deleted = async (email: string) => {
      const user = await server.users.create({ email, password: 'a long password' })
      const { id, accessToken } = await server.tokens.createPersonal('Backup', user.id)
      const { undo } = await server.endedTokens.end(user.id, [id])
      const isValid = async () => (await server.tokens.find({ accessToken })) !== undefined
      return { user, undo, isValid }
    }

    test('can be undone', async () => {
      const { user, undo, isValid } = await deleted('calm@example.org')
      expect(await isValid()).toBe(false)
      expect(await server.endedTokens.restore(user.id, undo, 100)).toBe(1)
      expect(await isValid()).toBe(true)
    })

    test.each(finalActs)('cannot be undone after %s [T2050]', async (what, act) => {
      const { user, undo, isValid } = await deleted(`${what.replaceAll(/\W/g, '')}@example.org`)
      await act(server, user)
      expect(await server.endedTokens.restore(user.id, undo, 100)).toBe(0)
      expect(await isValid()).toBe(false)
    })

    test('leaves no valid token if all tokens of the user are revoked at the same time [T2051]', async () => {
      for (let attempt = 0; attempt < 10; attempt += 1) {
        const { user, undo, isValid } = await deleted(`race${attempt}@example.org`)
        await Promise.all([
          server.endedTokens.restore(user.id, undo, 100),
          server.administration.endAllAccess(user),
        ])
        expect(await isValid()).toBe(false)
      }
    })
  })
})
