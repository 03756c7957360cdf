// The process of the observed server: the notes application. observed-server.ts starts this process, sends the
// settings, and requests measurements of memory and handles.
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type AuthorizationServer, createAuthorizationServer } from 'svc-oauth2server'
import { postgres } from 'svc-oauth2server/postgres'
import { sqlite } from 'svc-oauth2server/sqlite'
import { createApp } from '../../examples/notes/app.ts'
import { openNotes } from '../../examples/notes/notes.ts'
import { type RandomSource, systemRandom } from '../../src/crypto/random.ts'
import type { Complaint, Order, Probe } from './observed-server.ts'
import { createTestData } from './observed-test-data.ts'
import { testScopes } from './scopes.ts'
import { seededBytes } from './seeded-random.ts'

const { OBSERVED_STORE = 'sqlite', OBSERVED_DATABASE = '', OBSERVED_OPTIONS = '{}' } = process.env

const reportComplaint = (complaint: Complaint): void => void process.send?.({ complaint })
const textOf = (error: unknown): string => {
  if (!(error instanceof Error)) return String(error)
  const cause = error.cause === undefined ? '' : `\ncaused by ${textOf(error.cause)}`
  return `${error.stack ?? error.message}${cause}`
}
process.on('unhandledRejection', (reason) =>
  reportComplaint({ kind: 'unhandledRejection', text: textOf(reason) }),
)
process.on('uncaughtException', (error) =>
  reportComplaint({ kind: 'uncaughtException', text: textOf(error) }),
)
process.on('warning', (warning) => reportComplaint({ kind: 'warning', text: textOf(warning) }))
// Ignore SIGINT of Ctrl-C: the parent process handles it, and may still request measurements.
process.on('SIGINT', () => {})
// Exit together with the parent process.
process.once('disconnect', () => process.exit(1))

let random: RandomSource = systemRandom
const http = createServer({ requestTimeout: 30_000, headersTimeout: 10_000 })
await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
const { port } = http.address() as AddressInfo
const openStore = OBSERVED_STORE === 'postgres' ? postgres : sqlite
const server: AuthorizationServer = await createAuthorizationServer({
  issuer: `http://localhost:${port}`,
  secretKeys: ['the secret key of a server that is watched'],
  store: openStore(OBSERVED_DATABASE),
  scopes: testScopes,
  random: (bytes) => random(bytes),
  // Do not resolve any host name that a client sends.
  outbound: {
    resolve: () => Promise.reject(new Error('Host names are not resolved in this process.')),
  },
  log({ level, event, message, error, ...details }) {
    if (level !== 'error' && event !== 'request.unavailable') return
    reportComplaint({ kind: event, text: `${message} ${textOf(error)} ${JSON.stringify(details)}` })
  },
  ...JSON.parse(OBSERVED_OPTIONS),
})
// Express writes this text after a handler failed.
console.error = (...parts: unknown[]) =>
  reportComplaint({ kind: 'console', text: parts.map(textOf).join(' ') })
// The processor time of each request with the header `x-measured`, in microseconds, by the value of the header.
const costs = new Map<string, number>()
http.on('request', ({ headers }, response) => {
  const name = headers['x-measured']
  if (typeof name !== 'string') return
  const begin = process.cpuUsage()
  response.once('close', () => {
    const { user, system } = process.cpuUsage(begin)
    costs.set(name, user + system)
  })
})
http.on('request', createApp(server, openNotes(undefined)))

const collect = (globalThis as { gc?: () => void }).gc
const count = (names: readonly string[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1
  return counts
}

const probe = async (): Promise<Probe> => {
  for (let turn = 0; turn < 4; turn += 1) {
    collect?.()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  const { rss, heapUsed, external } = process.memoryUsage()
  const connections = await new Promise<number>((resolve) =>
    http.getConnections((_error, given) => resolve(given)),
  )
  return {
    rss,
    heapUsed,
    external,
    connections,
    handles: count(process.getActiveResourcesInfo()),
    files: readdirSync('/proc/self/fd').length,
  }
}

const runCommand = async (order: Order): Promise<unknown> => {
  if (order.do === 'probe') return probe()
  if (order.do === 'sweep') return server.sweep()
  if (order.do === 'costs') {
    const all = Object.fromEntries(costs)
    costs.clear()
    return all
  }
  if (order.do === 'random') {
    random = order.seed === null ? systemRandom : seededBytes(order.seed)
    return null
  }
  return createTestData(server, order.set)
}

process.on('message', async ({ id, order }: { id: number; order: Order }) => {
  try {
    process.send?.({ id, response: await runCommand(order) })
  } catch (error) {
    process.send?.({ id, error: textOf(error) })
  }
})
process.send?.({ ready: port })
