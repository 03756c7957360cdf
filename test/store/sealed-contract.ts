import { beforeEach, describe, expect, test } from 'vitest'
import type { Sealed } from '../../src/crypto/sealed.ts'
import type { ResealedRow, RowKey, SealedRow, SealedRows } from '../../src/store/contract/sealed.ts'
import type { Store } from '../../src/store/store.ts'
import {
  aClient,
  aPair,
  aUser,
  clientRow,
  consentRow,
  digest,
  insertRotated,
  refreshable,
  rotatedRow,
  rotationOf,
  sessionRow,
  signingKeyRow,
  text,
  tokenRow,
  userRow,
} from './rows.ts'

export const under = (keyId: string): Sealed => `${keyId}.${text()}` as Sealed
const newKey = (): string => text().slice(0, 8)

/** Returns a client whose two seals are under the key. */
export const clientUnder = (keyId: string) => ({
  ...clientRow(),
  seal: under(keyId),
  stateSeal: under(keyId),
})

/** Reads all rows that are not under the key, in pages of `limit` rows. @returns the rows and the number of pages */
const allNotUnder = async (rows: SealedRows, keyId: string, limit: number) => {
  const found: SealedRow[] = []
  let parts = 0
  let after: RowKey | null = null
  do {
    const part = await rows.notUnder(keyId, after, limit)
    expect(part.rows.length).toBeLessThanOrEqual(limit)
    found.push(...part.rows)
    parts += 1
    after = part.next
  } while (after)
  return { found, parts }
}

const resealedAs = (before: SealedRow, keyId: string): ResealedRow => ({
  before,
  sealed: before.sealed.map((value) => value && under(keyId)),
})

