import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { createAuthorizationServer, InvalidSettings, Scope } from 'svc-oauth2server'
import { sqlite } from 'svc-oauth2server/sqlite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { jwtVerifyToken } from '../../src/protocol/session/utils.ts'
import { importPath } from '../../src/server/import-path.ts'

const group = 'svc_oauth2server.scopes'

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'oauth2server-applications-'))
  // The modules of the test applications cannot import the sources by the name of the package, so they use this global.
  Reflect.set(globalThis, 'testScope', (id: string) => new Scope(id))
})
afterAll(async () => {
  Reflect.deleteProperty(globalThis, 'testScope')
  await rm(root, { recursive: true })
})

let applications = 0
/** Writes the files of an application by their paths; an object becomes JSON. */
const application = async (files: Record<string, string | object>): Promise<string> => {
  applications += 1
  const folder = join(root, `application-${applications}`)
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(
      join(folder, path),
      typeof content === 'string' ? content : JSON.stringify(content),
    )
  }
  return folder
}

const start = (applicationRoot: string, scopes: readonly Scope[] = []) =>
  createAuthorizationServer({
    issuer: 'https://api.example.org',
    secretKeys: ['a test secret key of more than 32 bytes'],
    store: sqlite(':memory:'),
    applicationRoot,
    scopes,
    sweepInterval: 0,
    log: () => undefined,
  })

const scopesOf = async (applicationRoot: string, scopes?: readonly Scope[]) => {
  const server = await start(applicationRoot, scopes)
  await server.close()
  return server.scopes.all().map(({ id }) => id)
}

const problemsOf = async (applicationRoot: string): Promise<readonly string[]> => {
  const error: unknown = await start(applicationRoot).then(
    (server) => server.close(),
    (reason: unknown) => reason,
  )
  expect(error).toBeInstanceOf(InvalidSettings)
  return (error as InvalidSettings).problems
}

const declares = (name: string, entries: Record<string, string>, more = {}) => ({
  name,
  version: '1.0.0',
  type: 'module',
  entryPoints: { [group]: entries },
  ...more,
})

describe('rule 1: scopes from the entry point group svc_oauth2server.scopes', () => {
  test('accepts an application root relative to the current directory [T1065]', async () => {
    const folder = await application({
      'package.json': declares('app', { read: './scopes.js:read' }),
      'scopes.js': "export const read = testScope('app:read')",
    })
    expect(await scopesOf(relative(process.cwd(), folder))).toContain('app:read')
  })

  test('loads a module of a package that exports only the condition `import`', async () => {
    const folder = await application({
      'package.json': declares('app', { read: 'notes/scopes:read' }),
      'node_modules/notes/package.json': {
        name: 'notes',
        type: 'module',
        exports: { './scopes': { import: './scopes.js' } },
      },
      'node_modules/notes/scopes.js': "export const read = testScope('notes:read')",
    })
    expect(await scopesOf(folder)).toContain('notes:read')
  })

  test('loads the scopes of the application and of its direct dependencies, and of no other package [T713]', async () => {
    const folder = await application({
      'package.json': declares(
        'app',
        { read: './scopes.js:appRead', write: './scopes.js:app_write' },
        {
          dependencies: { notes: '*', '@acme/mail': '*', plain: '*', absent: '*' },
          devDependencies: { dev: '*' },
        },
      ),
      'scopes.js':
        "export const appRead = testScope('app:read'); export const appWrite = testScope('app:write')",
      // This package exports neither its package.json nor the module of its scopes. Entry points do not need exports.
      'node_modules/notes/package.json': declares(
        'notes',
        { read: './lib/scopes.js:notesRead' },
        { exports: { '.': './index.js' }, dependencies: { deep: '*' } },
      ),
      'node_modules/notes/lib/scopes.js': "export const notesRead = testScope('notes:read')",
      'node_modules/@acme/mail/package.json': declares('@acme/mail', {
        read: './scopes.cjs:mailRead',
      }),
      'node_modules/@acme/mail/scopes.cjs': "exports.mailRead = testScope('mail:read')",
      'node_modules/plain/package.json': { name: 'plain', version: '1.0.0' },
      'node_modules/deep/package.json': declares('deep', { read: './missing.js:deepRead' }),
      'node_modules/dev/package.json': declares('dev', { read: './missing.js:devRead' }),
    })
    expect(await scopesOf(folder)).toEqual([
      'app:read',
      'app:write',
      'mail:read',
      'notes:read',
      'user:email',
    ])
  })

  test('finds a dependency as Node does, also above the folder of the application', async () => {
    const folder = await application({
      'packages/app/package.json': declares('app', {}, { dependencies: { notes: '*' } }),
      'node_modules/notes/package.json': declares('notes', { read: './scopes.js:notesRead' }),
      'node_modules/notes/scopes.js': "export const notesRead = testScope('hoisted:read')",
    })
    expect(await scopesOf(join(folder, 'packages/app'))).toEqual(['hoisted:read', 'user:email'])
  })

  test('accepts an application without entry points, or without the group', async () => {
    expect(await scopesOf(await application({ 'package.json': { name: 'app' } }))).toEqual([
      'user:email',
    ])
    expect(
      await scopesOf(
        await application({ 'package.json': { name: 'app', entryPoints: { other: { x: 'y' } } } }),
      ),
    ).toEqual(['user:email'])
  })

  test('accepts a Scope that is declared and also passed in code, but rejects two Scopes with the same ID', async () => {
    const shared = new Scope('shared')
    Reflect.set(globalThis, 'sharedScope', shared)
    const files = {
      'package.json': declares('app', { one: './scopes.js:shared' }),
      'scopes.js': 'export const shared = sharedScope',
    }
    expect(await scopesOf(await application(files), [shared])).toEqual(['shared', 'user:email'])
    const again = await application({
      ...files,
      'scopes.js': "export const shared = testScope('user:email')",
    })
    expect(await problemsOf(again)).toEqual([
      expect.stringContaining('user:email is already registered'),
    ])
  })

  test.each([
    [
      'a missing module',
      { 'package.json': declares('app', { read: './missing.js:read' }) },
      'read (./missing.js:read)',
    ],
    [
      'a missing export',
      {
        'package.json': declares('app', { read: './s.js:read' }),
        's.js': 'export const write = 1',
      },
      'has no export read',
    ],
    [
      'an export that is not a Scope',
      {
        'package.json': declares('app', { read: './s.js:read' }),
        's.js': "export const read = { id: 'x' }",
      },
      'is not a Scope',
    ],
    [
      'a module that throws',
      {
        'package.json': declares('app', { read: './s.js:read' }),
        's.js': "throw new Error('it broke')",
      },
      'it broke',
    ],
    [
      'entries that are not strings',
      { 'package.json': declares('app', { read: 1 } as never) },
      'cannot be read',
    ],
    ['a package.json that is not JSON', { 'package.json': '{' }, 'cannot be read'],
  ])('reports %s with the package and the entry [T714]', async (_, files, what) => {
    const folder = await application(files)
    const [problem = '', ...others] = await problemsOf(folder)
    expect(others).toEqual([])
    expect(problem).toContain(what)
    expect(problem).toContain(folder)
    expect(problem).not.toContain('\n')
  })

  test('reports the dependency that caused an error', async () => {
    const folder = await application({
      'package.json': { name: 'app', dependencies: { notes: '*' } },
      'node_modules/notes/package.json': declares('notes', { read: './scopes.js:notesRead' }),
      'node_modules/notes/scopes.js': 'export const notesRead = 1',
    })
    expect(await problemsOf(folder)).toEqual([
      expect.stringContaining(
        `read (./scopes.js:notesRead) of ${join(folder, 'node_modules/notes')}`,
      ),
    ])
  })

  test('rejects an application root without a package.json', async () => {
    const folder = await application({ 'x.txt': '' })
    expect(await problemsOf(folder)).toEqual([
      expect.stringContaining(`no package.json in the application root ${folder}`),
    ])
  })
})

