import { describe, expect, test } from 'vitest'
import type { NewToken } from '../../src/model/entities/token.ts'
import type { UserId } from '../../src/model/user.ts'
import { UniqueViolation } from '../../src/store/contract/errors.ts'
import type { Store } from '../../src/store/store.ts'
import {
  aClient,
  anAuthorization,
  aPair,
  aUser,
  clientRow,
  consentRow,
  digest,
  rotationOf,
  sessionRow,
  tokenRow,
} from './rows.ts'

/** The store operations of the pages on which users manage their applications and tokens. */
export const managementContract = (
  open: () => { readonly store: Store; readonly other: Store },
): void => {
  describe('management', () => {
    test('a client is stored with its optional scopes, its marks by an administrator and its previous secret', async () => {
      const { store, other } = open()
      const row = clientRow({
        optionalScopes: ['a', 'b:c'],
        isVerified: true,
        isDisabled: true,
        previousClientSecret: digest('client_secret'),
        previousClientSecretExpires: 8_640_000_000_000_000,
      })
      await store.clients.insert(row)
      const { clientId } = row.fields
      expect(await other.clients.find(clientId)).toEqual({ ...row, owner: null })
      const plain = clientRow({ clientId })
      await store.clients.update(clientId, plain, 1)
      expect(await other.clients.find(clientId)).toEqual({ ...plain, owner: null })
    })

    test('the look-up of the bearer check returns whether the client of the token is disabled', async () => {
      const { store, other } = open()
      const client = clientRow()
      await store.clients.insert(client)
      const { clientId } = client.fields
      const { row, refreshDigest } = await aPair(store, clientId)
      const isDisabled = async () => [
        (await other.tokens.findByAccess(row.accessDigest))?.client.isDisabled,
        (await other.tokens.findByRefresh(refreshDigest))?.client.isDisabled,
      ]
      expect(await isDisabled()).toEqual([false, false])
      const disabled = { ...client, fields: { ...client.fields, isDisabled: true } }
      await store.clients.update(clientId, disabled, 1)
      expect(await isDisabled()).toEqual([true, true])
    })

    describe('personal tokens', () => {
      const aPersonal = async (store: Store, fields: Partial<NewToken['fields']> = {}) => {
        const userId = await aUser(store)
        const clientId = await aClient(store, { isPersonal: true, userId, name: 'Laptop' })
        const row = tokenRow({ clientId, userId, isPersonal: true, expires: null, ...fields })
        return { id: Number(await store.tokens.insert(row)), userId, clientId, row }
      }
      const aFormer = (store: Store, { id, row }: { id: number; row: NewToken }, expires: number) =>
        store.tokens.insert(tokenRow({ ...row.fields, expires }, { successorId: id }))

      test('are found by their IDs only for their user, and never if they are internal', async () => {
        const { store, other } = open()
        const one = await aPersonal(store)
        const stranger = await aPersonal(store)
        const ids = [one.id, stranger.id, 999_999]
        const found = async (userId: UserId, among: readonly number[]) => {
          const where = { userId, now: 0, ids: among }
          const { items } = await other.tokens.list('personal', where, { after: null, limit: 9 })
          return items.map(({ fields }) => fields.id)
        }
        expect(await found(one.userId, ids)).toEqual([one.id])
        expect(await found(one.userId, [])).toEqual([])
        const internal = await aPersonal(store, { isInternal: true })
        expect(await found(internal.userId, [internal.id])).toEqual([])
      })

      test('are restored under their former ID, unless the ID is taken [T1203]', async () => {
        const { store, other } = open()
        const { id, row } = await aPersonal(store)
        await expect(store.tokens.restore(id, tokenRow(row.fields))).rejects.toThrow(
          UniqueViolation,
        )
        await store.tokens.delete({ id })
        await store.tokens.restore(id, row)
        expect((await other.tokens.find(id))?.accessDigest).toBe(row.accessDigest)
      })

      test('collect the scopes that guards required, on all nodes [T1204]', async () => {
        const { store, other } = open()
        const { id } = await aPersonal(store)
        const note = (on: Store, scopes: readonly string[]) =>
          on.transaction((tx) =>
            tx.tokens.noteScopes(
              new Map([
                [id, scopes],
                [999_999, ['x']],
              ]),
            ),
          )
        expect(await note(store, ['notes:write'])).toEqual([id])
        expect(await note(other, ['notes:read', 'notes:write'])).toEqual([id])
        await note(store, ['user:email'])
        expect((await other.tokens.personal(id, 0))?.usedScopes).toEqual([
          'notes:read',
          'notes:write',
          'user:email',
        ])
      })

      test('are found with their name and the expiry of their previous value', async () => {
        const { store, other } = open()
        const one = await aPersonal(store, { isInternal: true })
        const found = await other.tokens.personal(one.id, 0)
        expect(found).toEqual({
          ...one.row,
          fields: { id: one.id, ...one.row.fields },
          name: 'Laptop',
          usedScopes: [],
          lastUse: null,
          successorId: null,
          previousExpires: null,
        })
        const ended = await aFormer(store, one, 5)
        const living = await aFormer(store, one, 20)
        const until = async (now: number) =>
          (await other.tokens.personal(one.id, now))?.previousExpires
        expect([await until(4), await until(19), await until(20)]).toEqual([20, 20, null])
        // A previous value is a token, but is not managed on the pages of the user.
        for (const former of [ended, living]) {
          expect(await other.tokens.personal(Number(former), 0)).toBeUndefined()
          expect((await other.tokens.find(Number(former)))?.successorId).toBe(one.id)
        }
        expect(await other.tokens.select({ userId: one.userId, name: 'Laptop' })).toMatchObject([
          { fields: { id: one.id } },
        ])
        const { id } = await aPair(store, await aClient(store))
        expect(await other.tokens.personal(id, 0)).toBeUndefined()
        expect(await other.tokens.personal(999_999, 0)).toBeUndefined()
      })

      test('delete() deletes only the previous values of the given token, and not the token', async () => {
        const { store, other } = open()
        const [mine, theirs] = [await aPersonal(store), await aPersonal(store)]
        await aFormer(store, mine, 10)
        await aFormer(store, mine, 20)
        await aFormer(store, theirs, 10)
        await store.tokens.delete({ successorId: mine.id })
        expect(
          (await other.tokens.select({ clientId: mine.clientId }, { lock: 'change' })).map(
            ({ fields }) => fields.id,
          ),
        ).toEqual([mine.id])
        expect(
          await other.tokens.select({ clientId: theirs.clientId }, { lock: 'change' }),
        ).toHaveLength(2)
        await store.tokens.delete({ successorId: 999_999 })
      })

      test('rewrite() replaces every field of a token except for the ID and the last use', async () => {
        const { store, other } = open()
        const one = await aPersonal(store)
        const bystander = await aPersonal(store)
        const lastUse = { at: 7, address: '192.0.2.1' }
        await store.tokens.touch(new Map([[one.id, lastUse]]))
        const anew = tokenRow({ ...one.row.fields, scopes: ['c'], expires: 50, createdAt: 9 })
        await store.tokens.rewrite(one.id, anew)
        expect(await other.tokens.find(one.id)).toEqual({
          ...anew,
          fields: { id: one.id, ...anew.fields },
          lastUse,
          successorId: null,
        })
        expect(await other.tokens.findByAccess(one.row.accessDigest)).toBeUndefined()
        expect(await other.tokens.find(bystander.id)).toMatchObject(bystander.row)
        // The sweeper uses this expiry.
        await store.tokens.deleteExpired(50, 1_000)
        expect(await other.tokens.find(one.id)).toBeUndefined()
      })

      test('deleteExpired() deletes at most `limit` tokens, including exchanged tokens [T4116]', async () => {
        const { store, other } = open()
        while ((await store.tokens.deleteExpired(1_000_000, 100)) > 0);
        const clientId = await aClient(store)
        for (let count = 0; count < 3; count += 1) {
          const { id: parentId } = await aPair(store, clientId, { expires: 5, refreshExpires: 5 })
          await store.tokens.insert(tokenRow({ clientId, expires: 5, parentId }))
        }
        const left = async () =>
          (await other.tokens.select({ clientId }, { lock: 'change' })).length
        for (let before = 6; before > 0; before = await left()) {
          const deleted = await store.tokens.deleteExpired(5, 4)
          expect(deleted).toBeLessThanOrEqual(4)
          expect(before - (await left())).toBe(deleted)
        }
      })

      test('deleteExpired() deletes an expired previous value, but not its client while the token is valid', async () => {
        const { store, other } = open()
        while ((await store.tokens.deleteExpired(1_000_000, 100)) > 0);
        const living = [await aPersonal(store), await aPersonal(store, { expires: 100 })]
        for (const one of living) {
          await aFormer(store, one, 5)
          await aFormer(store, one, 200)
        }
        expect(await store.tokens.deleteExpired(50, 100)).toBe(2)
        for (const { clientId } of living)
          expect(await other.tokens.select({ clientId }, { lock: 'change' })).toHaveLength(2)
      })

      test('deleteExpired() deletes the client of each expired token, regardless of the number of previous values', async () => {
        const { store, other } = open()
        while ((await store.tokens.deleteExpired(1_000_000, 100)) > 0);
        const living = await aPersonal(store)
        const ended: (typeof living)[] = []
        // The previous values expire before, with or after the token of their client. The valid token also has expired
        // previous values.
        for (const formers of [[], [2, 2, 2], [5], [], [4, 5, 5], []]) {
          await aFormer(store, living, 5)
          const one = await aPersonal(store, { expires: 5 })
          for (const expires of formers) await aFormer(store, one, expires)
          ended.push(one)
        }
        for (let last = 3; last > 0; ) {
          last = await store.tokens.deleteExpired(5, 3)
          expect(last).toBeLessThanOrEqual(3)
        }
        for (const { clientId } of ended) {
          expect(await other.tokens.select({ clientId }, { lock: 'change' })).toEqual([])
          expect(await other.clients.find(clientId)).toBeUndefined()
        }
        expect(
          await other.tokens.select({ clientId: living.clientId }, { lock: 'change' }),
        ).toHaveLength(1)
      })
    })

    describe('the last use of tokens', () => {
      test('is written for several tokens in one call, is returned by every look-up, and is never replaced by an earlier use', async () => {
        const { store, other } = open()
        const clientId = await aClient(store)
        const [one, two, never] = [
          await aPair(store, clientId),
          await aPair(store, clientId),
          await aPair(store, clientId),
        ]
        const use = (at: number, address = '192.0.2.1') => ({ at, address })
        await store.tokens.touch(
          new Map([
            [one.id, use(5)],
            [999_999, use(5)],
            [two.id, use(9, '::1')],
          ]),
        )
        const lastUse = async (id: number) => (await other.tokens.find(id))?.lastUse
        expect([await lastUse(one.id), await lastUse(two.id), await lastUse(never.id)]).toEqual([
          use(5),
          use(9, '::1'),
          null,
        ])
        await store.tokens.touch(
          new Map([
            [one.id, use(6, '192.0.2.2')],
            [two.id, use(8)],
          ]),
        )
        expect([await lastUse(one.id), await lastUse(two.id)]).toEqual([
          use(6, '192.0.2.2'),
          use(9, '::1'),
        ])
        expect((await other.tokens.findByAccess(one.row.accessDigest))?.lastUse?.at).toBe(6)
        expect((await other.tokens.findByRefresh(one.refreshDigest))?.lastUse?.at).toBe(6)
        expect(
          (await other.tokens.find({ authorizationId: one.authorizationId }, { lock: 'change' }))
            ?.lastUse?.at,
        ).toBe(6)
        await store.tokens.touch(new Map())
        // A rotation retains the last use, because the row remains the same.
        await store.tokens.rotate(rotationOf(one))
        expect((await lastUse(one.id))?.at).toBe(6)
      })
    })

    describe('authorized applications', () => {
      const aDevice = async (
        store: Store,
        of: { clientId: string; userId: number | string },
        over: {
          userAgent?: string
          createdAt?: number
          expiresAt?: number
          scopes?: string[]
        } = {},
      ) => {
        const authorizationId = await anAuthorization(store, { ...of, ...over })
        const row = tokenRow({ ...of, authorizationId })
        return { authorizationId, id: Number(await store.tokens.insert(row)), row }
      }

      test('authorizedOf() lists the active authorizations of each client, latest first and up to a limit, with their number', async () => {
        const { store, other } = open()
        const [userId, another] = [await aUser(store), await aUser(store)]
        const [many, one, none] = [await aClient(store), await aClient(store), await aClient(store)]
        const made: number[] = []
        for (let index = 0; index < 5; index += 1) {
          made.push((await aDevice(store, { clientId: many, userId }, { createdAt: 9 - index })).id)
          await aDevice(store, { clientId: many, userId: another })
        }
        const ended = await aDevice(store, { clientId: many, userId }, { expiresAt: 10 })
        const revoked = await aDevice(store, { clientId: many, userId })
        await store.authorizations.revoke(revoked.authorizationId, 5)
        const single = await aDevice(store, { clientId: one, userId }, { userAgent: 'Größe/1.0' })
        await aDevice(store, { clientId: none, userId: another })
        const asked = await other.tokens.authorizedOf(userId, [many, one, none, 'nope'], 10, {
          limit: 3,
          countLimit: 5,
        })
        const of = (clientId: string) => asked.filter(({ fields }) => fields.clientId === clientId)
        expect(of(many).map(({ fields }) => fields.id)).toEqual([made[4], made[3], made[2]])
        expect(of(many).map(({ count }) => count)).toEqual([5, 5, 5])
        expect(of(one)).toEqual([
          {
            ...single.row,
            fields: { id: single.id, ...single.row.fields },
            lastUse: null,
            successorId: null,
            authorization: { scopes: ['a', 'b'], userAgent: 'Größe/1.0', createdAt: 1 },
            count: 1,
          },
        ])
        expect(asked).toHaveLength(4)
        const before = await other.tokens.authorizedOf(userId, [many], 9, {
          limit: 100,
          countLimit: 100,
        })
        expect(before.map(({ fields }) => fields.id)).toEqual([ended.id, ...made.toReversed()])
        expect(before[0]?.count).toBe(6)
      })

      test('authorized() finds a token only if the token belongs to an authorization', async () => {
        const { store, other } = open()
        const [userId, clientId] = [await aUser(store), await aClient(store)]
        const { id } = await aDevice(store, { clientId, userId }, { scopes: ['c'], userAgent: 'x' })
        expect(await other.tokens.authorized(id, 0)).toMatchObject({
          fields: { id, userId, clientId },
          authorization: { scopes: ['c'], userAgent: 'x', createdAt: 1 },
        })
        const alone = await store.tokens.insert(tokenRow({ clientId, userId }))
        expect(await other.tokens.authorized(Number(alone), 0)).toBeUndefined()
        expect(await other.tokens.authorized(999_999, 0)).toBeUndefined()
      })

      test('revokeOfUser() returns the number of authorizations, not of their tokens [T4119]', async () => {
        const { store, other } = open()
        const userId = await aUser(store)
        const clientId = await aClient(store)
        const { authorizationId } = await aDevice(store, { clientId, userId })
        await store.tokens.insert(tokenRow({ clientId, userId, authorizationId }))
        await aDevice(store, { clientId, userId })
        expect(await store.authorizations.revokeOfUser(userId, clientId, 7, 10)).toBe(2)
        expect(await other.tokens.select({ clientId }, { lock: 'change' })).toEqual([])
      })

      test('revokeOfUser() revokes the authorizations of a user for one client or for all clients', async () => {
        const { store, other } = open()
        const [userId, another] = [await aUser(store), await aUser(store)]
        const [first, second] = [await aClient(store), await aClient(store)]
        const [one, two, elsewhere, theirs] = [
          await aDevice(store, { clientId: first, userId }),
          await aDevice(store, { clientId: first, userId }),
          await aDevice(store, { clientId: second, userId }),
          await aDevice(store, { clientId: first, userId: another }),
        ]
        // Neither the personal token nor the client's own token belongs to an authorization.
        const personal = Number(
          await store.tokens.insert(tokenRow({ clientId: first, userId, isPersonal: true })),
        )
        const machine = Number(await store.tokens.insert(tokenRow({ clientId: first, userId })))
        await store.authorizations.revoke(two.authorizationId, 5)
        expect(await store.authorizations.revokeOfUser(userId, first, 7, 10)).toBe(1)
        expect(await store.authorizations.revokeOfUser(userId, first, 8, 10)).toBe(0)
        const revokedAt = async ({ authorizationId }: typeof one) =>
          (await other.authorizations.find(authorizationId))?.revokedAt
        const marks = async () => Promise.all([one, two, elsewhere, theirs].map(revokedAt))
        expect(await marks()).toEqual([7, 5, null, null])
        const left = async () =>
          await Promise.all(
            [one.id, two.id, elsewhere.id, theirs.id, personal, machine].map(
              async (id) => (await other.tokens.find(id)) !== undefined,
            ),
          )
        expect(await left()).toEqual([false, false, true, true, true, true])
        expect(await store.authorizations.revokeOfUser(userId, null, 9, 10)).toBe(1)
        expect(await marks()).toEqual([7, 5, 9, null])
        expect(await left()).toEqual([false, false, false, true, true, true])
        expect(await store.authorizations.revokeOfUser(userId, '', 9, 10)).toBe(0)
      })

      test('an authorization is stored with the browser in which the user granted it', async () => {
        const { store, other } = open()
        const clientId = await aClient(store)
        const id = await anAuthorization(store, { clientId, userAgent: 'Mozilla/5.0 (Größe)' })
        expect((await other.authorizations.find(id))?.userAgent).toBe('Mozilla/5.0 (Größe)')
      })
    })

    test('consents are stored with refused scopes, found by client, and deleted together for a user', async () => {
      const { store, other } = open()
      const [userId, another] = [await aUser(store), await aUser(store)]
      const [one, two] = [await aClient(store), await aClient(store)]
      const mine = consentRow({ userId, clientId: one, declinedScopes: ['x', 'y:z'] })
      const second = consentRow({ userId, clientId: two })
      const theirs = consentRow({ userId: another, clientId: one })
      for (const row of [mine, second, theirs]) await store.consents.put(row)
      expect(await other.consents.find({ userId, clientId: one })).toEqual(mine)
      expect(await other.consents.select({ userId, clientId: [one, 'nope'] })).toEqual([mine])
      expect(await other.consents.select({ userId, clientId: [one, two] })).toEqual(
        expect.arrayContaining([mine, second]),
      )
      const without = consentRow({ ...mine.consent, declinedScopes: [] })
      await store.consents.put(without)
      expect(await other.consents.find({ userId, clientId: one })).toEqual(without)
      await store.consents.delete(userId, null)
      expect(await other.consents.select({ userId, clientId: [one, two] })).toEqual([])
      expect(await other.consents.find({ userId: another, clientId: one })).toEqual(theirs)
    })

    test('exactly one of several concurrent inserts of a consent succeeds, and the others do not overwrite the consent', async () => {
      const { store, other } = open()
      const [userId, clientId] = [await aUser(store), await aClient(store)]
      const rows = Array.from({ length: 10 }, () => consentRow({ userId, clientId }))
      const inserted = await Promise.all(
        rows.map((row, index) => (index % 2 === 0 ? store : other).consents.insert(row)),
      )
      const winners = rows.filter((_, index) => inserted[index])
      expect(winners).toHaveLength(1)
      expect(await other.consents.find({ userId, clientId })).toEqual(winners[0])
    })

    test('delete() deletes all sessions of a user except for the given session', async () => {
      const { store, other } = open()
      const [userId, another] = [await aUser(store), await aUser(store)]
      const [kept, theirs] = [sessionRow({ userId }), sessionRow({ userId: another })]
      for (const row of [sessionRow({ userId }), kept, sessionRow({ userId }), theirs])
        await store.sessions.insert(row)
      expect(await store.sessions.delete({ userId, id: { not: kept.id } })).toBe(2)
      expect(await other.sessions.find(kept.id)).toBeDefined()
      expect(await other.sessions.find(theirs.id)).toBeDefined()
      // The ID of another user's session excludes no session of this user.
      expect(await store.sessions.delete({ userId, id: { not: theirs.id } })).toBe(1)
      expect(await other.sessions.find(theirs.id)).toBeDefined()
    })
  })
}
