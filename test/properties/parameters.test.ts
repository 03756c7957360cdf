import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { queryCharacters } from '../../src/http/request-target.ts'
import type { PresentedCredentials } from '../../src/model/auth.ts'
import { OAuthError } from '../../src/model/oauth-error.ts'
import { Parameters } from '../../src/model/parameters.ts'
import { strictJson } from '../../src/model/strict-json.ts'
import { clientSecretBasic } from '../../src/protocol/client-authentication/client-secret.ts'
import { ResourceServer } from '../../src/protocol/resource-server.ts'
import { parseSettings } from '../../src/settings/parse-settings.ts'
import { check, outcome } from './check.ts'

const anyText = fc.string({ unit: 'binary', maxLength: 30 })
const nearName = fc.constantFrom('scope', 'state', 'client_id', 'Scope', 'scope ', '', '__proto__')
const pairs = fc.array(fc.tuple(fc.oneof(nearName, anyText), anyText), { maxLength: 20 })
const encoded = pairs.map((given) => `${new URLSearchParams(given)}`)
/** Raw texts without proper encoding. */
const raw = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', '=', '&', '+', '%', '2', '6', '0', 'G', ' ', ';', '\0') }),
  anyText,
)
const isRefusal = (error: unknown, code = 'invalid_request') =>
  error instanceof OAuthError && error.code === code && error.status >= 400 && error.status < 500

describe('parameters of a query or a body (RFC 6749 §3.1, §3.2)', () => {
  test('equal the parameters that URLSearchParams parses, in the same order', () =>
    check(
      fc.property(pairs, (given) => {
        const text = `${new URLSearchParams(given)}`
        const known = new URLSearchParams(text)
        const params = new Parameters(text)
        for (const name of new Set([...known.keys(), 'absent']))
          expect(params.repeated(name)).toEqual(known.getAll(name))
      }),
    ))

  test('§3.1 are rejected if repeated, and absent if empty', () =>
    check(
      fc.property(fc.oneof(raw, encoded), (text) => {
        const known = new URLSearchParams(text)
        const params = new Parameters(text)
        for (const name of new Set([...known.keys(), 'absent'])) {
          const values = known.getAll(name)
          const read = outcome(() => params.opaque(name))
          if (values.length > 1) expect('error' in read && isRefusal(read.error)).toBe(true)
          else expect(read).toEqual({ value: values[0] || undefined })
        }
        const isTwice = new Set(known.keys()).size !== known.size
        const refused = outcome(() => params.refuseRepeated(() => known.keys()))
        expect('error' in refused).toBe(isTwice)
      }),
    ))

  test('contain no control character if read as text, and are unchanged if opaque', () =>
    check(
      fc.property(anyText, (value) => {
        const params = new Parameters(`${new URLSearchParams({ x: value })}`)
        expect(params.opaque('x')).toBe(value.toWellFormed() || undefined)
        const read = outcome(() => params.optional('x'))
        // biome-ignore lint/suspicious/noControlCharactersInRegex: the server refuses these characters
        if (/[\0-\x1F\x7F]/.test(value)) expect('error' in read && isRefusal(read.error)).toBe(true)
        else expect(read).toEqual({ value: value.toWellFormed() || undefined })
      }),
    ))

  test('are accepted up to the limit, and rejected above it', () =>
    check(
      fc.property(fc.integer({ min: 1, max: 12 }), fc.nat(12), raw, (most, count, junk) => {
        const text = Array.from({ length: count }, (_, at) => `p${at}=${at}`).join('&')
        expect('error' in outcome(() => new Parameters(text, most))).toBe(count > most)
        // The server counts the separators before it parses the text, so empty parts count too.
        const parts = junk.split('&').length
        expect('error' in outcome(() => new Parameters(junk, most))).toBe(parts > most)
      }),
    ))

  test('are parsed from any text, or rejected as a bad request', () =>
    check(
      fc.property(raw, (text) => {
        const made = outcome(() => new Parameters(text).required('a'))
        if ('error' in made) expect(isRefusal(made.error)).toBe(true)
      }),
    ))
})

