import assert from 'node:assert/strict'
import { type Databases, withPostgresCpu } from '../support/databases.ts'
import {
  type Exchange,
  type ExchangeName,
  exchangeBody,
  exchangeNames,
  userAgent,
} from '../support/exchanges.ts'
import { loadSeries, type Series } from '../support/load.ts'
import { describe } from '../support/machine.ts'
import type { ExchangeResults, ExchangeRound, Run } from '../support/results.ts'
import { form } from '../support/serve.ts'
import { Target } from '../support/target.ts'
import { definitions, type StoreKind } from '../targets.ts'

const connections = 32
/** The number of users who log in at each server. */
const accounts = 200
/** The number of codes that a server redeems for each kind of exchange in a round. */
const codesPerRound = 800
/** The number of rounds before the first measured round, until Node has compiled the frequent functions of a server. */
const warmUps = 5

type Results = ExchangeResults['series'][number]

interface Measured {
  readonly target: Target
  readonly results: Results
}

interface Options {
  readonly rounds: number
  /** The names of the servers to measure; empty to measure all servers. */
  readonly only: readonly string[]
  readonly databases: Databases
  readonly run: Run
}

/**
 * Measures logins at clients: authorization requests of users who have consented before, and the redemption of the
 * codes with PKCE. In each round, one server after the other processes the same requests.
 */
export const measureExchanges = async (
  stores: readonly StoreKind[],
  { rounds, only, databases, run }: Options,
): Promise<ExchangeResults> => {
  const series: Results[] = []
  for (const store of stores) {
    const all: Measured[] = []
    try {
      for (const definition of definitions) {
        const { name, file, environment } = definition
        // Measure a server that stores nothing only once, beside those with SQLite.
        const isRepeated = name.endsWith('-memory') && store !== 'sqlite'
        if (isRepeated || (only.length > 0 && !only.includes(name))) continue
        if (!definition.stores.includes(store) || isLeftOut(definition)) continue
        const at = await databases.make(store)
        const target = await Target.start(name, file, {
          BENCH_STORE: store,
          BENCH_DATABASE: at,
          BENCH_REFRESH_TOKENS: '2',
          BENCH_ACCOUNTS: String(accounts),
          ...environment,
        })
        if (target.works.exchanges)
          all.push({ target, results: { ...describe(definition), store, exchanges: {} } })
        else await target.stop()
      }
      for (let round = 0; round < warmUps + rounds; round += 1) {
        process.stderr.write(
          `code exchanges, ${store}: round ${round + 1} of ${warmUps + rounds}\n`,
        )
        for (const exchange of exchangeNames) {
          // Start each round with another server.
          const first = round % all.length
          for (const each of [...all.slice(first), ...all.slice(0, first)])
            await measure(each, exchange, round < warmUps)
        }
      }
    } finally {
      await Promise.all(all.map(({ target }) => target.stop()))
    }
    series.push(...all.map(({ results }) => results))
  }
  return { ...run, connections, accounts, codes: codesPerRound, series }
}

const isLeftOut = ({ name, role }: (typeof definitions)[number]): boolean =>
  role === 'floor' || name === 'ours-alone'

const measure = async (
  { target, results }: Measured,
  name: ExchangeName,
  isWarmUp: boolean,
): Promise<void> => {
  const exchange = target.works.exchanges?.[name]
  if (!exchange) return
  const { authorize, cookies, token, authorization } = exchange
  const note = (kind: 'authorize' | ExchangeName, round: ExchangeRound) => {
    if (isWarmUp) return
    results.exchanges[kind] ??= []
    results.exchanges[kind].push(round)
  }
  const users = Array.from(
    { length: codesPerRound + 2 * connections },
    (_, at) => cookies[at % cookies.length] ?? '',
  )
  const asBrowser = { 'User-Agent': userAgent, Accept: 'text/html', 'Sec-Fetch-Mode': 'navigate' }
  const redirects = {
    method: 'GET',
    path: authorize,
    headers: asBrowser,
    status: [302, 303],
  } as const
  const [authorized, codes] = await measured(target, { ...redirects, each: users })
  if (name === 'code') note('authorize', authorized)
  const [first = '', ...others] = codes
  await mustExchange(target, exchange, first, name)
  const headers = { ...form, Authorization: authorization }
  const bodies = others.map((code) => exchangeBody + code)
  const redeem = { method: 'POST', path: token, headers, each: bodies, status: [200] } as const
  note(name, (await measured(target, redeem))[0])
}

const measured = async (
  target: Target,
  series: Series,
): Promise<[ExchangeRound, readonly string[]]> => {
  const before = await target.usage()
  const [{ requestsPerSecond, requests, codes }, inPostgres] = await withPostgresCpu(() =>
    loadSeries(target, series, connections),
  )
  const cpu = ((await target.usage()).cpu - before.cpu) / requests
  const postgres = inPostgres / requests
  return [{ requestsPerSecond, cpu, postgres }, codes]
}

/** Redeems a code. @throws Error if the response does not contain the tokens of this kind of exchange */
const mustExchange = async (
  { origin, name: server }: Target,
  { token, authorization }: Exchange,
  code: string,
  name: ExchangeName,
): Promise<void> => {
  const body = exchangeBody + code
  const headers = { ...form, authorization }
  const answer = await fetch(`${origin}${token}`, { method: 'POST', headers, body })
  const text = await answer.text()
  assert.equal(answer.status, 200, `${server}: ${text}`)
  const { access_token, refresh_token, id_token } = JSON.parse(text)
  assert.ok(access_token && refresh_token, `${server} issues no tokens`)
  const [header = ''] = String(id_token ?? '').split('.')
  const algorithm =
    header === '' ? 'code' : JSON.parse(Buffer.from(header, 'base64url').toString()).alg
  assert.equal(algorithm, name, `${server}: the ID token`)
}
