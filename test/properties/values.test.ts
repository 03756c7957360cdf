import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { checksumLength } from '../../src/crypto/checksum.ts'
import { hasBadChecksum, newPersonalTokenValue } from '../../src/crypto/personal-token-value.ts'
import { randomString, systemRandom } from '../../src/crypto/random.ts'
import { type Claims, KeyRing } from '../../src/crypto/sealed.ts'
import { JWTExtendedException } from '../../src/model/jwt-error.ts'
import type { JwtContext } from '../../src/model/verify-jwt.ts'
import { createJwt, jwtVerifyToken } from '../../src/protocol/session/jwt.ts'
import { check } from './check.ts'

const claim = fc.oneof(fc.string({ maxLength: 8 }), fc.integer(), fc.boolean(), fc.constant(null))
const claims: fc.Arbitrary<Claims> = fc.array(claim, { maxLength: 5 })
const purposes = fc.constantFrom('token', 'row', 'transient') as fc.Arbitrary<
  'token' | 'row' | 'transient'
>
const keys = new KeyRing([
  'the first secret key of this test, long',
  'the one before it, which is long too',
])
const former = new KeyRing(['the one before it, which is long too'])
const stranger = new KeyRing(['a secret key that nobody here has known'])

describe('a sealed value', () => {
  test('opens to its plaintext only with its claims and purpose', () =>
    check(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        claims,
        claims,
        purposes,
        purposes,
        (text, own, others, purpose, another) => {
          const sealed = keys.seal(purpose, text, own)
          expect(keys.open(purpose, sealed, own)).toBe(text)
          expect(sealed.includes(text) && text.length > 8).toBe(false)
          if (another !== purpose) expect(keys.open(another, sealed, own)).toBeUndefined()
          if (JSON.stringify(others) !== JSON.stringify(own))
            expect(keys.open(purpose, sealed, others)).toBeUndefined()
          expect(stranger.open(purpose, sealed, own)).toBeUndefined()
          expect(keys.open(purpose, former.seal(purpose, text, own), own)).toBe(text)
          expect(keys.seal(purpose, text, own)).not.toBe(sealed)
        },
      ),
    ))

  test('never opens after a bit flip, truncation or extension', () =>
    check(
      fc.property(
        fc.string(),
        claims,
        fc.nat(),
        fc.nat(7),
        fc.nat(),
        (text, own, at, bit, length) => {
          const sealed = keys.seal('token', text, own)
          const [id = '', body = ''] = sealed.split('.')
          const bytes = Buffer.from(body, 'base64url')
          const flipped = Buffer.from(bytes)
          const place = at % bytes.length
          flipped.writeUInt8(flipped.readUInt8(place) ^ (1 << bit), place)
          const altered = [
            flipped,
            bytes.subarray(0, length % bytes.length),
            bytes.subarray(1),
            Buffer.concat([bytes, Buffer.of(bit)]),
          ].map((other) => `${id}.${other.toString('base64url')}`)
          for (const other of [...altered, `${former.currentId}.${body}`, `${id}${body}`, body])
            expect(keys.open('token', other, own)).toBeUndefined()
        },
      ),
    ))

  test('opens any other text as undefined, without an error', () =>
    check(
      fc.property(fc.string({ unit: 'binary' }), claims, (text, own) => {
        expect(keys.open('token', text, own)).toBeUndefined()
        expect(keys.open('token', `${keys.currentId}.${text}`, own)).toBeUndefined()
        expect(keys.isIntact(text, own)).toBe(false)
      }),
    ))
})

describe('the value of a personal token', () => {
  const prefixes = fc.stringMatching(/^[A-Za-z0-9]{1,20}_$/)
  const lengths = fc.integer({ min: 22, max: 229 })

  test('passes its checksum with its prefix', () =>
    check(
      fc.property(prefixes, lengths, (prefix, length) => {
        const value = newPersonalTokenValue(prefix, length, systemRandom)
        expect(value).toMatch(new RegExp(`^${prefix}[A-Za-z0-9]{${length + checksumLength}}$`))
        expect(hasBadChecksum(prefix, value)).toBe(false)
        expect(hasBadChecksum('', value)).toBe(false)
      }),
    ))

  test('fails its checksum with any wrong character or two swapped neighbours', () =>
    check(
      fc.property(
        prefixes,
        lengths,
        fc.nat(),
        fc.string({ minLength: 1, maxLength: 1 }),
        (prefix, length, at, other) => {
          const value = newPersonalTokenValue(prefix, length, systemRandom)
          const place = prefix.length + (at % (value.length - prefix.length))
          const altered = `${value.slice(0, place)}${other}${value.slice(place + 1)}`
          if (altered !== value) expect(hasBadChecksum(prefix, altered)).toBe(true)
          const [one = '', two = ''] = value.slice(place, place + 2)
          const swapped = `${value.slice(0, place)}${two}${one}${value.slice(place + 2)}`
          if (swapped !== value && two !== '') expect(hasBadChecksum(prefix, swapped)).toBe(true)
        },
      ),
    ))

  test('is checked only if it has the prefix, and no text causes an error', () =>
    check(
      fc.property(
        fc.oneof(prefixes, fc.constant('')),
        fc.string({ unit: 'binary' }),
        (prefix, text) => {
          expect(hasBadChecksum(prefix, `_${text}`)).toBe(false)
          expect(typeof hasBadChecksum(prefix, `${prefix}${text}`)).toBe('boolean')
        },
      ),
    ))

  test('a random string has the requested length and only characters of the alphabet', () =>
    check(
      fc.property(
        fc.nat(300),
        fc.uniqueArray(fc.constantFrom(...'abcdef0123456789'), { minLength: 2 }),
        (length, characters) => {
          const text = randomString(length, systemRandom, characters.join(''))
          expect(text).toHaveLength(length)
          for (const one of text) expect(characters).toContain(one)
        },
      ),
    ))
})

