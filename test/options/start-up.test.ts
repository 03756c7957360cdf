import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type AuthorizationServerOptions,
  createAuthorizationServer,
  emailScope,
  InvalidSettings,
  type LogEntry,
  Scope,
  type StoreOpener,
  StoreUnusable,
  type TransientsOpener,
} from 'svc-oauth2server'
import { sqlite } from 'svc-oauth2server/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { fromEnvironment } from '../../src/server/environment/environment.ts'
import { execute, query } from '../support/database.ts'
import { databaseFolder } from '../support/database-folder.ts'
import { startServer, withoutWarnings } from '../support/server.ts'
import { statusOf } from '../support/tokens.ts'

const key = (letter: string) => `${letter}: a secret key number 47, random`

const create = (options: Partial<AuthorizationServerOptions> = {}) =>
  createAuthorizationServer({
    issuer: 'https://api.example.org',
    secretKeys: [key('k')],
    store: sqlite(':memory:'),
    sweepInterval: 0,
    log: () => undefined,
    ...options,
  })

const problemsOf = async (
  options: Partial<AuthorizationServerOptions>,
): Promise<readonly string[]> => {
  const error: unknown = await create(options).then(
    (server) => server.close(),
    (reason: unknown) => reason,
  )
  if (error === undefined) return []
  expect(error).toBeInstanceOf(InvalidSettings)
  return (error as InvalidSettings).problems
}

const accepted = async <T>(
  options: Partial<AuthorizationServerOptions>,
  read: (server: Awaited<ReturnType<typeof create>>) => T,
): Promise<T> => {
  const server = await create(options)
  try {
    return read(server)
  } finally {
    await server.close()
  }
}

describe('unknown options', () => {
  test.each([
    ['tokenExpiresin', 'Did you mean tokenExpiresIn?'],
    ['user', 'Did you mean users?'],
    ['secretKey', 'Did you mean secretKeys?'],
    ['ressources', 'Did you mean resources?'],
    ['databaseUrl', 'Check its spelling.'],
    ['constructor', 'Check its spelling.'],
    ['', 'Check its spelling.'],
  ])('refuses the unknown option %j at start-up: %s', async (name, advice) => {
    expect(await problemsOf({ [name]: undefined })).toEqual([`${name} is not an option. ${advice}`])
  })

  test('lists an unknown option beside the other problems', async () => {
    expect(await problemsOf({ resource: [], tokenSaltLen: -1 } as never)).toEqual([
      'resource is not an option. Did you mean resources?',
      expect.stringContaining('tokenSaltLen'),
    ])
  })
})

