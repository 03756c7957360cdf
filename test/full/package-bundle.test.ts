import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  installationTimeout,
  installed,
  readJson,
  run,
  withoutRegistry,
} from '../support/packed.ts'
import { root, type TemporaryFolder, temporaryFolder } from '../support/processes.ts'

/** The package that contains a module, by its path. */
const packageOf = (path: string) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]

describe.skipIf(withoutRegistry)('the bundled package', () => {
  let folder: TemporaryFolder
  const inPackage = (...names: string[]) =>
    join(folder.path, 'node_modules/svc-oauth2server', ...names)
  const evaluate = async (program: string, ...options: string[]) => {
    const args = [...options, '--input-type=module', '--eval', program]
    return run(process.execPath, args, { cwd: folder.path })
  }
  let files: readonly string[]
  const filesWith = (ending: string) => files.filter((file) => file.endsWith(ending))
  const textOf = (file: string) => readFile(inPackage('dist', file), 'utf8')
  /** The modules in each file, by the source maps. */
  const modules = async () => {
    const maps = await Promise.all(filesWith('.js.map').map(textOf))
    return maps.flatMap((map) => (JSON.parse(map) as { sources: string[] }).sources)
  }

  beforeAll(async () => {
    folder = await installed([])
    files = await readdir(inPackage('dist'), { recursive: true })
  }, installationTimeout)
  afterAll(() => folder?.[Symbol.asyncDispose]())

  test('installs at most 10 MB, and only the API of OpenTelemetry and a style sheet besides itself [T2800]', async () => {
    const found = await readdir(join(folder.path, 'node_modules'))
    expect(found.filter((name) => !name.startsWith('.')).sort()).toEqual([
      '@opentelemetry',
      'simpledotcss',
      'svc-oauth2server',
    ])
    const { stdout } = await run('du', ['-sk', join(folder.path, 'node_modules')])
    expect(Number.parseInt(stdout, 10)).toBeLessThan(10 * 1024)
  })

  test('imports only packages that package.json lists as dependencies, in its code and its declarations [T2801]', async () => {
    const { dependencies, peerDependencies } = await readJson(inPackage('package.json'))
    const listed = Object.keys({ ...(dependencies as object), ...(peerDependencies as object) })
    const texts = await Promise.all([...filesWith('.js'), ...filesWith('.d.ts')].map(textOf))
    const statement = /^(?:import|export) (?:[^'"\n]* from )?["']([^'"\n]+)["'];$/gm
    const imports = texts.flatMap((text) =>
      [...text.matchAll(statement)].map(([, module = '']) => module),
    )
    const others = imports.filter((name) => !/^(?:\.|node:)/.test(name))
    expect(others).toContain('@opentelemetry/api')
    const unlisted = others.filter(
      (name) => !listed.some((one) => name === one || name.startsWith(`${one}/`)),
    )
    expect(unlisted).toEqual([])
  })

  test('contains each module once, so that a class is the same from every export [T2802]', async () => {
    const all = await modules()
    expect(all.length).toBeGreaterThan(500)
    expect(all.filter((path, index) => all.indexOf(path) !== index)).toEqual([])
    const { stdout } = await evaluate(`
      import { readFileSync } from 'node:fs'
      import * as index from 'svc-oauth2server'
      import * as scopes from 'svc-oauth2server/scopes'
      import * as testing from 'svc-oauth2server/testing'
      import * as environment from 'svc-oauth2server/environment'
      const isClass = (value) => typeof value === 'function' && /^class\\b/.test(String(value))
      const others = [scopes, testing, environment].flatMap((part) => Object.entries(part))
      const shared = others.filter(([name, value]) => name in index && isClass(value))
      console.log(JSON.stringify(shared.map(([name, value]) => [name, value === index[name]])))`)
    expect(JSON.parse(stdout)).toContainEqual(['Scope', true])
    expect(JSON.parse(stdout).filter(([, isSame]: [string, boolean]) => !isSame)).toEqual([])
  })

  test.each([
    ['ES modules', { format: 'esm', entryFileNames: 'host.mjs', chunkFileNames: '[name].mjs' }],
    ['one ES module', { format: 'esm', entryFileNames: 'host.mjs', codeSplitting: false }],
    [
      'CommonJS modules',
      { format: 'cjs', entryFileNames: 'host.cjs', chunkFileNames: '[name].cjs' },
    ],
    ['one CommonJS module', { format: 'cjs', entryFileNames: 'host.cjs', codeSplitting: false }],
  ] as const)(
    'an application that is bundled to %s starts without the package, and serves its pages [T3919]',
    async (_, output) => {
      await using target = await temporaryFolder()
      const input = join(folder.path, 'host.js')
      await writeFile(input, host)
      const bundle = await rolldown({ input, platform: 'node', logLevel: 'silent' })
      await bundle.write({ dir: target.path, ...output })
      await bundle.close()
      await expectToServe(output.entryFileNames, target)
    },
  )

  test('an application that is bundled by webpack starts without the package, and serves its pages [T4700]', async () => {
    await using application = await installed(['webpack@5.113.0'])
    await using target = await temporaryFolder()
    const entry = join(application.path, 'host.js')
    await writeFile(entry, host)
    const config = {
      entry,
      target: 'node22',
      mode: 'production',
      optimization: { minimize: false },
      output: { path: target.path, filename: 'host.cjs' },
    }
    const program = `import webpack from 'webpack'
      webpack(${JSON.stringify(config)}, (error, stats) => {
        if (error || stats.hasErrors()) throw error ?? new Error(stats.toString({ all: false, errors: true }))
      })`
    await run(process.execPath, ['--input-type=module', '--eval', program], {
      cwd: application.path,
    })
    await expectToServe('host.cjs', target)
  })

  test('lists every bundled package with its version and license [T2803]', async () => {
    const bundled = [...new Set((await modules()).map(packageOf))].filter(Boolean).sort()
    const bill = await readJson(inPackage('dist/bundled.cdx.json'))
    const components = bill.components as readonly Readonly<Record<string, string>>[]
    expect(components.map(({ name }) => name).sort()).toEqual(bundled)
    const notices = await textOf('THIRD-PARTY-NOTICES.txt')
    for (const { name = '', version, purl } of components) {
      const manifest = await readJson(join(root, 'node_modules', name, 'package.json'))
      expect([version, purl]).toEqual([
        manifest.version,
        `pkg:npm/${name.replace('@', '%40')}@${version}`,
      ])
      expect(notices).toContain(`${name} ${version} (`)
    }
  })

  test('names the files of the sources in stack traces with --enable-source-maps [T2804]', async () => {
    const program = `import { Scope } from 'svc-oauth2server'
      try { new Scope('no scope') } catch ({ stack }) { console.log(stack) }`
    const { stdout } = await evaluate(program, '--enable-source-maps')
    expect(stdout).toMatch(/src\/[\w/-]+\.ts:\d+:\d+/)
  })
})

const expectToServe = async (bundle: string, { path: cwd }: TemporaryFolder): Promise<void> => {
  const { stdout } = await run(process.execPath, [bundle, 'test.sqlite'], { cwd })
  const answers = JSON.parse(stdout) as readonly (readonly [string, number, number, string])[]
  for (const [path, status, length] of answers)
    expect([path, status, length > 10]).toEqual([path, 200, true])
  const languages = answers.flatMap(([path, , , language]) => (path === '/login' ? language : []))
  expect(languages).toEqual(['en', 'ar'])
  expect(answers).toHaveLength(7)
}

/** An application that hashes a password, deletes expired rows, and requests pages, assets and documents in two languages. */
const host = `
import { createAuthorizationServer } from 'svc-oauth2server'
import { chain, mount } from 'svc-oauth2server/node'
import { sqlite } from 'svc-oauth2server/sqlite'

const main = async () => {
  const server = await createAuthorizationServer({
    issuer: 'http://localhost:3000',
    secretKeys: ['a test secret key of more than 32 bytes'],
    store: sqlite(process.argv[2]),
    openidConnect: true,
  })
  chain(mount(server))
  const user = await server.users.create({ email: 'a@example.org', password: 'correct horse 7' })
  const { accessToken } = await server.tokens.createPersonal('Laptop', user.id)
  const get = async (path, init) => {
    const response = await server.fetch(new Request('http://localhost:3000' + path, init))
    const language = response.headers.get('content-language')
    return [path, response.status, (await response.text()).length, language]
  }
  const answers = [
    await get('/login'),
    await get('/login', { headers: { 'accept-language': 'ar' } }),
    await get('/oauth/style.css'),
    await get('/oauth/page.js'),
    await get('/openapi.json'),
    await get('/oauth/jwks'),
    await get('/oauth/ping', { headers: { authorization: 'Bearer ' + accessToken } }),
  ]
  await server.close()
  console.log(JSON.stringify(answers))
}
main()
`
