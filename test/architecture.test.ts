import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseSource, readSources, type SourceFile } from './support/source-file.ts'

// Paths are relative to `src`. A path that ends in `/` is a directory and all files below it.

/** A file in `file` may import `may`, and may import `types` with `import type`. The first matching row applies. */
interface Layer {
  readonly file: readonly string[]
  readonly may: readonly string[]
  readonly types?: readonly string[]
}

/** The top-level paths, lowest layer first. No file imports from a path that is listed after the path of the file. */
const ladder = [
  'queues/',
  'crypto/',
  'model/',
  'settings/',
  'store/',
  'http/',
  'records/',
  'pages/',
  'protocol/',
  'account/',
  'server/',
  'index.ts',
  'adapters/',
  'cli/',
]

const ground = ['queues/', 'crypto/', 'model/']
const storeContract = ['store/store.ts', 'store/contract/']
const contracts = [...storeContract, 'store/timeout.ts']
/** The context of the protocol, and the types of its plug-ins. */
const protocolTypes = [
  'protocol/server-context.ts',
  'protocol/client-lookup.ts',
  'protocol/short-lived.ts',
  'protocol/plug-ins.ts',
  'protocol/plug-ins/',
]
const core = [
  ...ground,
  ...contracts,
  'http/',
  'records/',
  ...protocolTypes,
  'protocol/code-redemption.ts',
  'protocol/extension-names.ts',
  'protocol/resource-server.ts',
]
const endpoints = [
  ...core,
  'pages/',
  'protocol/client-authentication/',
  'protocol/destinations.ts',
  'protocol/endpoints/',
  'protocol/grants/',
  'protocol/leaked/',
  'protocol/openapi/',
  'protocol/session/',
]
/** The parts of OpenID Connect, which its extensions share. */
const openid = [...endpoints, 'protocol/openid/']

