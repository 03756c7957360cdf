import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'

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
const full = 'test/full/**/*.test.ts'
/** What is run once more on three processes behind a proxy, with PostgreSQL and Redis. */
const onNodes = ['test/flows/*.test.ts', 'test/rfc/*.test.ts']
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
          exclude: [full],
          testTimeout: 20 * seconds,
          hookTimeout: 20 * seconds,
        },
      },
      {
        extends: true,
        test: {
          name: 'full',
          include: [full],
          testTimeout: 120 * seconds,
          hookTimeout: 120 * seconds,
        },
      },
      {
        extends: true,
        test: {
          name: 'nodes',
          include: onNodes,
          env: { TEST_SERVER: 'nodes' },
          testTimeout: 60 * seconds,
          hookTimeout: 60 * seconds,
        },
      },
    ],
  },
})