describe('import paths', () => {
  test('resolves the specified default to the factory that this package exports [T781]', async () => {
    expect(await importPath('svc_oauth2server.utils:jwt_verify_token', root)).toBe(jwtVerifyToken)
    expect(await importPath('svc_oauth2server.utils:jwtVerifyToken', root)).toBe(jwtVerifyToken)
    expect(await importPath('svc_oauth2server:Scope', root)).toBe(Scope)
  })

  test('resolves the scopes of this package', async () => {
    expect(await importPath('svc_oauth2server.scopes:Scope', root)).toBe(Scope)
  })

  test('a path that starts with ./ is relative to the application root, any other path names a package, and the last colon separates the export', async () => {
    const folder = await application({
      'package.json': { name: 'app', type: 'module' },
      'lib/a:b.js':
        'export const verify_it = 1; export const verifyIt = 2; export const onlyCamel = 3',
      'node_modules/dep/package.json': {
        name: 'dep',
        type: 'module',
        exports: { '.': './index.js', './sub': './sub.js' },
      },
      'node_modules/dep/index.js': 'export const verify = 4',
      'node_modules/dep/sub.js': 'export const verify = 5',
    })
    expect(await importPath('./lib/a:b.js:verify_it', folder)).toBe(1)
    expect(await importPath('./lib/a:b.js:verifyIt', folder)).toBe(2)
    expect(await importPath('./lib/a:b.js:only_camel', folder)).toBe(3)
    expect(await importPath('dep:verify', folder)).toBe(4)
    expect(await importPath('dep/sub:verify', folder)).toBe(5)
    for (const path of [
      './lib/a:b.js:none',
      'dep/other:verify',
      './none.js:x',
      'svc_oauth2server.none:x',
      'svc_oauth2server.utils:none',
    ])
      await expect(importPath(path, folder)).rejects.toThrow()
  })

  test('rejects at start-up a factory that cannot be loaded or is not a function, with its name', async () => {
    const folder = await application({
      'package.json': { name: 'app', type: 'module' },
      'jwt.js': 'export const verify = 1',
    })
    const create = (jwtVeryficationFactory: string) =>
      createAuthorizationServer({
        issuer: 'https://api.example.org',
        secretKeys: ['a test secret key of more than 32 bytes'],
        store: sqlite(':memory:'),
        applicationRoot: folder,
        jwtVeryficationFactory,
        sweepInterval: 0,
      })
    await expect(create('./jwt.js:verify')).rejects.toThrow(
      /OAUTH2SERVER_JWT_VERYFICATION_FACTORY\) \.\/jwt\.js:verify is not a function/,
    )
    await expect(create('./none.js:verify')).rejects.toThrow(
      /OAUTH2SERVER_JWT_VERYFICATION_FACTORY\) \.\/none\.js:verify cannot be loaded/,
    )
    for (const path of ['./jwt.js:verify', './none.js:verify'])
      await expect(create(path)).rejects.toThrow(InvalidSettings)
  })
})