const layers: readonly Layer[] = [
  { file: ['queues/'], may: [] },
  { file: ['crypto/'], may: ['crypto/', 'queues/'] },
  { file: ['model/'], may: ['model/', 'crypto/digest.ts'], types: ['crypto/'] },
  { file: ['settings/'], may: ['settings/', 'model/'] },
  { file: ['store/contract/'], may: ['model/'], types: ['crypto/', 'store/contract/'] },
  { file: ['store/store.ts'], may: ['model/'], types: ['crypto/', 'store/contract/'] },
  { file: ['store/timeout.ts'], may: [] },
  { file: ['store/transients/'], may: [...storeContract, 'store/transients/'] },
  {
    file: ['store/decorated.ts', 'store/notify-after-commit.ts'],
    may: [...storeContract, 'model/'],
  },
  {
    file: ['store/redis.ts', 'store/redis/'],
    may: [...contracts, 'store/redis/', 'model/members.ts', 'crypto/checksum.ts'],
  },
  {
    file: ['store/sql/', 'store/sqlite.ts', 'store/postgres.ts'],
    may: [...ground, ...contracts, 'store/sql/'],
  },
  { file: ['http/outbound/outbound.ts'], may: [] },
  {
    file: ['http/outbound/'],
    may: ['http/outbound/', 'model/', 'queues/'],
    types: ['settings/'],
  },
  { file: ['http/'], may: ['http/', ...ground, ...storeContract] },
  { file: ['records/limits.ts'], may: [...ground, ...storeContract, 'settings/limit-table.ts'] },
  { file: ['records/'], may: ['records/', ...ground, ...storeContract], types: ['settings/'] },
  { file: ['pages/'], may: ['pages/', 'model/'] },
  {
    file: protocolTypes,
    may: [],
    types: [
      ...protocolTypes,
      ...ground,
      'http/',
      'pages/',
      'protocol/extension-names.ts',
      'protocol/resource-server.ts',
      'protocol/session/',
      'protocol/token-queues.ts',
      'records/',
      'settings/',
    ],
  },
  {
    file: ['protocol/extension-names.ts'],
    may: [...ground, 'settings/limit-table.ts'],
    types: ['records/', 'settings/'],
  },
  { file: ['protocol/code-redemption.ts'], may: core },
  { file: ['protocol/destinations.ts'], may: ['model/'], types: protocolTypes },
  { file: ['protocol/token-queues.ts'], may: ['records/limits.ts', 'records/turns.ts'] },
  {
    file: ['protocol/resource-server.ts'],
    may: ['model/', 'crypto/jose.ts'],
    types: ['records/', 'settings/'],
  },
  {
    file: ['protocol/provider-operations.ts'],
    may: ['records/'],
    types: [...protocolTypes, 'model/'],
  },
  // Grants do not import each other, and neither do extensions. Only the lists of grants and extensions import them.
  { file: ['protocol/grants/built-in.ts'], may: ['protocol/grants/'], types: core },
  { file: ['protocol/grants/'], may: core },
  { file: ['protocol/client-authentication/'], may: [...core, 'protocol/client-authentication/'] },
  {
    file: ['protocol/openapi/'],
    may: ['protocol/openapi/', 'model/', 'pages/shapes/'],
    types: protocolTypes,
  },
  { file: ['protocol/session/'], may: [...core, 'protocol/session/'], types: ['settings/'] },
  { file: ['protocol/leaked/'], may: [...core, 'protocol/leaked/'] },
  { file: ['protocol/endpoints/'], may: endpoints, types: ['settings/'] },
  {
    file: ['protocol/extensions/built-in.ts'],
    may: [...openid, 'protocol/extensions/'],
    types: ['settings/'],
  },
  {
    file: ['protocol/extensions/'],
    may: [...openid, 'protocol/request-objects/'],
    types: ['settings/'],
  },
  {
    file: ['protocol/request-objects/'],
    may: [...core, 'protocol/client-authentication/', 'protocol/request-objects/'],
  },
  { file: ['protocol/openid/'], may: openid, types: ['settings/'] },
  {
    file: ['account/'],
    may: [...endpoints, 'account/', 'settings/limit-table.ts'],
    types: ['settings/'],
  },
  {
    file: ['server/telemetry/'],
    may: [...ground, 'http/', 'settings/', ...storeContract, 'server/telemetry/'],
  },
  { file: ['server/clock/'], may: ['server/clock/', 'model/'] },
  {
    file: ['server/sweeper/'],
    may: [
      'server/sweeper/',
      'server/clock/',
      'model/',
      'records/audit/audit-chain.ts',
      ...storeContract,
    ],
    types: ['records/'],
  },
  {
    file: ['server/environment/'],
    may: [
      'server/environment/',
      'model/members.ts',
      'model/start-problem.ts',
      'settings/',
      'store/',
    ],
  },
  { file: ['server/import-path.ts'], may: ['model/scope.ts', 'protocol/session/utils.ts'] },
  {
    file: ['server/testing.ts'],
    may: [
      'server/authorization-server.ts',
      'server/create-authorization-server.ts',
      'server/options.ts',
      ...ground,
      'store/sqlite.ts',
    ],
  },
  {
    file: ['server/'],
    may: [
      ...ground,
      ...contracts,
      'store/notify-after-commit.ts',
      'store/decorated.ts',
      'store/transients/',
      'http/',
      'pages/',
      'protocol/',
      'account/',
      'records/',
      'server/',
      'settings/',
    ],
  },
  {
    file: ['index.ts'],
    may: [
      'http/',
      'model/',
      'pages/',
      'protocol/',
      'records/',
      'server/',
      'settings/',
      ...storeContract,
    ],
  },
  {
    file: ['adapters/'],
    may: [
      'adapters/',
      'http/check-connection.ts',
      'http/media-type.ts',
      'http/response.ts',
      'model/bounds.ts',
      'model/members.ts',
    ],
    types: ['http/', 'model/', 'protocol/', 'server/authorization-server.ts'],
  },
  {
    file: ['cli/'],
    may: [
      'cli/',
      'protocol/grants/built-in.ts',
      'index.ts',
      'adapters/node-http.ts',
      'model/',
      'protocol/endpoints/operations/home.ts', // the start page, which only a standalone server has
      'records/context.ts', // the key of the records' context
      'records/tokens/ended-tokens.ts', // the deleted tokens, which `tokens delete` makes final
      'pages/forms/', // the fields of forms, which are also options of commands
      'account/wire.ts', // the JSON of records, which commands print like the settings API
      'server/environment/',
    ],
    types: ['server/'],
  },
]

/**
 * The paths that may import a package or a Node module. A name that ends in `/` is a scope. All files may import the
 * packages and modules that are not listed.
 */
