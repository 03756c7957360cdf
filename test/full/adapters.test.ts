import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ServerSettings } from '../contracts/adapter/control.ts'
import type { Message, Started } from '../contracts/adapter/drive.ts'
import type { Control, Embedded } from '../contracts/adapter/harness.ts'
import { adapterContract } from '../contracts/adapter-contract.ts'
import {
  install,
  installationTimeout,
  packedTarball,
  readJson,
  run,
  withoutRegistry,
} from '../support/packed.ts'
import {
  freePort,
  root,
  runNode,
  type TemporaryFolder,
  temporaryFolder,
} from '../support/processes.ts'

// Each example runs as a user would run it: in a separate folder, with the packed package.

interface Example {
  readonly folder: string
  readonly driver: string
  /** The files to run: compiled JavaScript, or the TypeScript source if Node can run it. */
  readonly run: { readonly driver: string; readonly main: string }
  readonly platforms: readonly string[]
}

const plain = (name: string): Example => ({
  folder: name,
  driver: `test/adapters/drivers/${name}.ts`,
  run: { driver: 'src/driver.ts', main: 'src/main.ts' },
  platforms: [name],
})

const examples: readonly Example[] = [
  plain('express'),
  plain('fastify'),
  plain('hono'),
  {
    folder: 'nest',
    driver: 'test/adapters/nest/driver.ts',
    run: { driver: 'dist/driver.js', main: 'dist/main.js' },
    platforms: ['express', 'fastify'],
  },
]

interface Variant {
  readonly prefix: string
  readonly settings: ServerSettings
}

/**
 * This test runs both variants only with `NODES=whole npm run test:full`. `npm test` runs the adapter contract for both
 * variants with the adapters of the repository.
 */
const variants: Readonly<Record<string, Variant>> = {
  ...(process.env.NODES === 'whole' && {
    'at the root': { prefix: '', settings: { issuer: 'http://localhost' } },
  }),
  'under a prefix, behind a proxy': {
    prefix: '/shop',
    settings: {
      issuer: 'https://notes.example/shop',
      oauthPrefix: '/connect',
      trustedProxies: ['127.0.0.0/8', '::1'],
    },
  },
}

/** Copies the example and the driver of the adapter contract into an empty folder, and installs the packages. */
const installExample = async ({ folder, driver }: Example): Promise<TemporaryFolder> => {
  const there = await temporaryFolder()
  const from = join(root, 'examples', folder)
  const skipped = ['node_modules', 'dist', 'data']
  const filter = (path: string) => !skipped.includes(basename(path))
  await cp(from, there.path, { recursive: true, filter })
  const text = (await readFile(join(root, driver), 'utf8'))
    .replace(/'[^']*\/src\/app\.ts'/, "'./app.ts'")
    .replace(/'[^']*\/contracts\/adapter\//, "'./contract/")
  await writeFile(join(there.path, 'src/driver.ts'), text)
  await mkdir(join(there.path, 'src/contract'))
  for (const name of ['drive.ts', 'control.ts', 'harness.ts'])
    await cp(join(root, 'test/contracts/adapter', name), join(there.path, 'src/contract', name))
  const manifest = join(there.path, 'package.json')
  const { dependencies, ...others } = await readJson(manifest)
  const ours = { 'svc-oauth2server': `file:${await packedTarball()}` }
  await writeFile(
    manifest,
    JSON.stringify({ ...others, dependencies: { ...(dependencies as object), ...ours } }),
  )
  await install(there.path)
  return there
}

const embed = async (
  cwd: string,
  script: string,
  platform: string,
  { settings, prefix }: Variant,
): Promise<Embedded> => {
  const program = runNode([script, platform], { cwd, messages: true })
  const ask = async (message: Message): Promise<unknown> => {
    const { value, error } = (await program.ask(message)) as { value?: unknown; error?: string }
    if (error !== undefined) throw new Error(`${error}\n${program.stderr}`)
    return value
  }
  const { port, place } = (await ask({ name: 'start', settings, prefix })) as Started
  const control = new Proxy({} as Control, {
    get: (_, name) =>
      name === 'then'
        ? undefined
        : (...args: unknown[]) => ask({ name: name as keyof Control, args }),
  })
  return {
    url: `http://localhost:${port}${prefix}`,
    place,
    control,
    [Symbol.asyncDispose]: () => program.crash(),
  }
}

describe.skipIf(withoutRegistry).each(examples)(
  'examples/$folder, installed from the tarball',
  (example) => {
    let folder: TemporaryFolder
    beforeAll(async () => {
      folder = await installExample(example)
    }, installationTimeout)
    afterAll(() => folder?.[Symbol.asyncDispose]())

    test('compiles with tsc, which also checks the type declarations of the package', async () => {
      await run(join(folder.path, 'node_modules/.bin/tsc'), ['-p', '.'], { cwd: folder.path })
    })

    test('starts, and shows the home page with a link to the login', async () => {
      const port = await freePort()
      const env = { PORT: String(port), DATABASE_URL: 'sqlite::memory:' }
      await using program = runNode([example.run.main], { cwd: folder.path, env })
      await program.says(/Open http:\/\/localhost:\d+\//)
      const page = await fetch(`http://localhost:${port}/`)
      expect([page.status, await page.text()]).toEqual([
        200,
        expect.stringContaining('href="/login"'),
      ])
    })

    for (const platform of example.platforms)
      for (const [title, variant] of Object.entries(variants))
        adapterContract(`on ${platform}, ${title}`, () =>
          embed(folder.path, example.run.driver, platform, variant),
        )
  },
)
