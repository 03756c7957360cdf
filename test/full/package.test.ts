import { copyFile, mkdir, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { blocksOf, readPage } from '../docs/markdown.ts'
import { callerAt, startHostProgram, tokensOf } from '../support/host-programs.ts'
import { lacks } from '../support/needs.ts'
import {
  install,
  installationTimeout,
  installed,
  packedTarball,
  readJson,
  run,
  versionOf,
  withoutRegistry,
} from '../support/packed.ts'
import { makeDatabase } from '../support/postgres.ts'
import {
  freePort,
  type ProgramOptions,
  root,
  runNode,
  type TemporaryFolder,
  temporaryFolder,
} from '../support/processes.ts'

const bin = (name: string) => join(root, 'node_modules/.bin', name)

describe('the packed package', () => {
  test('contains only documents, compiled files, declarations, stylesheets and the list of bundled packages', async () => {
    const { stdout } = await run('tar', ['-tzf', await packedTarball()])
    const files = stdout.trim().split('\n')
    const pages = /^package\/docs\/.+\.(?:md|png|svg)$/
    const outside = files.filter((file) => !file.startsWith('package/dist/') && !pages.test(file))
    expect(outside.sort()).toEqual([
      'package/ARCHITECTURE.md',
      'package/CHANGELOG.md',
      'package/LICENSE',
      'package/README.md',
      'package/SECURITY.md',
      'package/package.json',
    ])
    // The README of the package links to this page.
    expect(files).toContain('package/docs/getting-started.md')
    expect(files).toContain('package/dist/pages/pages.css')
    const dist = files.filter((file) => file.startsWith('package/dist/'))
    const ordinary =
      /\.(?:js|js\.map|d\.ts|css)$|^package\/dist\/(?:THIRD-PARTY-NOTICES\.txt|bundled\.cdx\.json)$/
    expect(dist.filter((file) => !ordinary.test(file) || file.includes('.test.'))).toEqual([])
    // The package contains the file of each export and program.
    const { exports, bin } = await readJson(join(root, 'package.json'))
    const targets = [exports, bin].flatMap((map) =>
      JSON.stringify(map).match(/(?<="\.\/)dist\/[^"]+/g),
    )
    expect(targets.filter((target) => !files.includes(`package/${target}`))).toEqual([])
  })

  test('passes the checks of publint and attw', async () => {
    const tarball = await packedTarball()
    const publint = await run(bin('publint'), ['run', tarball, '--strict'])
    expect(publint.stdout).toContain('All good!')
    await run(bin('attw'), ['--profile', 'esm-only', '--no-color', tarball])
  })
})

const compilerOptions = {
  module: 'nodenext',
  types: ['node'],
  rootDir: '.',
  outDir: 'out',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noImplicitOverride: true,
  verbatimModuleSyntax: true,
  isolatedModules: true,
  // Nest uses the older form of decorators.
  experimentalDecorators: true,
  // Check the type declarations of the package as well.
  skipLibCheck: false,
}

const expected = {
  things: {
    status: 200,
    body: { kind: 'personal_token', user: expect.any(Number), scopes: ['things:read'] },
  },
  nobody: 401,
  issued: {
    status: 200,
    members: ['access_token', 'token_type', 'expires_in', 'scope', 'user'],
  },
  page: { status: 200, body: { user: null } },
  style: 200,
  login: 200,
  health: { status: 200, body: { issuer: 'http://localhost:8080' } },
  metadata: expect.objectContaining({ example: 'http://localhost:8080' }),
  problems: ['InvalidField', 'ScopeDoesNotExists', 'InvalidSettings', 'StoreUnusable'],
  pkce: 'always',
  described: true,
  operations: true,
  saved: true,
  errors: [400, 401, 'StoreUnavailable', 'JWTExtendedException'],
  registry: ['things:read'],
  proxy: true,
}

/** The frameworks whose how-to page is a program with a guarded route. */
const frameworks = ['express', 'fastify', 'hono', 'nest']

/** Writes the host application in `fixtures/host.ts`, and the programs of the how-to pages. */
const writePrograms = async (at: string): Promise<void> => {
  await copyFile(join(import.meta.dirname, 'fixtures/host.ts'), join(at, 'host.mts'))
  for (const page of frameworks) {
    const [program] = blocksOf(readPage(`docs/how-to/${page}.md`))
    await writeFile(join(at, `${page}.ts`), program?.text ?? '')
  }
}

const compile = async (
  at: string,
  compiler: string,
  files: readonly string[],
  options: object,
): Promise<void> => {
  const config = join(at, `tsconfig.${compiler}.json`)
  await writeFile(
    config,
    JSON.stringify({ compilerOptions: { ...compilerOptions, ...options }, files }),
  )
  await run(process.execPath, [`node_modules/${compiler}/bin/tsc`, '-p', config], { cwd: at })
}

/** Expects that the program of a how-to page runs, and that its guard protects the route. */
const guards = async (at: string, page: string): Promise<void> => {
  const cwd = join(at, 'runs', page)
  await mkdir(cwd, { recursive: true })
  await using program = await startHostProgram([join(at, `out/${page}.js`)], { cwd, env: {} })
  const { url, database } = program
  const ask = callerAt(`${url}/api/notes`)
  const { reads, nothing } = await tokensOf(database)
  expect(await ask()).toEqual([401, null])
  const note = { text: expect.stringMatching(/^A note of user \d+$/) }
  expect(await ask(reads)).toEqual([200, [note]])
  expect(await ask(nothing)).toEqual([403, null])
  expect((await fetch(`${url}/login`)).status).toBe(200)
  expect((await fetch(`${url}/oauth/token`, { method: 'POST' })).status).toBe(400)
}

type Ranges = Readonly<Record<string, string>>

/** The optional packages whose lowest and newest versions the tests install. Nest consists of several packages. */
const optional = ['@nestjs/common', '@redis/client', 'express', 'fastify', 'hono', 'pg', 'rxjs']
/** Further packages that the programs of the tests import. */
const tools = ['@hono/node-server', '@types/node', 'reflect-metadata']
const ofNest = ['@nestjs/core', '@nestjs/platform-express']

/** Returns the ranges of the runtime dependencies, and of the optional packages. */
const ranges = async (): Promise<{ dependencies: Ranges; peers: Ranges }> => {
  const manifest = await readJson(join(root, 'package.json'))
  const { dependencies, peerDependencies } = manifest as Readonly<Record<string, Ranges>>
  const rangeOf = (name: string) =>
    peerDependencies?.[ofNest.includes(name) ? '@nestjs/common' : name] ?? ''
  const peers = [...optional, ...ofNest].map((name) => [name, rangeOf(name)])
  return { dependencies: dependencies ?? {}, peers: Object.fromEntries(peers) }
}

/** Returns the lowest version of a range such as `^4.16 || ^5`. */
const lowestOf = (range: string): string => {
  const [, version = ''] = /^\^([\d.]+)/.exec(range) ?? []
  return [...version.split('.'), '0', '0'].slice(0, 3).join('.')
}

const stores = ['SQLite', ...((await lacks('postgres')) ? [] : ['PostgreSQL'])]

/** Runs the compiled host application on a store. Returns its output. */
const printedBy = async (
  at: string,
  store: string,
  [command, ...args]: readonly [string, ...string[]],
): Promise<unknown> => {
  const database = store === 'PostgreSQL' ? await makeDatabase() : undefined
  const env = { POSTGRES_URL: database?.url }
  const { stdout } = await run(command, [...args, 'out/host.mjs'], { cwd: at, env })
  await database?.drop()
  return JSON.parse(stdout)
}

/** Expects that a CommonJS program can load every export of the installed package. */
const requireExports = async (at: string): Promise<void> => {
  const { exports } = await readJson(join(at, 'node_modules/svc-oauth2server/package.json'))
  const parts = Object.keys(exports as object).map((path) => `svc-oauth2server${path.slice(1)}`)
  const program = `
    const sizes = ${JSON.stringify(parts)}.map((part) => Object.keys(require(part)).length)
    const { createAuthorizationServer } = require('svc-oauth2server')
    console.log(JSON.stringify([sizes.every((size) => size > 0), typeof createAuthorizationServer]))`
  await writeFile(join(at, 'program.cjs'), program)
  const { stdout, stderr } = await run(process.execPath, ['program.cjs'], { cwd: at })
  expect(stderr).toBe('')
  expect(JSON.parse(stdout)).toEqual([true, 'function'])
}

describe.skipIf(withoutRegistry)('the package, installed in an empty folder,', () => {
  let folder: TemporaryFolder
  const inFolder = (...names: string[]) => join(folder.path, ...names)
  const runThere = (command: string, args: readonly string[], options: ProgramOptions = {}) =>
    run(command, args, { cwd: folder.path, ...options })

  beforeAll(async () => {
    folder = await installed([], { allowScripts: { deno: true, bun: true } })
  }, installationTimeout)
  afterAll(() => folder?.[Symbol.asyncDispose]())

  test('works without Express if the application does not use it', async () => {
    await expect(stat(inFolder('node_modules/express'))).rejects.toThrow('ENOENT')
    const program = `import { createAuthorizationServer } from 'svc-oauth2server'
      import { sqlite } from 'svc-oauth2server/sqlite'
      import 'svc-oauth2server/environment'
      const server = await createAuthorizationServer({
        issuer: 'https://a.example', secretKeys: ['a secret key of more than thirty-two bytes'], store: sqlite(':memory:'),
        allowedResponseTypes: ['code'], acceptQueryAccessToken: false,
      })
      console.log((await server.fetch(new Request('https://a.example/oauth/token', { method: 'POST' }))).status)
      await server.close()`
    const args = ['--input-type=module', '--eval', program]
    const { stdout, stderr } = await runThere(process.execPath, args)
    expect([stdout, stderr]).toEqual(['400\n', ''])
  })

  test('npx svc-oauth2server --help prints the usage', async () => {
    const { stdout } = await runThere('npx', ['svc-oauth2server', '--help'])
    for (const command of 'serve users tokens clients scopes migrate secret-key'.split(' ')) {
      expect(stdout).toMatch(new RegExp(`^  ${command}\\b`, 'm'))
    }
    // Outside this repository, the scopes of its example application do not exist.
    const scopes = await runThere('npx', ['svc-oauth2server', 'scopes', 'list'], {
      env: { DATABASE_URL: 'sqlite::memory:' },
    })
    expect(JSON.parse(scopes.stdout)).toMatchObject({ id: 'user:email' })
  })

  test('the command-line program creates a user and a token, and its server accepts the token', async () => {
    await using data = await temporaryFolder()
    const port = await freePort()
    const env = {
      PORT: String(port),
      DATABASE_URL: `sqlite:${join(data.path, 'data', 'oauth2server.sqlite')}`,
    }
    const cli = (...args: string[]) => runThere('npx', ['svc-oauth2server', ...args], { env })
    const user = JSON.parse((await cli('users', 'create', '--email', 'me@example.org')).stdout)
    expect(user).toEqual({
      id: expect.any(Number),
      email: 'me@example.org',
      password: expect.any(String),
    })
    const made = await cli('tokens', 'create', '--name', 'Laptop', '--user', 'me@example.org')
    expect(made.stdout).toMatch(/^[A-Za-z0-9]{60}\n$/)

    const main = inFolder('node_modules/svc-oauth2server/dist/cli/main.js')
    await using serving = runNode([main, 'serve'], { cwd: folder.path, env })
    await serving.says(/listens on 127\.0\.0\.1/, { on: 'stderr' })
    const url = `http://localhost:${port}`
    const authorization = `Bearer ${made.stdout.trim()}`
    const ping = await fetch(`${url}/oauth/ping`, { headers: { authorization } })
    expect([ping.status, await ping.json()]).toEqual([200, { ping: 'pong' }])
    for (const path of ['/login', '/oauth/style.css']) {
      expect([path, (await fetch(`${url}${path}`)).status]).toEqual([path, 200])
    }
    expect(await serving.stop()).toEqual({ code: 0, signal: null })
  })

  describe('to which the application adds the newest frameworks and TypeScript,', () => {
    // The package `node` contains an installer, and these packages contain the program itself.
    const system = process.platform === 'win32' ? 'win' : process.platform
    const nodes = ['22', '26'].map(
      (version) => `node${version}@npm:node-${system}-${process.arch}@${version}`,
    )

    beforeAll(async () => {
      const { peers } = await ranges()
      const newest = Object.entries(peers)
      await install(folder.path, [
        ...newest.map(([name, range]) => `${name}@${range}`),
        ...(await Promise.all([...tools, '@noble/hashes'].map(versionOf))),
        ...nodes,
        '@types/express@5',
        'typescript@latest',
        'deno@2',
        'bun@1',
      ])
      await writePrograms(folder.path)
      const files = ['host.mts', ...frameworks.map((page) => `${page}.ts`)]
      await compile(folder.path, 'typescript', files, { target: 'es2024' })
    }, installationTimeout)

    test.for(frameworks)('the program of the how-to page guards a route: %s', (page) =>
      guards(folder.path, page),
    )

    // The values are the runtime, the path of its program, and its arguments.
    describe.each([
      ['Node 24', process.execPath],
      ['Node 22', 'node_modules/node22/bin/node'],
      ['Node 26', 'node_modules/node26/bin/node'],
      ['Deno', 'node_modules/.bin/deno', 'run', '--allow-all'],
      ['Bun', 'node_modules/.bin/bun'],
    ] as const)('a program that uses the whole public API', (runtime, command, ...args) => {
      test.for(stores)(
        `compiles with strict options, and runs on ${runtime} with %s`,
        async (store) => {
          const program = resolve(folder.path, command)
          expect(await printedBy(folder.path, store, [program, ...args])).toEqual(expected)
        },
      )
    })

    test('require() loads every export', () => requireExports(folder.path))
  })
})

describe.skipIf(withoutRegistry)(
  'the package, installed beside the lowest dependencies and frameworks of its ranges, and TypeScript 5.4,',
  () => {
    let folder: TemporaryFolder
    beforeAll(async () => {
      const { dependencies, peers } = await ranges()
      const lowest = Object.entries({ ...peers, ...dependencies })
      folder = await installed([
        ...lowest.map(([name, range]) => `${name}@${lowestOf(range)}`),
        ...(await Promise.all(tools.map(versionOf))),
        '@types/express@4',
        // The declarations of Hono need 5.7.
        'typescript@~5.4.0',
        'newest@npm:typescript@latest',
      ])
      await writePrograms(folder.path)
      const others = frameworks.filter((page) => page !== 'hono').map((page) => `${page}.ts`)
      await compile(folder.path, 'typescript', ['host.mts', ...others], { target: 'es2022' })
      await compile(folder.path, 'newest', ['hono.ts'], { target: 'es2024' })
    }, installationTimeout)
    afterAll(() => folder?.[Symbol.asyncDispose]())

    test('shares each dependency with the application', async () => {
      const modules = join(folder.path, 'node_modules')
      const { dependencies, peers } = await ranges()
      for (const [name, range] of Object.entries({ ...peers, ...dependencies })) {
        const { version } = await readJson(join(modules, name, 'package.json'))
        expect(`${name} ${version}`).toBe(`${name} ${lowestOf(range)}`)
      }
      await expect(stat(join(modules, 'svc-oauth2server/node_modules'))).rejects.toThrow('ENOENT')
    })

    test('a program that uses the whole public API compiles with strict options, and runs with Express 4 [T785]', async () => {
      for (const store of stores)
        expect(await printedBy(folder.path, store, [process.execPath])).toEqual(expected)
    })

    test.for(frameworks)('the program of the how-to page guards a route: %s', (page) =>
      guards(folder.path, page),
    )

    test('require() loads every export', () => requireExports(folder.path))
  },
)
