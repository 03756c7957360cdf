import { copyFile, readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  freePort,
  Program,
  type ProgramOptions,
  root,
  runNode,
  type TemporaryFolder,
  temporaryFolder,
} from '../support/processes.ts'

const bin = (name: string) => join(root, 'node_modules/.bin', name)

/** Runs a program and expects exit status 0. */
const run = async (
  command: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<{ stdout: string; stderr: string }> => {
  // Run programs with the Node version of this process, which the package supports.
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
  await using program = new Program(command, args, { ...options, env: { PATH, ...options.env } })
  const { code } = await program.exited
  if (code !== 0) {
    const said = `${program.stdout}\n${program.stderr}`
    throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${said}`)
  }
  return program
}

const json = async (path: string): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(path, 'utf8'))

let packed: TemporaryFolder
let tarball: string
beforeAll(async () => {
  packed = await temporaryFolder()
  await run(process.execPath, ['scripts/build.js', '--if-stale'])
  const args = ['pack', '--ignore-scripts', '--json', '--pack-destination', packed.path]
  const { stdout } = await run('npm', args)
  const [{ filename }] = JSON.parse(stdout) as [{ filename: string }]
  tarball = join(packed.path, filename)
})
afterAll(() => packed[Symbol.asyncDispose]())

const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error']

const versionOf = async (name: string): Promise<string> => {
  const { devDependencies } = await json(join(root, 'package.json'))
  return `${name}@${(devDependencies as Record<string, string>)[name]}`
}

describe('the packed package', () => {
  test('contains only documents, compiled files, declarations and stylesheets', async () => {
    const { stdout } = await run('tar', ['-tzf', tarball])
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
    const ordinary = /\.(?:js|js\.map|d\.ts|css)$/
    expect(dist.filter((file) => !ordinary.test(file) || file.includes('.test.'))).toEqual([])
    // The package contains the file of each export and program.
    const { exports, bin } = await json(join(root, 'package.json'))
    const targets = [exports, bin].flatMap((map) =>
      JSON.stringify(map).match(/(?<="\.\/)dist\/[^"]+/g),
    )
    expect(targets.filter((target) => !files.includes(`package/${target}`))).toEqual([])
  })

  test('passes the checks of publint and attw', async () => {
    const publint = await run(bin('publint'), ['run', tarball, '--strict'])
    expect(publint.stdout).toContain('All good!')
    await run(bin('attw'), ['--profile', 'esm-only', '--no-color', tarball])
  })
})

describe('the package, installed in an empty folder,', () => {
  let folder: TemporaryFolder
  const inFolder = (...names: string[]) => join(folder.path, ...names)
  const runThere = (command: string, args: readonly string[], options: ProgramOptions = {}) =>
    run(command, args, { cwd: folder.path, ...options })

  /** Installs additional packages. */
  const add = (...packages: readonly string[]) =>
    runThere('npm', ['install', ...quiet, ...packages])

  beforeAll(async () => {
    folder = await temporaryFolder()
    await writeFile(inFolder('package.json'), JSON.stringify({ private: true }))
    await add(tarball)
  })
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

  const compilerOptions = {
    module: 'nodenext',
    target: 'es2024',
    types: ['node'],
    outDir: 'out',
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    noPropertyAccessFromIndexSignature: true,
    noImplicitOverride: true,
    verbatimModuleSyntax: true,
    isolatedModules: true,
    // Check the type declarations of the package as well.
    skipLibCheck: false,
  }

  /** Compiles the host application in `fixtures/host.ts`, and runs it. */
  const compileAndRun = async (
    at: string,
    options: object = {},
  ): Promise<Record<string, unknown>> => {
    const there = { cwd: at }
    await copyFile(join(import.meta.dirname, 'fixtures/host.ts'), join(at, 'host.mts'))
    const config = { compilerOptions: { ...compilerOptions, ...options }, files: ['host.mts'] }
    await writeFile(join(at, 'tsconfig.json'), JSON.stringify(config))
    await run(join(at, 'node_modules/.bin/tsc'), ['-p', '.'], there)
    const { stdout, stderr } = await run(process.execPath, ['out/host.mjs'], there)
    expect(stderr).toBe('')
    return JSON.parse(stdout)
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

  let compiled: Promise<Record<string, unknown>> | undefined
  /** Compiles and runs `out/host.mjs` once, and returns its output. */
  const compiledHost = (): Promise<Record<string, unknown>> => {
    compiled ??= (async () => {
      const names = ['express', 'typescript', '@types/express', '@types/node']
      await add(...(await Promise.all(names.map(versionOf))))
      return compileAndRun(folder.path)
    })()
    return compiled
  }

  test('compiles and runs a TypeScript program that uses the public API, with strict options', async () => {
    expect(await compiledHost()).toEqual(expected)
  })

  test('compiles and runs with the lowest version of each runtime dependency', async () => {
    const { dependencies } = await json(join(root, 'package.json'))
    const lowest = Object.entries(dependencies as Record<string, string>).map(
      ([name, range]) => `${name}@${range.replace('^', '')}`,
    )
    await using old = await temporaryFolder()
    await writeFile(join(old.path, 'package.json'), JSON.stringify({ private: true }))
    const tools = ['express', 'typescript', '@types/express', '@types/node']
    const packages = [tarball, ...lowest, ...(await Promise.all(tools.map(versionOf)))]
    await run('npm', ['install', ...quiet, '--save-exact', ...packages], { cwd: old.path })
    const hono = await json(join(old.path, 'node_modules/hono/package.json'))
    expect(`hono@${hono.version}`).toBe(lowest.find((name) => name.startsWith('hono@')))
    await expect(
      stat(join(old.path, 'node_modules/svc-oauth2server/node_modules')),
    ).rejects.toThrow('ENOENT')
    expect(await compileAndRun(old.path)).toEqual(expected)
  })

  test('compiles with TypeScript 5.4, the oldest version that the declarations of zod support', async () => {
    await using old = await temporaryFolder()
    await writeFile(join(old.path, 'package.json'), JSON.stringify({ private: true }))
    const tools = await Promise.all(['express', '@types/express', '@types/node'].map(versionOf))
    await run('npm', ['install', ...quiet, tarball, 'typescript@~5.4.0', ...tools], {
      cwd: old.path,
    })
    expect(await compileAndRun(old.path, { target: 'es2022' })).toEqual(expected)
  })

  // The values are the runtime, the name of its folder in node_modules, its package, and its command with arguments.
  test.each([
    [
      'Node 22',
      'node22',
      'npm:node@22',
      ['node22/bin/node', '--disable-warning=ExperimentalWarning'],
    ],
    ['Node 26', 'node26', 'npm:node@26', ['node26/bin/node']],
    ['Deno', 'deno', 'deno@2', ['.bin/deno', 'run', '--allow-all']],
    ['Bun', 'bun', 'bun@1', ['.bin/bun']],
  ] as const)('the program runs on %s', async (_, name, source, [command, ...args]) => {
    await using own = await temporaryFolder()
    const allowScripts = { node: true, node22: true, node26: true, deno: true, bun: true }
    await writeFile(
      join(own.path, 'package.json'),
      JSON.stringify({ private: true, type: 'module', allowScripts }),
    )
    const noble = await versionOf('@noble/hashes')
    const express = await versionOf('express')
    const runtime = source.startsWith('npm:') ? `${name}@${source}` : source
    await run('npm', ['install', ...quiet, tarball, express, noble, runtime], { cwd: own.path })
    await compiledHost()
    await copyFile(inFolder('out/host.mjs'), join(own.path, 'host.mjs'))
    const program = [...args, 'host.mjs']
    const { stdout } = await run(join(own.path, 'node_modules', command), program, {
      cwd: own.path,
    })
    expect(JSON.parse(stdout)).toEqual(expected)
  })

  test('require() loads every export of the package', async () => {
    const { exports } = await json(inFolder('node_modules/svc-oauth2server/package.json'))
    // Skip the exports that need Nest or a database driver. The tests of the examples and how-to pages load these
    // exports.
    const parts = Object.keys(exports as object)
      .filter((path) => !['./nest', './postgres', './redis'].includes(path))
      .map((path) => `svc-oauth2server${path.slice(1)}`)
    const program = `
      const sizes = ${JSON.stringify(parts)}.map((part) => Object.keys(require(part)).length)
      const { createAuthorizationServer } = require('svc-oauth2server')
      console.log(JSON.stringify([sizes.every((size) => size > 0), typeof createAuthorizationServer]))`
    await writeFile(inFolder('program.cjs'), program)
    const { stdout, stderr } = await runThere(process.execPath, ['program.cjs'])
    expect(stderr).toBe('')
    expect(JSON.parse(stdout)).toEqual([true, 'function'])
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

  test('compiles and runs with Express 4 [T785]', async () => {
    await add('express@4', '@types/express@4')
    const { version } = await json(inFolder('node_modules/express/package.json'))
    expect(version).toMatch(/^4\./)
    expect(await compileAndRun(folder.path)).toEqual(expected)
  })
})
