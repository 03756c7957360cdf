import { argon2Sync } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { PasswordHasher, PasswordHashingBusy } from '../../src/crypto/passwords/password.ts'

describe('passwords', () => {
  const hasher = new PasswordHasher()

  test('RFC 9106 returns a PHC string of argon2id with a new salt', async () => {
    const [one, other] = await Promise.all([
      hasher.hash('correct horse'),
      hasher.hash('correct horse'),
    ])
    expect(one).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
    expect(one).not.toBe(other)
    expect(await hasher.check('correct horse', one)).toBe(true)
    expect(await hasher.check('correct horsE', one)).toBe(false)
    expect(await hasher.check('', one)).toBe(false)
  })

  test('verifies a hash with the costs that it contains', async () => {
    // Created by the reference implementation: echo -n password | argon2 somesalt -id -t 2 -m 16 -p 1
    const foreign =
      '$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc'
    expect(await hasher.check('password', foreign)).toBe(true)
    expect(await hasher.check('Password', foreign)).toBe(false)
  })

  test('normalizes passwords to NFC', async () => {
    expect(await hasher.check('e\u0301', await hasher.hash('é'))).toBe(true)
  })

  test('RFC 8265 §4.2.2 maps other spaces to blanks, and still verifies hashes of earlier versions [T3817]', async () => {
    const hash = await hasher.hash('a no-break\u00A0space')
    for (const space of [' ', '\u00A0', '\u3000', '\u2003'])
      expect(await hasher.check(`a no-break${space}space`, hash)).toBe(true)
    expect(await hasher.check('a no-breakspace', hash)).toBe(false)
    // The hash of an earlier version, which kept the no-break space.
    const nonce = Buffer.alloc(16)
    const tag = argon2Sync('argon2id', {
      message: 'old\u00A0password',
      nonce,
      memory: 64,
      passes: 1,
      parallelism: 1,
      tagLength: 32,
    })
    const [salt, text] = [nonce, tag].map((bytes) => bytes.toString('base64').replaceAll('=', ''))
    const old = `$argon2id$v=19$m=64,t=1,p=1$${salt}$${text}`
    expect(await hasher.check('old\u00A0password', old)).toBe(true)
    expect(await hasher.check('old password', old)).toBe(false)
  })

  test.each([
    null,
    undefined,
    '',
    'x',
    '$argon2i$v=19$m=19456,t=2,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA',
    '$argon2id$v=19$m=1,t=1,p=9$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA',
    '$argon2id$v=19$m=8,t=0,p=0$AAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAA',
    `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`,
  ])('rejects the malformed hash %j', async (stored) => {
    expect(await hasher.check('', stored)).toBe(false)
    expect(await hasher.check('password', stored)).toBe(false)
  })

  test('rejects password checks beyond the maximum queue length', async () => {
    const busy = new PasswordHasher()
    const cheap = `$argon2id$v=19$m=8,t=1,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`
    const stranger = { lane: '192.0.2.0/24', isKnown: false }
    const [elsewhere, known] = [{ lane: '198.51.100.0/24' }, { isKnown: true }]
    const outcomes = Promise.allSettled(
      Array.from({ length: 205 }, async () => busy.check('x', cheap, stranger)),
    )
    expect(() => busy.requireRoom(stranger)).toThrow(PasswordHashingBusy)
    for (const other of [elsewhere, known]) busy.requireRoom({ ...stranger, ...other })
    const refused = (await outcomes).filter((result) => result.status === 'rejected')
    // One or two checks run, depending on the number of cores, and 200 wait.
    expect([3, 4]).toContain(refused.length)
    for (const { reason } of refused) expect(reason).toBeInstanceOf(PasswordHashingBusy)
    expect(await busy.check('x', cheap, stranger)).toBe(false)
  })
})