describe('resources', () => {
  test.each([
    'https://api.example.org/notes',
    'https://other.example',
    'https://other.example/',
    'https://other.example:8443/a/b/',
    'http://localhost:3000/notes',
    'http://127.0.0.1:3000',
  ])('accepts %s and lists it after the issuer', async (resource) => {
    const resources = await accepted({ resources: [{ resource }] }, (server) => server.resources)
    expect(resources).toEqual([{ resource: 'https://api.example.org' }, { resource }])
  })

  test.each([
    'http://other.example',
    'ftp://other.example',
    'urn:notes',
    'notes',
    '/notes',
    '',
    'https://',
    'https://other.example/#part',
    'https://other.example/#',
    'https://other.example/?a=b',
    'https://other.example/?',
    'https://user@other.example/',
    'https://user:secret@other.example/',
    'https://Other.example/notes',
    'https://other.example:443/notes',
    'https://other.example/a/../b',
    'https://other.example/a b',
    ' https://other.example',
    'HTTPS://other.example/notes',
    undefined,
    null,
    7,
  ])('RFC 8707 §2 rejects %j at start-up [T347]', async (resource) => {
    expect(await problemsOf({ resources: [{ resource: resource as string }] })).toEqual([
      expect.stringContaining(`resources: ${JSON.stringify(resource)}: it must be an https URL`),
    ])
  })

  test.each(['caf%C3%A9', 'a%20b', ':id', 'a*', 'a//b', '/'])(
    'RFC 9728 §3.1 rejects /%s at start-up, since the issuer cannot serve metadata for this path [T439]',
    async (path) => {
      const resource = `https://api.example.org/${path}`
      expect(await problemsOf({ resources: [{ resource }] })).toEqual([
        `resources: ${JSON.stringify(resource)}: on the origin of the issuer, its path may contain only letters, digits and -._~.`,
      ])
    },
  )

  test('RFC 9728 §3.1 accepts any path on another host, because that host serves the metadata', async () => {
    const resource = 'https://other.example/caf%C3%A9/:id'
    const resources = await accepted({ resources: [{ resource }] }, (server) => server.resources)
    expect(resources).toContainEqual({ resource })
  })

  test('rejects a repeated resource, even with another trailing slash', async () => {
    for (const [one, other] of [
      ['https://other.example/a', 'https://other.example/a'],
      ['https://other.example', 'https://other.example/'],
    ] as const)
      expect(await problemsOf({ resources: [{ resource: one }, { resource: other }] })).toEqual([
        'resources: two resources have the same identifier.',
      ])
    const resources = [
      { resource: 'https://other.example/a' },
      { resource: 'https://other.example/a/' },
    ]
    expect(await problemsOf({ resources })).toEqual([])
  })

  test('accepts the issuer as a resource with additional metadata', async () => {
    const resources = [
      { resource: 'https://other.example' },
      { resource: 'https://api.example.org/', name: 'All' },
    ]
    expect(await accepted({ resources }, (server) => server.resources)).toEqual([
      { resource: 'https://api.example.org', name: 'All' },
      { resource: 'https://other.example' },
    ])
  })

  test('rejects scopes that clients cannot request, all in one message', async () => {
    const scopes = [new Scope('notes:read'), new Scope('secret', { internal: true })]
    const one = { resource: 'https://other.example', scopes: ['notes:read', 'secret', 'absent'] }
    expect(await problemsOf({ scopes, resources: [one] })).toEqual([
      'resources: "https://other.example": clients cannot request the scope secret.',
      'resources: "https://other.example": clients cannot request the scope absent.',
    ])
  })

  test('are looked up by their identifiers, which must match exactly except for a slash after the host', async () => {
    const resources = [{ resource: 'https://other.example/a' }, { resource: 'https://b.example' }]
    await accepted({ resources }, (server) => {
      expect(server.resourceNamed('https://other.example/a')).toBe(resources[0])
      expect(server.resourceNamed('https://b.example/')).toBe(resources[1])
      expect(server.resourceNamed('https://api.example.org/').resource).toBe(server.issuer)
      for (const unknown of ['https://other.example/a/', 'https://other.example', '', '__proto__'])
        expect(() => server.resourceNamed(unknown)).toThrow(TypeError)
    })
  })
})

describe('issuer', () => {
  test.each([
    ['https://api.example.org', 'https://api.example.org'],
    ['https://api.example.org/', 'https://api.example.org'],
    ['https://API.example.org:443/app/', 'https://api.example.org/app'],
    ['https://api.example.org:8443/a/b', 'https://api.example.org:8443/a/b'],
    ['http://localhost:3000', 'http://localhost:3000'],
    ['http://127.0.0.1:3000/app', 'http://127.0.0.1:3000/app'],
    ['http://[::1]:3000', 'http://[::1]:3000'],
  ])('accepts the issuer %s', async (issuer, normalized) => {
    expect(await accepted({ issuer }, (server) => server.issuer)).toBe(normalized)
  })

  test.each([
    'http://api.example.org',
    'http://localhost.evil.example',
    'http://127.0.0.2',
    'http://0.0.0.0:3000',
    'ftp://api.example.org',
    'api.example.org',
    '/app',
    '',
    'https://',
    'https://api.example.org?x=1',
    'https://api.example.org?',
    'https://api.example.org#x',
    'https://api.example.org/#',
    'https://user@api.example.org',
    'https://user:pw@api.example.org',
    'https://api.example.org//a',
    'https://api.example.org/a b',
    'https://api.example.org/ä',
    'https://api.example.org/"',
  ])(
    'rejects the issuer %j, which is not a plain https URL or loopback URL [T018]',
    async (issuer) => {
      const problems = await problemsOf({ issuer })
      expect(problems).toEqual([
        expect.stringMatching(/^issuer \(BASE_URL\) .*; the given value is /),
      ])
    },
  )

  test('rejects a missing issuer', async () => {
    expect(await problemsOf({ issuer: undefined as unknown as string })).toHaveLength(1)
  })
})

