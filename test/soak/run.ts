import { setTimeout as delay } from 'node:timers/promises'
import { type ObservedServer, type Probe, startObserved } from '../support/observed-server.ts'
import { Load } from './load.ts'

export interface SoakOptions {
  /** The duration of the load at half of the capacity. */
  readonly seconds: number
  readonly store: 'sqlite' | 'postgres'
  /** Additional settings of the server, for example high limits. */
  readonly settings?: Readonly<Record<string, unknown>>
  readonly say: (line: string) => void
}

/** A measurement of the server at a given time. */
interface Sample {
  readonly seconds: number
  readonly probe: Probe
  /** The number of device authorizations so far. */
  readonly devices: number
  readonly rows: Readonly<Record<string, number>>
}

/** Short lifetimes in seconds, so that rows expire and the sweeper deletes rows during the run. */
const lives = {
  tokenExpiresIn: 20,
  refreshTokenExpiresIn: 30,
  authorizationCodeExpiresIn: 20,
  refreshTokenLeeway: 5,
  sweepInterval: 5,
  auditExpiresIn: 30,
}
const peakSeconds = 20
const between = 30
/** The permitted ratio of memory at the end to memory after the first minute. */
const growth = 1.2
/** The permitted ratio of the rows of a table at the end to the rows at the beginning. */
const maxAccumulation = 1.5
/**
 * The number of rows of one device authorization. The rows remain for twenty minutes, so they accumulate during a run.
 */
const ofDevice: Readonly<Record<string, number>> = { authorization: 1, transient: 4 }

/** Loads a server at half of its capacity, and checks that nothing accumulates. @returns the problems */
export const soak = async ({
  seconds,
  store,
  settings = {},
  say,
}: SoakOptions): Promise<readonly string[]> => {
  const server = await startObserved({ store, options: { ...lives, ...settings } })
  try {
    const before = await server.probe()
    const load = new Load(await server.createTestData(0))
    const running = load.run()
    const samples = await watch(server, load, { seconds, say })
    load.stop()
    await running
    console.table(load.meter.take())
    // Wait until the server has closed the idle keep-alive connections.
    await delay(8_000)
    const after = await server.probe()
    // Wait until all tokens have expired.
    await delay(lives.refreshTokenExpiresIn * 1_000)
    await server.sweep()
    say(`rows after the last has expired: ${JSON.stringify(await server.rows())}`)
    say(
      `${load.steps} steps, ${load.requests} requests, ${load.tooMany} times 429, ${load.failed} failed`,
    )
    for (const reason of load.meter.reasons) say(reason)
    const wrong = [...judged(samples), ...leaks(before, after, samples[0]?.probe)]
    if (load.failed > 0) wrong.push(`${load.failed} steps failed.`)
    return [...wrong, ...server.complaints.slice(0, 20).map(({ kind, text }) => `${kind}: ${text}`)]
  } finally {
    await server.stop()
  }
}

const watch = async (
  server: ObservedServer,
  load: Load,
  { seconds, say }: Pick<SoakOptions, 'seconds' | 'say'>,
): Promise<readonly Sample[]> => {
  // Ignore the first seconds, in which Node compiles the code.
  await delay(5_000)
  const { steps } = load
  await delay(peakSeconds * 1_000)
  const peak = (load.steps - steps) / peakSeconds
  load.pace(peak / 2)
  say(`peak: ${peak.toFixed(1)} steps a second; from now on half of that`)
  const begun = performance.now()
  const samples: Sample[] = []
  const step = Math.min(between, seconds / 10)
  for (let next = step; next <= seconds + 0.1; next += step) {
    await delay(Math.max(0, begun + next * 1_000 - performance.now()))
    const { devices } = load
    const [probe, rows] = [await server.probe(), await server.rows()]
    const sample: Sample = { seconds: next, probe, devices, rows }
    samples.push(sample)
    say(lineOf(sample))
  }
  const rate = (load.steps - steps - peak * peakSeconds) / seconds
  say(`${rate.toFixed(1)} steps a second at half of the peak`)
  return samples
}

const mebibytes = (bytes: number): string => `${Math.round(bytes / 1024 / 1024)} MiB`

const lineOf = ({ seconds, probe, rows }: Sample): string =>
  `${Math.round(seconds)} s: RSS ${mebibytes(probe.rss)}, heap ${mebibytes(probe.heapUsed)}, ${probe.connections} connections, ` +
  `${probe.files} files, handles ${JSON.stringify(probe.handles)}, rows ${JSON.stringify(rows)}`

/** Compares the last sample with the sample after a minute, or after a tenth of a short run. @returns the problems */
const judged = (samples: readonly Sample[]): string[] => {
  const last = samples.at(-1)
  const [first] = samples.filter(
    ({ seconds }) => seconds >= Math.min(60, (last?.seconds ?? 0) / 10),
  )
  if (!first || !last) return ['There are no samples.']
  const wrong: string[] = []
  for (const figure of ['rss', 'heapUsed'] as const) {
    if (last.probe[figure] > first.probe[figure] * growth)
      wrong.push(`${figure} has grown from ${first.probe[figure]} to ${last.probe[figure]} bytes.`)
  }
  // In the sample `settled`, all tokens from the beginning of the run have expired.
  const [settled = first] = samples.filter(
    ({ seconds }) => seconds >= 2 * lives.refreshTokenExpiresIn,
  )
  for (const [table, count] of Object.entries(last.rows)) {
    const then = settled.rows[table] ?? 0
    const gathered = (ofDevice[table] ?? 0) * (last.devices - settled.devices)
    if (count - gathered > then * maxAccumulation + 100)
      wrong.push(`${table} has grown from ${then} to ${count} rows.`)
  }
  return wrong
}

const leaks = (before: Probe, after: Probe, within: Probe | undefined): string[] => {
  const wrong: string[] = []
  if (after.connections > 1) wrong.push(`${after.connections} connections are still open.`)
  for (const [handle, count] of Object.entries(after.handles)) {
    const then = before.handles[handle] ?? 0
    if (count > then + 2) wrong.push(`${count} handles of ${handle}, where there were ${then}.`)
  }
  // After the clients have disconnected, the server needs the same files as under load, except for their connections.
  const files = within ? within.files - within.connections : before.files
  if (after.files > files + 5)
    wrong.push(`${after.files} files are open, where there were ${files}.`)
  return wrong
}
