import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { clientKeys } from '../../src/model/client-keys.ts'
import {
  describedClient,
  type MetadataRules,
  parseClientMetadata,
} from '../../src/model/client-metadata.ts'
import { emailKey, validEmail } from '../../src/model/email-address.ts'
import { asSeen, validDescription, validName, validWebsite } from '../../src/model/field-rules.ts'
import { InvalidField } from '../../src/model/invalid-field.ts'
import { OAuthError } from '../../src/model/oauth-error.ts'
import { remoteAddressProblem } from '../../src/model/remote-address.ts'
import { check, outcome } from './check.ts'
import { someUrl } from './urls.ts'

const text = fc.oneof(
  fc.string({ unit: 'grapheme', maxLength: 60 }),
  fc.string({ unit: 'binary', maxLength: 60 }),
  fc.string({
    unit: fc.constantFrom(
      'a',
      ' ',
      '\u00A0',
      '\u200B',
      '\u202E',
      '\u0301',
      '\n',
      '\uFE0F',
      '\u{E0041}',
      'é',
      '\u2800',
    ),
    maxLength: 45,
  }),
)

describe('fields of a client', () => {
  test.each([
    ['name', validName],
    ['description', validDescription],
    ['website', validWebsite],
    ['email', validEmail],
  ] as const)(
    '%s: a value is accepted or rejected with InvalidField, and validating an accepted value again does not change it',
    (field, valid) =>
      check(
        fc.property(text, (given) => {
          const made = outcome(() => valid(given))
          if ('error' in made) {
            expect(made.error).toBeInstanceOf(InvalidField)
            expect((made.error as InvalidField).field).toBe(field)
            return
          }
          expect(valid(made.value)).toBe(made.value)
          if (field !== 'website') expect(made.value.normalize('NFC')).toBe(made.value)
          expect(made.value.isWellFormed()).toBe(true)
        }),
        { runs: 1_000 },
      ),
  )

  test('a name has 1 to 40 characters, without invisible or direction-changing characters', () =>
    check(
      fc.property(text, (given) => {
        const made = outcome(() => validName(given))
        if ('error' in made) return
        expect([...made.value].length).toBeGreaterThanOrEqual(1)
        expect([...made.value].length).toBeLessThanOrEqual(40)
        expect(made.value).not.toMatch(
          /[\p{Cc}\u061C\u200E\u200F\u202A-\u202E\u2066-\u2069\u200B]/u,
        )
        expect(asSeen(made.value)).not.toBe('')
        expect(asSeen(asSeen(made.value))).toBe(asSeen(made.value))
      }),
      { runs: 1_000 },
    ))

  test('asSeen() ignores an invisible character between a letter and its accent', () => {
    expect(asSeen('a\uFE0F\u0301')).toBe('\u00E1')
  })

  test('a website is an https URL or a URL on this machine, without credentials', () => {
    const url = fc.tuple(
      fc.constantFrom('https://', 'http://', 'HTTPS://', 'javascript:', '//'),
      fc.constantFrom('', 'a@', 'a:b@'),
      fc.constantFrom('x.example', 'localhost', 'evil.example\\@x.example', 'x"y'),
      text,
    )
    return check(
      fc.property(
        fc.oneof(
          someUrl,
          url.map((parts) => parts.join('')),
        ),
        (given) => {
          const made = outcome(() => validWebsite(given))
          if ('error' in made || made.value === '') return
          const { protocol, hostname, username, password } = new URL(made.value)
          expect([username, password]).toEqual(['', ''])
          expect(protocol === 'https:' || (protocol === 'http:' && hostname === 'localhost')).toBe(
            true,
          )
          expect(made.value).not.toMatch(/["'<>\\^`{|}\s]/)
        },
      ),
      { runs: 1_000 },
    )
  })

  test('an e-mail address has one normalized form', () =>
    check(
      fc.property(fc.oneof(fc.emailAddress(), text), (given) => {
        const key = emailKey(given)
        if (key === undefined) return
        expect(emailKey(key)).toBe(key)
        expect(emailKey(` ${given} `)).toBe(key)
      }),
    ))

  test('a URL that the server fetches has https and a fully qualified domain name', () =>
    check(
      fc.property(
        fc.oneof(
          someUrl,
          text,
          fc.ipV4().map((ip) => `https://${ip}/`),
          fc.ipV6().map((ip) => `https://[${ip}]/`),
        ),
        (given) => {
          if (remoteAddressProblem(given, { allowPrivate: false }) !== undefined) return
          const { protocol, hostname, username, hash } = new URL(given)
          expect([protocol, username, hash]).toEqual(['https:', '', ''])
          expect(hostname).toMatch(/^[^.[\]:]+(?:\.[^.[\]:]+)+$/)
          expect(hostname).not.toMatch(/^[\d.]+$/)
        },
      ),
      { runs: 1_000 },
    ))
})

describe('RFC 7591 §2 client metadata', () => {
  const rules: MetadataRules = {
    grantTypes: ['authorization_code', 'refresh_token', 'implicit'],
    responseTypes: ['code', 'token', 'code id_token'],
    grantTypesWithoutConsent: ['password', 'client_credentials'],
    grantTypesOfClients: ['client_credentials'],
    authMethods: ['client_secret_basic', 'none'],
    scopes: ['a', 'b'],
    defaultName: 'Unnamed',
    privateUse: false,
  }
  const value = fc.oneof(
    fc.jsonValue({ maxDepth: 2 }),
    someUrl,
    fc.constantFrom('none', 'client_secret_basic', 'private_key_jwt', 'a b', 'a c', '', null),
    fc.array(
      fc.constantFrom(
        'authorization_code',
        'refresh_token',
        'implicit',
        'password',
        'client_credentials',
        'code',
        'token',
        'id_token code',
        'https://client.example/cb',
      ),
      { maxLength: 4 },
    ),
  )
  const names = [
    'redirect_uris',
    'token_endpoint_auth_method',
    'grant_types',
    'response_types',
    'client_name',
    'client_uri',
    'logo_uri',
    'scope',
    'contacts',
    'tos_uri',
    'jwks',
    'jwks_uri',
    'software_id',
    'software_statement',
    'is_internal',
    'allowed_scopes',
    '__proto__',
    'constructor',
  ]
  const metadata = fc.oneof(
    { weight: 5, arbitrary: fc.dictionary(fc.constantFrom(...names), value) },
    {
      weight: 5,
      arbitrary: fc
        .dictionary(fc.constantFrom(...names.slice(0, 8)), value)
        .map((given) => ({ ...given, redirect_uris: ['https://client.example/cb'] })),
    },
    { weight: 1, arbitrary: fc.jsonValue() },
  )
  const codes = ['invalid_client_metadata', 'invalid_redirect_uri', 'unapproved_software_statement']

  test('is accepted within the rules, or rejected with an error of RFC 7591', () =>
    check(
      fc.property(metadata, (given) => {
        const made = outcome(() => describedClient(parseClientMetadata(given), rules))
        if ('error' in made) {
          expect(made.error).toBeInstanceOf(OAuthError)
          expect(codes).toContain((made.error as OAuthError).code)
          return
        }
        const { input } = made.value
        expect([...input.name].length).toBeGreaterThan(0)
        expect([...input.name].length).toBeLessThanOrEqual(40)
        for (const type of input.grantTypes ?? []) expect(rules.grantTypes).toContain(type)
        for (const scope of input.allowedScopes ?? []) expect(rules.scopes).toContain(scope)
        expect(Object.keys(input)).not.toContain('isInternal')
        expect(Object.keys(input)).not.toContain('userId')
        if (input.isConfidential) expect(input.tokenEndpointAuthMethod).not.toBe('none')
      }),
      { runs: 2_000 },
    ))

  test('does not change when it is parsed again', () =>
    check(
      fc.property(metadata, (given) => {
        const made = outcome(() => parseClientMetadata(given))
        if ('value' in made)
          expect(parseClientMetadata(JSON.parse(JSON.stringify(made.value)))).toEqual(made.value)
      }),
      { runs: 1_000 },
    ))

  test('RFC 7517 §5 a key set is stored without the private member d, or rejected', () => {
    const key = fc.dictionary(
      fc.constantFrom('kty', 'crv', 'x', 'y', 'n', 'e', 'd', 'k', 'kid', 'use', 'alg', 'oth'),
      fc.oneof(
        fc.constantFrom('RSA', 'EC', 'OKP', 'P-256', 'Ed25519', 'AQAB', 'sig', 'ES256'),
        fc.base64String({ minLength: 40, maxLength: 48 }),
        fc.jsonValue({ maxDepth: 1 }),
      ),
    )
    return check(
      fc.property(
        fc.oneof(
          fc.jsonValue(),
          fc.array(key, { maxLength: 3 }).map((all) => ({ keys: all })),
        ),
        (given) => {
          const made = outcome(() => clientKeys(given))
          if ('error' in made) expect(made.error).toBeInstanceOf(InvalidField)
          else for (const one of made.value.keys) expect(one).not.toHaveProperty('d')
        },
      ),
      { runs: 1_000 },
    )
  })
})
