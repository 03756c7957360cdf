/**
 * Measures how an abuse by one user or client affects other users. A well-behaved caller sends requests during each
 * abuse.
 *
 *     npm run test:load -- neighbours [--store sqlite|postgres] [--abuse NAME] [--seconds S] [--rounds N] [--quick] [--record]
 *
 * Uses the PostgreSQL server at TEST_POSTGRES_URL. Each abuse has a new database, a server process, and a caller in a
 * third process. --quick creates a tenth of the rows. --record stores the figures, which `npm run reference` writes
 * into docs/operations.md.
 */
import { readFile, writeFile } from 'node:fs/promises'
import { cpus, loadavg } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { type Abuse, abuses } from './neighbours/abuses.ts'
import { type Figures, failureCount } from './neighbours/caller.ts'
import type { StoreName } from './neighbours/database.ts'
import { type Measured, measure } from './neighbours/measure.ts'

const kept = join(import.meta.dirname, 'neighbours/results.json')
const stores: readonly StoreName[] = ['sqlite', 'postgres']

type Shown = Omit<Figures, 'failures'> & { readonly failed: number }

const shown = (figures: Figures): Shown => {
  const { requests, p50, p99, max } = figures
  return { requests, p50, p99, max, failed: failureCount(figures) }
}

const ratio = (during: Figures, quiet: Figures): number =>
  Math.round((during.p99 / Math.max(0.1, quiet.p99)) * 10) / 10

/**
 * Returns a row of the table: the figures of the quietest window without the abuse, and of the window with the abuse.
 */
const resultOf = (
  { name, title }: Abuse,
  store: StoreName,
  measured: Measured,
  control: Measured | undefined,
) => {
  const { undisturbed, during, attacked } = measured
  const [quiet = during] = undisturbed
  return {
    name,
    title,
    store,
    undisturbed: shown(quiet),
    during: shown(during),
    ratio: ratio(during, quiet),
    ...(control && {
      control: {
        p99: control.during.p99,
        ratio: ratio(control.during, control.undisturbed[0] ?? control.during),
      },
    }),
    ...(attacked && {
      attacked: {
        kind: attacked.kind,
        undisturbed: shown(attacked.undisturbed),
        during: shown(attacked.during),
      },
    }),
  }
}

type Result = ReturnType<typeof resultOf>

const line = ({ name, store, undisturbed, during, ratio, control, attacked }: Result) => ({
  abuse: name,
  store,
  'p50 before': undisturbed.p50,
  'p99 before': undisturbed.p99,
  'p50 during': during.p50,
  'p99 during': during.p99,
  'max during': during.max,
  ratio,
  ...(control && { 'p99 control': control.p99, 'ratio control': control.ratio }),
  failed: `${during.failed} of ${during.requests}`,
  ...(attacked && {
    [`failed ${attacked.kind}`]: `${attacked.during.failed} of ${attacked.during.requests}`,
  }),
})

/** Stores the results. Replaces previous results for the same abuse and store. */
const record = async (results: readonly Result[], command: string): Promise<void> => {
  const before = JSON.parse(await readFile(kept, 'utf8')) as { results: readonly Result[] }
  const others = before.results.filter(
    (old) => !results.some(({ name, store }) => name === old.name && store === old.store),
  )
  const all = abuses.flatMap(({ name }) =>
    stores.flatMap((store) =>
      [...others, ...results].filter((each) => each.name === name && each.store === store),
    ),
  )
  const processors = cpus()
  const about = {
    machine: `${processors.length} cores, ${processors[0]?.model ?? 'unknown'}`,
    date: new Date().toISOString().slice(0, 10),
    command,
  }
  await writeFile(kept, `${JSON.stringify({ ...about, results: all }, null, 2)}\n`)
}

/** Measures each abuse in each store, and prints the table. @returns whether all requests of the caller succeeded */
export const run = async (args: readonly string[]): Promise<boolean> => {
  const { values } = parseArgs({
    args: [...args],
    options: {
      store: { type: 'string' },
      abuse: { type: 'string' },
      seconds: { type: 'string' },
      rounds: { type: 'string' },
      quick: { type: 'boolean', default: false },
      record: { type: 'boolean', default: false },
    },
  })
  const { quick } = values
  const seconds = Number(values.seconds ?? (quick ? 3 : 4))
  const rounds = Number(values.rounds ?? (quick ? 1 : 2))
  const chosen = abuses.filter(({ name }) => (values.abuse ?? name) === name)
  if (chosen.length === 0)
    throw new Error(`--abuse accepts ${abuses.map(({ name }) => name).join(', ')}.`)
  const results: Result[] = []
  let isWhole = true
  for (const abuse of chosen) {
    for (const store of abuse.stores ?? stores) {
      if ((values.store ?? store) !== store) continue
      try {
        const options = { store, seconds, rounds, scale: quick ? 0.1 : 1 }
        const measured = await measure(abuse, options)
        // Measure the control immediately after the abuse, so that other load on the machine affects both similarly.
        const { control: prepare } = abuse
        const control = prepare && (await measure({ ...abuse, prepare }, options))
        const result = resultOf(abuse, store, measured, control)
        results.push(result)
        console.table([line(result)])
        say(measured)
        if (values.record)
          await record([result], ['npm run test:load -- neighbours', ...args].join(' '))
      } catch (error) {
        isWhole = false
        console.error(`${abuse.name} on ${store} could not be measured:`, error)
      }
    }
  }
  console.table(results.map(line))
  return isWhole && results.every(isGood)
}

const isGood = ({ during, attacked }: Result): boolean =>
  during.failed === 0 && (attacked?.during.failed ?? 0) === 0

/** Prints the details that the table omits. */
const say = ({ during, attacked, took, errors, complaints }: Measured): void => {
  console.log(`the abuse took ${took.join(', ')} ms; load average ${loadavg()[0]?.toFixed(1)}`)
  for (const [kind, count] of Object.entries({ ...during.failures, ...attacked?.during.failures }))
    console.log(`failed: ${count} times ${kind}`)
  for (const error of errors) console.log(`the abuser got: ${error}`)
  for (const complaint of complaints.slice(0, 5)) console.log(complaint.slice(0, 300))
}
