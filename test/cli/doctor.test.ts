import { readdir } from 'node:fs/promises'
import express from 'express'
import { createAuthorizationServer } from 'svc-oauth2server'
import { mount, requireApiAuth, rest } from 'svc-oauth2server/express'
import { sqlite } from 'svc-oauth2server/sqlite'
import { describe, expect, test } from 'vitest'
import { examineConfiguration } from '../../src/cli/doctor/configuration.ts'
import { examine } from '../../src/cli/doctor/examine.ts'
import type { Finding } from '../../src/cli/doctor/finding.ts'
import { freePort } from '../support/processes.ts'
import { secretKey, startServer, testScopes, withoutWarnings } from '../support/server.ts'
import { misused, type Outcome, workplace } from './workplace.ts'

const https = { BASE_URL: 'https://login.example.org', TRUSTED_PROXIES: '10.0.0.0/8' }

/** Returns the names of the checks with this state. */
const named = (state: Finding['state'], { stdout }: Pick<Outcome, 'stdout'>): readonly string[] =>
  [...stdout.matchAll(new RegExp(`^${state} +(\\S+)`, 'gm'))].map(([, check = '']) => check)

describe('a configuration', () => {
  test('passes by default, causes warnings for differences from RFC 9700, and creates no files', async () => {
    await using place = await workplace()
    const outcome = await place.runWith({ env: { SECRET_KEY: undefined } }, 'doctor')
    expect(outcome.code, outcome.stderr).toBe(0)
    expect(named('fail', outcome)).toEqual([])
    expect(named('warn', outcome)).toEqual([
      'https',
      'implicit',
      'token-in-query',
      'pkce',
      'flow-pkce',
    ])
    expect(named('ok', outcome)).toEqual(
      expect.arrayContaining([
        'flow-code',
        'flow-refresh',
        'flow-refresh-reuse',
        'flow-revocation',
      ]),
    )
    const lines = outcome.stdout.trimEnd().split('\n')
    for (const line of lines) expect(line).toMatch(/^(?:ok {4}\S+|(?:warn|fail) {2}\S+ +\S.*)$/)
    expect(lines).toContainEqual(
      expect.stringMatching(/RFC 9700 §2\.1\.2.*OAUTH2SERVER_ALLOWED_RESPONSE_TYPES=code$/),
    )
    expect(outcome.stderr).toMatch(/^\d+ checks, none failed; warnings: 5\.\n$/)
    expect(await readdir(place.folder)).toEqual([])
  })

  test.each([
    ['both are on', { documents: 'true', registration: 'open' }, []],
    [
      'both are off',
      { documents: 'false', registration: 'off' },
      ['chatgpt', 'claude', 'claude-code', 'vs-code', 'codex', 'cursor'],
    ],
    ['only documents are on', { documents: 'true', registration: 'off' }, ['claude', 'cursor']],
    ['only registration is on', { documents: 'false', registration: 'open' }, []],
  ])(
    'says which AI clients cannot log in if %s [T2624]',
    async (_, { documents, registration }, expected) => {
      const env = {
        ...https,
        OAUTH2SERVER_CLIENT_ID_METADATA_DOCUMENTS: documents,
        OAUTH2SERVER_DYNAMIC_REGISTRATION: registration,
      }
      const findings = await examineConfiguration(env, undefined, true)
      const clients = findings.filter(({ check }) => check.startsWith('ai-client-'))
      expect(clients).toHaveLength(6)
      const failed = clients.filter(({ state }) => state === 'fail')
      expect(failed.map(({ check }) => check)).toEqual(expected.map((name) => `ai-client-${name}`))
      for (const { advice } of failed) expect(advice).toContain('dynamicRegistration')
    },
  )

  test.each([
    ['oauth2.1', { OAUTH2SERVER_SECURITY_PROFILE: 'oauth2.1' }],
    [
      'oauth2.1 below a path',
      { OAUTH2SERVER_SECURITY_PROFILE: 'oauth2.1', BASE_URL: 'https://example.org/login' },
    ],
    [
      'fapi2 with DPoP nonces',
      { OAUTH2SERVER_SECURITY_PROFILE: 'fapi2', OAUTH2SERVER_REQUIRE_DPOP_NONCE: 'true' },
    ],
  ])('with the profile %s passes a whole login without a warning', async (_, env) => {
    const findings = await examineConfiguration({ ...https, ...env })
    expect(findings.filter(({ state }) => state !== 'ok')).toEqual([])
    expect(findings.map(({ check }) => check)).toContain('flow-revocation')
  })

  test.each(['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none'])(
    'with %s as the only client authentication method completes a login',
    async (method) => {
      const findings = await examineConfiguration({
        ...https,
        OAUTH2SERVER_CLIENT_AUTHENTICATION: method,
      })
      const flow = findings.filter(({ check }) => check.startsWith('flow-'))
      expect(flow.map(({ check }) => check)).toContain('flow-revocation')
      expect(flow.filter(({ state }) => state === 'fail' || state === 'skip')).toEqual([])
    },
  )

  test.each([
    [
      'without the code grant',
      { OAUTH2SERVER_ALLOWED_GRANT_TYPES: 'client_credentials' },
      { 'flow-code': /^Not tried: the server does not support the response type code/ },
    ],
    [
      'without refresh tokens',
      { OAUTH2SERVER_ALLOWED_GRANT_TYPES: 'authorization_code' },
      { 'flow-refresh-reuse': /^Not tried: there is no refresh token/ },
    ],
  ])('%s causes skipped checks with the reason', async (_, env, expected) => {
    const findings = await examineConfiguration({ ...https, ...env })
    const skipped = findings.filter(({ state }) => state === 'skip')
    expect(Object.fromEntries(skipped.map(({ check, advice }) => [check, advice]))).toEqual(
      Object.fromEntries(
        Object.entries(expected).map(([check, advice]) => [check, expect.stringMatching(advice)]),
      ),
    )
  })

  test.each([
    [
      'that omits optional protections gets a warning for each',
      {
        BASE_URL: https.BASE_URL,
        OAUTH2SERVER_ALLOWED_GRANT_TYPES: 'authorization_code,password',
        OAUTH2SERVER_REQUIRE_PKCE: 'never',
        OAUTH2SERVER_DPOP: 'off',
        OAUTH2SERVER_RESOURCE_INDICATORS: 'false',
        OAUTH2SERVER_CLIENT_AUTHENTICATION: 'client_secret_basic',
        OAUTH2SERVER_ALLOW_PRIVATE_USE_REDIRECT_URIS: 'true',
        OAUTH2SERVER_DANGEROUSLY_ALLOW_PRIVATE_ADDRESSES: 'true',
      },
      [
        'implicit',
        'password-grant',
        'token-in-query',
        'pkce',
        'sender-constrained',
        'audience',
        'client-keys',
        'private-use-redirects',
        'private-addresses',
        'trusted-proxies',
        'flow-pkce',
        'flow-refresh',
      ],
    ],
    [
      'without the code grant gets the remaining warnings',
      { OAUTH2SERVER_ALLOWED_GRANT_TYPES: 'client_credentials', ...https },
      ['implicit', 'token-in-query', 'pkce'],
    ],
  ])('%s', async (_, env, expected) => {
    const findings = await examineConfiguration(env)
    const warned = findings.filter(({ state }) => state !== 'ok' && state !== 'skip')
    expect(warned.map(({ state, check }) => `${state} ${check}`)).toEqual(
      expected.map((check) => `warn ${check}`),
    )
    for (const { advice } of warned) expect(advice).not.toContain('undefined')
  })

  test('with https and without a trusted proxy causes a warning about the limits, with the condition for ignoring it', async () => {
    const warned = async (env: Record<string, string>) =>
      (await examineConfiguration(env)).find(({ check }) => check === 'trusted-proxies')
    expect(await warned({ BASE_URL: https.BASE_URL })).toEqual({
      state: 'warn',
      check: 'trusted-proxies',
      advice: expect.stringMatching(/TRUSTED_PROXIES=….*limits count all users as one/),
    })
    expect(await warned(https)).toMatchObject({ state: 'ok' })
    expect(await warned({ BASE_URL: 'http://localhost:3000' })).toBeUndefined()
  })

  test('that is invalid is rejected in one line', async () => {
    await using place = await workplace()
    const outcome = await place.runWith({ env: { BASE_URL: 'http://example.org' } }, 'doctor')
    expect(outcome).toMatchObject({ code: 1, stdout: '' })
    expect(outcome.stderr).toMatch(/^error: [^\n]*BASE_URL[^\n]*\n$/)
  })
})

