import { setTimeout as delay } from 'node:timers/promises'
import type { Abuse } from './abuses.ts'
import { type Figures, figuresOf, type RequestKind, type Sample, startCaller } from './caller.ts'
import type { StoreName } from './database.ts'
import { startNeighbours } from './site.ts'

export interface MeasureOptions {
  readonly store: StoreName
  /** The duration of each measured window in seconds. */
  readonly seconds: number
  /** The number of repetitions, each with another abuser. */
  readonly rounds?: number
  readonly nodes?: number
  /** The fraction of the usual number of rows that the abuse creates. */
  readonly scale?: number
  /** The number of requests of the caller per second. */
  readonly rate?: number
}

/** The figures of the well-behaved caller for one abuse. */
export interface Measured {
  /** The figures of the windows without the abuse, quietest first. */
  readonly undisturbed: readonly Figures[]
  readonly during: Figures
  /** The figures of the requests that the abuse attacks, measured separately from the mixed requests. */
  readonly attacked?: {
    readonly kind: RequestKind
    readonly undisturbed: Figures
    readonly during: Figures
  }
  /** The duration of each abuse in milliseconds. */
  readonly took: readonly number[]
  /** Warnings and errors of the servers. */
  readonly complaints: readonly string[]
  /** The errors that the abuser received. */
  readonly errors: readonly string[]
}

interface Window {
  readonly from: number
  readonly to: number
}

/** Milliseconds of warm-up, because the first requests of a process are slow. */
const warmUp = 2_000
/** Milliseconds for which an abuse may continue after its window. */
const maxOverrun = 20_000
/** The minimum duration of a window with an abuse in milliseconds, so that there are enough samples. */
const shortest = 2_000

const now = (): number => performance.timeOrigin + performance.now()

const within = (samples: readonly Sample[], { from, to }: Window): readonly Sample[] =>
  samples.filter(({ at }) => at >= from && at < to)

/** Measures one abuse in a new database. */
export const measure = async (abuse: Abuse, options: MeasureOptions): Promise<Measured> => {
  const { store, seconds, rounds = 1, nodes = 1, scale = 1, rate = 150 } = options
  await using site = await startNeighbours({
    store,
    nodes,
    scale,
    ...(abuse.env && { env: abuse.env }),
  })
  const attacks = []
  for (let round = 0; round < rounds; round += 1) attacks.push(await abuse.prepare(site))

  await using caller = await startCaller({
    ...site.innocents,
    urls: site.hosts.map(({ url }) => url),
    rate,
    extra: abuse.attacks ? [abuse.attacks] : [],
    remote: site.remote.goodClientId(0),
  })
  const quiet: Window[] = []
  const loud: Window[] = []
  const took: number[] = []
  const errors: string[] = []
  const rest = async () => {
    const from = now()
    await delay(seconds * 1000)
    quiet.push({ from, to: now() })
  }
  await delay(warmUp)
  await rest()
  for (const attack of attacks) {
    await attack.arm?.()
    const from = now()
    const until = from + seconds * 1000
    const running = attack
      .run(() => now() >= until)
      .catch((error: unknown) => void errors.push(String(error)))
      .then(() => took.push(Math.round(now() - from)))
    await Promise.all([Promise.race([running, delay(seconds * 1000)]), delay(shortest)])
    loud.push({ from, to: now() })
    await Promise.race([running, delay(maxOverrun, undefined, { ref: false })])
    await attack.disarm?.()
    await rest()
  }
  const samples = await caller.end()

  const attacked = abuse.attacks?.kind
  const isMix = ({ kind }: Sample) => kind !== attacked
  const figures = (windows: readonly Window[], is: (sample: Sample) => boolean) =>
    figuresOf(windows.flatMap((window) => within(samples, window)).filter(is))
  const isAttacked = ({ kind }: Sample) => kind === attacked
  return {
    undisturbed: quiet
      .map((window) => figures([window], isMix))
      .sort((one, other) => one.p99 - other.p99),
    during: figures(loud, isMix),
    ...(attacked && {
      attacked: {
        kind: attacked,
        undisturbed: figures(quiet, isAttacked),
        during: figures(loud, isAttacked),
      },
    }),
    took,
    complaints: site.hosts.flatMap(({ complaints }) => complaints),
    errors,
  }
}
