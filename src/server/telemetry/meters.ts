import { createNoopMeter, type Meter, metrics } from '@opentelemetry/api'
import type { AttributesOf, Instrument } from './instruments.ts'

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