describe('secret keys', () => {
  test('requires at least 32 bytes in UTF-8 without trimming [T145]', async () => {
    expect(await problemsOf({ secretKeys: [key('k')] })).toEqual([])
    expect(await problemsOf({ secretKeys: ['äöüßéèêëçñåøæœþð'] })).toEqual([])
    expect(await problemsOf({ secretKeys: ['k: a secret key number 47, rand '] })).toEqual([])
    for (const secretKeys of [['k'.repeat(31)], [''], ['ä'.repeat(15)], [key('k'), 'short']])
      expect(await problemsOf({ secretKeys })).toEqual([
        expect.stringMatching(/SECRET_KEY.*at least 32 bytes/),
      ])
  })

  test('names the option if the keys are missing or are not an array of strings', async () => {
    for (const [secretKeys, reason] of [
      [undefined, /^secretKeys .*is missing/],
      [[], /^secretKeys .*is missing/],
      [key('k'), /^secretKeys .*must be an array of strings/],
      [[47], /^secretKeys .*must be an array of strings/],
    ] as const)
      expect(await problemsOf({ secretKeys: secretKeys as never })).toEqual([
        expect.stringMatching(reason),
      ])
  })

  test('rejects weak current and previous keys, and reports how to create a strong key [T619]', async () => {
    const weak = ['0'.repeat(64), 'password'.repeat(5), 'please-change-this-secret-key-please']
    for (const secret of weak) {
      for (const secretKeys of [[secret], [key('k'), secret]])
        expect(await problemsOf({ secretKeys })).toEqual([
          expect.stringMatching(/SECRET_KEY.*must be random: openssl rand -base64 48/),
        ])
    }
    const environment = { DATABASE_URL: 'sqlite::memory:', SECRET_KEY: weak[0] }
    const fromVariables = (await fromEnvironment(environment)).options
    expect(await problemsOf(fromVariables)).toEqual([expect.stringMatching(/must be random/)])
    const folder = await databaseFolder()
    await writeFile(join(folder, 'secret-key'), `${weak[1]}\n`)
    const fromFile = await fromEnvironment({ DATABASE_URL: `sqlite:${join(folder, 'a.sqlite')}` })
    expect(await problemsOf(fromFile.options)).toEqual([expect.stringMatching(/must be random/)])
  })

  test('requires the current key; previous keys are optional', async () => {
    for (const secretKeys of [[], [undefined], [undefined, key('k')]])
      expect(await problemsOf({ secretKeys })).toEqual([
        expect.stringMatching(/SECRET_KEY.*missing/),
      ])
    expect(await problemsOf({ secretKeys: [key('k'), undefined] })).toEqual([])
  })

  test('never repeats a key in a message', async () => {
    const secret = 'short but secret'
    expect(
      (await problemsOf({ secretKeys: [secret], clientIdSaltLen: 1 })).join('\n'),
    ).not.toContain(secret)
  })
})

describe('scopes', () => {
  test('always registers email_scope, and accepts the same object as an option [T718]', async () => {
    const notes = new Scope('notes:read')
    const registered = await accepted({ scopes: [notes, emailScope, notes] }, (server) =>
      server.scopes.all(),
    )
    expect(registered).toEqual([notes, emailScope])
    expect(await accepted({}, (server) => server.scopes.choices())).toEqual([emailScope])
  })

  test('rejects two Scopes with the same ID, and anything that is not a Scope', async () => {
    expect(await problemsOf({ scopes: [new Scope('a'), new Scope('a')] })).toEqual([
      expect.stringContaining('a is already registered'),
    ])
    expect(await problemsOf({ scopes: [new Scope('user:email')] })).toHaveLength(1)
    expect(
      await problemsOf({
        scopes: [{ id: 'a', helpText: '', group: '', isInternal: false } as Scope],
      }),
    ).toEqual(['scopes: each member must be a Scope.'])
  })

  test('rejects unregistered default scopes', async () => {
    expect(await problemsOf({ defaultScopes: ['user:email'] })).toEqual([])
    expect(await problemsOf({ defaultScopes: ['user:email', 'nope'] })).toEqual([
      expect.stringMatching(/OAUTH2SERVER_DEFAULT_SCOPES.*"nope"/),
    ])
  })
})

