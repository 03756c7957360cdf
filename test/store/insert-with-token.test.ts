import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Digest } from '../../src/crypto/digest.ts'
import type { AuthorizedToken } from '../../src/store/contract/authorizations.ts'
import { postgres } from '../../src/store/postgres.ts'
import type { OpenStore } from '../../src/store/store.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase, type TestDatabase } from '../support/postgres.ts'
import { authorizedToken, digest } from './rows.ts'

describe.skipIf(await lacks('postgres'))('PostgreSQL: one statement redeems a code', () => {
  let database: TestDatabase
  let store: OpenStore
  beforeAll(async () => {
    database = await makeDatabase()
    store = await postgres(database.url).open()
    await store.migrate()
  })
  afterAll(async () => {
    await store.close()
    await database.drop()
  })

  const rows = async (over?: Partial<AuthorizedToken>): Promise<AuthorizedToken> => {
    const ids = await store.authorizations.reserveIds?.()
    if (!ids) throw new Error('The store reserves no IDs.')
    return authorizedToken(store, ids, over)
  }
  /** The rows of the same code, with other IDs and secrets. */
  const again = async (all: AuthorizedToken): Promise<AuthorizedToken> => {
    const { ids, token } = await rows()
    const { authorizationId } = ids
    return { ...all, ids, token: { ...token, fields: { ...all.token.fields, authorizationId } } }
  }
  const insert = async (all: AuthorizedToken) => store.authorizations.insertWithToken?.(all)
  const events = () => database.query('select id from oauth2server_audit')

  test('inserts the authorization, the token and the event with the reserved IDs [T4501]', async () => {
    const all = await rows()
    const before = (await events()).length
    expect(await insert(all)).toBe(true)
    expect(await store.authorizations.find(all.ids.authorizationId)).toMatchObject({
      scopes: all.authorization.scopes,
      userId: all.authorization.userId,
      revokedAt: null,
    })
    expect((await store.tokens.find(all.ids.tokenId))?.fields).toMatchObject({
      authorizationId: all.ids.authorizationId,
      scopes: all.token.fields.scopes,
    })
    expect((await events()).length).toBe(before + 1)
  })

  test('of eight concurrent inserts with the same code, one succeeds [T4502]', async () => {
    const all = await rows()
    const others = await Promise.all(Array.from({ length: 8 }, () => again(all)))
    const results = await Promise.all(others.map(insert))
    expect(results.filter(Boolean)).toHaveLength(1)
  })

  const refused: Readonly<Record<string, (all: AuthorizedToken) => Promise<AuthorizedToken>>> = {
    'the consent was withdrawn': async (all) => {
      const { userId } = all.authorization
      if (userId !== null) await store.consents.deleteOfUser(userId)
      return all
    },
    'the consent has another ID': async (all) => ({
      ...all,
      consent: { ...all.consent, id: 'other' },
    }),
    'the consent does not cover a scope': async (all) => ({
      ...all,
      consent: { ...all.consent, scopes: ['a', 'c'] },
    }),
    'the session ended': async (all) => {
      await store.sessions.delete(all.sessionId as Digest)
      return all
    },
    'the user has too many authorizations': async (all) => {
      await insert(all)
      const next = await again(all)
      const codeDigest = digest('authorization_code')
      return { ...next, authorization: { ...next.authorization, codeDigest }, most: 1 }
    },
  }
  for (const [reason, prepared] of Object.entries(refused))
    test(`inserts nothing if ${reason} [T4503]`, async () => {
      const all = await prepared(await rows())
      const before = (await events()).length
      expect(await insert(all)).toBe(false)
      expect(await store.authorizations.find(all.ids.authorizationId)).toBeUndefined()
      expect(await store.tokens.find(all.ids.tokenId)).toBeUndefined()
      expect((await events()).length).toBe(before)
    })

  test('a grant without a session needs no session [T4504]', async () => {
    expect(await insert({ ...(await rows()), sessionId: null })).toBe(true)
  })
})