describe('the JWT of a session', () => {
  const now = Date.UTC(2026, 10, 22)
  const context = (over: Partial<JwtContext> = {}): JwtContext => ({
    userId: 1,
    sessionId: 'session',
    audience: 'https://issuer.example',
    keys: keys.sessionKeys,
    now,
    expiresIn: 86_400,
    header: 'Authorization',
    headerType: 'Bearer',
    ...over,
  })
  const verify = async (value: string, of = context()) =>
    jwtVerifyToken(new Headers({ authorization: value }), of)
  const verdict = (value: string, of?: JwtContext) =>
    verify(value, of).then(
      () => 'taken',
      (error: unknown) => error,
    )
  const id = fc.oneof(
    fc.integer({ min: 1 }),
    fc.uuid(),
    fc.string({ minLength: 1, unit: 'grapheme' }),
  )

  test('is accepted for its user and session until it expires', () =>
    check(
      fc.asyncProperty(
        id,
        fc.string({ minLength: 1, unit: 'grapheme' }),
        fc.integer({ min: -100, max: 100_000 }),
        async (userId, sessionId, later) => {
          const own = context({ userId, sessionId })
          const jwt = await createJwt(own, 'jti')
          const seen = await verdict(`Bearer ${jwt}`, { ...own, now: now + later * 1000 })
          if (later >= -60 && later < 86_400) expect(seen).toBe('taken')
          else expect(seen).toBeInstanceOf(JWTExtendedException)
          for (const other of [
            { userId: `${userId}0` },
            { sessionId: `${sessionId}x` },
            { audience: 'x' },
            { keys: stranger.sessionKeys },
          ])
            expect(await verdict(`Bearer ${jwt}`, { ...own, ...other })).toBeInstanceOf(
              JWTExtendedException,
            )
        },
      ),
      { runs: 100 },
    ))

  test('is rejected if a character is changed, missing or added', async () => {
    const jwt = await createJwt(context(), 'jti')
    const anyCharacter = fc.oneof(
      fc.constantFrom('.', '=', '-', '_', 'A', ' ', '/', '+'),
      fc.string({ maxLength: 2 }),
    )
    await check(
      fc.asyncProperty(fc.nat(), fc.nat(1), anyCharacter, async (at, removed, inserted) => {
        const place = at % (jwt.length + 1)
        const other = `${jwt.slice(0, place)}${inserted}${jwt.slice(place + removed)}`
        fc.pre(other !== jwt && /^[\t\x20-\x7E]*$/.test(other) && other.trim() !== jwt)
        const seen = await verdict(`Bearer ${other}`)
        // The last character of a part has unused bits, so two different characters can encode the same bytes.
        const isSame = (text: string) =>
          text
            .split('.')
            .map((part) => Buffer.from(part, 'base64url').toString('hex'))
            .join('.')
        if (/^[\w.-]+$/.test(other) && isSame(other) === isSame(jwt)) return
        expect(seen, other).toBeInstanceOf(JWTExtendedException)
      }),
    )
  })

  test('any other header value is rejected with a JWT error of status 400 or 403', () => {
    const part = fc.oneof(
      fc.json().map((text) => Buffer.from(text).toString('base64url')),
      fc.stringMatching(/^[\w-]{0,20}$/),
    )
    const words = fc.constantFrom('Bearer ', 'bearer  ', 'Basic ', '')
    const value = fc.oneof(
      fc.tuple(part, part, part).map((parts) => parts.join('.')),
      fc.stringMatching(/^[\x20-\x7E]{0,40}$/),
    )
    return check(
      fc.asyncProperty(words, value, async (word, text) => {
        const seen = await verdict(`${word}${text}`)
        expect(seen).toBeInstanceOf(JWTExtendedException)
        expect((seen as JWTExtendedException).status).toSatisfy(
          (status) => status === 400 || status === 403,
        )
      }),
    )
  })
})