test('reports all errors together', async () => {
  const problems = await problemsOf({
    issuer: 'nope',
    secretKeys: ['short'],
    clientIdSaltLen: 1,
    refreshTokenLeeway: -1,
    scopes: [new Scope('a'), new Scope('a')],
  })
  expect(problems).toHaveLength(5)
})

describe('error endpoint', () => {
  const viewOf = async (options: Partial<AuthorizationServerOptions>) => {
    const server = await create(options)
    const response = await server.fetch(
      new Request(`${server.issuer}/oauth/authorize?client_id=nope`),
    )
    await server.close()
    return response.headers.get('location')?.split('?')[0]
  }

  test('accepts the specified name, a name in options.views, or a path that starts with a single /', async () => {
    const issuer = 'https://api.example.org/app'
    expect(await viewOf({ issuer })).toBe('/app/oauth/errors')
    expect(await viewOf({ issuer, errorEndpoint: 'svc_oauth2server.errors' })).toBe(
      '/app/oauth/errors',
    )
    expect(await viewOf({ issuer, errorEndpoint: '/oops' })).toBe('/oops')
    expect(
      await viewOf({
        issuer,
        errorEndpoint: 'host.errors',
        views: { 'host.errors': '/host/errors' },
      }),
    ).toBe('/host/errors')
  })

  test.each([
    ['an unknown name', { errorEndpoint: 'host.errors' }],
    ['a name of Object.prototype', { errorEndpoint: 'constructor', views: {} }],
    ['a view on another host', { errorEndpoint: 'v', views: { v: '//evil.example/' } }],
    ['a view with a backslash', { errorEndpoint: 'v', views: { v: '/\\evil.example/' } }],
    ['a view with an absolute URL', { errorEndpoint: 'v', views: { v: 'https://evil.example/' } }],
    ['a path on another host', { errorEndpoint: '//evil.example/' }],
  ])('rejects %s', async (_, options) => {
    expect(await problemsOf(options)).toEqual([
      expect.stringContaining('OAUTH2_PROVIDER_ERROR_ENDPOINT'),
    ])
  })
})

test('rejects response types with an ID token without OpenID Connect [T3131]', async () => {
  expect(await problemsOf({ allowFrontChannelIdTokens: true })).toEqual([
    'allowFrontChannelIdTokens (OAUTH2SERVER_ALLOW_FRONT_CHANNEL_ID_TOKENS) requires openidConnect (OAUTH2SERVER_OPENID_CONNECT).',
  ])
  expect(await problemsOf({ allowFrontChannelIdTokens: true, openidConnect: true })).toEqual([])
})

