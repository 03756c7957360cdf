import { createNoopMeter, type Meter, metrics } from '@opentelemetry/api'
import { asOAuthError } from '../../http/refusal.ts'
import type { LookupOutcome } from '../../model/auth.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import type { AroundStore, PoolStats } from '../../store/store.ts'
import { events } from './events.ts'
import { type AttributesOf, type Instrument, instruments } from './instruments.ts'

/** The OpenTelemetry instrumentation scope of this package. */
export const scopeName = 'svc-oauth2server'

/** The enabled receivers of measurements: the OpenTelemetry SDK of the application, and `/metrics`. */
export type Meters = readonly Meter[]

/** Returns the active meters. @param own the meter of `/metrics`, if it is enabled */
export const metersOf = (own: Meter | undefined): Meters =>
  [metrics.getMeter(scopeName), own].filter(
    (meter) => meter !== undefined && meter !== createNoopMeter(),
  ) as Meters

/** Records one measurement. */
export type Recorder<I extends Instrument> = (value: number, attributes: AttributesOf<I>) => void

const optionsOf = ({ unit, sentence, boundaries }: Instrument) => ({
  unit,
  description: sentence,
  ...(boundaries && { advice: { explicitBucketBoundaries: [...boundaries] } }),
})

/** Creates a counter or a histogram in every meter. */
export const recorder = <I extends Instrument>(meters: Meters, instrument: I): Recorder<I> => {
  const { name, kind } = instrument
  const options = optionsOf(instrument)
  if (kind === 'histogram') {
    const all = meters.map((meter) => meter.createHistogram(name, options))
    return (value, attributes) => {
      for (const one of all) one.record(value, attributes)
    }
  }
  const all = meters.map((meter) => meter.createCounter(name, options))
  return (value, attributes) => {
    for (const one of all) one.add(value, attributes)
  }
}

/**
 * Creates a gauge or a counter in every meter. Each collection of measurements calls `read` for the value.
 * @returns a function that stops the observation
 */
export const observed = <I extends Instrument>(
  meters: Meters,
  instrument: I,
  read: (observe: Recorder<I>) => void,
): (() => void) => {
  const stops = meters.map((meter) => {
    const options = optionsOf(instrument)
    const observable =
      instrument.kind === 'counter'
        ? meter.createObservableCounter(instrument.name, options)
        : meter.createObservableUpDownCounter(instrument.name, options)
    const callback: Parameters<typeof observable.addCallback>[0] = (result) =>
      read((value, attributes) => result.observe(value, attributes))
    observable.addCallback(callback)
    return () => observable.removeCallback(callback)
  })
  return () => {
    for (const stop of stops) stop()
  }
}

/** Records measurements of the server, if OpenTelemetry or `/metrics` is enabled. */
export type Telemetry = ReturnType<typeof createTelemetry>

export const createTelemetry = (meters: Meters) => {
  const lookups = recorder(meters, instruments.tokenLookups)
  const runs = recorder(meters, instruments.sweeperRunDuration)
  const rows = recorder(meters, instruments.sweeperRows)
  const isOff = meters.length === 0
  return {
    /** Records the duration of a request; undefined if measurements are disabled. */
    request: isOff ? undefined : recorder(meters, instruments.requestDuration),
    event: eventCounter(meters),
    /** Counts a look-up of a token; undefined if measurements are disabled. */
    tokenLookup: isOff ? undefined : (outcome: LookupOutcome) => lookups(1, outcomes[outcome]),
    /** Calls `run`, and counts the grant by its outcome; undefined if measurements are disabled. */
    grant: isOff ? undefined : countedGrant(meters),
    /** Measures a run of the sweeper. `run` returns the number of removed rows. */
    async sweep(run: () => Promise<number>): Promise<number> {
      const removed = await timed(runs, {}, run)
      rows(removed, {})
      return removed
    },
    /** Measures every operation of a store; undefined if measurements are disabled. */
    aroundStore: isOff ? undefined : measuredStore(meters),
    /** Observes the connections of a pool. @returns a function that stops the observation */
    pool: (stats: () => PoolStats) => observePool(meters, stats),
  }
}

// Start each counter at 0: an alert on an increase would miss a time series whose first value is 1.
const eventCounter = (meters: Meters): Recorder<typeof instruments.events> => {
  const count = recorder(meters, instruments.events)
  for (const [event, { levels }] of Object.entries(events))
    for (const level of levels)
      if (level !== 'debug') count(0, { 'oauth2server.event': event, 'oauth2server.level': level })
  return count
}

const outcomes = {
  valid: { 'oauth2server.outcome': 'valid' },
  unknown: { 'oauth2server.outcome': 'unknown' },
  expired: { 'oauth2server.outcome': 'expired' },
  inactive: { 'oauth2server.outcome': 'inactive' },
  misplaced: { 'oauth2server.outcome': 'misplaced' },
} as const satisfies Record<LookupOutcome, AttributesOf<typeof instruments.tokenLookups>>

const countedGrant = (meters: Meters) => {
  const grants = recorder(meters, instruments.grants)
  return async <T>(type: string, run: () => Promise<T>): Promise<T> => {
    const count = (outcome: string) =>
      grants(1, { 'oauth2server.grant_type': type, 'oauth2server.outcome': outcome })
    try {
      const result = await run()
      count('ok')
      return result
    } catch (error) {
      count(codeOf(error))
      throw error
    }
  }
}

const codeOf = (error: unknown): string => {
  const oauthError = asOAuthError(error)
  return oauthError instanceof OAuthError ? oauthError.code : 'server_error'
}

const timed = async <A, T>(
  record: (seconds: number, attributes: A | (A & { readonly 'error.type': string })) => void,
  attributes: A,
  run: () => Promise<T>,
): Promise<T> => {
  const startedAt = performance.now()
  const seconds = () => (performance.now() - startedAt) / 1000
  try {
    const result = await run()
    record(seconds(), attributes)
    return result
  } catch (error) {
    const type = error instanceof Error ? error.name : '_OTHER'
    record(seconds(), { ...attributes, 'error.type': type })
    throw error
  }
}

const measuredStore = (meters: Meters): AroundStore => {
  const record = recorder(meters, instruments.storeOperationDuration)
  return ({ name }, run) => timed(record, { 'oauth2server.store.operation': name }, run)
}

const poolName = { 'db.client.connection.pool.name': scopeName }

const observePool = (meters: Meters, stats: () => PoolStats): (() => void) => {
  const stops = [
    observed(meters, instruments.poolConnections, (observe) => {
      const { total, idle } = stats()
      observe(idle, { ...poolName, 'db.client.connection.state': 'idle' })
      observe(total - idle, { ...poolName, 'db.client.connection.state': 'used' })
    }),
    observed(meters, instruments.poolPending, (observe) => observe(stats().waiting, poolName)),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}
