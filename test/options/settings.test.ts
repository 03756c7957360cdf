import { describeSettings, InvalidSettings, settingsFrom } from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import { looseningWarnings } from '../../src/settings/loosening-warnings.ts'
import { parseSettings } from '../../src/settings/parse-settings.ts'
import { withoutWarnings } from '../support/server.ts'

const problemsOf = (work: () => unknown): readonly string[] => {
  try {
    work()
  } catch (error) {
    if (error instanceof InvalidSettings) return error.problems
    throw error
  }
  return []
}
const parsed = (env: Record<string, string>) => parseSettings({ ...settingsFrom(env) })

describe('configuration variables', () => {
  // The table of the specification. Decision §1 defines the cache type.
  test.each([
    [
      'OAUTH2SERVER_ALLOWED_GRANT_TYPES',
      'allowedGrantTypes',
      ['client_credentials', 'refresh_token', 'authorization_code'],
    ],
    ['OAUTH2SERVER_ALLOWED_RESPONSE_TYPES', 'allowedResponseTypes', ['token', 'code']],
    ['OAUTH2SERVER_ALLOWED_URLENCODE_CHARACTERS', 'allowedUrlencodeCharacters', '=&;:%+~,*@!()/?'],
    ['OAUTH2SERVER_CLIENT_ID_SALT_LEN', 'clientIdSaltLen', 40],
    ['OAUTH2SERVER_CLIENT_SECRET_SALT_LEN', 'clientSecretSaltLen', 60],
    ['OAUTH2SERVER_JWT_AUTH_HEADER', 'jwtAuthHeader', 'Authorization'],
    ['OAUTH2SERVER_JWT_AUTH_HEADER_TYPE', 'jwtAuthHeaderType', 'Bearer'],
    [
      'OAUTH2SERVER_JWT_VERYFICATION_FACTORY',
      'jwtVeryficationFactory',
      'svc_oauth2server.utils:jwt_verify_token',
    ],
    ['OAUTH2SERVER_TOKEN_PERSONAL_SALT_LEN', 'tokenPersonalSaltLen', 60],
    ['OAUTH2_CACHE_TYPE', 'cacheType', 'database'],
    ['OAUTH2_PROVIDER_ERROR_ENDPOINT', 'errorEndpoint', 'svc_oauth2server.errors'],
    ['OAUTH2_PROVIDER_TOKEN_EXPIRES_IN', 'tokenExpiresIn', 3600],
  ])('%s sets %s, with the default %j [T775]', (env, name, byDefault) => {
    const described = describeSettings().find((setting) => setting.env === env)
    expect(described).toMatchObject({ name, default: byDefault })
    expect(Reflect.get(parseSettings({}), name)).toEqual(byDefault)
  })

  // Settings that the decisions and the attack catalogue require.
  test.each([
    ['OAUTH2SERVER_DEFAULT_SCOPES', []],
    ['OAUTH2SERVER_ALLOW_PRIVATE_USE_REDIRECT_URIS', false],
    ['OAUTH2SERVER_AUTHORIZATION_CODE_EXPIRES_IN', 60],
    ['OAUTH2SERVER_REQUIRE_PKCE', 'public'],
    ['OAUTH2SERVER_REFRESH_TOKEN_LEEWAY', 60],
    ['OAUTH2SERVER_REFRESH_TOKEN_EXPIRES_IN', 30 * 86_400],
    ['OAUTH2SERVER_JWT_EXPIRES_IN', 86_400],
    ['OAUTH2SERVER_ACCEPT_QUERY_ACCESS_TOKEN', true],
    ['TRUSTED_PROXIES', []],
  ])('%s has the default %j', (env, byDefault) => {
    expect(describeSettings().find((setting) => setting.env === env)?.default).toEqual(byDefault)
  })

  test('every other variable is OAUTH2SERVER_ and the name of the setting in upper snake case', () => {
    for (const { name, env, sentence, accepts } of describeSettings()) {
      const derived = `OAUTH2SERVER_${name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`
      if (
        ![
          'OAUTH2_CACHE_TYPE',
          'OAUTH2_PROVIDER_ERROR_ENDPOINT',
          'OAUTH2_PROVIDER_TOKEN_EXPIRES_IN',
          'TRUSTED_PROXIES',
        ].includes(env)
      )
        expect(env).toBe(derived)
      expect(sentence, name).toMatch(/\.$/)
      expect(accepts, name).not.toBe('')
    }
  })

  test('returns new defaults at each call, so that a change of a default does not affect other callers', () => {
    const one = parseSettings({})
    ;(one.allowedGrantTypes as string[]).push?.('password')
    expect(parseSettings({}).allowedGrantTypes).not.toContain('password')
  })
})