describe('the warnings in the log', () => {
  /** Starts a server and returns its warnings, in order. */
  const warnings = async (options: object): Promise<readonly string[]> => {
    const log: LogEntry[] = []
    await accepted({ ...options, log: (entry: LogEntry) => log.push(entry) }, () => undefined)
    for (const entry of log)
      expect(entry).toMatchObject({
        level: 'warn',
        event: 'settings.loosened',
        message: expect.stringMatching(/\.$/),
      })
    return log.map(({ message }) => message)
  }
  const strict = withoutWarnings

  test('report each setting that is looser than the default once', async () => {
    const loose = {
      ...strict,
      allowedGrantTypes: ['password'],
      requirePkce: 'never',
      cacheType: 'memory',
      allowPrivateUseRedirectUris: true,
      sessionIpv4Prefix: 24,
    }
    const messages = await warnings(loose)
    expect(new Set(messages).size).toBe(5)
    expect(messages).toHaveLength(5)
  })

  test('RFC 9700 §2.1.2, §4.3.2 report each feature that the specification enables by default against best practice', async () => {
    expect(await warnings({})).toEqual([
      expect.stringMatching(/^The implicit grant is on.* to code\.$/),
      expect.stringMatching(/^Access tokens in the query are accepted.* to false\.$/),
    ])
  })

  test.each([
    ['implicit grant', { acceptQueryAccessToken: false }, /^The implicit grant is on/],
    ['token in the query', { allowedResponseTypes: ['code'] }, /^Access tokens in the query/],
    ['password grant', { ...strict, allowedGrantTypes: ['password'] }, /^The password grant is on/],
    [
      'ID tokens in the front channel',
      { ...strict, openidConnect: true, allowFrontChannelIdTokens: true },
      /^ID tokens are sent through browsers/,
    ],
  ])(
    'RFC 9700 %s: a warning says how to disable the feature [T062]',
    async (_, options, message) => {
      const messages = await warnings(options)
      expect(messages).toEqual([expect.stringMatching(message)])
      expect(messages[0]).toMatch(/To disable .*\(OAUTH2SERVER_[A-Z_]+\)/)
    },
  )

  test('are absent with all three features disabled, and with the profile oauth2.1', async () => {
    expect(await warnings(strict)).toEqual([])
    expect(await warnings({ securityProfile: 'oauth2.1' })).toEqual([])
  })
})

describe('short-lived values', () => {
  const transients: TransientsOpener = {
    description: 'a test',
    open: () => Promise.reject(new StoreUnusable('There is no Redis in this test.')),
  }

  test('cacheType redis requires the option transients, and the other types reject this option [T782]', async () => {
    expect(await problemsOf({ cacheType: 'redis' })).toEqual([
      expect.stringMatching(/^cacheType \(OAUTH2_CACHE_TYPE\) redis needs the option transients/),
    ])
    for (const cacheType of ['database', 'memory'] as const)
      expect(await problemsOf({ cacheType, transients })).toEqual([
        expect.stringMatching(
          `^cacheType \\(OAUTH2_CACHE_TYPE\\) ${cacheType} cannot be combined with the option transients`,
        ),
      ])
  })

  test('prevent the start and close the store if they cannot be opened', async () => {
    for (const cacheType of [undefined, 'redis'] as const) {
      let closed = 0
      const { description, open } = sqlite(':memory:')
      const store: StoreOpener = {
        description,
        async open() {
          const opened = await open()
          const close = async () => {
            closed += 1
            await opened.close()
          }
          return { ...opened, close }
        },
      }
      await expect(create({ cacheType, transients, store })).rejects.toThrow(
        'There is no Redis in this test.',
      )
      expect(closed).toBe(1)
    }
  })
})

