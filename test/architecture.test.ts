import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseSource, readSources, type SourceFile } from './support/source-file.ts'

/*
 * The rules. A path is below `src`; one that ends in `/` is a folder with all that is in it.
 */

/** `file` may import `may`, and `types` by `import type`. The first row that fits a file decides. */
interface Layer {
  readonly file: readonly string[]
  readonly may: readonly string[]
  readonly types?: readonly string[]
}

const ground = [
  'oauth-error.ts',
  'jwt-error.ts',
  'log.ts',
  'http-request.ts',
  'request-target.ts',
  'answer.ts',
  'model/',
  'crypto/',
]
const contracts = ['extension.ts', 'options.ts']
const core = [...ground, 'extension.ts', 'records/', 'store/store.ts', 'outbound/outbound.ts']
const services = [...core, 'grants/', 'client-authentication/', 'resource-server.ts', 'pages/']
const protocol = [...services, 'refusal.ts', 'session/', 'openapi/', 'endpoints/']
const whole = [...protocol, 'extensions/', 'options.ts', 'store/decorated.ts']

const layers: readonly Layer[] = [
  { file: ['oauth-error.ts', 'jwt-error.ts', 'log.ts', 'answer.ts'], may: [] },
  { file: ['crypto/'], may: ['crypto/'] },
  { file: ['model/'], may: ['model/', 'oauth-error.ts', 'crypto/digest.ts'] },
  { file: ['request-target.ts'], may: ['oauth-error.ts'] },
  { file: ['http-request.ts'], may: ['model/', 'oauth-error.ts', 'request-target.ts'] },
  { file: ['refusal.ts'], may: [...ground, 'store/store.ts'] },
  {
    file: ['extension.ts'],
    may: [],
    types: [
      ...ground,
      'records/',
      'store/store.ts',
      'options.ts',
      'pages/',
      'resource-server.ts',
      'limits.ts',
      'outbound/outbound.ts',
      'readiness.ts',
      'session/known-browsers.ts',
      'session/sessions.ts',
      'telemetry/',
      'token-queues.ts',
    ],
  },
  { file: ['store/store.ts'], may: ['model/'], types: ['crypto/'] },
  {
    file: ['store/memory-transients.ts', 'store/late-transients.ts'],
    may: ['store/store.ts', 'store/expiry-heap.ts'],
  },
  { file: ['store/expiry-heap.ts'], may: [] },
  { file: ['store/decorated.ts'], may: ['store/store.ts'] },
  { file: ['store/after-commit.ts'], may: ['store/store.ts', 'model/'] },
  {
    file: ['store/sql/', 'store/sqlite.ts', 'store/postgres.ts'],
    may: ['store/store.ts', 'store/within.ts', 'store/sql/', 'model/', 'crypto/'],
  },
  {
    file: ['store/redis.ts', 'store/redis/'],
    may: ['store/store.ts', 'store/within.ts', 'store/redis/'],
  },
  { file: ['store/within.ts'], may: [] },
  { file: ['records/'], may: core, types: ['options.ts'] },
  // Grants never import each other, except for the list of them; nor do extensions.
  { file: ['grants/built-in.ts'], may: [...core, 'grants/'] },
  { file: ['grants/'], may: core },
  { file: ['client-authentication/'], may: [...core, 'client-authentication/'] },
  { file: ['resource-server.ts'], may: core, types: ['limits.ts', 'telemetry/telemetry.ts'] },
  { file: ['pages/'], may: ['model/', 'pages/'] },
  { file: ['openapi/'], may: ['openapi/'], types: ['options.ts'] },
  {
    file: ['session/'],
    may: [...services, 'refusal.ts', 'request-scope.ts', 'session/'],
    types: ['options.ts'],
  },
  {
    file: ['endpoints/'],
    may: [...protocol, 'addresses.ts'],
    types: ['options.ts', 'limit-table.ts'],
  },
  { file: ['extensions/built-in.ts'], may: [...protocol, 'extensions/'], types: ['options.ts'] },
  { file: ['extensions/'], may: protocol, types: ['options.ts'] },
  {
    file: ['options.ts'],
    may: ['limit-table.ts', 'model/', 'oauth-error.ts', 'security-profile.ts'],
    types: [
      'extension.ts',
      'crypto/',
      'store/store.ts',
      'records/',
      'pages/',
      'session/',
      'log.ts',
    ],
  },
  { file: ['security-profile.ts'], may: [], types: ['options.ts'] },
  {
    file: ['sweeper.ts'],
    may: ['log.ts', 'server-clock.ts', 'store/store.ts', 'sweeper-pace.ts'],
    types: ['options.ts', 'sweeper-kinds.ts'],
  },
  {
    file: ['removals.ts'],
    may: ['log.ts', 'store/store.ts', 'sweeper-pace.ts'],
    types: ['sweeper-kinds.ts'],
  },
  { file: ['sweeper-kinds.ts'], may: ['store/store.ts'], types: ['options.ts'] },
  {
    file: ['missing-users.ts'],
    may: ['log.ts', 'model/', 'store/store.ts'],
    types: ['records/', 'sweeper-kinds.ts'],
  },
  {
    file: ['sweep-plan.ts'],
    may: ['missing-users.ts', 'server-clock.ts', 'store/store.ts', 'sweeper-kinds.ts'],
    types: ['options.ts'],
  },
  { file: ['server-clock.ts'], may: [] },
  { file: ['database-clock.ts', 'machine-clock.ts'], may: ['log.ts', 'server-clock.ts'] },
  { file: ['sweeper-pace.ts'], may: [] },
  { file: ['bounded-map.ts', 'limit-table.ts'], may: [] },
  { file: ['token-queues.ts'], may: ['limits.ts', 'records/turns.ts'] },
  {
    file: ['limits.ts'],
    may: [
      'bounded-map.ts',
      'crypto/digest.ts',
      'limit-table.ts',
      'model/network.ts',
      'oauth-error.ts',
      'store/store.ts',
    ],
    types: ['log.ts'],
  },
  { file: ['query-characters.ts'], may: ['oauth-error.ts'] },
  { file: ['outbound/outbound.ts'], may: [] },
  { file: ['outbound/'], may: ['outbound/', 'model/', 'bounded-map.ts'], types: ['options.ts'] },
  { file: ['request-id.ts'], may: ['answer.ts'], types: ['http-request.ts'] },
  { file: ['request-scope.ts'], may: [], types: ['http-request.ts', 'model/'] },
  {
    file: ['telemetry/'],
    may: [
      ...ground,
      'telemetry/',
      'request-id.ts',
      'request-scope.ts',
      'refusal.ts',
      'options.ts',
      'store/store.ts',
    ],
  },
  { file: ['import-path.ts'], may: [] },
  { file: ['entry-points.ts'], may: ['import-path.ts', 'model/'] },
  {
    file: ['start-up.ts'],
    may: ['crypto/', 'entry-points.ts', 'import-path.ts', 'model/', 'options.ts', 'store/store.ts'],
    types: ['session/'],
  },
  {
    file: ['provider-operations.ts'],
    may: [],
    types: ['extension.ts', 'model/', 'records/'],
  },
  { file: ['addresses.ts'], may: [] },
  { file: ['appearance.ts'], may: ['options.ts', 'pages/'] },
  {
    file: ['router.ts'],
    may: [...protocol, ...contracts, 'addresses.ts', 'request-scope.ts', 'telemetry/'],
  },
  { file: ['readiness.ts'], may: ['log.ts', 'store/within.ts'] },
  { file: ['secret-key-file.ts'], may: ['store/store.ts'] },
  { file: ['environment-stores.ts'], may: ['options.ts', 'store/'] },
  {
    file: ['environment.ts'],
    may: ['environment-stores.ts', 'options.ts', 'secret-key-file.ts', 'store/store.ts'],
  },
  { file: ['utils.ts'], may: ['session/', 'model/', 'oauth-error.ts'] },
  {
    file: ['authorization-server.ts'],
    may: [
      ...whole,
      'appearance.ts',
      'database-clock.ts',
      'limits.ts',
      'machine-clock.ts',
      'missing-users.ts',
      'outbound/',
      'provider-operations.ts',
      'query-characters.ts',
      'readiness.ts',
      'request-scope.ts',
      'router.ts',
      'server-clock.ts',
      'start-up.ts',
      'store/after-commit.ts',
      'store/late-transients.ts',
      'store/memory-transients.ts',
      'removals.ts',
      'sweep-plan.ts',
      'sweeper.ts',
      'sweeper-kinds.ts',
      'telemetry/',
      'token-queues.ts',
    ],
  },
  {
    file: ['index.ts'],
    may: [...whole, 'authorization-server.ts', 'request-scope.ts', 'server-clock.ts'],
    types: ['sweep-plan.ts'],
  },
  {
    file: ['testing.ts'],
    may: ['authorization-server.ts', 'crypto/', 'model/', 'store/sqlite.ts'],
  },
  {
    file: ['adapters/'],
    may: ['adapters/', 'answer.ts'],
    types: [
      'authorization-server.ts',
      'resource-server.ts',
      'refusal.ts',
      'oauth-error.ts',
      'model/',
      'http-request.ts',
      'session/',
    ],
  },
  {
    file: ['cli/'],
    may: [
      'cli/',
      'index.ts',
      'environment.ts',
      'store/',
      'options.ts',
      'adapters/node-http.ts',
      'endpoints/home.ts', // the start page that only a server of its own has
      'model/',
      'pages/',
    ],
    types: ['records/'],
  },
]