describe('a running server', () => {
  test('passes all checks with only its URL, and prints one object per line with --json', async () => {
    await using place = await workplace()
    await using app = await startServer({ basePath: '/app', dynamicRegistration: 'open' })
    const { code, stdout, stderr } = await place.run('doctor', '--url', `${app.issuer}/`, '--json')
    expect(code, stderr).toBe(0)
    const findings = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Finding)
    expect(findings.map(({ check }) => check)).toEqual(
      expect.arrayContaining([
        'metadata',
        'metadata-appended',
        'metadata-root',
        'cors-token',
        'cors-revocation',
        'cors-registration',
        'no-cors-authorization',
        'challenge',
        'login-cookies',
        'unknown-client',
      ]),
    )
    expect(findings.filter(({ check }) => check.startsWith('flow'))).toEqual([])
    expect(stderr).toMatch(
      /none failed.*\nNo login was tried\. To check a login, add --log-in\.\n$/,
    )
    expect(await app.query('select 1 from oauth2server_client')).toEqual([])
  })

  test('with --log-in is tested with a new user and a new client, which are deleted afterwards', async () => {
    await using place = await workplace()
    await using app = await startServer()
    const env = {
      DATABASE_URL: `sqlite:${app.database}`,
      SECRET_KEY: secretKey,
      BASE_URL: app.issuer,
    }
    const outcome = await place.runWith({ env }, 'doctor', '--url', app.issuer, '--log-in')
    expect([outcome.code, named('fail', outcome)], outcome.stderr).toEqual([0, []])
    expect(named('ok', outcome)).toEqual(
      expect.arrayContaining([
        'flow-code',
        'flow-refresh-reuse',
        'flow-revocation',
        'flow-cookies',
      ]),
    )
    expect(outcome.stdout).not.toContain('trusted-proxies')
    expect(await app.query('select email from oauth2server_user')).toEqual([
      { email: app.user.email },
    ])
    expect(await app.query('select 1 from oauth2server_client')).toEqual([])
  })

  test('in an Express application as in the README passes all checks, with a warning about X-Powered-By', async () => {
    await using place = await workplace()
    const port = await freePort()
    const server = await createAuthorizationServer({
      issuer: `http://localhost:${port}`,
      secretKeys: [secretKey],
      store: sqlite(':memory:'),
      scopes: testScopes,
      ...withoutWarnings,
    })
    const app = express()
    app.use(mount(server))
    app.use('/api', rest(server))
    app.get('/api/notes', requireApiAuth(), (_, response) => {
      response.json([])
    })
    const http = app.listen(port)
    try {
      const outcome = await place.run('doctor', '--url', server.issuer)
      expect([outcome.code, named('fail', outcome)], outcome.stdout).toEqual([0, []])
      expect(outcome.stdout).toMatch(
        /^warn {2}powered-by +X-Powered-By reveals the software of the server \(Express\)[^\n]*app\.disable\('x-powered-by'\)/m,
      )
      app.disable('x-powered-by')
      expect(named('ok', await place.run('doctor', '--url', server.issuer))).toContain('powered-by')
    } finally {
      http.close()
      http.closeAllConnections()
      await server.close()
    }
  })

  test.each([
    [
      'that is optional for confidential clients',
      'public',
      {},
      /^The server issues codes without PKCE to confidential clients/,
    ],
    [
      'that is optional for confidential clients, without pushed requests',
      'public',
      { pushedAuthorizationRequests: 'off' },
      /^The server issues codes without PKCE to confidential clients/,
    ],
    [
      'that is optional for all clients',
      'never',
      {},
      /^The server issues codes without PKCE to public and confidential clients/,
    ],
    [
      'that is optional for confidential clients, which authenticate with keys',
      'public',
      { clientAuthentication: ['private_key_jwt'] },
      /^The server issues codes without PKCE to confidential clients/,
    ],
    ['that is required for all clients', 'always', {}, undefined],
    [
      'that is optional only for confidential clients, which the server does not support',
      'public',
      { clientAuthentication: ['none'] },
      undefined,
    ],
  ] as const)(
    'is checked for PKCE %s (RFC 9700 §2.1.1)',
    async (_, requirePkce, options, expected) => {
      await using app = await startServer({ requirePkce, clock: Date.now, ...options })
      const findings = await examine({
        issuer: app.issuer,
        send: (request) => fetch(request),
        records: app.server,
        isOurs: false,
      })
      const found = findings.find(({ check }) => check === 'flow-pkce')
      expect(found).toEqual(
        expected === undefined
          ? { state: 'ok', check: 'flow-pkce', advice: '' }
          : {
              state: 'warn',
              check: 'flow-pkce',
              advice: expect.stringMatching(
                new RegExp(`${expected.source}.*§2\\.1\\.1.*OAUTH2SERVER_REQUIRE_PKCE=always$`),
              ),
            },
      )
      expect(findings.filter(({ state }) => state === 'fail')).toEqual([])
    },
  )

  test('that does not respond causes one finding and exit status 1', async () => {
    await using place = await workplace()
    const url = `http://localhost:${await freePort()}`
    const outcome = await place.run('doctor', '--url', url)
    expect(outcome.code).toBe(1)
    expect(outcome.stdout).toMatch(/^fail {2}reachable +[^\n]*cannot be reached[^\n]*\n$/)
    expect(outcome.stderr).toMatch(/^error: 1 of 1 checks failed\.\n$/)
  })

  test.each([
    ['an invalid URL', ['--url', 'https://h.example/?x'], /--url accepts a URL/],
    ['--log-in without an address', ['--log-in'], '--log-in needs --url'],
  ])('rejects %s as wrong usage', async (_, args, message) => {
    await using place = await workplace()
    expect(await place.run('doctor', ...args)).toEqual(misused(message))
  })
})
