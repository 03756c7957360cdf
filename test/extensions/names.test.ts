import { randomUUID } from 'node:crypto'
import {
  type Endpoint,
  type Extension,
  extensionNames,
  type Grant,
  InvalidSettings,
  shortLived,
} from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import { settingsFrom } from '../../src/settings/settings-from-environment.ts'
import { startServer, type TestServer } from '../support/server.ts'

const grant = (type: string): Grant => ({
  type,
  parameters: [],
  redeem: () => Promise.reject(new Error('This grant does not support redemption.')),
})

const endpoint = (path: string): Endpoint => ({
  path: () => path,
  methods: ['GET'],
  errors: 'json',
  handle: async () => Response.json({}),
})

const problemsOf = async (...extensions: readonly Extension[]): Promise<readonly string[]> => {
  const app: TestServer | unknown = await startServer({ extensions }).catch(
    (error: unknown) => error,
  )
  if (app instanceof InvalidSettings) return app.problems
  if (app instanceof Error) throw app
  await (app as TestServer).close()
  return []
}

const named = (declared: Parameters<typeof extensionNames>[1]): Extension => ({
  name: 'mine',
  names: extensionNames('mine', declared),
})

describe('invalid or duplicate names of extensions', () => {
  test.each<[string, readonly Extension[], string]>([
    ['the name of a built-in extension', [{ name: 'pkce' }], '"pkce" is taken'],
    ['two extensions with the same name', [{ name: 'a' }, { name: 'a' }], '"a" is taken'],
    ['a name with a slash', [{ name: 'a/b' }], 'its name must be lower-case words'],
    ['a built-in grant type', [{ name: 'a', grants: [grant('password')] }], '"password" is taken'],
    ['a grant type that is not a URI', [{ name: 'a', grants: [grant('magic')] }], 'absolute URI'],
    [
      'the same grant type in two extensions',
      [
        { name: 'a', grants: [grant('urn:x:y')] },
        { name: 'b', grants: [grant('urn:x:y')] },
      ],
      '"urn:x:y" is taken',
    ],
    [
      'the path of a built-in endpoint',
      [{ name: 'a', endpoints: [endpoint('/oauth/token')] }],
      '/oauth/token',
    ],
    [
      'two paths that differ only by the name of a parameter',
      [{ name: 'a', endpoints: [endpoint('/a/:x'), endpoint('/a/:y/')] }],
      'two endpoints have the path /a/:',
    ],
    ['a path without a slash', [{ name: 'a', endpoints: [endpoint('a')] }], '"a" is not a path'],
    [
      'names that were declared for another extension',
      [{ name: 'b', names: extensionNames('mine', {}) }],
      '"mine"',
    ],
    [
      'a built-in error code',
      [named({ errors: { invalid_grant: 400 } })],
      'invalid_grant is taken',
    ],
    ['an error code with a space', [named({ errors: { 'a b': 400 } })], '"a b" is not a valid'],
    ['an error with status 200', [named({ errors: { a: 200 } })], 'from 400 to 499'],
    [
      'the same error code in two extensions',
      [
        named({ errors: { my_code: 400 } }),
        { name: 'b', names: extensionNames('b', { errors: { my_code: 400 } }) },
      ],
      '"my_code" is taken',
    ],
    ['a limit of 0 points', [named({ limits: { a: { points: 0, seconds: 1 } } })], 'the limit a'],
    ['an event name with a slash', [named({ events: ['a/b'] })], '"a/b" is not a valid name'],
    ['a duplicate event name', [named({ events: ['a', 'a'] })], 'an event is declared twice'],
    [
      'a value name with a colon',
      [named({ values: { 'a:b': shortLived() } })],
      '"a:b" is not a valid',
    ],
  ])('refuses to start with %s', async (_what, extensions, expected) => {
    expect((await problemsOf(...extensions)).join('\n')).toContain(expected)
  })
})

test('separates the values, events and limits of two extensions with the same names', async () => {
  const [mine, yours] = ['mine', 'yours'].map((name) =>
    extensionNames(name, {
      events: ['happened'],
      limits: { tries: { points: 1, seconds: 60 } },
      values: { code: shortLived<{ readonly by: string }>() },
      errors: {},
    }),
  )
  if (!mine || !yours) throw new Error('The names are not declared.')
  const found: unknown[] = []
  const key = randomUUID()
  const asked: Endpoint = {
    ...endpoint('/oauth/mine'),
    async handle(request, server) {
      const code = await mine.values('code', server).put({ by: key }, server.clock() + 60_000, key)
      found.push(await yours.values('code', server).take(code))
      const both = await Promise.all([1, 2].map(() => mine.values('code', server).take(code)))
      found.push(both.filter((value) => value !== undefined))
      await yours.record('happened', { subject: key, details: { times: 1 } }, server)
      await mine.record('happened', { subject: key, details: { times: 1 } }, server)
      await server.limits.consume(yours.limits.tries, request.address)
      await server.limits.consume(mine.limits.tries, request.address)
      return Response.json({})
    },
  }
  await using app = await startServer({
    extensions: [
      { name: 'mine', names: mine, endpoints: [asked] },
      { name: 'yours', names: yours },
    ],
  })
  const received: unknown[] = []
  app.server.on('mine/happened', ({ event, details }) => received.push([event, details]))
  expect(() => app.server.on('mine/elsewhere', () => undefined)).toThrow(TypeError)
  expect((await fetch(`${app.issuer}/oauth/mine`)).status).toBe(200)
  expect(found).toEqual([undefined, [{ by: key }]])
  await expect.poll(() => received).toEqual([['mine/happened', { times: 1 }]])
  expect((await fetch(`${app.issuer}/oauth/mine`)).status).toBe(429)
})

describe('the limits of an extension', () => {
  const names = extensionNames('mine', { limits: { tries: { points: 1, seconds: 60 } } })
  const asked: Endpoint = {
    ...endpoint('/oauth/mine'),
    async handle(request, server) {
      await server.limits.consume(names.limits.tries, request.address)
      return Response.json({})
    },
  }
  const extensions = [{ name: 'mine', names, endpoints: [asked] }]
  const statuses = async (options: object) => {
    await using app = await startServer({ extensions, ...options })
    const found: number[] = []
    for (let sent = 0; sent < 4; sent += 1)
      found.push((await fetch(`${app.issuer}/oauth/mine`)).status)
    return found
  }

  test('have the numbers of the setting limits, in code and in the environment [T4200]', async () => {
    expect(await statuses({})).toEqual([200, 429, 429, 429])
    const { limits } = settingsFrom({ OAUTH2SERVER_LIMITS: 'mine/tries=3/60' })
    expect(limits).toEqual({ 'mine/tries': { points: 3, seconds: 60 } })
    expect(await statuses({ limits })).toEqual([200, 200, 200, 429])
  })

  test('are disabled by dangerouslyIgnoreLimits [T4201]', async () => {
    expect(await statuses({ dangerouslyIgnoreLimits: true })).toEqual([200, 200, 200, 200])
  })

  test('are known by the names that the extensions declare [T4202]', async () => {
    const limits = { 'mine/trys': { points: 1, seconds: 60 } }
    await expect(startServer({ extensions, limits })).rejects.toThrow('Did you mean mine/tries?')
    await expect(startServer({ limits })).rejects.toThrow('limits: mine/trys is not an option')
  })
})
