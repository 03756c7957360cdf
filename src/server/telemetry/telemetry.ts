import {
  type BatchObservableCallback,
  createNoopMeter,
  type Meter,
  metrics,
} from '@opentelemetry/api'
import { asOAuthError } from '../../http/refusal.ts'
import type { LookupOutcome } from '../../model/auth.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import type { AroundStore, PoolStats } from '../../store/store.ts'
import { events } from './events.ts'
import { type AttributesOf, type Instrument, instruments } from './instruments.ts'

/** The OpenTelemetry instrumentation scope of this package. */
export const scopeName = 'svc-oauth2server'

/** The enabled receivers of measurements. */
type Meters = readonly Meter[]

/** Records one measurement. */
type Recorder<I extends Instrument> = (value: number, attributes: AttributesOf<I>) => void

const optionsOf = ({ unit, sentence, boundaries }: Instrument) => ({
  unit,
  description: sentence,
  ...(boundaries && { advice: { explicitBucketBoundaries: [...boundaries] } }),
})

/** Creates a counter or a histogram in every meter. */
const recorder = <I extends Instrument>(meters: Meters, instrument: I): Recorder<I> => {
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

/** Records measurements of the server. */
export type Telemetry = ReturnType<typeof telemetryOf>

/**
 * Records measurements for the OpenTelemetry SDK of the application and for `/metrics`; undefined without a receiver.
 * @param own the meter of `/metrics`, if it is enabled
 */
export const createTelemetry = (own: Meter | undefined): Telemetry | undefined => {
  const all = [metrics.getMeter(scopeName), own].filter((meter) => meter !== undefined)
  const meters = all.filter((meter) => meter !== createNoopMeter())
  return meters.length === 0 ? undefined : telemetryOf(meters)
}

const telemetryOf = (meters: Meters) => {
  const grants = recorder(meters, instruments.grants)
  const lookups = recorder(meters, instruments.tokenLookups)
  const operations = recorder(meters, instruments.storeOperationDuration)
  const runs = recorder(meters, instruments.sweeperRunDuration)
  const rows = recorder(meters, instruments.sweeperRows)
  /** Measures every operation of a store. */
  const aroundStore: AroundStore = ({ name }, run) =>
    timed(operations, { 'oauth2server.store.operation': name }, run)
  return {
    request: recorder(meters, instruments.requestDuration),
    event: eventCounter(meters),
    tokenLookup: (outcome: LookupOutcome) => lookups(1, { 'oauth2server.outcome': outcome }),
    /** Calls `run`, and counts the grant by its outcome. @throws the error of `run` */
    async grant<T>(type: string, run: () => Promise<T>): Promise<T> {
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
    },
    /** Measures a run of the sweeper. `run` returns the number of removed rows. */
    async sweep(run: () => Promise<number>): Promise<number> {
      const removed = await timed(runs, {}, run)
      rows(removed, {})
      return removed
    },
    aroundStore,
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

const observePool = (meters: Meters, stats: () => PoolStats): (() => void) => {
  const pool = { 'db.client.connection.pool.name': scopeName }
  const stops = meters.map((meter) => {
    const gauge = (instrument: Instrument) =>
      meter.createObservableUpDownCounter(instrument.name, optionsOf(instrument))
    const [connections, pending] = [
      gauge(instruments.poolConnections),
      gauge(instruments.poolPending),
    ] as const
    const read: BatchObservableCallback = (result) => {
      const { total, idle, waiting } = stats()
      result.observe(connections, idle, { ...pool, 'db.client.connection.state': 'idle' })
      result.observe(connections, total - idle, { ...pool, 'db.client.connection.state': 'used' })
      result.observe(pending, waiting, pool)
    }
    meter.addBatchObservableCallback(read, [connections, pending])
    return () => meter.removeBatchObservableCallback(read, [connections, pending])
  })
  return () => {
    for (const stop of stops) stop()
  }
}
