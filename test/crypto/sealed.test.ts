import { describe, expect, test } from 'vitest'
import { type Claims, KeyRing, keyIdOf, type SealPurpose } from '../../src/crypto/sealed.ts'

const first = 'the first secret key, longer than 32 bytes'
const second = 'the second secret key, longer than 32 bytes'
const claims: Claims = ['access_token', 'digest', 7, null, true]

describe('KeyRing', () => {
  const keys = new KeyRing([first])

  test('opens a sealed value only with the same claims', () => {
    for (const text of ['secret', '', 'Größe 😀', 'x'.repeat(10_000)])
      expect(keys.open('token', keys.seal('token', text, claims), claims)).toBe(text)
  })

  test('returns the key ID of a sealed value, and undefined for other texts', () => {
    const ring = new KeyRing([second, first])
    expect(keyIdOf(ring.seal('row', '', claims))).toBe(ring.currentId)
    expect(ring.currentId).toBe(ring.ids[0])
    expect(keyIdOf(keys.seal('row', '', claims))).toBe(ring.ids[1])
    for (const text of ['', '.', 'x', '0123abcd', '0123ABCD.x', '0123abcde.x', "'); drop.x"])
      expect(keyIdOf(text)).toBeUndefined()
  })

  test.each<[string, Claims]>([
    ['another text', ['access_token', 'other', 7, null, true]],
    ['a number as text', ['access_token', 'digest', '7', null, true]],
    ['another number', ['access_token', 'digest', 8, null, true]],
    ['null as text', ['access_token', 'digest', 7, 'null', true]],
    ['another flag', ['access_token', 'digest', 7, null, false]],
    ['a flag as number', ['access_token', 'digest', 7, null, 1]],
    ['fewer claims', ['access_token', 'digest', 7, null]],
    ['more claims', ['access_token', 'digest', 7, null, true, null]],
    ['another order', ['digest', 'access_token', 7, null, true]],
    ['claims that run together', ['access_tokendigest', '', 7, null, true]],
    ['missing claims', []],
  ])('does not open a sealed value with different claims: %s', (_, other) => {
    expect(keys.open('token', keys.seal('token', 'secret', claims), other)).toBeUndefined()
  })

  test('has a separate key for each purpose [T146]', () => {
    const purposes: readonly SealPurpose[] = ['token', 'row', 'transient']
    for (const purpose of purposes) {
      const sealed = keys.seal(purpose, 'secret', claims)
      for (const other of purposes)
        expect(keys.open(other, sealed, claims)).toBe(other === purpose ? 'secret' : undefined)
    }
    const derived = [
      ...keys.sessionKeys.map((key) => Buffer.from(key).toString('base64url')),
      ...keys.csrfTokens('cookie'),
    ]
    expect(new Set(derived).size).toBe(2)
  })

  test('seals the same text differently each time, with a new nonce', () => {
    const sealed = Array.from({ length: 200 }, () => keys.seal('token', 'secret', claims))
    const nonces = sealed.map((text) =>
      Buffer.from(text.split('.')[1] ?? '', 'base64url')
        .subarray(2, 14)
        .toString('hex'),
    )
    expect(new Set(nonces).size).toBe(200)
  })

  test('uses a separate key for each day, and stores the day in the sealed value [T620]', () => {
    let now = 0
    const day = 86_400_000
    const ring = new KeyRing([first], () => now)
    const today = ring.seal('token', 'secret', claims)
    now += day - 1
    const sameDay = ring.seal('token', 'secret', claims)
    now += 1
    const nextDay = ring.seal('token', 'secret', claims)
    const bytesOf = (sealed: string) => Buffer.from(sealed.split('.')[1] ?? '', 'base64url')
    expect([today, sameDay, nextDay].map((sealed) => bytesOf(sealed).readUInt16BE())).toEqual([
      0, 0, 1,
    ])
    // A key ring with a different clock opens all sealed values.
    for (const sealed of [today, sameDay, nextDay])
      expect(keys.open('token', sealed, claims)).toBe('secret')
    // A value does not open with the key of another day.
    const moved = bytesOf(today)
    moved.writeUInt16BE(1)
    expect(
      keys.open('token', `${keys.currentId}.${moved.toString('base64url')}`, claims),
    ).toBeUndefined()
  })

  test('opens a value after the keys of 5,000 other days were used', () => {
    const sealed = keys.seal('row', 'kept', claims)
    const bytes = Buffer.from(sealed.split('.')[1] ?? '', 'base64url')
    for (let day = 0; day < 5_000; day += 1) {
      bytes.writeUInt16BE(day)
      keys.open('row', `${keys.currentId}.${bytes.toString('base64url')}`, claims)
    }
    expect(keys.open('row', sealed, claims)).toBe('kept')
  })

  test('seals and opens values at any clock time', () => {
    for (const now of [0, -1, 8.64e15, 2 ** 16 * 86_400_000]) {
      const ring = new KeyRing([first], () => now)
      expect(keys.open('token', ring.seal('token', 'secret', claims), claims)).toBe('secret')
    }
  })

  test('verifies an audit seal only with the sealed values, also under earlier keys, and never repeats a seal', () => {
    const values: Claims = [1, 'login.failed', null, '']
    const seal = keys.sealAudit(values)
    expect(keys.isAuditIntact(seal, values)).toBe(true)
    expect(keys.sealAudit(values)).not.toBe(seal)
    expect(new KeyRing([second, first]).isAuditIntact(seal, values)).toBe(true)
    expect(new KeyRing([second]).isAuditIntact(seal, values)).toBe(false)
    for (const other of [
      [1, 'login.failed', null],
      [1, 'login.failed', '', ''],
      ['1', 'login.failed', null, ''],
    ])
      expect(keys.isAuditIntact(seal, other)).toBe(false)
    for (let at = 0; at < seal.length; at += 1) {
      const changed = `${seal.slice(0, at)}${seal[at] === 'A' ? 'B' : 'A'}${seal.slice(at + 1)}`
      expect(keys.isAuditIntact(changed, values)).toBe(false)
    }
    for (const text of ['', keys.currentId, `${keys.currentId}.`, seal.slice(0, -1), `${seal}A`])
      expect(keys.isAuditIntact(text, values)).toBe(false)
  })

  test('returns undefined for flipped bits, truncated values and other texts', () => {
    const sealed = keys.seal('token', 'secret', claims)
    const [id = '', body = ''] = sealed.split('.')
    const bytes = Buffer.from(body, 'base64url')
    for (let index = 0; index < bytes.length; index += 1) {
      const changed = Buffer.from(bytes)
      changed[index] = (changed[index] ?? 0) ^ 1
      expect(keys.open('token', `${id}.${changed.toString('base64url')}`, claims)).toBeUndefined()
    }
    for (const other of [
      '',
      '.',
      id,
      `${id}.`,
      `.${body}`,
      body,
      `${id}.AAAA`,
      `${id}.${bytes.subarray(0, 27).toString('base64url')}`,
      `${id}.${bytes.subarray(0, -1).toString('base64url')}`,
    ])
      expect(keys.open('token', other, claims), other).toBeUndefined()
  })

  test('accepts a row seal only with unchanged claims', () => {
    const seal = keys.sealRow(claims)
    expect(keys.isIntact(seal, claims)).toBe(true)
    expect(keys.isIntact(seal, ['access_token', 'digest', 7, null, false])).toBe(false)
    // A seal with a plaintext is not a row seal.
    expect(keys.isIntact(keys.seal('row', 'x', claims), claims)).toBe(false)
    expect(keys.isIntact(keys.seal('token', '', claims), claims)).toBe(false)
  })

  test('uses key IDs that do not reveal the secret key', () => {
    expect(keys.ids).toEqual([expect.stringMatching(/^[0-9a-f]{8}$/)])
    expect(new KeyRing([second]).ids).not.toEqual(keys.ids)
    expect(new KeyRing([first]).ids).toEqual(keys.ids)
  })
})