const packages: Readonly<Record<string, readonly string[]>> = {
  'node:https': ['http/outbound/'],
  'http-cache-semantics': ['http/outbound/'],
  kysely: ['store/'],
  'node:sqlite': ['store/'],
  pg: ['store/'],
  '@redis/client': ['store/redis/', 'store/redis.ts'],
  redis: ['store/'],
  ioredis: ['store/'],
  hono: ['server/router.ts', 'protocol/', 'pages/', 'adapters/hono.ts'],
  '@hono/node-server': ['adapters/', 'cli/'],
  express: ['adapters/express.ts'],
  fastify: ['adapters/fastify.ts'],
  rxjs: ['adapters/nest.ts'],
  '@fastify/': ['adapters/fastify.ts'],
  '@nestjs/': ['adapters/nest.ts'],
  commander: ['cli/'],
  pino: ['server/telemetry/'],
  '@opentelemetry/': ['server/telemetry/', 'protocol/resource-server.ts'],
}

/** The paths that may use the environment, the clock, randomness or a default export directly. */
const ambient: Readonly<Record<SourceFile['uses'][number]['what'], readonly string[]>> = {
  'process.env': ['cli/'],
  // Date.now, new Date(), Date(). A Date with a given time does not read the clock.
  clock: ['server/prepare.ts', 'server/open-store.ts', 'crypto/', 'cli/'],
  // Math.random; randomBytes, randomUUID, randomInt, getRandomValues of a crypto module
  randomness: [
    'crypto/',
    'cli/',
    'http/request-scope.ts', // The ID of a request affects no decision.
    'server/environment/secret-key-file.ts', // the secret key that is generated at the first start
    'store/sql/sqlite/database.ts', // The jitter of a retry affects no decision.
  ],
  'default export': [],
}

const sources = readSources()

const matches = (path: string, patterns: readonly string[] = []): boolean =>
  patterns.some((pattern) => (pattern.endsWith('/') ? path.startsWith(pattern) : path === pattern))

const packageOf = (module: string): string =>
  module.startsWith('node:')
    ? module
    : module
        .split('/')
        .slice(0, module.startsWith('@') ? 2 : 1)
        .join('/')

const manifest = JSON.parse(
  readFileSync(resolve(import.meta.dirname, '../package.json'), 'utf8'),
) as {
  readonly dependencies: Readonly<Record<string, string>>
  readonly peerDependencies: Readonly<Record<string, string>>
  readonly devDependencies: Readonly<Record<string, string>>
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
}

/** Returns a message for each import that the layer of a file does not allow. */
const breaches = ({ path, imports }: SourceFile): string[] => {
  const layer = layers.find(({ file }) => matches(path, file))
  if (!layer) return [`src/${path} has no row in the table of layers`]
  return imports
    .filter(({ isOurs }) => isOurs)
    .filter(({ module }) => !matches(module, layer.may))
    .filter(({ module, typeOnly }) => !(typeOnly && matches(module, layer.types)))
    .map(({ module, line }) => {
      const why = matches(module, layer.types) ? ' (only by `import type`)' : ''
      return `src/${path}:${line} → src/${module}${why}`
    })
}

/** Returns the import cycles, including those of type imports. */
const cycles = (files: readonly SourceFile[]): string[] => {
  const needs = new Map(
    files.map(({ path, imports }) => [
      path,
      imports.filter(({ isOurs }) => isOurs).map(({ module }) => module),
    ]),
  )
  const done = new Set<string>()
  const found: string[] = []
  const visit = (path: string, trail: readonly string[]): void => {
    const start = trail.indexOf(path)
    if (start >= 0) found.push([...trail.slice(start), path].join(' → '))
    if (start >= 0 || done.has(path)) return
    for (const next of needs.get(path) ?? []) visit(next, [...trail, path])
    done.add(path)
  }
  for (const path of needs.keys()) visit(path, [])
  return found
}

