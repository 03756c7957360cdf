import { createNoopMeter, type Meter, metrics } from '@opentelemetry/api'
import type { AttributesOf, Instrument } from './instruments.ts'

/** The name by which OpenTelemetry knows who measures and traces. */
export const scopeName = 'svc-oauth2server'

/** Where measurements go: to the application's OpenTelemetry SDK, to `/metrics`, to both or to nobody. */
export type Meters = readonly Meter[]

/** @param own the meter behind `/metrics`, where that is on */
export const metersOf = (own: Meter | undefined): Meters =>
  [metrics.getMeter(scopeName), own].filter(
    (meter) => meter !== undefined && meter !== createNoopMeter(),
  ) as Meters

/** Takes one measurement. */
export type Recorder<I extends Instrument> = (value: number, attributes: AttributesOf<I>) => void

const optionsOf = ({ unit, sentence, boundaries }: Instrument) => ({
  unit,
  description: sentence,
  ...(boundaries && { advice: { explicitBucketBoundaries: [...boundaries] } }),
})

/** Makes a counter or a histogram with every meter. */
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

/** Makes a gauge, or a counter that somebody else counts, which is read whenever somebody asks. @returns what ends that */
export const observed = <I extends Instrument>(
  meters: Meters,
  instrument: I,
  read: (observe: Recorder<I>) => void,
): (() => void) => {
  const ends = meters.map((meter) => {
    const options = optionsOf(instrument)
    const made =
      instrument.kind === 'counter'
        ? meter.createObservableCounter(instrument.name, options)
        : meter.createObservableUpDownCounter(instrument.name, options)
    const callback: Parameters<typeof made.addCallback>[0] = (result) =>
      read((value, attributes) => result.observe(value, attributes))
    made.addCallback(callback)
    return () => made.removeCallback(callback)
  })
  return () => {
    for (const end of ends) end()
  }
}