describe('values of environment variables', () => {
  test('are parsed by the type of the setting', () => {
    expect(
      parsed({
        OAUTH2SERVER_ALLOWED_GRANT_TYPES: ' password , client_credentials ,',
        OAUTH2SERVER_ALLOWED_RESPONSE_TYPES: 'code',
        OAUTH2SERVER_ALLOWED_URLENCODE_CHARACTERS: '=&,;',
        OAUTH2SERVER_CLIENT_ID_SALT_LEN: '22',
        OAUTH2SERVER_JWT_AUTH_HEADER: 'X-Token',
        OAUTH2SERVER_JWT_AUTH_HEADER_TYPE: '',
        OAUTH2SERVER_ALLOW_PRIVATE_USE_REDIRECT_URIS: 'true',
        OAUTH2SERVER_DEFAULT_SCOPES: 'a:read,b:read',
        OAUTH2_CACHE_TYPE: 'memory',
        TRUSTED_PROXIES: '10.0.0.0/8, ::1',
      }),
    ).toMatchObject({
      allowedGrantTypes: ['password', 'client_credentials'],
      allowedResponseTypes: ['code'],
      allowedUrlencodeCharacters: '=&,;',
      clientIdSaltLen: 22,
      jwtAuthHeader: 'X-Token',
      jwtAuthHeaderType: null,
      allowPrivateUseRedirectUris: true,
      defaultScopes: ['a:read', 'b:read'],
      cacheType: 'memory',
      trustedProxies: ['10.0.0.0/8', '::1'],
    })
  })

  test('may be an empty list, and an unset variable means the default', () => {
    expect(parsed({ OAUTH2SERVER_ALLOWED_RESPONSE_TYPES: '' }).allowedResponseTypes).toEqual([])
    expect(settingsFrom({ OAUTH2SERVER_CLIENT_ID_SALT_LEN: undefined, PATH: '/bin' })).toEqual({})
    expect(
      parsed({ OAUTH2SERVER_ALLOWED_URLENCODE_CHARACTERS: '' }).allowedUrlencodeCharacters,
    ).toBe('')
  })

  test('may repeat a member of a set, but the parsed setting contains the member once, also for values in code', () => {
    const text = {
      OAUTH2SERVER_ALLOWED_GRANT_TYPES: 'password,password',
      OAUTH2SERVER_DEFAULT_SCOPES: 'a,a',
    }
    expect(parsed(text)).toMatchObject({ allowedGrantTypes: ['password'], defaultScopes: ['a'] })
    expect(
      parseSettings({ allowedResponseTypes: ['code', 'token', 'code'] }).allowedResponseTypes,
    ).toEqual(['code', 'token'])
  })

  test.each([
    ['OAUTH2SERVER_ALLOWED_GRANT_TYPES', 'implicit'],
    ['OAUTH2SERVER_ALLOWED_GRANT_TYPES', 'authorization_code;password'],
    ['OAUTH2SERVER_ALLOWED_RESPONSE_TYPES', 'id_token'],
    ['OAUTH2SERVER_ALLOWED_URLENCODE_CHARACTERS', 'ä'],
    ['OAUTH2SERVER_ALLOWED_URLENCODE_CHARACTERS', ' '],
    ['OAUTH2SERVER_CLIENT_ID_SALT_LEN', '21'],
    ['OAUTH2SERVER_CLIENT_ID_SALT_LEN', '256'],
    ['OAUTH2SERVER_CLIENT_SECRET_SALT_LEN', '21'],
    ['OAUTH2SERVER_TOKEN_PERSONAL_SALT_LEN', '256'],
    ['OAUTH2SERVER_CLIENT_ID_SALT_LEN', ''],
    ['OAUTH2SERVER_CLIENT_ID_SALT_LEN', '4e1'],
    ['OAUTH2SERVER_CLIENT_ID_SALT_LEN', '40.5'],
    ['OAUTH2SERVER_CLIENT_ID_SALT_LEN', '0x28'],
    ['OAUTH2SERVER_JWT_AUTH_HEADER', ''],
    ['OAUTH2SERVER_JWT_AUTH_HEADER', 'X Token'],
    ['OAUTH2SERVER_JWT_AUTH_HEADER', 'X-Token:'],
    ['OAUTH2SERVER_JWT_AUTH_HEADER_TYPE', 'two words'],
    ['OAUTH2SERVER_JWT_VERYFICATION_FACTORY', 'no-colon'],
    ['OAUTH2SERVER_JWT_VERYFICATION_FACTORY', './jwt.js:'],
    ['OAUTH2SERVER_JWT_VERYFICATION_FACTORY', ':verify'],
    ['OAUTH2SERVER_JWT_VERYFICATION_FACTORY', './jwt.js:not a name'],
    ['OAUTH2SERVER_ALLOW_PRIVATE_USE_REDIRECT_URIS', '1'],
    ['OAUTH2SERVER_ALLOW_PRIVATE_USE_REDIRECT_URIS', 'TRUE'],
    ['OAUTH2SERVER_ALLOW_PRIVATE_USE_REDIRECT_URIS', 'toString'],
    ['OAUTH2SERVER_REQUIRE_PKCE', 'yes'],
    ['OAUTH2_CACHE_TYPE', 'memcached'],
    ['OAUTH2_PROVIDER_TOKEN_EXPIRES_IN', '0'],
    ['OAUTH2_PROVIDER_TOKEN_EXPIRES_IN', '-1'],
    ['OAUTH2SERVER_AUTHORIZATION_CODE_EXPIRES_IN', '601'],
    ['OAUTH2_PROVIDER_ERROR_ENDPOINT', '//evil.example'],
    ['OAUTH2_PROVIDER_ERROR_ENDPOINT', '/\\evil.example'],
    ['OAUTH2_PROVIDER_ERROR_ENDPOINT', 'https://evil.example'],
    ['OAUTH2_PROVIDER_ERROR_ENDPOINT', ''],
    ['OAUTH2SERVER_OAUTH_PREFIX', 'oauth'],
    ['OAUTH2SERVER_OAUTH_PREFIX', '/oauth/'],
    ['OAUTH2SERVER_OAUTH_PREFIX', ''],
    ['TRUSTED_PROXIES', '10.0.0.0/33'],
    ['TRUSTED_PROXIES', 'localhost'],
    ['TRUSTED_PROXIES', '10.0.0.0/8/8'],
  ])('for %s are rejected with a description if they are invalid: %j', (env, text) => {
    const [problem, ...others] = problemsOf(() => settingsFrom({ [env]: text }))
    expect(problem).toMatch(new RegExp(`^${env} accepts .+; the given value is `))
    expect(others).toEqual([])
  })

  test.each(['OAUTH2SERVER_CLIENT_ID_LEN', 'OAUTH2SERVER_', 'OAUTH2SERVER_PERSONAL_TOKENS'])(
    'from the unknown variable %s are rejected',
    (env) => {
      expect(problemsOf(() => settingsFrom({ [env]: 'x' }))).toEqual([
        `${env} is not a setting. Check its spelling.`,
      ])
    },
  )

  test.each([
    ['OAUTH2SERVER_ALLOWED_GRANT_TYPE', 'OAUTH2SERVER_ALLOWED_GRANT_TYPES'],
    ['OAUTH2SERVER_ALOWED_GRANT_TYPES', 'OAUTH2SERVER_ALLOWED_GRANT_TYPES'],
    ['OAUTH2_PROVIDER_TOKEN_EXPIRE_IN', 'OAUTH2_PROVIDER_TOKEN_EXPIRES_IN'],
    ['OAUTH2_CACHE_TYP', 'OAUTH2_CACHE_TYPE'],
    ['OAUTH2_CACHE_REDIS_URI', 'OAUTH2_CACHE_REDIS_URL'],
    ['TRUSTED_PROXYS', 'TRUSTED_PROXIES'],
    ['TRUSTED_PROXY', 'TRUSTED_PROXIES'],
  ])('from the misspelled variable %s are rejected, and the error suggests %s', (env, likely) => {
    expect(problemsOf(() => settingsFrom({ [env]: 'x' }))).toEqual([
      `${env} is not a setting. Did you mean ${likely}?`,
    ])
  })

  test.each([
    'OAUTH2_PROXY_CLIENT_ID',
    'OAUTH2_CLIENT_ID',
    'OAUTH2_CACHE_REDIS_URL',
    'TRUSTED_HOSTS',
  ])('are not read from %s, which another program may use', (env) => {
    expect(settingsFrom({ [env]: 'x' })).toEqual({})
  })

  test('are rejected with all errors in one message', () => {
    const problems = problemsOf(() =>
      settingsFrom({
        OAUTH2SERVER_CLIENT_ID_SALT_LEN: '1',
        OAUTH2SERVER_MISSPELT: 'x',
        OAUTH2_CACHE_TYPE: 'x',
        HOME: '/',
      }),
    )
    expect(problems).toHaveLength(3)
    expect(() =>
      settingsFrom({ OAUTH2SERVER_CLIENT_ID_SALT_LEN: '1', OAUTH2_CACHE_TYPE: 'x' }),
    ).toThrow(/OAUTH2SERVER_CLIENT_ID_SALT_LEN[\s\S]*OAUTH2_CACHE_TYPE/)
  })
})

