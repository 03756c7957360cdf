import { readFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { defineConfig } from 'vitest/config'
import { has } from './test/support/needs.ts'

const root = import.meta.dirname
const { name, exports } = JSON.parse(readFileSync(`${root}/package.json`, 'utf8'))

// In tests, imports of the package's own name resolve to the sources: one copy of each module, and no build.
const sources = Object.entries<{ default?: string }>(exports).flatMap(([path, target]) =>
  target.default
    ? {
        find: new RegExp(`^${name}${path.slice(1)}$`),
        replacement: target.default.replace(/^\.\/dist\/(.*)\.js$/, `${root}/src/$1.ts`),
      }
    : [],
)
// Tests that import the whole package get a wrapped server, which checks that no log entry and no error contains a
// secret.
const secrets = `${root}/test/support/secrets`
const alias = [{ find: /^svc-oauth2server$/, replacement: `${secrets}/server.ts` }, ...sources]

const files = 'test/**/*.test.ts'
// Quick files share a process and its modules, which are then imported once. The following files run in separate
// processes, since they register telemetry providers for the whole process.
const ownProcess = ['test/telemetry/{metrics,redaction,traces}.test.ts']
// Slow files: they wait, run a database inside the process, or start many processes.
const full = [
  'test/full/**/*.test.ts',
  'test/attacks/*.test.ts',
  'test/contracts/{outages,pages}.test.ts',
  'test/cli/{audit,clients,configuration,doctor,doctor-behind-proxies,environment,secret-key,shutdown,tokens,usage,users}.test.ts',
  'test/docs/{getting-started,how-to,readme}.test.ts',
  'test/examples/mcp.test.ts',
  'test/extensions/{client-id-metadata-documents,leaked-races}.test.ts',
  'test/flows/{device,redis}.test.ts',
  'test/limits/{longest-values,passwords,redis}.test.ts',
  'test/outbound/host-names.test.ts',
  'test/pages/client-logos.test.ts',
  'test/properties/*-machine.test.ts',
  'test/records/{audit,audit-chain,rotate-keys}.test.ts',
  'test/rfc/openid-logout.test.ts',
  'test/rfc/rfc{7591,8628,8693,9068}.test.ts',
  'test/store/{pglite,postgres,redis,serial-waits,sqlite,sweeper}.test.ts',
  'test/telemetry/throwing-log.test.ts',
  'test/users/{missing,own-users,table}.test.ts',
]
// Tests in a real browser.
const browsers = 'test/full/pages/*.test.ts'
// Tests with several processes each.
const nodes = 'test/full/nodes/*.test.ts'
// Load tests of several minutes, only run by `npm run test:nodes`, one file at a time, because they compare latencies.
const slow = [
  'test/attacks/*-slow.test.ts',
  'test/full/neighbours.test.ts',
  'test/full/nodes/histories.test.ts',
  'test/full/nodes/neighbours.test.ts',
]
// These files measure how long errors last, so they run after all other tests.
const faults = ['test/full/nodes/{faults,lost-connections,partitions}.test.ts']
// These suites also run on three processes behind a proxy, with PostgreSQL and Redis. If a service is missing, the
// tests in test/full/nodes report it, since they need the same. `npm run test:nodes` runs more suites.
const hasServices = (await has('postgres')) && (await has('redis'))
const isWhole = process.env.NODES === 'whole'
// The short selection covers single-use values and limits that all nodes count together.
const suites = isWhole
  ? [
      'test/flows/{authorization-code,implicit,libraries,optional-scopes,redis}.test.ts',
      'test/extensions/leak*.test.ts',
      'test/pages/{dead-ends,repeated-forms,transplants,user-links}.test.ts',
      'test/pages/settings/{leaked,lost-session,verified-identity}.test.ts',
      'test/records/{short-lived-bounds,undo}.test.ts',
      'test/limits/{clients,per-user,tokens}.test.ts',
      'test/rfc/openid-{logout,proofs,subjects}.test.ts',
      'test/rfc/rfc{6749-*,6750,7591,7636,8252,8628,9126,9207,9700}.test.ts',
      'test/attacks/{cd,dp,dv,ft,ht,ir,pt,rf,rv}.test.ts',
      'test/contracts/{endpoints,outages,pages}.test.ts',
    ]
  : ['test/flows/authorization-code.test.ts', 'test/limits/tokens.test.ts']
const onNodes = hasServices ? suites : []
const seconds = 1000
// Only a test that hangs reaches these timeouts: on a busy machine, a test takes many times as long as on an idle one.
const patience = { testTimeout: 600 * seconds, hookTimeout: 600 * seconds }
const cores = availableParallelism()
// These tests often wait for a process or a timer, so run one more file than there are cores. Each worker has one of 15
// Redis databases.
const waiting = { maxWorkers: Math.min(15, cores + 1), sequence: { groupOrder: 1 } }

export default defineConfig({
  resolve: { alias },
  test: {
    globalSetup: 'test/support/global-setup.ts',
    setupFiles: [`${secrets}/setup.ts`, 'test/support/end-programs.ts', 'test/support/timeouts.ts'],
    // The default of one second is too short for a password hash at full cost on a busy machine.
    expect: { poll: { timeout: 60 * seconds } },
    maxWorkers: Math.max(2, cores - 1),
    projects: [
      {
        extends: true,
        test: {
          name: 'quick',
          include: [files],
          exclude: [...full, ...ownProcess],
          isolate: false,
          ...patience,
        },
      },
      {
        extends: true,
        test: {
          name: 'own-process',
          include: ownProcess,
          ...patience,
        },
      },
      {
        extends: true,
        test: {
          name: 'full',
          ...waiting,
          include: full,
          exclude: [nodes, ...slow, browsers, ...faults],
          isolate: false,
          ...patience,
        },
      },
      {
        extends: true,
        test: {
          name: 'browsers',
          ...waiting,
          include: [browsers],
          isolate: false,
          // A browser may be late on a busy machine. Other projects test atomicity, without retries.
          retry: process.env.CI === 'true' ? 1 : 0,
          ...patience,
        },
      },
      {
        extends: true,
        test: {
          name: 'nodes',
          ...waiting,
          include: [...onNodes, nodes],
          exclude: [...faults, ...slow],
          isolate: false,
          env: { TEST_SERVER: 'nodes' },
          ...patience,
        },
      },
      {
        extends: true,
        test: {
          name: 'slow',
          include: slow,
          maxWorkers: 1,
          ...patience,
          sequence: { groupOrder: 3 },
        },
      },
      {
        extends: true,
        test: {
          name: 'faults',
          include: faults,
          isolate: false,
          // The load of `npm run test:nodes` is three times as high, so that fewer of them can run at a time.
          maxWorkers: isWhole ? 2 : 3,
          ...patience,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
})
