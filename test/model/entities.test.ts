import { execFileSync } from 'node:child_process'
import { pathToFileURL } from 'node:url'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { entities } from '../../src/model/entities/all.ts'
import { claimsOf, entity, picked } from '../../src/model/entities/entity.ts'
import { flag, having, list, nullable, number, text } from '../../src/model/entities/field.ts'
import { sessionCodec } from '../../src/model/entities/session.ts'
import { check } from '../properties/check.ts'

type Row = Readonly<Record<string, unknown>>

interface Codec {
  readonly table: string
  readonly columns: readonly string[]
  readonly types: Readonly<Record<string, keyof typeof cells>>
  toRow(record: object): Row
  toCells(record: object): readonly unknown[]
  fromRow(row: Row): object
}

/** A column that contains an object as JSON. */
const json = fc.json().map((text) => JSON.stringify({ extensions: JSON.parse(text) }))

const cells = {
  bigint: fc.integer(),
  integer: fc.constantFrom(0, 1),
  text: fc.string(),
  userKey: fc.oneof(fc.integer(), fc.string()),
}

const codecs = Object.entries(entities as unknown as Readonly<Record<string, Codec>>)
/** The computed columns, which no read returns. */
const computed = new Set([
  'oauth2server_token ends_at',
  'oauth2server_audit seal',
  'oauth2server_client_login id',
])

describe.each(codecs)('the entity %s', (_, codec) => {
  test('keeps every cell of a row that it reads and writes [T4710]', () => {
    const row = fc.record(
      Object.fromEntries(
        Object.entries(codec.types).map(([name, type]) => [
          name,
          name === 'code_binding' || name === 'details' ? json : cells[type],
        ]),
      ),
    )
    const readCells = (row: Row) =>
      Object.entries(row).filter(([column]) => !computed.has(`${codec.table} ${column}`))
    return check(
      fc.property(row, (stored) => {
        const record = codec.fromRow(stored)
        expect(readCells(codec.toRow(record))).toEqual(readCells(stored))
        expect(codec.toCells(record)).toEqual(Object.values(codec.toRow(record)))
        expect(codec.columns).toEqual(Object.keys(codec.toRow(record)))
      }),
      { runs: 100 },
    )
  })
})

const fields = {
  id: having(number(), { place: 'assigned' }),
  owner: having(text(), { place: 'joined' }),
  names: list(),
  isOn: flag(),
  hue: having(nullable(text()), { since: 3, initial: null }),
  tones: having(list(','), { since: 2, initial: [] }),
  depth: having(number(), { since: 2, initial: 0, column: 'depth_in_bits' }),
}
const own = { id: 1, owner: 'Ada', names: ['a', 'b'], isOn: true }
const record = { ...own, hue: null as string | null, tones: [] as string[], depth: 0 }

describe('an entity', () => {
  const claims = claimsOf('sample', fields)

  test('omits the claims of later columns only while all of them have their initial values [T4711]', () => {
    const first = ['sample', 'a b', true]
    expect(claims(record)).toEqual(first)
    expect(claims({ ...record, depth: 8 })).toEqual([...first, '', 8])
    expect(claims({ ...record, tones: ['x'] })).toEqual([...first, 'x', 0])
    // Otherwise, the claims of `hue` could equal the claims of the earlier columns.
    expect(claims({ ...record, hue: 'y' })).toEqual([...first, '', 0, 'y'])
  })

  test('claims that cover some fields do not cover the other fields of later columns [T4782]', () => {
    const some = claimsOf('part', picked(fields, ['isOn', 'names', 'tones']))
    expect(some({ ...record, depth: 8, hue: 'y' })).toEqual(['part', true, 'a b'])
    expect(some({ ...record, tones: ['x'] })).toEqual(['part', true, 'a b', 'x'])
    expect(some.isSame(record, { ...record, depth: 8, hue: 'y' })).toBe(true)
  })

  test('two records are the same exactly if all their claims are equal [T4781]', () => {
    const records = fc.record({
      id: fc.integer(),
      owner: fc.string(),
      names: fc.array(fc.constantFrom('a', 'b'), { maxLength: 2 }),
      isOn: fc.boolean(),
      hue: fc.constantFrom(null, 'y'),
      tones: fc.array(fc.constantFrom('x'), { maxLength: 1 }),
      depth: fc.constantFrom(0, 8),
    })
    return check(
      fc.property(records, records, (one, other) => {
        const areEqual = JSON.stringify(claims(one)) === JSON.stringify(claims(other))
        expect(claims.isSame(one, other)).toBe(areEqual)
        expect(claims.isSame(one, structuredClone({ ...one, id: 0, owner: '' }))).toBe(true)
      }),
      { runs: 500 },
    )
  })

  test('reads the values that the database assigns and that other tables contain, but does not write them [T4712]', () => {
    const codec = entity('sample', { inner: fields, seal: text() })
    const row = {
      names: 'a b',
      is_on: 1,
      hue: null,
      tones: '',
      depth_in_bits: 0,
      seal: 's',
    } as const
    expect(codec.toRow({ inner: record, seal: 's' })).toEqual(row)
    expect(codec.fromRow({ ...row, id: 1, owner: 'Ada' })).toEqual({ inner: record, seal: 's' })
  })

  test('has the same rows and claims in a process that forbids generated code [T4713]', () => {
    const url = (file: string) => pathToFileURL(`${import.meta.dirname}/../../src/model/${file}`)
    const code = `
      import { sessionClaims, sessionCodec } from '${url('entities/session.ts')}'
      const row = JSON.parse(process.argv[1])
      const session = sessionCodec.fromRow(row)
      const { toRow, toCells } = sessionCodec
      const isSame = [session, { ...session, address: '' }].map((other) => sessionClaims.isSame(session, other))
      console.log(JSON.stringify([session, toRow(session), toCells(session), sessionClaims(session), isSame]))
      try { new Function('') } catch { console.log('forbidden') }`
    const row = Object.fromEntries(
      Object.entries(sessionCodec.types).map(([name, type]) => [name, type === 'text' ? name : 5]),
    )
    const session = sessionCodec.fromRow(row as Parameters<typeof sessionCodec.fromRow>[0])
    const output = execFileSync(
      process.execPath,
      [
        '--disallow-code-generation-from-strings',
        '--input-type=module',
        '-e',
        code,
        JSON.stringify(row),
      ],
      { encoding: 'utf8' },
    )
    const expected = [
      session,
      row,
      Object.values(row),
      ['session', ...Object.values(row).slice(0, -1)],
      [true, false],
    ]
    expect(output).toBe(`${JSON.stringify(expected)}\nforbidden\n`)
  })
})