describe('architecture', () => {
  test('a file imports only what its layer may import', () => {
    expect(sources.flatMap(breaches)).toEqual([])
  })

  test('`src` contains exactly the paths of the ladder', () => {
    const found = new Set(sources.map(({ path }) => path.replace(/\/.*/, '/')))
    expect([...found].sort()).toEqual([...ladder].sort())
  })

  test('no file imports from a parent of its directory', () => {
    const levelOf = (path: string): number => ladder.findIndex((rung) => matches(path, [rung]))
    const found = sources.flatMap(({ path, imports }) =>
      imports
        .filter(({ isOurs, module }) => isOurs && levelOf(module) > levelOf(path))
        .map(({ module, line }) => `src/${path}:${line} → src/${module}`),
    )
    expect(found).toEqual([])
  })

  test('imports have no cycles, including type imports', () => {
    expect(cycles(sources)).toEqual([])
  })

  test('a listed package is imported only by the paths that may import it', () => {
    const found = sources.flatMap(({ path, imports }) =>
      imports
        .filter(({ isOurs, module }) => {
          if (isOurs) return false
          const name = packageOf(module)
          const rule = Object.entries(packages).find(([rule]) => matches(name, [rule]))
          return rule && !matches(path, rule[1])
        })
        .map(({ module, line }) => `src/${path}:${line} → ${module}`),
    )
    expect(found).toEqual([])
  })

  test('an imported package is listed in dependencies, peerDependencies or, if it is bundled, devDependencies', () => {
    const { dependencies, peerDependencies, devDependencies } = manifest
    const declared = { ...dependencies, ...peerDependencies, ...devDependencies }
    const found = sources.flatMap(({ path, imports }) =>
      imports
        .filter(({ isOurs, module }) => !isOurs && !module.startsWith('node:'))
        .filter(({ module }) => !(packageOf(module) in declared))
        .map(({ module, line }) => `src/${path}:${line} → ${module}`),
    )
    expect(found).toEqual([])
  })

  test('package.json accepts newer minor versions of each runtime dependency, so that a host can install a security fix', () => {
    const others = Object.entries(manifest.dependencies).filter(
      ([, range]) => !/^\^\d+\.\d+\.\d+$/.test(range),
    )
    expect(others).toEqual([])
  })

  test('only the listed paths use the environment, the clock or randomness directly, and no file has a default export', () => {
    const found = sources.flatMap(({ path, uses }) =>
      uses
        .filter(({ what }) => !matches(path, ambient[what]))
        .map(({ what, text, line }) => `src/${path}:${line} → ${what}: ${text}`),
    )
    expect(found).toEqual([])
  })

  test('the type check of tests resolves the name of the package to the sources of the exports in package.json', () => {
    const text = readFileSync(resolve(import.meta.dirname, '../tsconfig.test.json'), 'utf8')
    const { compilerOptions } = JSON.parse(text.replaceAll(/^\s*\/\/.*$/gm, '')) as {
      readonly compilerOptions: { readonly paths: Readonly<Record<string, readonly string[]>> }
    }
    const expected = Object.entries(manifest.exports).flatMap(([path, target]) => {
      if (typeof target === 'string') return []
      const source = target.default.replace(/^\.\/dist\/(.*)\.js$/, './src/$1.ts')
      return [[path.replace(/^\./, 'svc-oauth2server'), [source]]]
    })
    expect(compilerOptions.paths).toEqual(Object.fromEntries(expected))
  })
})

test('parseSource finds every form of import and use', () => {
  const file = parseSource(
    'endpoints/sample.ts',
    `import type { A } from './a.ts'
import { type B } from '../b.ts'
export type { C } from './c.ts'
export * from 'd/e'
type F = import('./f.ts').F
const g = await import('./g.ts')
import { randomBytes as h } from 'node:crypto'
export default process.env.X
const { env } = process
export { h as default } // Date.now() in a comment
export const at = [new Date(0), new Date(), Date.now, Math.random(), globalThis.crypto.randomUUID(), 'Date.now()']
`,
  )
  expect(file.imports.map(({ module, typeOnly, line }) => [line, module, typeOnly])).toEqual([
    [1, 'endpoints/a.ts', true],
    [2, 'b.ts', false],
    [3, 'endpoints/c.ts', true],
    [4, 'd/e', false],
    [5, 'endpoints/f.ts', true],
    [6, 'endpoints/g.ts', false],
    [7, 'node:crypto', false],
  ])
  expect(file.uses.map(({ what, line }) => [line, what])).toEqual([
    [7, 'randomness'],
    [8, 'default export'],
    [8, 'process.env'],
    [9, 'process.env'],
    [10, 'default export'],
    [11, 'clock'],
    [11, 'clock'],
    [11, 'randomness'],
    [11, 'randomness'],
  ])
})
