import { describe, expect, test } from 'vitest'
import type { UserId } from '../../src/model/user.ts'
import type { Store } from '../../src/store/store.ts'
import {
  aClient,
  anAuthorization,
  aPair,
  aUser,
  digest,
  runConcurrently,
  signingKeyRow,
  text,
  tokenRow,
} from './rows.ts'

/** Tests the store operations for restricted tokens, exchanged tokens, client keys and signing keys. */
export const todaysClientsContract = (
  open: () => { readonly store: Store; readonly other: Store },
): void => {
  describe("today's clients", () => {
    test('a client is stored with its origin, its keys and its metadata', async () => {
      const { store, other } = open()
      const said = {
        origin: 'registration',
        jwks: '{"keys":[]}',
        jwksUri: 'https://client.example/keys',
        registrationToken: text() as never,
        metadata: '{"software_id":"a"}',
      } as const
      const clientId = await aClient(store, said)
      expect((await other.clients.find(clientId))?.fields).toMatchObject(said)
    })

    test('a token is stored with its resources and its key, and an authorization is stored with its resources', async () => {
      const { store, other } = open()
      const clientId = await aClient(store)
      const resources = ['https://a.example', 'https://b.example/x']
      const authorizationId = await anAuthorization(store, { clientId, resources })
      const restricted = { resources: resources.slice(1), keyThumbprint: text() }
      const row = tokenRow({ clientId, authorizationId, ...restricted })
      await store.tokens.insert(row)
      expect((await other.tokens.findByAccess(row.accessDigest))?.fields).toMatchObject(restricted)
      expect((await other.authorizations.find(authorizationId))?.resources).toEqual(resources)
    })

    test('a client is found by its current and by its previous secret, also inside a transaction', async () => {
      const { store, other } = open()
      const [secret, former, unknown] = [digest(), digest(), digest()]
      const clientId = await aClient(store, { clientSecret: secret, previousClientSecret: former })
      await aClient(store)
      const found = (of: Store) =>
        Promise.all(
          [secret, former, unknown].map(
            async (one) => (await of.clients.find({ secret: one }))?.fields.clientId,
          ),
        )
      expect(await found(other)).toEqual([clientId, clientId, undefined])
      expect(await store.transaction(found)).toEqual([clientId, clientId, undefined])
    })

    test('RFC 6749 §4.4: endOwnTokens() deletes the tokens that a client received for itself, and no token of a user', async () => {
      const { store, other } = open()
      const [clientId, another] = [await aClient(store), await aClient(store)]
      const insert = async (row: ReturnType<typeof tokenRow>) =>
        (await store.tokens.insert(row)) ?? 0
      const own = await insert(tokenRow({ clientId }))
      const child = await insert(tokenRow({ clientId, parentId: own }))
      const { id: pair } = await aPair(store, clientId)
      const narrowed = await insert(tokenRow({ clientId, parentId: pair }))
      const personal = await insert(tokenRow({ clientId, isPersonal: true }))
      const others = await insert(tokenRow({ clientId: another }))
      await other.clients.endOwnTokens(clientId)
      const ids = [own, child, pair, narrowed, personal, others]
      const there = await Promise.all(ids.map((id) => store.tokens.find(id)))
      expect(there.map((row) => row !== undefined)).toEqual([false, false, true, true, true, true])
    })

    test('deletePersonalOf() deletes at most the given number of personal tokens of one user [T1321]', async () => {
      const { store, other } = open()
      const [userId, another] = [await aUser(store), await aUser(store)]
      const personalOf = async (owner: UserId) => {
        const clientId = await aClient(store, { userId: owner, isPersonal: true })
        return (
          (await store.tokens.insert(tokenRow({ clientId, userId: owner, isPersonal: true }))) ?? 0
        )
      }
      const mine = [await personalOf(userId), await personalOf(userId), await personalOf(userId)]
      const theirs = await personalOf(another)
      const clientId = await aClient(store, { userId })
      const live = async () => {
        const rows = await Promise.all(mine.map((id) => store.tokens.find(id)))
        return rows.filter((row) => row !== undefined).length
      }
      expect(await other.clients.deletePersonalOf(userId, 1, 2)).toBe(2)
      expect(await live()).toBe(1)
      expect(await other.clients.deletePersonalOf(userId, 1, 2)).toBe(1)
      expect(await other.clients.deletePersonalOf(userId, 1, 2)).toBe(0)
      expect(await live()).toBe(0)
      expect(await store.tokens.find(theirs)).toBeDefined()
      expect(await store.clients.find(clientId)).toBeDefined()
    })

    describe('children of a token', () => {
      const family = async (store: Store) => {
        const clientId = await aClient(store)
        const parent = await aPair(store, clientId)
        const childOf = async (parentId: number): Promise<number> => {
          const id = await store.tokens.insert(tokenRow({ clientId, parentId }))
          if (id === undefined) throw new Error('The token was not inserted.')
          return id
        }
        const [first, second] = [await childOf(parent.id), await childOf(parent.id)]
        return { parent, first, second, grandchild: await childOf(first) }
      }
      const areThere = async (store: Store, ids: readonly number[]) =>
        (await Promise.all(ids.map((id) => store.tokens.find(id)))).map((row) => row !== undefined)

      test('delete() deletes the children and grandchildren of the given token, and not the token', async () => {
        const { store, other } = open()
        const [one, another] = [await family(store), await family(store)]
        await other.tokens.delete({ parentId: one.parent.id })
        const ids = [one.parent.id, one.first, one.second, one.grandchild, another.first]
        expect(await areThere(store, ids)).toEqual([true, false, false, false, true])
      })

      test('are deleted with their parent by every operation that deletes the parent', async () => {
        const { store, other } = open()
        const ways: ((of: Awaited<ReturnType<typeof family>>) => Promise<unknown>)[] = [
          ({ parent }) => other.tokens.delete({ id: parent.id }),
          ({ parent }) => other.authorizations.revoke(parent.authorizationId, 5),
          ({ parent }) => other.clients.delete(parent.row.fields.clientId, 1),
        ]
        for (const end of ways) {
          const made = await family(store)
          await end(made)
          const ids = [made.parent.id, made.first, made.second, made.grandchild]
          expect(await areThere(store, ids)).toEqual([false, false, false, false])
        }
      })

      test('a locked parent is not deleted before its child is inserted, and is then deleted with the child', async () => {
        const { store, other } = open()
        const { parent } = await family(store)
        const child = tokenRow({ clientId: parent.row.fields.clientId, parentId: parent.id })
        let deleting: Promise<number> | undefined
        const id = await store.transaction(async (tx) => {
          const held = await tx.tokens.find(parent.id, { lock: 'change' })
          expect(held?.accessDigest).toBe(parent.row.accessDigest)
          deleting = other.tokens.delete({ id: parent.id })
          return tx.tokens.insert(child)
        })
        expect(id).toBeGreaterThan(parent.id)
        expect(await deleting).toBe(1)
        expect(await areThere(store, [parent.id, Number(id)])).toEqual([false, false])
        expect(await store.tokens.find(parent.id, { lock: 'change' })).toBeUndefined()
      })
    })

    describe('signing keys', () => {
      test('select() lists the newest key first, and no deleted key', async () => {
        const { store, other } = open()
        const keys = [3, 1, 2].map((createdAt) => signingKeyRow({ createdAt }))
        for (const key of keys) expect(await store.signingKeys.insert(key)).toBe(true)
        const ownKeys = async () => {
          const ids = keys.map(({ id }) => id)
          return other.signingKeys.select({ id: ids }, { by: ['createdAt'], isReversed: true })
        }
        expect(await ownKeys()).toEqual([keys[0], keys[2], keys[1]])
        await other.signingKeys.delete({ id: keys[0]?.id ?? '' })
        expect(await ownKeys()).toEqual([keys[2], keys[1]])
        await store.signingKeys.delete({ id: keys.map(({ id }) => id) })
      })

      test('exactly one of several concurrent inserts with the same ID succeeds, and its key remains', async () => {
        const { store, other } = open()
        const id = text()
        const keys = Array.from({ length: 10 }, () => signingKeyRow({ id }))
        const results = await runConcurrently(10, async (index) => {
          const key = keys[index] ?? signingKeyRow({ id })
          return (await (index % 2 === 0 ? store : other).signingKeys.insert(key)) ? key : undefined
        })
        const [won, ...rest] = results.filter((key) => key !== undefined)
        expect(rest).toEqual([])
        expect(await store.signingKeys.select({ id })).toEqual([won])
        await store.signingKeys.delete({ id })
      })
    })
  })
}