describe('the secret key and the database', () => {
  let folder: string
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'oauth2server-keys-'))
  })
  afterAll(() => rm(folder, { recursive: true }))

  test('the start fails with a key that did not seal the stored rows, and succeeds if the old key is a previous key [T762]', async () => {
    const store = sqlite(join(folder, 'keys.sqlite'))
    const first = await create({ store, secretKeys: [key('a')] })
    const user = await first.users.create({ email: 'user-a@example.org', password: null })
    const { accessToken } = await first.tokens.createPersonal('Test', user.id)
    await first.close()

    const failure: unknown = await create({ store, secretKeys: [key('b')] }).catch(
      (error: unknown) => error,
    )
    expect(failure).toBeInstanceOf(StoreUnusable)
    expect(String(failure)).toMatch(/secret keys do not match.*SECRET_KEY_PREVIOUS/)
    expect(String(failure)).not.toContain('\n')

    const rotated = await create({ store, secretKeys: [key('b'), key('a')] })
    expect(await rotated.tokens.find({ accessToken })).toBeDefined()
    const { accessToken: newer } = await rotated.tokens.createPersonal('Test', user.id)
    await rotated.close()

    // Rows under both keys exist, so both keys are needed, in any order.
    for (const secretKeys of [[key('a')], [key('b')], [key('c'), key('a')]])
      await expect(create({ store, secretKeys })).rejects.toThrow(StoreUnusable)
    const back = await create({ store, secretKeys: [key('a'), key('b')] })
    for (const token of [accessToken, newer])
      expect(await back.tokens.find({ accessToken: token })).toBeDefined()
    await back.close()
    expect(
      query(join(folder, 'keys.sqlite'), 'select id from oauth2server_secret_key'),
    ).toHaveLength(2)
  })

  test('accepts clients, consents, sessions and codes that a previous key sealed', async () => {
    await using before = await startServer()
    const { clientId } = await before.client()
    await before.server.consents.grant(before.user.id, clientId, ['notes:read'])
    const token = await before.personalToken()
    const browser = { cookie: null, address: '127.0.0.1', userAgent: 'test' }
    const cookie =
      (await before.server.sessions.signIn(before.user.id, browser)).split(';')[0] ?? ''
    const [old = ''] = ['a test secret key of more than 32 bytes']
    await using after = await startServer({
      beside: before,
      issuer: before.issuer,
      secretKeys: [key('n'), old],
      ...withoutWarnings,
    })
    expect(await after.server.clients.find(clientId)).toBeDefined()
    expect(await after.server.consents.find(before.user.id, clientId)).toBeDefined()
    expect(await after.server.sessions.signedIn({ ...browser, cookie })).toBeDefined()
    expect(await statusOf(after, token)).toBe(200)
    expect(after.log).toEqual([])
  })

  test('accepts a database of a newer version with a warning, since migrations only add to the schema', async () => {
    const path = join(folder, 'newer.sqlite')
    await using newer = await startServer({ store: sqlite(path) })
    const { accessToken } = await newer.server.tokens.createPersonal('Older', newer.user.id)
    execute(path, "insert into oauth2server_migration values ('9999-future', '2030-01-01')")
    await using older = await startServer({ store: sqlite(path), beside: newer })
    expect(await statusOf(older, accessToken)).toBe(200)
    expect(older.log).toContainEqual(
      expect.objectContaining({
        level: 'warn',
        event: 'schema.newer',
        message: expect.stringMatching(/newer version .*9999-future/),
      }),
    )
  })

  test('the start fails on a database of a newer version that lacks a migration of this version', async () => {
    const path = join(folder, 'other.sqlite')
    await (await create({ store: sqlite(path) })).close()
    execute(
      path,
      "update oauth2server_migration set name = '9999-future' where name = (select max(name) from oauth2server_migration)",
    )
    const failure: unknown = await create({ store: sqlite(path) }).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StoreUnusable)
    expect(String(failure)).toMatch(/newer version/)
    expect(String(failure)).not.toContain('\n')
  })

  test('does not open the database if an option is invalid', async () => {
    let opened = 0
    const { open, description } = sqlite(':memory:')
    const store = {
      description,
      open: () => {
        opened += 1
        return open()
      },
    }
    for (const options of [
      { clientIdSaltLen: 1 },
      { jwtVeryficationFactory: './missing.js:verify' },
    ])
      expect(await problemsOf({ store, ...options })).toHaveLength(1)
    expect(opened).toBe(0)
  })
})

test('rejects a prefix and a length that together make tokens longer than 255 characters', async () => {
  const long = { tokenPersonalPrefix: 'abc_', tokenPersonalSaltLen: 246 }
  expect(await problemsOf(long)).toEqual([
    expect.stringMatching(/OAUTH2SERVER_TOKEN_PERSONAL_PREFIX.*256 characters/),
  ])
  expect(await problemsOf({ ...long, tokenPersonalSaltLen: 245 })).toEqual([])
})

test('an error that the operator can fix consists of its message, without a stack trace [T4120]', async () => {
  const error = await create({ issuer: 'ftp://api.example.org' }).catch((reason: Error) => reason)
  expect(error).toBeInstanceOf(InvalidSettings)
  expect((error as Error).stack).toBe(`InvalidSettings: ${(error as Error).message}`)
})
