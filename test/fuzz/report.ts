import type { FuzzReport } from './run.ts'

const mebibytes = (bytes: number): number => Math.round(bytes / 1024 / 1024)

const table = (rows: ReadonlyMap<string, Record<string, number>>): void =>
  console.table(
    Object.fromEntries([...rows].toSorted(([one], [other]) => one.localeCompare(other))),
  )

/** Prints the report of a run. */
export const print = (report: FuzzReport): void => {
  const { tally, seconds, probes, rows, overload, unavailable, violations } = report
  console.log('Responses by endpoint:')
  table(tally.endpoints)
  console.log('Responses by kind of mutation:')
  table(tally.kinds)
  console.log('Responses to too many passwords:', overload)
  console.log('503 responses by the reason in the log:', unavailable)
  console.table(
    Object.fromEntries(
      probes.map(([when, { rss, heapUsed, external, connections, files, handles }]) => [
        when,
        {
          'RSS MiB': mebibytes(rss),
          'heap MiB': mebibytes(heapUsed),
          'external MiB': mebibytes(external),
          connections,
          files,
          handles: JSON.stringify(handles),
        },
      ]),
    ),
  )
  console.log('Rows at the end:', rows)
  const rate = Math.round(tally.total / seconds)
  console.log(
    `${tally.total} requests in ${Math.round(seconds)} s (${rate} a second); half of them took at most ${tally.within(0.5)} ms, 99 % at most ${tally.within(0.99)} ms, including up to 7 earlier requests on the same connection`,
  )
  for (const { number, endpoint, kind, status, request } of tally.failures)
    console.log(`number ${number}, ${endpoint}, ${kind}: ${status}\n  ${request}`)
  for (const violation of violations) console.log(`VIOLATION: ${violation}`)
  console.log(violations.length === 0 ? 'No violations.' : `${violations.length} violations.`)
}