describe('values in code', () => {
  test('are rejected with one error for each setting, which contains both names of the setting', () => {
    const problems = problemsOf(() =>
      parseSettings({
        clientIdSaltLen: 1,
        tokenExpiresIn: '3600',
        jwtAuthHeaderType: '',
        allowedGrantTypes: 'password',
      }),
    )
    expect(problems).toHaveLength(4)
    expect(problems[0]).toMatch(/^\w+ \(OAUTH2SERVER_\w+\) accepts .*; the given value is "?.*\.$/)
    expect(problems.join('\n')).toMatch(
      /tokenExpiresIn \(OAUTH2_PROVIDER_TOKEN_EXPIRES_IN\) accepts an integer from 1 to \d+; the given value is "3600"/,
    )
  })

  test('may be null for a JWT without an authorization type, and a function for the factory', () => {
    const jwtVeryficationFactory = async () => ({})
    expect(parseSettings({ jwtAuthHeaderType: null, jwtVeryficationFactory })).toMatchObject({
      jwtAuthHeaderType: null,
      jwtVeryficationFactory,
    })
  })

  test('are truncated in error messages', () => {
    const [problem = ''] = problemsOf(() => parseSettings({ jwtAuthHeader: ' '.repeat(10_000) }))
    expect(problem.length).toBeLessThan(300)
  })
})

test('warns once about each setting that is looser than its default, and about two defaults of the specification', () => {
  const found = (input: object) =>
    looseningWarnings(parseSettings({ ...withoutWarnings, ...input }))
  expect(looseningWarnings(parseSettings({}))).toHaveLength(2)
  expect(found({})).toEqual([])
  for (const input of [
    { allowedGrantTypes: ['password'] },
    { requirePkce: 'never' },
    { allowPrivateUseRedirectUris: true },
    { sessionIpv4Prefix: 24 },
    { sessionIpv6Prefix: 64 },
    { cacheType: 'memory' },
  ])
    expect(found(input), JSON.stringify(input)).toHaveLength(1)
})