/** The tests of sealed rows that every store must pass. */
export const sealedContract = (stores: () => { store: Store; other: Store }): void => {
  describe('sealed rows', () => {
    let store: Store
    let other: Store
    let old: string
    let userId: number
    let clientId: string
    beforeEach(async () => {
      ;({ store, other } = stores())
      old = newKey()
      userId = Number(await aUser(store))
      clientId = await aClient(store)
    })

    /** Inserts one row of each kind under the key. */
    const rowsOfEachKind = async (keyId: string) => {
      const seal = under(keyId)
      const user = userRow({ passwordHash: seal, seal: under(keyId) })
      await store.users.insert(user)
      const client = { ...clientRow(), seal, stateSeal: under(keyId) }
      await store.clients.insert(client)
      const { authorizationId } = await aPair(store, clientId)
      const row = tokenRow(
        { clientId, authorizationId, refreshExpires: 2_000 },
        { ...refreshable(), accessToken: seal, refreshToken: under(keyId) },
      )
      await store.tokens.insert(row)
      const rotated = { ...rotatedRow(authorizationId), seal }
      await insertRotated(store, rotated)
      const { consent } = consentRow({ userId, clientId })
      await store.consents.put({ consent, seal })
      const session = { ...sessionRow({ userId }), seal }
      await store.sessions.insert(session)
      const signingKey = signingKeyRow({ privateKey: seal })
      await store.signingKeys.insert(signingKey)
      return { user, client, row, rotated, consent, session, signingKey }
    }

    test('a row of each kind is found by its key with the claims of its seal, and can be resealed', async () => {
      const made = await rowsOfEachKind(old)
      const next = newKey()
      const kept = {
        tokens: (of: { fields: { scopes: readonly string[] }; granted: object }) => {
          expect(of.granted).toEqual({ scopes: ['a', 'b'], resources: [], createdAt: 1 })
          expect(of.fields.scopes).toEqual(made.row.fields.scopes)
        },
        rotations: (of: object) => expect(of).toEqual(made.rotated),
        clients: (of: object) => expect(of).toEqual(made.client),
        consents: (of: { consent: object }) =>
          expect(of.consent).toEqual({ ...made.consent, clientId: undefined }),
        sessions: (of: object) => expect(of).toEqual(made.session),
        users: (of: object) => expect(made.user).toMatchObject(of),
        signingKeys: (of: object) => expect(of).toEqual(made.signingKey),
      }
      for (const [kind, expectKept] of Object.entries(kept)) {
        const rows = store.sealed[kind as 'tokens']
        const ownRows = async (keyId: string) =>
          (await allNotUnder(rows, keyId, 3)).found.filter(({ sealed }) =>
            sealed.some((value) => value?.startsWith(`${old}.`)),
          )
        const [found, ...others] = await ownRows(next)
        if (!found) throw new Error(`No row of ${kind} is found.`)
        expect(others).toEqual([])
        expectKept(found.row as never)
        expect(await ownRows(old)).toEqual([])
        expect((await rows.countUnder(old, 1_000_000)).rows).toBe(1)
        expect(await rows.reseal([resealedAs(found, next)])).toBe(1)
        expect(await ownRows(next)).toEqual([])
        expect(await rows.countUnder(old, 1_000_000)).toEqual({ rows: 0, isAll: true })
        expect((await rows.countUnder(next, 1_000_000)).rows).toBe(1)
      }
    })

    test('pages of any size list each row once', async () => {
      const added = 17
      for (let index = 0; index < added; index += 1) {
        await store.clients.insert(clientUnder(old))
        await store.consents.put({
          ...consentRow({ userId, clientId: await aClient(store) }),
          seal: under(old),
        })
      }
      for (const kind of ['clients', 'consents'] as const) {
        const rows = store.sealed[kind]
        const whole = await allNotUnder(rows, newKey(), 1_000_000)
        expect(whole.parts).toBe(1)
        expect(whole.found.length).toBeGreaterThanOrEqual(added)
        const keys = ({ found }: typeof whole) => found.map(({ key }) => key.join(' '))
        const all = new Set(keys(whole))
        for (const limit of [1, 5, added]) {
          const parted = await allNotUnder(rows, newKey(), limit)
          expect(parted.parts).toBeGreaterThan(1)
          expect(parted.found).toHaveLength(all.size)
          expect(new Set(keys(parted))).toEqual(all)
        }
        // The number of pages does not depend on the number of rows that are already under the key.
        const few = await allNotUnder(rows, old, 5)
        expect(few.found).toHaveLength(all.size - added)
        expect(few.parts).toBe((await allNotUnder(rows, newKey(), 5)).parts)
        const mine = whole.found.filter(({ sealed: [value] }) => value?.startsWith(`${old}.`))
        const next = newKey()
        expect(await rows.reseal(mine.map((row) => resealedAs(row, next)))).toBe(added)
        expect((await rows.countUnder(next, 1_000_000)).rows).toBe(added)
      }
    })

    test('countUnder() reads no more rows than its limit', async () => {
      for (let index = 0; index < 3; index += 1) await store.clients.insert(clientUnder(old))
      const { rows, isAll } = await store.sealed.clients.countUnder(old, 2)
      expect(isAll).toBe(false)
      expect(rows).toBeLessThanOrEqual(2)
      expect(await store.sealed.clients.countUnder(old, 1_000_000)).toEqual({
        rows: 3,
        isAll: true,
      })
    })

    test('reseal() does not overwrite a row that changed since it was read', async () => {
      const pair = async () => {
        const { authorizationId } = await aPair(store, clientId)
        const sealed = { accessToken: under(old), refreshToken: under(old) }
        const row = tokenRow({ clientId, authorizationId }, { ...refreshable(), ...sealed })
        return { id: Number(await store.tokens.insert(row)), row }
      }
      const [same, rotated, refreshed, gone] = [
        await pair(),
        await pair(),
        await pair(),
        await pair(),
      ]
      const { found } = await allNotUnder(store.sealed.tokens, newKey(), 100)
      const of = ({ id }: { id: number }) => {
        const row = found.find(({ key }) => key[0] === id)
        if (!row) throw new Error('The token is not found.')
        return row
      }
      const next = tokenRow(
        { clientId, authorizationId: rotated.row.fields.authorizationId },
        refreshable(),
      )
      await other.tokens.rotate(
        rotationOf({ ...rotated, refreshDigest: rotated.row.refreshDigest ?? digest() }, next),
      )
      await other.tokens.rewrite(refreshed.id, { ...refreshed.row, refreshToken: under('another') })
      await other.tokens.delete({ id: gone.id })
      const key = newKey()
      const resealed = [rotated, same, refreshed, gone].map((row) => resealedAs(of(row), key))
      expect(await store.sealed.tokens.reseal(resealed)).toBe(1)
      expect((await other.tokens.find(same.id))?.accessToken).toMatch(`${key}.`)
      expect((await other.tokens.find(same.id))?.refreshToken).toMatch(`${key}.`)
      expect((await other.tokens.find(rotated.id))?.accessToken).toBe(next.accessToken)
      expect((await other.tokens.find(refreshed.id))?.accessToken).toBe(refreshed.row.accessToken)
      expect(await other.tokens.find(gone.id)).toBeUndefined()
    })

    test('reseal() does not change a null value', async () => {
      const id = Number(
        await store.tokens.insert(tokenRow({ clientId }, { accessToken: under(old) })),
      )
      const { found } = await allNotUnder(store.sealed.tokens, newKey(), 100)
      const row = found.find(({ key }) => key[0] === id)
      if (!row) throw new Error('The token is not found.')
      expect(row.sealed[1]).toBeNull()
      const key = newKey()
      expect(await store.sealed.tokens.reseal([resealedAs(row, key)])).toBe(1)
      expect(await store.tokens.find(id)).toMatchObject({ refreshToken: null })
      const left = await allNotUnder(store.sealed.tokens, key, 100)
      expect(left.found.map(({ key: [found] }) => found)).not.toContain(id)
    })

    test('rolling back a transaction also undoes reseal()', async () => {
      const client = clientUnder(old)
      await store.clients.insert(client)
      const { found } = await allNotUnder(store.sealed.clients, newKey(), 100)
      const row = found.find(({ key }) => key[0] === client.fields.clientKey)
      if (!row) throw new Error('The client is not found.')
      const failure = new Error('the work fails')
      await expect(
        store.transaction(async (tx) => {
          expect(await tx.sealed.clients.reseal([resealedAs(row, newKey())])).toBe(1)
          throw failure
        }),
      ).rejects.toBe(failure)
      expect((await store.clients.find(client.fields.clientId))?.seal).toBe(client.seal)
    })
  })
}
