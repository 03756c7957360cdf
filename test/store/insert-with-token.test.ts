import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Digest } from '../../src/crypto/digest.ts'
import type { AuthorizedToken } from '../../src/store/contract/authorizations.ts'
import { UniqueViolation } from '../../src/store/contract/errors.ts'
import type { OpenStore } from '../../src/store/store.ts'
import { lacks } from '../support/needs.ts'
import { type NewDatabase, newDatabase } from '../support/new-database.ts'
import { auditRow, authorizedToken, consentRow, digest, text } from './rows.ts'

const isLacking = await lacks('postgres')

describe.each(Object.entries(newDatabase))('%s: a code is redeemed at once', (name, create) => {
  let database: NewDatabase
  let store: OpenStore
  /** A store on the same database, like that of another process. */
  let other: OpenStore
  beforeAll(async () => {
    if (name === 'PostgreSQL' && isLacking) return
    database = await create()
    store = await database.opener.open()
    await store.migrate()
    other = await database.opener.open()
  })
  afterAll(async () => {
    await store?.close()
    await other?.close()
    await database?.drop()
  })
  const check = test.skipIf(name === 'PostgreSQL' && isLacking)

  const rows = async (over?: Partial<AuthorizedToken>): Promise<AuthorizedToken> => {
    const event = auditRow({ clientId: text() })
    const eventOf: AuthorizedToken['eventOf'] = (ids) => ({ ...event, ...ids })
    return authorizedToken(store, { eventOf, ...over })
  }
  /** The rows of the same code, with other IDs and secrets. */
  const again = async (all: AuthorizedToken): Promise<AuthorizedToken> => ({
    ...all,
    ids: (await rows()).ids,
  })
  const insert = async (all: AuthorizedToken, into = store) =>
    into.authorizations.insertWithToken?.(all)
  const written = async ({ authorization, eventOf }: AuthorizedToken) => {
    const clientId = eventOf({ authorizationId: 0, tokenId: 0 }).clientId ?? undefined
    const made = await store.authorizations.find({ codeDigest: authorization.codeDigest as Digest })
    return {
      made,
      token: made && (await store.tokens.find({ authorizationId: made.id }, { lock: 'change' })),
      events: (await store.audit.list('latest', { clientId }, { after: null, limit: 10 })).items,
    }
  }

  check('inserts the authorization, the token and the event [T4501]', async () => {
    const all = await rows()
    const ids = await insert(all)
    if (all.ids) expect(ids).toEqual(all.ids)
    const { scopes, userId } = all.authorization
    const { made, token, events } = await written(all)
    expect(made).toMatchObject({ id: ids?.authorizationId, scopes, userId, revokedAt: null })
    expect(token?.fields).toMatchObject({ id: ids?.tokenId, authorizationId: made?.id, userId })
    expect(events).toEqual([expect.objectContaining(ids ?? {})])
  })

  check('of eight concurrent inserts with the same code, one succeeds [T4502]', async () => {
    const all = await rows()
    const others = await Promise.all(Array.from({ length: 8 }, () => again(all)))
    const results = await Promise.all(others.map((one, at) => insert(one, at % 2 ? other : store)))
    expect(results.filter(Boolean)).toHaveLength(1)
    expect((await written(all)).events).toHaveLength(1)
  })

  check('an insert that fails does not undo the inserts beside it [T4730]', async () => {
    const [taken, right] = [await rows(), await rows()]
    await insert(taken)
    const token = (await written(taken)).token
    const wrong = {
      ...(await rows()),
      tokenOf: (authorizationId: number) => ({
        ...taken.tokenOf(authorizationId),
        accessDigest: token?.accessDigest as Digest,
      }),
    }
    const [failed, done] = await Promise.allSettled([insert(wrong), insert(right)])
    expect(failed).toMatchObject({ status: 'rejected', reason: expect.any(UniqueViolation) })
    expect(done).toMatchObject({ status: 'fulfilled', value: expect.any(Object) })
    expect(await written(wrong)).toEqual({ made: undefined, token: undefined, events: [] })
    expect((await written(right)).events).toHaveLength(1)
  })

  check('stores the login at the client with the authorization [T4800]', async () => {
    const all = await rows()
    const { userId, clientKey } = all.authorization
    if (userId === null) throw new Error('The authorization has no user.')
    const login = {
      ...{ session: text(), sid: text(), clientKey, userId },
      ...{ isOffline: false, expiresAt: 9 },
    }
    const ids = await insert({ ...all, login })
    expect(
      await insert({ ...(await again(all)), login: { ...login, sid: text() } }),
    ).toBeUndefined()
    expect(await store.clientLogins.take({ session: login.session })).toEqual([
      expect.objectContaining({ ...login, authorizationId: ids?.authorizationId }),
    ])
  })

  check('inserts that are refused do not refuse the inserts beside them [T4801]', async () => {
    const [first, withdrawn, last] = [await rows(), await rows(), await rows()]
    const replayed = await again(first)
    const { userId } = withdrawn.authorization
    if (userId !== null) await store.consents.delete(userId, null)
    const all = [first, withdrawn, replayed, last]
    const results = await Promise.all(all.map((one) => insert(one)))
    expect(results.map(Boolean)).toEqual([true, false, false, true])
    for (const one of [first, last]) {
      const { token, events, made } = await written(one)
      expect(token?.fields.authorizationId).toBe(made?.id)
      expect(events).toHaveLength(1)
    }
  })

  if (name === 'PostgreSQL')
    check('a locked consent delays no insert beside it [T4802]', async () => {
      const [held, free] = [await rows(), await rows()]
      const { userId } = held.authorization
      const { waiting } = await other.transaction(async (tx) => {
        if (userId !== null) await tx.consents.delete(userId, null)
        const waiting = insert(held)
        expect(await insert(free)).toBeDefined()
        return { waiting }
      })
      expect(await waiting).toBeUndefined()
    })

  const refused: Readonly<Record<string, (all: AuthorizedToken) => Promise<AuthorizedToken>>> = {
    'the consent was withdrawn': async (all) => {
      const { userId } = all.authorization
      if (userId !== null) await store.consents.delete(userId, null)
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
    'the consent covers only a scope that contains the scope': async (all) => {
      const { userId, clientKey } = all.authorization
      const { id } = all.consent
      const scopes = ['ab', 'b']
      if (userId !== null)
        await store.consents.put(consentRow({ id, userId, clientId: '', clientKey, scopes }))
      return all
    },
    'the session ended': async (all) => {
      await store.sessions.delete({ id: all.sessionId as Digest })
      return all
    },
    'the user was deactivated': async (all) => {
      const { userId } = all.authorization
      const user = userId === null ? undefined : await store.users.find(userId)
      if (user) await store.users.update({ id: user.id }, { active: false })
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
    check(`inserts nothing if ${reason} [T4503]`, async () => {
      const all = await prepared(await rows())
      const { events } = await written(all)
      expect(await insert(all)).toBeUndefined()
      expect(await written(all)).toEqual({ made: undefined, token: undefined, events })
    })

  check('a grant without a session needs no session [T4504]', async () => {
    expect(await insert({ ...(await rows()), sessionId: null })).toBeDefined()
  })
})
