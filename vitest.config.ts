import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { has } from './test/support/needs.ts'

const root = import.meta.dirname
const { name, exports } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'))

// Within tests the package's own name means the sources: one copy of each module, and no build.
const alias = Object.entries<{ default?: string }>(exports).flatMap(([path, target]) =>
  target.default
    ? {
        find: new RegExp(`^${name}${path.slice(1)}$`),
        replacement: target.default.replace(/^\.\/dist\/(.*)\.js$/, `${root}/src/$1.ts`),
      }
    : [],
)

const files = 'test/**/*.test.ts'
// What takes its time: with waits of its own, a database inside the process, or many processes.
const full = [
  'test/full/**/*.test.ts',
  'test/cli/secret-key.test.ts',
  'test/docs/getting-started.test.ts',
  'test/store/pglite.test.ts',
  'test/store/redis.test.ts',
]
// Several processes each, by `npm run test:nodes`.
const nodes = 'test/full/nodes/*.test.ts'
// Measures how long errors go on, so nothing else runs meanwhile.
const faults = 'test/full/nodes/faults.test.ts'
// Run once more on three processes behind a proxy, with PostgreSQL and Redis. What is missing is named by
// the tests in test/full/nodes, which need the same.
const hasServices = (await has('postgres')) && (await has('redis'))
const onNodes = hasServices
  ? ['test/flows/*.test.ts', 'test/rfc/rfc{6749-*,6750,7636,8252,9207,9700}.test.ts']
  : []
const seconds = 1000

export default defineConfig({
  resolve: { alias },
  test: {
    maxWorkers: Math.max(2, availableParallelism() - 1),
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: [files],
          exclude: full,
          testTimeout: 20 * seconds,
          hookTimeout: 20 * seconds,
        },
      },
      {
        extends: true,
        test: {
          name: 'full',
          include: full,
          exclude: [nodes],
          testTimeout: 120 * seconds,
          hookTimeout: 120 * seconds,
        },
      },
      {
        extends: true,
        test: {
          name: 'nodes',
          include: [...onNodes, nodes],
          exclude: [faults],
          env: { TEST_SERVER: 'nodes' },
          testTimeout: 60 * seconds,
          hookTimeout: 60 * seconds,
        },
      },
      {
        extends: true,
        test: {
          name: 'faults',
          include: [faults],
          testTimeout: 120 * seconds,
          hookTimeout: 120 * seconds,
          sequence: { groupOrder: 1 },
        },
      },
    ],
  },
})
