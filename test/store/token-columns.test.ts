import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type NewToken, tokenCodec } from '../../src/model/entities/token.ts'
import type { Rotation } from '../../src/store/contract/tokens.ts'
import type { OpenStore, Store } from '../../src/store/store.ts'
import { lacks } from '../support/needs.ts'
import { type NewDatabase, newDatabase } from '../support/new-database.ts'
import {
  aClient,
  anAuthorization,
  aUser,
  clientKey,
  refreshable,
  rotationOf,
  text,
  tokenRow,
} from './rows.ts'

type Row = Readonly<Record<string, unknown>>
type Rotate = (rotation: Rotation) => Promise<boolean>

/** The columns that neither a rotation nor a rewrite changes. */
const keptColumns = tokenCodec.stored
  .map(({ column }) => column)
  .filter((column) => !tokenCodec.replacedColumns.some((replaced) => replaced === column))

const withoutId = ({ id: _, ...row }: Row): Row => row

const databases = [
  ['SQLite', newDatabase.SQLite, false],
  ['PostgreSQL', newDatabase.PostgreSQL, await lacks('postgres')],
] as const

for (const [name, create, isMissing] of databases) {
  describe.skipIf(isMissing)(`the columns of a token on ${name}`, () => {
    let database: NewDatabase
    let store: OpenStore
    beforeAll(async () => {
      database = await create()
      store = await database.opener.open()
      await store.migrate()
    })
    afterAll(async () => {
      await store.close()
      await database.drop()
    })

    const everyRow = async (): Promise<readonly Row[]> => [
      ...(await database.query('select * from oauth2server_token order by id')),
      ...(await database.query('select * from oauth2server_authorization order by id')),
      ...(await database.query('select * from oauth2server_rotated_refresh_token order by digest')),
    ]
    const storedRow = async (id: number | undefined): Promise<Row> => {
      const [row] = await database.query(
        `select * from oauth2server_token where id = ${Number(id)}`,
      )
      if (!row) throw new Error('The token is not stored.')
      return row
    }

    /** A token with a value in every column, and another value for each column that can change. */
    const newPair = async (): Promise<{ before: NewToken; after: NewToken }> => {
      const clientId = await aClient(store)
      const valuesOf = (number: number) =>
        Object.fromEntries(
          tokenCodec.stored.map(({ column, type }) => {
            const value = type === 'integer' ? 1 : number
            return [column, type === 'text' ? text() : value]
          }),
        )
      const before = {
        ...valuesOf(5),
        client_id: clientId,
        client_key: clientKey(clientId),
        user_id: await aUser(store),
        authorization_id: await anAuthorization(store, { clientId }),
        parent_id: Number(await store.tokens.insert(tokenRow({ clientId }))),
        scopes: 'a b',
      }
      const other: Row = valuesOf(6)
      const changed = tokenCodec.replacedColumns.map((column) => [column, other[column]])
      const tokenOf = (row: Row) => tokenCodec.fromRow(row as never)
      return {
        before: tokenOf(before),
        after: tokenOf({ ...before, ...Object.fromEntries(changed) }),
      }
    }

    const inTransaction = (work: (tx: Store) => Promise<boolean>): Promise<boolean> =>
      store.transaction(work)
    const inserts: Record<string, (token: NewToken) => Promise<number | undefined>> = {
      'outside a transaction': (token) => store.tokens.insert(token),
      'inside a transaction': (token) => store.transaction((tx) => tx.tokens.insert(token)),
    }
    const rotations: readonly (readonly [string, Rotate])[] = [
      ['outside a transaction', (one) => store.tokens.rotate(one)],
      [
        'while exchanges may be running',
        (one) => store.tokens.rotate({ ...one, mayBeExchanged: true }),
      ],
      ['inside a transaction', (one) => inTransaction((tx) => tx.tokens.rotate(one))],
    ]

    const replacements: readonly (readonly [string, Rotate])[] = [
      ...rotations.map(([title, rotate]) => [`a rotation ${title}`, rotate] as const),
      ['a rewrite', ({ id, next }) => store.tokens.rewrite(id, next).then(() => true)],
    ]

    test('each kind of insert stores the same values in all columns, and each look-up returns the values', async () => {
      const { before: token } = await newPair()
      const rows: object[] = []
      for (const insert of Object.values(inserts)) {
        const id = Number(await insert(token))
        const row = await storedRow(id)
        const missing = Object.keys(row).filter((column) => row[column] === null)
        expect(missing.sort()).toEqual(['last_used_address', 'last_used_at'])
        rows.push(withoutId(row))
        const found = { ...token, fields: { ...token.fields, id }, lastUse: null }
        expect(await store.tokens.find(id)).toEqual(found)
        expect(await store.tokens.findByAccess(token.accessDigest)).toMatchObject(found)
        await store.tokens.delete({ id })
      }
      expect(rows[1]).toEqual(rows[0])
      expect(rows[0]).toMatchObject({ client_key: expect.anything(), scopes: 'a b' })
    })

    test.each(replacements)('%s stores the same values as an insert', async (_, replace) => {
      const { before, after } = await newPair()
      const inserted = await store.tokens.insert(after)
      const expected = withoutId(await storedRow(inserted))
      await store.tokens.delete({ id: Number(inserted) })
      const id = Number(await store.tokens.insert(before))
      const former = await storedRow(id)
      const { refreshDigest } = before
      if (refreshDigest === null) throw new Error('The token can be refreshed.')
      expect(await replace(rotationOf({ id, row: before, refreshDigest }, after))).toBe(true)
      const row = await storedRow(id)
      expect(withoutId(row)).toEqual(expected)
      const kept = Object.keys(row).filter((column) => row[column] === former[column])
      expect(kept.sort()).toEqual([...keptColumns].sort())
    })

    describe.each(rotations)('a rotation %s', (_, rotate) => {
      const expectUnchanged = async (
        change: (rotation: Rotation) => Rotation,
        prepare: (authorizationId: number, before: NewToken) => Promise<void> = async () =>
          undefined,
      ): Promise<void> => {
        const { before, after } = await newPair()
        const { refreshDigest } = before
        if (refreshDigest === null) throw new Error('The token can be refreshed.')
        await prepare(before.fields.authorizationId ?? 0, before)
        const id = Number(await store.tokens.insert(before))
        const rows = await everyRow()
        const rotation = rotationOf({ id, row: before, refreshDigest }, after)
        expect(await rotate(change({ ...rotation, endsAt: 99_000 }))).toBe(false)
        expect(await everyRow()).toEqual(rows)
      }

      test('changes nothing if the given refresh token is not the current refresh token', () =>
        expectUnchanged((rotation) => ({
          ...rotation,
          rotated: { ...rotation.rotated, digest: refreshable().refreshDigest },
        })))

      test('changes nothing if the token belongs to another client', async () => {
        const clientId = await aClient(store)
        await expectUnchanged(({ next, ...rotation }) => ({
          ...rotation,
          next: {
            ...next,
            fields: { ...next.fields, clientId, clientKey: clientKey(clientId) },
          },
        }))
      })

      test('changes nothing if the authorization is revoked', () =>
        expectUnchanged(
          (rotation) => rotation,
          async (authorizationId) => {
            await store.authorizations.revoke(authorizationId, 7)
          },
        ))
    })
  })
}
