import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Digest } from '../../src/crypto/digest.ts'
import type { NewToken } from '../../src/model/entities/token.ts'
import { ReferenceNotFound, UniqueViolation } from '../../src/store/contract/errors.ts'
import type { OpenStore, Store, StoreOpener } from '../../src/store/store.ts'
import { listsContract } from './lists-contract.ts'
import { managementContract } from './management-contract.ts'
import {
  aClient,
  anAuthorization,
  aPair,
  aUser,
  authorizationRow,
  clientKey,
  clientRow,
  consentRow,
  digest,
  insertRotated,
  refreshable,
  rotatedRow,
  rotationOf,
  runConcurrently,
  sealed,
  sessionRow,
  successes,
  text,
  tokenRow,
  userRow,
} from './rows.ts'
import { sealedContract } from './sealed-contract.ts'
import { todaysClientsContract } from './todays-clients-contract.ts'
import { transientsContract } from './transients-contract.ts'

/** An opener of stores on one database, and the function that deletes the database. */
export interface Backend {
  readonly opener: StoreOpener
  cleanUp(): Promise<void>
}

export interface ContractOptions {
  /** Whether two stores of the opener contain the same data, like the stores of two processes. */
  readonly isShared: boolean
}

/** The tests that every store must pass, for any opener. */
export const storeContract = (
  name: string,
  create: () => Promise<Backend>,
  { isShared }: ContractOptions,
): void => {
  /** Opens the stores of two nodes for the tests of a block. Returns the same store twice if the data is not shared. */
  const useStores = (): (() => { readonly store: OpenStore; readonly other: OpenStore }) => {
    let backend: Backend
    let store: OpenStore
    let other: OpenStore
    beforeAll(async () => {
      backend = await create()
      store = await backend.opener.open()
      await store.migrate()
      other = isShared ? await backend.opener.open() : store
    })
    afterAll(async () => {
      await store.close()
      if (other !== store) await other.close()
      await backend.cleanUp()
    })
    return () => ({ store, other })
  }

  // These tests read all rows in small pages, so they need their own database.
  describe(`store contract: ${name}`, () => sealedContract(useStores()))

  describe(`store contract: ${name}`, () => {
    const stores = useStores()
    let store: OpenStore
    /** The store of another node. */
    let other: OpenStore
    beforeAll(() => {
      ;({ store, other } = stores())
    })
    const alternating = (index: number) => (index % 2 === 0 ? store : other)

    test('a migrated store has no pending migrations on either node', async () => {
      expect(await store.migrate()).toEqual([])
      expect(await other.migrate({ dryRun: true })).toEqual([])
    })

    describe('users', () => {
      test('are listed in the order of their IDs, page by page', async () => {
        const ids = [await aUser(store), await aUser(store), await aUser(store)].sort(
          (one, next) => Number(one) - Number(next),
        )
        const first = await other.users.list({}, null, 1_000)
        const all = first.map(({ id }) => id)
        expect(all).toEqual([...all].sort((one, next) => Number(one) - Number(next)))
        expect(all).toEqual(expect.arrayContaining(ids))
        const position = all.indexOf(ids[0] as number)
        const page = await other.users.list({}, ids[0] as number, 2)
        expect(page.map(({ id }) => id)).toEqual(all.slice(position + 1, position + 3))
      })

      test('are inserted, found, changed and deleted', async () => {
        const row = userRow({ passwordHash: 'hash', isAdmin: true, emailVerified: false })
        const id = await aUser(store, row)
        const { createdAt: _, ...fields } = row
        expect(await other.users.find(id)).toEqual(fields)
        expect(await store.users.find({ email: row.email })).toEqual(fields)
        const marks = { active: false, isAdmin: false, emailVerified: true, seal: 'another' }
        expect(await store.users.update({ id }, marks)).toBe(1)
        expect(await store.users.update({ id }, { passwordHash: 'other' })).toBe(1)
        expect(await other.users.find(id)).toMatchObject({
          ...marks,
          passwordHash: 'other',
        })
        expect(await store.users.delete(id, 1)).toBe(true)
        expect(await other.users.find(id)).toBeUndefined()
        expect(await store.users.find({ email: row.email })).toBeUndefined()
      })

      test('update() and delete() change nothing for a missing user', async () => {
        expect(await store.users.update({ id: 999_999 }, { active: true, seal: '' })).toBe(0)
        expect(await store.users.delete(999_999, 1)).toBe(false)
      })

      test('exactly one of several concurrent inserts with the same e-mail address succeeds', async () => {
        const row = userRow()
        const ids = await runConcurrently(20, (index) =>
          alternating(index)
            .users.insert({ ...row, id: Number(row.id) + index })
            .then((isInserted) => isInserted && Number(row.id) + index),
        )
        expect(successes(ids)).toHaveLength(1)
        expect((await store.users.find({ email: row.email }))?.id).toBe(successes(ids)[0])
      })

      test('inserting an existing ID throws UniqueViolation, and keeps the existing user', async () => {
        const row = userRow()
        await aUser(store, row)
        const insert = other.users.insert(userRow({ id: row.id }))
        await expect(insert).rejects.toThrow(UniqueViolation)
        expect((await store.users.find(row.id))?.email).toBe(row.email)
      })
    })

    describe('clients', () => {
      test('are inserted and found with their owner', async () => {
        const userId = await aUser(store, { email: 'owner@example.org', active: false })
        const row = clientRow({
          userId,
          description: 'a\nb',
          website: 'https://example.org',
          isConfidential: false,
          isInternal: true,
          isPersonal: true,
          redirectUris: ['https://a.example/cb', 'https://b.example/cb?x=%20 '],
          defaultScopes: ['a', 'b'],
          allowedScopes: [],
          grantTypes: ['password'],
          responseTypes: ['code', 'code id_token'],
          tokenEndpointAuthMethod: 'none',
          createdAt: 8_640_000_000_000_000,
        })
        expect(await store.clients.insert(row)).toBe(true)
        const owner = {
          id: userId,
          email: 'owner@example.org',
          emailVerified: true,
          active: false,
          isAdmin: false,
          seal: expect.stringMatching(/./),
        }
        expect(await other.clients.find(row.fields.clientId)).toEqual({ ...row, owner })
        expect(await store.clients.find('nope')).toBeUndefined()
      })

      test('a look-up by an impossible ID returns undefined, and does not affect concurrent look-ups', async () => {
        const ids = await runConcurrently(20, () => aClient(store))
        const asked = ids.flatMap((id) => [id, `${id}\0`])
        const found = await Promise.all(asked.map((id) => store.clients.find(id)))
        expect(found.map((one) => one?.fields.clientId)).toEqual(
          ids.flatMap((id) => [id, undefined]),
        )
      })

      test('the owner and the limits of a client are null if they are not set', async () => {
        const row = clientRow()
        await store.clients.insert(row)
        expect(await other.clients.find(row.fields.clientId)).toEqual({ ...row, owner: null })
      })

      test('inserting an existing ID or secret returns false, and keeps the existing row', async () => {
        const row = clientRow()
        const { clientId, clientSecret } = row.fields
        await store.clients.insert(row)
        expect(await other.clients.insert(clientRow({ clientId }))).toBe(false)
        expect(await other.clients.insert(clientRow({ clientSecret, clientId: text() }))).toBe(
          false,
        )
        expect(await store.clients.find(clientId)).toMatchObject(row)
        const once = clientRow()
        expect(
          successes(await runConcurrently(20, (index) => alternating(index).clients.insert(once))),
        ).toHaveLength(1)
      })

      test('update() replaces every field including the ID, and dependent rows refer to the new ID', async () => {
        const userId = await aUser(store)
        const clientId = await aClient(store)
        const { id, authorizationId } = await aPair(store, clientId)
        await store.consents.put(consentRow({ userId, clientId }))
        const after = clientRow({
          clientKey: clientKey(clientId),
          name: 'New',
          userId,
          redirectUris: ['https://c.example/cb'],
        })
        expect(await store.clients.update(clientId, after, 1)).toBe(true)
        expect(await other.clients.find(clientId)).toBeUndefined()
        expect(await other.clients.find(after.fields.clientId)).toMatchObject(after)
        expect(await other.authorizations.find(authorizationId)).toMatchObject({
          clientId: after.fields.clientId,
        })
        expect(
          (await other.tokens.select({ clientId: after.fields.clientId }, { lock: 'change' })).map(
            ({ fields }) => fields.id,
          ),
        ).toEqual([id])
        expect(await other.consents.find({ userId, clientId: after.fields.clientId })).toBeDefined()
      })

      test('updating to an existing ID or secret returns false, and changes neither row', async () => {
        const [mine, theirs] = [clientRow(), clientRow()]
        await store.clients.insert(mine)
        await store.clients.insert(theirs)
        const { clientId, clientSecret } = theirs.fields
        expect(
          await store.clients.update(
            mine.fields.clientId,
            { ...mine, fields: { ...mine.fields, clientId } },
            1,
          ),
        ).toBe(false)
        expect(
          await store.clients.update(
            mine.fields.clientId,
            { ...mine, fields: { ...mine.fields, clientSecret } },
            1,
          ),
        ).toBe(false)
        expect(await other.clients.find(mine.fields.clientId)).toMatchObject(mine)
        expect(await other.clients.find(clientId)).toMatchObject(theirs)
        // Updating a client to its own ID and secret causes no collision.
        expect(await store.clients.update(mine.fields.clientId, mine, 1)).toBe(true)
      })

      test('are deleted with all dependent rows', async () => {
        const userId = await aUser(store)
        const clientId = await aClient(store)
        const { authorizationId, row } = await aPair(store, clientId)
        const rotated = rotatedRow(authorizationId)
        await insertRotated(store, rotated)
        await store.consents.put(consentRow({ userId, clientId }))
        expect(await store.clients.delete(clientId, 1)).toBe(true)
        expect(await other.clients.delete(clientId, 1)).toBe(false)
        expect(await other.tokens.findByAccess(row.accessDigest)).toBeUndefined()
        expect(await other.authorizations.find(authorizationId)).toBeUndefined()
        expect(await other.consents.find({ userId, clientId })).toBeUndefined()
        const removal = { kind: 'client', key: clientKey(clientId) } as const
        expect(await other.removals.select({}, { limit: 1_000 })).toContainEqual({
          ...removal,
          at: 1,
        })
        const removed: number[] = []
        for (let rows = 1; rows > 0; removed.push(rows))
          rows = await store.removals.removeSome(removal, 10)
        // The calls delete the token, its rotated refresh token, the authorization and the consent.
        expect(removed).toEqual([1, 1, 1, 1, 0])
        expect(await other.rotatedTokens.find(rotated.digest)).toBeUndefined()
        await store.removals.delete(removal)
        expect(await other.removals.select({}, { limit: 1_000 })).not.toContainEqual({
          ...removal,
          at: 1,
        })
      })

      test('a new client with a former ID but another key does not inherit rows', async () => {
        const userId = await aUser(store)
        const client = clientRow({ name: 'Before' })
        await store.clients.insert(client)
        const { clientId, clientKey: former } = client.fields
        const { authorizationId, row } = await aPair(store, clientId)
        await store.consents.put(consentRow({ userId, clientId }))
        const after = clientRow({ ...client.fields, clientKey: former + 1, name: 'After' })
        expect(await store.clients.update(clientId, after, 1)).toBe(true)
        expect((await other.clients.find(clientId))?.fields.name).toBe('After')
        expect(await other.tokens.findByAccess(row.accessDigest)).toBeUndefined()
        expect(await other.authorizations.find(authorizationId)).toBeUndefined()
        expect(await other.consents.find({ userId, clientId })).toBeUndefined()
        expect(await other.removals.select({}, { limit: 1_000 })).toContainEqual({
          kind: 'client',
          key: former,
          at: 1,
        })
      })

      test('users are counted by tokens that are neither personal nor internal', async () => {
        const clientId = await aClient(store)
        for (const flags of [{}, {}, { isPersonal: true }, { isInternal: true }])
          await store.tokens.insert(tokenRow({ clientId, ...flags }))
        expect(await other.clients.countTokens([clientId, 'nope'], 10)).toEqual(
          new Map([[clientId, 2]]),
        )
        expect(await other.clients.countTokens([clientId], 1)).toEqual(new Map([[clientId, 1]]))
      })
    })

    describe('tokens', () => {
      test('are found by the digest of the access token, with everything that decides their validity', async () => {
        const userId = await aUser(store, { active: false, isAdmin: true })
        const ownerId = await aUser(store)
        const clientId = await aClient(store, { userId: ownerId, name: 'Name' })
        const row = tokenRow({
          clientId,
          userId,
          expires: null,
          isPersonal: true,
          isInternal: true,
          createdAt: 8_640_000_000_000_000,
        })
        const id = await store.tokens.insert(row)
        const found = await other.tokens.findByAccess(row.accessDigest)
        expect(found).toMatchObject({ ...row, fields: { id, ...row.fields } })
        expect(found?.user).toMatchObject({ id: userId, active: false, isAdmin: true })
        expect(found?.client).toEqual({
          clientKey: row.fields.clientKey,
          clientId,
          name: 'Name',
          createdAt: 1,
          userId: ownerId,
          ownerActive: true,
          isDisabled: false,
          allowedScopes: null,
          stateSeal: expect.stringMatching(/./),
        })
        await store.users.update(
          { id: ownerId },
          {
            active: false,
            isAdmin: false,
            emailVerified: true,
            seal: '',
          },
        )
        expect((await other.tokens.findByAccess(row.accessDigest))?.client.ownerActive).toBe(false)
        expect(await store.tokens.findByAccess(digest())).toBeUndefined()
      })

      test('are found by the digest of the refresh token, with the authorization that it can restore', async () => {
        const clientId = await aClient(store)
        const { id, row, refreshDigest } = await aPair(store, clientId, { scopes: ['a'] })
        const found = await other.tokens.findByRefresh(refreshDigest)
        expect(found).toMatchObject({
          ...row,
          fields: { id, scopes: ['a'] },
          user: null,
          authorization: { scopes: ['a', 'b'], createdAt: 1 },
        })
        expect(found?.client.ownerActive).toBe(true)
        expect(await store.tokens.findByRefresh(row.accessDigest)).toBeUndefined()
        expect(await store.tokens.findByAccess(refreshDigest)).toBeUndefined()
      })

      test('inserting an existing access or refresh token returns undefined, and keeps the existing row', async () => {
        const clientId = await aClient(store)
        const { id, row, refreshDigest } = await aPair(store, clientId)
        expect(
          await other.tokens.insert(tokenRow({ clientId }, { accessDigest: row.accessDigest })),
        ).toBeUndefined()
        expect(
          await other.tokens.insert(tokenRow({ clientId }, { ...refreshable(), refreshDigest })),
        ).toBeUndefined()
        expect(await store.tokens.findByAccess(row.accessDigest)).toMatchObject({
          ...row,
          fields: { id },
        })
        expect(await store.tokens.select({ clientId }, { lock: 'change' })).toHaveLength(1)
        // Several rows may have no refresh token.
        expect(
          successes(await runConcurrently(3, () => store.tokens.insert(tokenRow({ clientId })))),
        ).toHaveLength(3)
      })

      test('a new token gets a greater ID than a deleted token', async () => {
        const clientId = await aClient(store)
        const first = Number(await store.tokens.insert(tokenRow({ clientId })))
        expect(await store.tokens.delete({ id: first })).toBe(1)
        expect(await store.tokens.delete({ id: first })).toBe(0)
        expect(Number(await other.tokens.insert(tokenRow({ clientId })))).toBeGreaterThan(first)
      })

      test('exactly one of 50 concurrent rotations of the same refresh token succeeds', async () => {
        const clientId = await aClient(store)
        const pair = await aPair(store, clientId)
        const { id, row, refreshDigest } = pair
        const next = Array.from({ length: 50 }, (_, index) =>
          tokenRow({ ...row.fields, createdAt: index }, refreshable()),
        )
        const won = await runConcurrently(50, (index) =>
          alternating(index).tokens.rotate(rotationOf(pair, next[index])),
        )
        expect(successes(won)).toHaveLength(1)
        const winner = next[won.indexOf(true)]
        expect(
          await store.tokens.findByRefresh(winner?.refreshDigest ?? refreshDigest),
        ).toMatchObject({ ...winner, fields: { id } })
        expect(await other.tokens.findByAccess(row.accessDigest)).toBeUndefined()
        expect(await other.tokens.findByRefresh(refreshDigest)).toBeUndefined()
        expect(await store.tokens.select({ clientId }, { lock: 'change' })).toHaveLength(1)
        expect(
          await store.tokens.rotate(rotationOf({ ...pair, id: 999_999, refreshDigest: digest() })),
        ).toBe(false)
        expect(await other.rotatedTokens.find(refreshDigest)).toMatchObject({ rotatedAt: 5 })
      })

      test('only the invalid inserts among concurrent inserts fail', async () => {
        const clientId = await aClient(store)
        const taken = tokenRow({ clientId })
        await store.tokens.insert(taken)
        const rows = Array.from({ length: 40 }, () => tokenRow({ clientId }))
        rows[7] = tokenRow({ clientId, authorizationId: 999_999 })
        rows[23] = { ...tokenRow({ clientId }), accessDigest: taken.accessDigest }
        const inserted = await Promise.allSettled(rows.map((row) => store.tokens.insert(row)))
        for (const [index, row] of rows.entries()) {
          const found = await other.tokens.findByAccess(row.accessDigest)
          const result = inserted[index]
          if (index === 7) expect(result).toMatchObject({ reason: { name: 'ReferenceNotFound' } })
          else if (index === 23) expect(result).toEqual({ status: 'fulfilled', value: undefined })
          else expect(result).toEqual({ status: 'fulfilled', value: found?.fields.id })
        }
        expect(await other.tokens.select({ clientId }, { lock: 'change' })).toHaveLength(39)
      })

      test('only the invalid rotations among concurrent rotations fail', async () => {
        const clientId = await aClient(store)
        const pairs = await runConcurrently(20, () => aPair(store, clientId))
        const rotations = pairs.map((pair) => rotationOf(pair))
        const [first, second] = pairs
        if (!first || !second) throw new Error('The test created fewer than two pairs.')
        const { accessDigest } = (await aPair(store, clientId)).row
        rotations[1] = rotationOf(
          second,
          tokenRow(second.row.fields, { ...refreshable(), accessDigest }),
        )
        rotations[3] = rotationOf(first)
        const rotated = await Promise.allSettled(rotations.map((one) => store.tokens.rotate(one)))
        for (const [index, pair] of pairs.entries()) {
          const isDone = index !== 1 && index !== 3
          const old = await other.tokens.findByRefresh(pair.refreshDigest)
          expect([index, old === undefined]).toEqual([index, isDone])
          const note = await other.rotatedTokens.find(pair.refreshDigest)
          expect([index, note !== undefined]).toEqual([index, isDone])
        }
        expect(rotated[1]).toMatchObject({ reason: { name: 'UniqueViolation' } })
        expect(
          rotated.filter((result) => result.status === 'fulfilled' && result.value),
        ).toHaveLength(18)
      })

      test('rotate() returns false if the token was revoked concurrently', async () => {
        const pair = await aPair(store, await aClient(store))
        await other.authorizations.revoke(pair.authorizationId, 5)
        expect(await store.tokens.rotate(rotationOf(pair))).toBe(false)
        expect(await store.rotatedTokens.find(pair.refreshDigest)).toBeUndefined()
      })

      test('look-ups after a change return the new state, even if the row was read before', async () => {
        const clientId = await aClient(store)
        const { id, row } = await aPair(store, clientId)
        const find = () => store.tokens.findByAccess(row.accessDigest)
        const before = await find()
        expect(before).toEqual(await find())
        const scopes = ['other']
        await other.tokens.rewrite(id, { ...row, fields: { ...row.fields, scopes } })
        expect((await find())?.fields.scopes).toEqual(scopes)
        const client = await other.clients.find(clientId)
        if (!client) throw new Error('The client was not found.')
        const fields = { ...client.fields, isDisabled: true }
        await other.clients.update(clientId, { ...client, fields }, 1)
        expect((await find())?.client.isDisabled).toBe(true)
        expect((await store.clients.find(clientId))?.fields.isDisabled).toBe(true)
        await other.tokens.delete({ id })
        expect(await find()).toBeUndefined()
      })

      test('rotating a token to existing values, including its own values, throws UniqueViolation and changes nothing', async () => {
        const clientId = await aClient(store)
        const mine = await aPair(store, clientId)
        const theirs = await aPair(store, clientId)
        for (const taken of [
          { ...refreshable(), accessDigest: theirs.row.accessDigest },
          { ...refreshable(), refreshDigest: theirs.refreshDigest },
          { ...refreshable(), accessDigest: mine.row.accessDigest },
          { ...refreshable(), refreshDigest: mine.refreshDigest },
        ])
          await expect(
            store.tokens.rotate(rotationOf(mine, tokenRow(mine.row.fields, taken))),
          ).rejects.toThrow(UniqueViolation)
        expect(await other.tokens.findByRefresh(mine.refreshDigest)).toMatchObject(mine.row)
        expect(await other.tokens.findByRefresh(theirs.refreshDigest)).toMatchObject(theirs.row)
      })

      test('a rotated refresh token is stored once', async () => {
        const clientId = await aClient(store)
        const rotated = rotatedRow(await anAuthorization(store, { clientId }))
        await insertRotated(store, rotated)
        expect(await other.rotatedTokens.find(rotated.digest)).toEqual(rotated)
        expect(await other.rotatedTokens.find(digest())).toBeUndefined()
        await expect(insertRotated(other, { ...rotated, parameters: 'other' })).rejects.toThrow(
          UniqueViolation,
        )
        expect(await store.rotatedTokens.find(rotated.digest)).toEqual(rotated)
      })

      test('are found by ID, authorization and client, and personal tokens are found by name', async () => {
        const userId = await aUser(store)
        const clientId = await aClient(store, { name: 'Laptop', isPersonal: true })
        const { id, authorizationId, row } = await aPair(store, clientId)
        const stored = {
          ...row,
          fields: { id, ...row.fields },
          lastUse: null,
          successorId: null,
        }
        expect(await other.tokens.find({ authorizationId }, { lock: 'change' })).toEqual(stored)
        expect(await other.tokens.find(id)).toEqual(stored)
        expect(await other.tokens.find(999_999)).toBeUndefined()
        expect(
          await other.tokens.find({ authorizationId: 999_999 }, { lock: 'change' }),
        ).toBeUndefined()
        const personal = await store.tokens.insert(tokenRow({ clientId, userId, isPersonal: true }))
        await store.tokens.insert(tokenRow({ clientId, userId }))
        expect(await other.tokens.select({ userId, name: 'Laptop' })).toMatchObject([
          { fields: { id: personal } },
        ])
        expect(await other.tokens.select({ userId, name: 'laptop' })).toEqual([])
      })

      test('deleteExpired() deletes expired tokens that cannot be refreshed, up to the limit, and no token without expiry', async () => {
        const clientId = await aClient(store)
        while ((await store.tokens.deleteExpired(1_000_000, 100)) > 0);
        const insert = (fields: object) => store.tokens.insert(tokenRow({ clientId, ...fields }))
        for (const expires of [0, 10, 11]) await insert({ expires })
        await insert({ expires: null, isPersonal: true })
        await insert({ expires: 5, refreshExpires: 100 })
        await insert({ expires: 5, refreshExpires: 9 })
        const remaining = async () =>
          (await other.tokens.select({ clientId }, { lock: 'change' })).map(({ fields }) => [
            fields.expires,
            fields.refreshExpires,
          ])
        expect(await store.tokens.deleteExpired(10, 2)).toBe(2)
        expect(await remaining()).toHaveLength(4)
        expect(await store.tokens.deleteExpired(10, 100)).toBe(1)
        expect(await store.tokens.deleteExpired(10, 100)).toBe(0)
        expect((await remaining()).sort()).toEqual(
          [
            [11, null],
            [5, 100],
            [null, null],
          ].sort(),
        )
      })

      test('an expired personal token is deleted with its client, unless the client has an unexpired token', async () => {
        while ((await store.tokens.deleteExpired(1_000_000, 100)) > 0);
        const insert = async (...ends: (number | null)[]) => {
          const clientId = await aClient(store, { isPersonal: true })
          for (const expires of ends)
            await store.tokens.insert(tokenRow({ clientId, expires, isPersonal: true }))
          return clientId
        }
        const ended = [await insert(3), await insert(2), await insert(1)]
        const alive = [await insert(3, 4), await insert(1, null)]
        expect(await store.tokens.deleteExpired(3, 2)).toBe(2)
        expect(await store.tokens.deleteExpired(3, 2)).toBe(2)
        expect(await store.tokens.deleteExpired(3, 2)).toBe(1)
        expect(await store.tokens.deleteExpired(3, 2)).toBe(0)
        for (const clientId of ended) expect(await other.clients.find(clientId)).toBeUndefined()
        for (const clientId of alive)
          expect(await other.tokens.select({ clientId }, { lock: 'change' })).toHaveLength(1)
      })
    })

    describe('authorizations', () => {
      test('exactly one of 50 concurrent redemptions of the same code returns the ID', async () => {
        const clientId = await aClient(store)
        const codeDigest = digest('authorization_code')
        const ids = await runConcurrently(50, (index) =>
          alternating(index).authorizations.insertOnce(
            authorizationRow({ clientId, codeDigest, createdAt: index }),
          ),
        )
        expect(successes(ids)).toHaveLength(1)
        expect((await other.authorizations.find({ codeDigest }))?.id).toBe(successes(ids)[0])
        expect((await other.authorizations.find({ codeDigest }))?.createdAt).toBe(
          ids.findIndex((id) => id !== undefined),
        )
      })

      test('several authorizations without a code can be inserted', async () => {
        const clientId = await aClient(store)
        const ids = await runConcurrently(5, () =>
          store.authorizations.insertOnce(authorizationRow({ clientId })),
        )
        expect(new Set(successes(ids)).size).toBe(5)
      })

      test('are found with the binding of their code', async () => {
        const userId = await aUser(store)
        const clientId = await aClient(store)
        const code = {
          clientId,
          redirectUri: 'https://a.example/cb',
          redirectUriGiven: true,
          extensions: { pkce: { codeChallenge: 'x' } },
        }
        const row = authorizationRow({
          clientId,
          userId,
          codeDigest: digest('authorization_code'),
          code,
        })
        const id = Number(await store.authorizations.insertOnce(row))
        const stored = { id, clientId, ...row }
        expect(await other.authorizations.find(id)).toEqual(stored)
        expect(await other.authorizations.find({ codeDigest: row.codeDigest ?? digest() })).toEqual(
          stored,
        )
        expect(await other.authorizations.find(999_999)).toBeUndefined()
        expect(await other.authorizations.find({ codeDigest: digest() })).toBeUndefined()
      })

      test('a rotation extends the expiry of the authorization, but never shortens it', async () => {
        const clientId = await aClient(store)
        const one = await aPair(store, clientId)
        const end = async () => (await other.authorizations.find(one.authorizationId))?.expiresAt
        const second = tokenRow(one.row.fields, refreshable())
        await store.tokens.rotate({ ...rotationOf(one, second), endsAt: 2_000 })
        expect(await end()).toBe(2_000)
        const two = { ...one, row: second, refreshDigest: second.refreshDigest ?? digest() }
        expect(await store.tokens.rotate({ ...rotationOf(two), endsAt: 1_500 })).toBe(true)
        expect(await end()).toBe(2_000)
      })

      test('exactly one of several revocations succeeds and deletes the tokens, and the row remains as a tombstone', async () => {
        const clientId = await aClient(store)
        const mine = await aPair(store, clientId)
        const theirs = await aPair(store, clientId)
        const revoked = await runConcurrently(10, (index) =>
          alternating(index).transaction((tx) =>
            tx.authorizations.revoke(mine.authorizationId, 7 + index),
          ),
        )
        expect(successes(revoked)).toEqual([true])
        expect((await other.authorizations.find(mine.authorizationId))?.revokedAt).toBe(
          7 + revoked.indexOf(true),
        )
        expect(
          await other.tokens.find({ authorizationId: mine.authorizationId }, { lock: 'change' }),
        ).toBeUndefined()
        expect(
          await other.tokens.find({ authorizationId: theirs.authorizationId }, { lock: 'change' }),
        ).toBeDefined()
        expect(await store.authorizations.revoke(999_999, 7)).toBe(false)
      })

      test('deleteSurplus() deletes old tombstones, and tombstones that exceed the maximum number, up to the limit', async () => {
        const clientId = await aClient(store)
        const [id, another] = [
          await anAuthorization(store, { clientId }),
          await anAuthorization(store, { clientId }),
        ]
        const note = async (authorizationId: number, rotatedAt: number) => {
          const rotated = { ...rotatedRow(authorizationId), rotatedAt }
          await insertRotated(store, rotated)
          return rotated.digest
        }
        const digests: Digest[] = []
        for (let at = 1; at <= 8; at += 1) digests.push(await note(id, at))
        const elsewhere = await note(another, 1)
        const left = async () => {
          const found = await Promise.all(digests.map((one) => other.rotatedTokens.find(one)))
          return found.flatMap((row) => row?.rotatedAt ?? [])
        }
        const deleted = (before: number, keep: number, limit: number) =>
          store.tokens.deleteSurplus({ authorizationId: id, before }, { keep, limit })
        expect(await deleted(0, 8, 10)).toBe(0)
        expect(await deleted(2, 8, 10)).toBe(2)
        expect(await left()).toEqual([3, 4, 5, 6, 7, 8])
        expect(await deleted(0, 2, 3)).toBe(3)
        expect(await left()).toEqual([6, 7, 8])
        expect(await deleted(0, 2, 3)).toBe(1)
        expect(await deleted(0, 2, 3)).toBe(0)
        expect(await left()).toEqual([7, 8])
        expect(await other.rotatedTokens.find(elsewhere)).toBeDefined()
      })

      test('deleteSurplus() deletes only the oldest tokens that a client received for itself', async () => {
        const [userId, clientId] = [await aUser(store), await aClient(store)]
        const insert = async (fields: Partial<NewToken['fields']> = {}) =>
          Number(await store.tokens.insert(tokenRow({ clientId, ...fields })))
        for (const owner of [userId, null]) {
          const of = { clientKey: clientKey(clientId), userId: owner }
          const first = await insert({ userId: owner })
          const child = await insert({ userId: owner, parentId: first })
          const authorized = await insert({
            userId: owner,
            authorizationId: await anAuthorization(store, { clientId, userId: owner }),
          })
          const [second, last] = [await insert({ userId: owner }), await insert({ userId: owner })]
          const left = async () => {
            const all = [first, child, authorized, second, last]
            const found = await Promise.all(all.map((id) => other.tokens.find(id)))
            return found.flatMap((row) => row?.fields.id ?? [])
          }
          const deleted = (keep: number, limit: number) =>
            store.tokens.deleteSurplus(of, { keep, limit })
          expect(await deleted(5, 10)).toBe(0)
          // The call deletes the children of the oldest token before the oldest token.
          expect(await deleted(4, 1)).toBe(1)
          expect(await left()).toEqual([first, authorized, second, last])
          expect(await deleted(1, 1)).toBe(1)
          expect(await left()).toEqual([authorized, second, last])
          expect(await deleted(1, 10)).toBe(1)
          expect(await deleted(1, 10)).toBe(0)
          expect(await left()).toEqual([authorized, last])
        }
      })

      test('deleteSurplus() deletes only the oldest tokens that were exchanged from the given token', async () => {
        const clientId = await aClient(store)
        const insert = async (parentId: number | null) =>
          Number(await store.tokens.insert(tokenRow({ clientId, parentId })))
        const parent = await insert(null)
        const elsewhere = await insert(await insert(null))
        const children = [await insert(parent), await insert(parent), await insert(parent)]
        const deleted = (keep: number, limit: number) =>
          store.tokens.deleteSurplus({ parentId: parent }, { keep, limit })
        expect(await deleted(3, 10)).toBe(0)
        expect(await deleted(1, 1)).toBe(1)
        expect(await other.tokens.find(children[0] ?? 0)).toBeUndefined()
        expect(await deleted(1, 10)).toBe(1)
        expect(await deleted(1, 10)).toBe(0)
        for (const id of [parent, elsewhere, children[2] ?? 0])
          expect(await other.tokens.find(id)).toBeDefined()
      })

      test('deleteExpired() deletes expired authorizations and their tombstones up to the limit, and no others', async () => {
        const clientId = await aClient(store)
        while ((await store.authorizations.deleteExpired(1_000_000, 100)) > 0);
        const make = async (expiresAt: number) => {
          const id = await anAuthorization(store, { clientId, expiresAt })
          const rotated = rotatedRow(id)
          await insertRotated(store, rotated)
          return { id, rotated }
        }
        const [live, one, two] = [await make(11), await make(10), await make(0)]
        expect(await store.authorizations.deleteExpired(10, 1)).toBe(1)
        // The call deletes the remaining tombstone and both expired authorizations.
        expect(await store.authorizations.deleteExpired(10, 100)).toBe(3)
        expect(await store.authorizations.deleteExpired(10, 100)).toBe(0)
        for (const gone of [one, two]) {
          expect(await other.authorizations.find(gone.id)).toBeUndefined()
          expect(await other.rotatedTokens.find(gone.rotated.digest)).toBeUndefined()
        }
        expect(await other.rotatedTokens.find(live.rotated.digest)).toBeDefined()
      })
    })

    describe('consents', () => {
      test('are unique per user and client: put() inserts or replaces the consent', async () => {
        const [userId, another] = [await aUser(store), await aUser(store)]
        const clientId = await aClient(store)
        const first = consentRow({ userId, clientId })
        await store.consents.put(first)
        expect(await other.consents.find({ userId, clientId })).toEqual(first)
        const second = consentRow({ userId, clientId, scopes: ['a', 'b'], grantedAt: 2 })
        await other.consents.put(second)
        expect(await store.consents.find({ userId, clientId })).toEqual(second)
        const theirs = consentRow({ userId: another, clientId })
        await store.consents.put(theirs)
        expect(await store.consents.delete(userId, clientId)).toBe(true)
        expect(await store.consents.delete(userId, clientId)).toBe(false)
        expect(await other.consents.find({ userId, clientId })).toBeUndefined()
        expect(await other.consents.find({ userId: another, clientId })).toEqual(theirs)
      })
    })

    describe('sessions', () => {
      test('are found with their user, touched, and deleted', async () => {
        const userId = await aUser(store, { isAdmin: true })
        const row = sessionRow({ userId })
        expect(await store.sessions.insert(row)).toBe(true)
        const found = await other.sessions.find(row.id)
        expect(found?.session).toEqual(row)
        expect(found?.user).toMatchObject({ id: userId, isAdmin: true, active: true })
        const touched = { ...row, lastSeenAt: 9, seal: sealed() }
        await store.sessions.update({ id: row.id }, touched)
        expect((await other.sessions.find(row.id))?.session).toEqual(touched)
        expect(await store.sessions.delete({ id: row.id })).toBe(1)
        expect(await store.sessions.delete({ id: row.id })).toBe(0)
        expect(await other.sessions.find(row.id)).toBeUndefined()
      })

      test('inserting an existing identifier returns false, and keeps the existing session', async () => {
        const row = sessionRow({ userId: await aUser(store) })
        await store.sessions.insert(row)
        expect(
          await other.sessions.insert(sessionRow({ userId: await aUser(store), id: row.id })),
        ).toBe(false)
        expect((await store.sessions.find(row.id))?.session).toEqual(row)
      })

      test('delete() deletes all sessions of a user, and a deletion of the user deletes the sessions too', async () => {
        const [userId, another] = [await aUser(store), await aUser(store)]
        const kept = sessionRow({ userId: another })
        for (const row of [sessionRow({ userId }), sessionRow({ userId }), kept])
          await store.sessions.insert(row)
        expect(await store.sessions.delete({ userId })).toBe(2)
        expect(await store.sessions.delete({ userId })).toBe(0)
        expect(await other.sessions.find(kept.id)).toBeDefined()
        await store.users.delete(another, 1)
        expect(await other.sessions.find(kept.id)).toBeUndefined()
      })

      test('deleteSurplus() deletes the valid sessions of a user except for the latest, and no session of another user', async () => {
        const [userId, another] = [await aUser(store), await aUser(store)]
        const valid = { now: 0, idleSince: 0 }
        const rows = [3, 1, 4, 2].map((createdAt) => sessionRow({ userId, createdAt }))
        const kept = sessionRow({ userId: another, createdAt: 0 })
        for (const row of [...rows, kept]) await store.sessions.insert(row)
        expect(
          await store.sessions.deleteSurplus({ userId, ...valid }, { keep: 4, limit: 9 }),
        ).toBe(0)
        expect(
          (await other.sessions.list('ofUser', { userId }, { after: null, limit: 9 })).items,
        ).toHaveLength(4)
        expect(
          await store.sessions.deleteSurplus({ userId, ...valid }, { keep: 2, limit: 9 }),
        ).toBe(2)
        const { items } = await other.sessions.list('ofUser', { userId }, { after: null, limit: 9 })
        expect(items.map(({ createdAt }) => createdAt)).toEqual([4, 3])
        expect(
          await store.sessions.deleteSurplus({ userId, ...valid }, { keep: 0, limit: 9 }),
        ).toBe(2)
        expect(
          (await other.sessions.list('ofUser', { userId }, { after: null, limit: 9 })).items,
        ).toEqual([])
        expect(await other.sessions.find(kept.id)).toBeDefined()
      })

      test('deleteSurplus() neither counts nor deletes expired and idle sessions [T3170]', async () => {
        const userId = await aUser(store)
        const [valid, expired, idle] = [
          sessionRow({ userId, createdAt: 1, expiresAt: 11, lastSeenAt: 6 }),
          sessionRow({ userId, createdAt: 2, expiresAt: 10, lastSeenAt: 6 }),
          sessionRow({ userId, createdAt: 3, expiresAt: 11, lastSeenAt: 5 }),
        ]
        for (const row of [valid, expired, idle]) await store.sessions.insert(row)
        const at = { now: 10, idleSince: 5 }
        expect(await store.sessions.deleteSurplus({ userId, ...at }, { keep: 1, limit: 9 })).toBe(0)
        expect(await other.sessions.find(valid.id)).toBeDefined()
        expect(await store.sessions.deleteSurplus({ userId, ...at }, { keep: 0, limit: 9 })).toBe(1)
        expect(await other.sessions.find(valid.id)).toBeUndefined()
        expect(await other.sessions.find(expired.id)).toBeDefined()
        expect(await other.sessions.find(idle.id)).toBeDefined()
      })

      test('deleteExpired() deletes expired and idle sessions up to the limit', async () => {
        while (
          (await store.sessions.deleteExpired({ now: 1_000_000, idleSince: 1_000_000 }, 100)) > 0
        );
        const userId = await aUser(store)
        const rows = [
          sessionRow({ userId, expiresAt: 10, lastSeenAt: 10 }),
          sessionRow({ userId, expiresAt: 100, lastSeenAt: 4 }),
          sessionRow({ userId, expiresAt: 11, lastSeenAt: 5 }),
        ]
        for (const row of rows) await store.sessions.insert(row)
        expect(await store.sessions.deleteExpired({ now: 10, idleSince: 4 }, 1)).toBe(1)
        expect(await store.sessions.deleteExpired({ now: 10, idleSince: 4 }, 100)).toBe(1)
        expect(await store.sessions.deleteExpired({ now: 10, idleSince: 4 }, 100)).toBe(0)
        expect(await other.sessions.delete({ userId })).toBe(1)
      })
    })

    test('inserting a token of a deleted authorization throws ReferenceNotFound', async () => {
      const clientId = await aClient(store)
      const attempt = (on: Store) =>
        on.tokens.insert(tokenRow({ clientId, authorizationId: 999_999 }))
      await expect(attempt(store)).rejects.toThrow(ReferenceNotFound)
      await expect(store.transaction(attempt)).rejects.toThrow(ReferenceNotFound)
    })

    // A request that found the client or user before the deletion may still insert rows.
    test('rows of a deleted client or user are never found', async () => {
      const userId = await aUser(store)
      const clientId = await aClient(store)
      const part = { after: null, limit: 10 }
      for (const of of [
        { clientId: 'nope', userId },
        { clientId, userId: 999_999 },
        { clientId: 'nope', userId: 999_999 },
      ]) {
        const code = digest('authorization_code')
        const authorizationId = Number(
          await store.authorizations.insertOnce(authorizationRow({ ...of, codeDigest: code })),
        )
        const row = tokenRow({ ...of, authorizationId }, refreshable())
        const id = Number(await store.tokens.insert(row))
        const own = tokenRow({ ...of, isPersonal: true })
        const ownId = Number(await store.tokens.insert(own))
        await store.consents.put(consentRow(of))
        const found = async (on: Store) => [
          await on.authorizations.find(authorizationId),
          await on.authorizations.find({ codeDigest: code }),
          await on.tokens.findByAccess(row.accessDigest),
          await on.tokens.findByRefresh(row.refreshDigest ?? digest()),
          await on.tokens.find(id),
          await on.tokens.find(id, { lock: 'change' }),
          await on.tokens.find({ authorizationId }, { lock: 'change' }),
          await on.tokens.authorized(id, 0),
          await on.tokens.findByAccess(own.accessDigest),
          await on.tokens.personal(ownId, 0),
          await on.consents.find({ userId: of.userId, clientId: of.clientId }),
        ]
        const lists = async (on: Store) => [
          await on.tokens.select({ clientId: of.clientId }, { lock: 'change' }),
          (await on.tokens.list('matching', { text: String(id) }, part)).items,
          (await on.tokens.list('personal', { userId: of.userId, now: 0 }, part)).items,
          await on.tokens.select({ userId: of.userId, name: 'Client' }),
          await on.tokens.authorizedOf(of.userId, [of.clientId], 0, { limit: 10, countLimit: 10 }),
          await on.consents.select({ userId: of.userId, clientId: [of.clientId] }),
        ]
        for (const on of [store, other]) {
          expect((await found(on)).filter((one) => one !== undefined)).toEqual([])
          expect((await lists(on)).flat()).toEqual([])
        }
        await store.transaction(async (tx) => {
          expect((await found(tx)).filter((one) => one !== undefined)).toEqual([])
        })
      }
      const theirs = clientRow({ userId: 999_999 })
      await store.clients.insert(theirs)
      expect(await other.clients.find(theirs.fields.clientId)).toBeUndefined()
      expect(await other.clients.find({ secret: theirs.fields.clientSecret })).toBeUndefined()
      expect(
        (await other.clients.list('matching', { text: theirs.fields.clientId }, part)).items,
      ).toEqual([])
      expect((await other.clients.list('owned', { userId: 999_999 }, part)).items).toEqual([])
      const session = sessionRow({ userId: 999_999 })
      await store.sessions.insert(session)
      expect(await other.sessions.find(session.id)).toBeUndefined()
    })

    describe('secret keys', () => {
      test('IDs are added once', async () => {
        await store.secretKeys.insert({ id: 'k1', createdAt: 1 })
        await other.secretKeys.insert({ id: 'k1', createdAt: 2 })
        await other.secretKeys.insert({ id: 'k2', createdAt: 3 })
        expect((await store.secretKeys.select()).map(({ id }) => id)).toEqual(['k1', 'k2'])
        await other.secretKeys.delete({ id: 'k1' })
        await other.secretKeys.delete({ id: 'k1' })
        expect(await store.secretKeys.select()).toEqual([{ id: 'k2', createdAt: 3 }])
        await store.secretKeys.delete({ id: 'k2' })
      })
    })

    describe('logout notices', () => {
      const times = { now: 1_000, expiresAt: 9_000 }
      const all = { limit: 1_000, each: 1_000, busyUsers: [], busyClients: [] }
      const notices = (sid: string, count: number, first = 1) =>
        Array.from({ length: count }, (_, index) => ({ clientKey: first + index, sid }))

      test('each due notice is claimed by exactly one of 20 concurrent callers, and again after its claim ends [T3514]', async () => {
        const user = 700_001
        await store.logoutNotices.add(notices('sid-1', 10), user, times, 100)
        await store.logoutNotices.add(notices('sid-1', 10), user, times, 100)
        const share = { ...all, limit: 3 }
        const claimed = await runConcurrently(20, (index) =>
          (index % 2 === 0 ? store : other).logoutNotices.claim(1_000, 2_000, share),
        )
        const remaining = await store.logoutNotices.claim(1_000, 2_000, all)
        const ids = [...claimed.flat(), ...remaining].map(({ id }) => id)
        expect(ids).toHaveLength(10)
        expect(new Set(ids).size).toBe(10)
        expect(await other.logoutNotices.claim(1_999, 3_000, all)).toEqual([])
        await store.logoutNotices.update({ id: ids[0] ?? '' }, { dueAt: 1_500 })
        expect(await other.logoutNotices.claim(1_500, 2_000, all)).toMatchObject([
          { id: ids[0], attempts: 2, userId: String(user), sid: 'sid-1' },
        ])
        expect(await store.logoutNotices.delete({ id: ids.slice(1) })).toBe(9)
        expect(await store.logoutNotices.claim(2_000, 3_000, all)).toHaveLength(1)
        expect(await store.logoutNotices.deleteExpired(9_000, 10)).toBe(1)
      })

      test('users and clients take turns, those with too many notices in progress are left out, and each user has a bound [T3515]', async () => {
        const [many, one] = [700_002, 700_003]
        expect(await store.logoutNotices.add(notices('sid-2', 50, 100), many, times, 20)).toBe(30)
        await store.logoutNotices.add(notices('sid-3', 1, 100), one, times, 20)
        const share = { limit: 6, each: 5, busyUsers: [], busyClients: [] }
        const users = async (more: Partial<typeof all>) =>
          (await other.logoutNotices.claim(1_000, 1_001, { ...share, ...more }))
            .map(({ userId }) => userId)
            .sort()
        expect(await users({})).toEqual([...Array(5).fill(String(many)), String(one)])
        const busy = { limit: 6, each: 5, busyUsers: [String(many)], busyClients: [] }
        const later = await other.logoutNotices.claim(1_001, 1_002, busy)
        expect(later.map(({ userId }) => userId)).toEqual([String(one)])
        const clients = { ...busy, busyUsers: [], busyClients: [100] }
        const others = await other.logoutNotices.claim(1_002, 1_003, clients)
        expect(others.map(({ userId }) => userId)).toEqual(Array(5).fill(String(many)))
        expect(await store.logoutNotices.deleteExpired(9_000, 100)).toBe(21)
      })
    })

    listsContract(stores)
    managementContract(stores)
    todaysClientsContract(stores)

    transientsContract('in the database', () => ({
      one: store.transients,
      other: other.transients,
    }))

    describe('transactions', () => {
      const exists = async (clientId: string) => (await other.clients.find(clientId)) !== undefined

      test('commit everything or nothing, and return the result of the work', async () => {
        const [one, two] = [clientRow(), clientRow()]
        const given = await store.transaction(async (tx) => {
          await tx.clients.insert(one)
          expect(await tx.clients.find(one.fields.clientId)).toBeDefined()
          await tx.clients.insert(two)
          return 'given'
        })
        expect(given).toBe('given')
        expect([await exists(one.fields.clientId), await exists(two.fields.clientId)]).toEqual([
          true,
          true,
        ])

        const lost = clientRow()
        const failure = new Error('the work fails')
        await expect(
          store.transaction(async (tx) => {
            await tx.clients.insert(lost)
            await tx.clients.delete(one.fields.clientId, 1)
            throw failure
          }),
        ).rejects.toBe(failure)
        expect([await exists(lost.fields.clientId), await exists(one.fields.clientId)]).toEqual([
          false,
          true,
        ])
      })

      test('a transaction inside a transaction is a savepoint, at any depth', async () => {
        const [outer, failed, inner, deep] = [clientRow(), clientRow(), clientRow(), clientRow()]
        await store.transaction(async (tx) => {
          await tx.clients.insert(outer)
          await expect(
            tx.transaction(async (nested) => {
              await nested.clients.insert(failed)
              await nested.transaction((deeper) => deeper.clients.insert(deep))
              throw new Error('the nested one fails')
            }),
          ).rejects.toThrow('the nested one fails')
          await tx.transaction((nested) => nested.clients.insert(inner))
        })
        const found = await Promise.all(
          [outer, failed, inner, deep].map(({ fields }) => exists(fields.clientId)),
        )
        expect(found).toEqual([true, false, true, false])
      })

      test('rolling back a transaction also undoes the changes of nested transactions', async () => {
        const row = clientRow()
        await expect(
          store.transaction(async (tx) => {
            await tx.transaction((nested) => nested.clients.insert(row))
            throw new Error('the outer one fails')
          }),
        ).rejects.toThrow('the outer one fails')
        expect(await exists(row.fields.clientId)).toBe(false)
      })

      test('a transaction succeeds after an earlier transaction failed', async () => {
        const clientId = await aClient(store)
        await expect(
          store.transaction((tx) =>
            tx.tokens.insert(tokenRow({ clientId, authorizationId: 999_999 })),
          ),
        ).rejects.toThrow()
        expect(
          await store.transaction((tx) => tx.tokens.insert(tokenRow({ clientId }))),
        ).toBeTypeOf('number')
      })

      test('no write is lost in 40 concurrent read-write transactions on two nodes', async () => {
        const userId = await aUser(store)
        const clientId = await aClient(store)
        await store.consents.put(consentRow({ userId, clientId, scopes: [] }))
        await runConcurrently(40, (index) =>
          alternating(index).transaction(async (tx) => {
            const before = await tx.consents.find({ userId, clientId }, { lock: 'change' })
            await tx.consents.put(
              consentRow({
                userId,
                clientId,
                scopes: [...(before?.consent.scopes ?? []), `s${index}`],
              }),
            )
          }),
        )
        expect(
          new Set((await store.consents.find({ userId, clientId }))?.consent.scopes).size,
        ).toBe(40)
      })

      test('operations outside of an open transaction are not part of the transaction', async () => {
        const [inside, beside] = [clientRow(), clientRow()]
        let write: Promise<boolean> | undefined
        await expect(
          store.transaction(async (tx) => {
            await tx.clients.insert(inside)
            write = store.clients.insert(beside)
            // Fixed time: the concurrent write may wait.
            await new Promise((resolve) => setTimeout(resolve, 10))
            throw new Error('the transaction fails')
          }),
        ).rejects.toThrow('the transaction fails')
        expect(await write).toBe(true)
        expect([
          await exists(inside.fields.clientId),
          await exists(beside.fields.clientId),
        ]).toEqual([false, true])
      })

      // A store in memory has only one connection, so concurrent reads would wait.
      if (isShared) {
        test('reads on any node do not wait for an open transaction, and do not see its changes', async () => {
          const row = clientRow()
          await store.transaction(async (tx) => {
            await tx.clients.insert(row)
            expect(await store.clients.find(row.fields.clientId)).toBeUndefined()
            expect(await other.clients.find(row.fields.clientId)).toBeUndefined()
          })
          expect(await store.clients.find(row.fields.clientId)).toBeDefined()
        })
      }
    })
  })
}