describe('rotation', () => {
  const old = new KeyRing([first])
  const both = new KeyRing([second, first])

  test('seals with the current key, and opens with every key', () => {
    const before = old.seal('token', 'secret', claims)
    const after = both.seal('token', 'secret', claims)
    expect(both.open('token', before, claims)).toBe('secret')
    expect(both.open('token', after, claims)).toBe('secret')
    expect(new KeyRing([second]).open('token', after, claims)).toBe('secret')
    expect(both.ids).toEqual([...new KeyRing([second]).ids, ...old.ids])
  })

  test('does not open values of an unknown key, or of another key with the same ID', () => {
    const sealed = old.seal('token', 'secret', claims)
    const other = new KeyRing([second])
    expect(other.open('token', sealed, claims)).toBeUndefined()
    const renamed = sealed.replace(/^[^.]+/, other.ids[0] ?? '')
    expect(other.open('token', renamed, claims)).toBeUndefined()
  })

  test('returns session keys and form tokens of all keys, starting with the current key', () => {
    expect(both.sessionKeys).toHaveLength(2)
    expect(both.sessionKeys[1]).toEqual(old.sessionKeys[0])
    expect(both.csrfTokens('cookie')[1]).toBe(old.csrfTokens('cookie')[0])
    expect(both.csrfTokens('cookie')).not.toEqual(both.csrfTokens('other'))
  })

  test('returns the digests of short values under all keys, starting with the current key', () => {
    expect(both.lookupDigests('BCDFGHJK')).toEqual([
      ...new KeyRing([second]).lookupDigests('BCDFGHJK'),
      ...old.lookupDigests('BCDFGHJK'),
    ])
    expect(old.lookupDigests('BCDFGHJK')).not.toEqual(old.lookupDigests('BCDFGHJL'))
    // Each purpose has a separate key.
    expect(old.lookupDigests('BCDFGHJK')).not.toEqual(old.csrfTokens('BCDFGHJK'))
  })

  test('distinguishes a secret key with non-ASCII letters from a similar key', () => {
    const text = 'ä'.repeat(32)
    expect(new KeyRing([text]).ids).toEqual(new KeyRing([text]).ids)
    expect(new KeyRing([text]).ids).not.toEqual(new KeyRing(['a'.repeat(32)]).ids)
  })
})