/** Where a package or a Node module may be imported; one that ends in `/` is a scope. The others may be anywhere. */
const packages: Readonly<Record<string, readonly string[]>> = {
  'node:https': ['outbound/'],
  'http-cache-semantics': ['outbound/'],
  kysely: ['store/'],
  'node:sqlite': ['store/'],
  pg: ['store/'],
  '@redis/client': ['store/redis/', 'store/redis.ts'],
  redis: ['store/'],
  ioredis: ['store/'],
  hono: ['router.ts', 'endpoints/', 'pages/', 'session/', 'extensions/', 'adapters/hono.ts'],
  '@hono/node-server': ['adapters/', 'cli/'],
  express: ['adapters/express.ts'],
  fastify: ['adapters/fastify.ts'],
  rxjs: ['adapters/nest.ts'],
  '@fastify/': ['adapters/fastify.ts'],
  '@nestjs/': ['adapters/nest.ts'],
  commander: ['cli/'],
  pino: ['log.ts'],
  '@opentelemetry/': ['telemetry/'],
}

/** Where what is no argument may be used. */
const ambient: Readonly<Record<SourceFile['uses'][number]['what'], readonly string[]>> = {
  'process.env': ['cli/'],
  // Date.now, new Date(), Date(); a Date made of a given time reads no clock
  clock: ['authorization-server.ts', 'crypto/', 'cli/'],
  // Math.random; randomBytes, randomUUID, randomInt, getRandomValues of a crypto module
  randomness: [
    'authorization-server.ts',
    'crypto/',
    'cli/',
    'request-id.ts', // names a request, and decides nothing
    'secret-key-file.ts', // the secret key that is generated at the first start
    'store/sql/sqlite-database.ts', // the jitter of a retry decides nothing
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
  readonly exports: Readonly<Record<string, string | { readonly default: string }>>
}

/** The import statements of a file that its layer does not allow, as lines to read. */
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

/** The imports that lead from a file back to itself when the program runs. */
const cycles = (files: readonly SourceFile[]): string[] => {
  const needs = new Map(
    files.map(({ path, imports }) => [
      path,
      imports.filter(({ isOurs, typeOnly }) => isOurs && !typeOnly).map(({ module }) => module),
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
  test('a file imports only what its layer may', () => {
    expect(sources.flatMap(breaches)).toEqual([])
  })

  test('no files import each other in a circle', () => {
    expect(cycles(sources)).toEqual([])
  })

  test('a package is imported only where it belongs', () => {
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

  test('a package that is imported is a dependency of those who install this one', () => {
    const declared = { ...manifest.dependencies, ...manifest.peerDependencies }
    const found = sources.flatMap(({ path, imports }) =>
      imports
        .filter(({ isOurs, module }) => !isOurs && !module.startsWith('node:'))
        .filter(({ module }) => !(packageOf(module) in declared))
        .map(({ module, line }) => `src/${path}:${line} → ${module}`),
    )
    expect(found).toEqual([])
  })

  test('what is installed along is pinned, but for the API that has to be one with the host’s', () => {
    const ranges = Object.entries(manifest.dependencies).filter(
      ([, version]) => !/^\d+\.\d+\.\d+$/.test(version),
    )
    expect(ranges).toEqual([['@opentelemetry/api', '^1.9.0']])
  })

  test('the environment, the clock and randomness are arguments; exports have names', () => {
    const found = sources.flatMap(({ path, uses }) =>
      uses
        .filter(({ what }) => !matches(path, ambient[what]))
        .map(({ what, text, line }) => `src/${path}:${line} → ${what}: ${text}`),
    )
    expect(found).toEqual([])
  })

  test("the type check of tests reads the package's name as package.json does", () => {
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

test('the reader of sources sees every form of import and use', () => {
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