describe('a query of the REST application', () => {
  const allowed = '=&;:%+~,*@!()/?'
  const checkQuery = queryCharacters(allowed)

  test('passes only if every character is allowed and every % begins an escape (decision §3)', () =>
    check(
      fc.property(raw, (query) => {
        const rest = query.replaceAll(/%[0-9A-Fa-f]{2}/g, '')
        const isFine = [...rest].every(
          (one) => /[A-Za-z0-9\-._~]/.test(one) || (one !== '%' && allowed.includes(one)),
        )
        expect('error' in outcome(() => checkQuery(query))).toBe(!isFine)
      }),
    ))
})

describe('a Basic header (RFC 6749 §2.3.1)', () => {
  const presented = (header: string) => clientSecretBasic.presented(header, new Parameters(''))
  const formEncoded = (text: string) => new URLSearchParams({ x: text }).toString().slice(2)
  const word = fc.string({ unit: 'grapheme', maxLength: 20 })

  test('decodes any form-encoded credentials', () =>
    check(
      fc.property(word, word, fc.constantFrom('Basic', 'basic', 'BASIC'), (id, secret, scheme) => {
        const header = `${scheme} ${Buffer.from(`${formEncoded(id)}:${formEncoded(secret)}`).toString('base64')}`
        // A client with an empty secret is a public client.
        const credentials = { clientId: id.toWellFormed(), proof: secret.toWellFormed() }
        expect(presented(header)).toEqual(secret === '' ? undefined : credentials)
      }),
    ))

  test('accepts only the canonical base64 of generated IDs and secrets', () => {
    const own = fc.stringMatching(/^[A-Za-z0-9]{1,60}$/)
    return check(
      fc.property(
        own,
        own,
        fc.nat(),
        fc.constantFrom('=', 'A', ' ', '-', '_', '\n'),
        (id, secret, at, extra) => {
          const encoded = Buffer.from(`${id}:${secret}`).toString('base64')
          expect(presented(`Basic ${encoded}`)).toEqual({ clientId: id, proof: secret })
          // Don't insert at the start: spaces between scheme and credentials are ignored.
          const place = 1 + (at % encoded.length)
          const other = `${encoded.slice(0, place)}${extra}${encoded.slice(place)}`
          const read = outcome(() => presented(`Basic ${other}`))
          // The server rejects other encodings of the same credentials, so an accepted value has other credentials.
          if ('error' in read) expect(isRefusal(read.error, 'invalid_client')).toBe(true)
          else expect(read.value).not.toEqual({ clientId: id, proof: secret })
        },
      ),
    )
  })

  test('rejects any other form without an internal error', () =>
    check(
      fc.property(
        fc.oneof(
          anyText,
          fc.base64String().map((text) => `Basic ${text}`),
        ),
        (header) => {
          const read = outcome(() => presented(header))
          if ('error' in read) expect(isRefusal(read.error, 'invalid_client')).toBe(true)
          else expect(header).toMatch(/^basic +[A-Za-z0-9+/]+={0,2}$/i)
        },
      ),
    ))
})

