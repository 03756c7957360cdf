import type { FuzzReport } from './run.ts'

const mebibytes = (bytes: number): number => Math.round(bytes / 1024 / 1024)

const table = (rows: ReadonlyMap<string, Record<string, number>>): void =>
  console.table(
    Object.fromEntries([...rows].toSorted(([one], [other]) => one.localeCompare(other))),
  )

/** Returns a readable report of a run. */
export const print = (report: FuzzReport): void => {
  const { tally, seconds, probes, rows, overload, putOff, violations } = report
  console.log('Answers by endpoint:')
  table(tally.endpoints)
  console.log('Answers by what was done to the request:')
  table(tally.kinds)
  console.log('Passwords beyond what can be hashed, sent on purpose:', overload)
  console.log('Put off with 503, by the reason in the log:', putOff)
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
    `${tally.total} requests in ${Math.round(seconds)} s (${rate} a second); half completed within ${tally.within(0.5)} ms, 99 % within ${tally.within(0.99)} ms, behind up to 7 others on their connection`,
  )
  for (const { number, endpoint, kind, status, request } of tally.offences)
    console.log(`number ${number}, ${endpoint}, ${kind}: ${status}\n  ${request}`)
  for (const violation of violations) console.log(`VIOLATION: ${violation}`)
  console.log(violations.length === 0 ? 'Nothing is wrong.' : `${violations.length} violations.`)
}