describe('a Bearer header (RFC 6750 §2.1)', () => {
  const resourceServer = (asked: string[]) =>
    new ResourceServer(
      {
        issuer: 'https://issuer.example',
        resources: [],
        settings: parseSettings({ jwtAuthHeaderType: 'Bearer' }),
        clock: () => 0,
        limits: {
          check: () => undefined,
          spend: async () => undefined,
          countFailure: async () => undefined,
        },
        sessions: { signedIn: async () => undefined, jwtRefusal: async () => undefined },
        users: { find: async () => undefined, checkPassword: async () => false },
        extensions: [],
        getToken: async ({ accessToken }) => void asked.push(accessToken),
      },
      {
        uses: { note: () => undefined, noteScopes: () => undefined },
        telemetry: undefined,
      },
    )
  const credentials = (authorization: string | null, query = ''): PresentedCredentials => ({
    authorization,
    query,
    cookie: null,
    method: 'GET',
    path: '/',
    address: '192.0.2.1',
    userAgent: '',
    headers: () => new Headers(),
  })
  const token = fc.stringMatching(/^[A-Za-z0-9\-_~+/]{1,60}={0,2}$/)

  test('looks up exactly the sent token once, for any case of the scheme and any number of spaces', () =>
    check(
      fc.asyncProperty(
        token,
        fc.mixedCase(fc.constant('bearer')),
        fc.integer({ min: 1, max: 4 }),
        async (value, scheme, blanks) => {
          const asked: string[] = []
          const seen = resourceServer(asked).resolve(
            credentials(`${scheme}${' '.repeat(blanks)}${value}`),
          )
          await expect(seen).rejects.toMatchObject({ status: 401, code: 'invalid_token' })
          expect(asked).toEqual([value])
        },
      ),
    ))

  test('never looks up an invalid b64token, and never treats an unknown token as anonymous', () =>
    check(
      fc.asyncProperty(
        fc.oneof(
          anyText,
          anyText.map((text) => `Bearer ${text}`),
        ),
        async (header) => {
          const asked: string[] = []
          const seen = await resourceServer(asked)
            .resolve(credentials(header))
            .catch((error: unknown) => error)
          expect(seen).toMatchObject({ status: expect.toSatisfy((s) => s === 400 || s === 401) })
          for (const value of asked) expect(value).toMatch(/^[A-Za-z0-9\-._~+/]+=*$/)
        },
      ),
    ))

  test('rejects two credentials: header and query, or the query twice (RFC 6750 §2)', () =>
    check(
      fc.asyncProperty(token, token, fc.boolean(), async (one, other, inHeader) => {
        const asked: string[] = []
        const query = new URLSearchParams({ access_token: one })
        if (!inHeader) query.append('access_token', other)
        const given = credentials(inHeader ? `Bearer ${other}` : null, `${query}`)
        await expect(resourceServer(asked).resolve(given)).rejects.toMatchObject({
          status: 400,
          code: 'invalid_request',
        })
        expect(asked).toEqual([])
      }),
    ))
})

describe('JSON that clients send (RFC 8259 §4)', () => {
  test('equals the result of JSON.parse up to a depth', () =>
    check(
      fc.property(
        fc.jsonValue({ maxDepth: 6, stringUnit: 'grapheme' }),
        fc.constantFrom(0, 2),
        (value, space) => {
          const text = JSON.stringify(value, null, space)
          if (text.includes('\uFFFD')) return
          expect(strictJson(text)).toEqual(JSON.parse(text))
        },
      ),
    ))

  test('is rejected if an object repeats a name, at any depth and in any spelling', () =>
    check(
      fc.property(
        fc.string({ minLength: 1, maxLength: 8 }),
        fc.jsonValue({ maxDepth: 2 }),
        fc.nat(6),
        fc.boolean(),
        (name, value, depth, isEscaped) => {
          const plain = JSON.stringify(name)
          const spelled = isEscaped
            ? `"${[...name].map((one) => [...Array(one.length).keys()].map((at) => `\\u${one.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')).join('')}"`
            : plain
          const inner = `{${plain}:${JSON.stringify(value)}, ${spelled} :1}`
          const text = `${'['.repeat(depth)}${inner}${']'.repeat(depth)}`
          expect(outcome(() => strictJson(text))).toMatchObject({ error: { name: 'SyntaxError' } })
        },
      ),
    ))

  test('causes a SyntaxError that does not repeat any part of an invalid text', () =>
    check(
      fc.property(
        fc.oneof(
          anyText,
          fc.json().map((text) => text.slice(1)),
        ),
        (text) => {
          const read = outcome(() => strictJson(text))
          if ('error' in read) {
            expect(read.error).toBeInstanceOf(SyntaxError)
            expect((read.error as Error).message).toMatch(
              /^(?:This is not JSON|The JSON is not in UTF-8|An object of the JSON contains a name twice|The JSON is nested too deeply)\.$/,
            )
          }
        },
      ),
    ))
})
