import assert from 'node:assert/strict'
import pLimit from 'p-limit'
import type { Databases } from '../support/databases.ts'
import { type Exchange, type ExchangeName, exchangeNames } from '../support/exchanges.ts'
import { describe } from '../support/machine.ts'
import type { ExchangeResults, Run } from '../support/results.ts'
import { form } from '../support/serve.ts'
import { Target } from '../support/target.ts'
import { definitions, type StoreKind } from '../targets.ts'

const connections = 32
/** The number of codes that a server redeems for each kind of exchange in a round. */
const codesPerRound = 600

interface Measured {
  readonly target: Target
  readonly series: ExchangeResults['series'][number]
}

/** Measures the redemption of codes with and without ID tokens, by this package and by oidc-provider. */
export const measureExchanges = async (
  stores: readonly StoreKind[],
  { rounds, databases, run }: { rounds: number; databases: Databases; run: Run },
): Promise<ExchangeResults> => {
  const all: Measured[] = []
  try {
    for (const store of stores) {
      for (const definition of definitions) {
        const { name, exchangeFile, environment } = definition
        // Measure oidc-provider in memory only once, with the first store.
        const isRepeated = name.endsWith('-memory') && store !== stores[0]
        if (!exchangeFile || !definition.stores.includes(store) || isRepeated) continue
        const at = await databases.make(store)
        const variables = { BENCH_STORE: store, BENCH_DATABASE: at, ...environment }
        const target = await Target.start(name, exchangeFile, variables)
        all.push({ target, series: { ...describe(definition), store, exchanges: {} } })
      }
    }
    for (let round = 0; round <= rounds; round += 1) {
      process.stderr.write(`code exchanges: round ${round} of ${rounds}\n`)
      for (const exchange of exchangeNames) {
        // Start each round with another server. Round 0 is a warm-up.
        const first = round % all.length
        for (const { target, series } of [...all.slice(first), ...all.slice(0, first)]) {
          const cpu = await redeem(target, exchange)
          if (round === 0) continue
          series.exchanges[exchange] ??= []
          series.exchanges[exchange].push(cpu)
        }
      }
    }
  } finally {
    await Promise.all(all.map(({ target }) => target.stop()))
  }
  return { ...run, connections, codes: codesPerRound, series: all.map(({ series }) => series) }
}

/** Redeems new codes. @returns microseconds of the server's processor time per code */
const redeem = async (target: Target, name: ExchangeName): Promise<number> => {
  const exchange = target.works.exchanges?.[name]
  assert.ok(exchange, `${target.name} has no exchange ${name}`)
  const answer = await fetch(`${target.origin}${exchange.codes}?count=${codesPerRound}`)
  assert.equal(answer.status, 200, `${target.name} creates no codes`)
  const codes = (await answer.json()) as readonly string[]
  const limit = pLimit(connections)
  const before = await target.usage()
  await Promise.all(codes.map((code) => limit(() => exchanged(target, exchange, code, name))))
  const after = await target.usage()
  return (after.cpu - before.cpu) / codes.length
}

const exchanged = async (
  { origin, name: server }: Target,
  { token, authorization, body }: Exchange,
  code: string,
  name: ExchangeName,
): Promise<void> => {
  const answer = await fetch(`${origin}${token}`, {
    method: 'POST',
    headers: { ...form, authorization },
    body: body + code,
  })
  const text = await answer.text()
  assert.equal(answer.status, 200, `${server}: ${text}`)
  const { access_token, refresh_token, id_token } = JSON.parse(text)
  assert.ok(access_token && refresh_token, `${server} issues no tokens`)
  const [header = ''] = String(id_token ?? '').split('.')
  const algorithm =
    header === '' ? 'code' : JSON.parse(Buffer.from(header, 'base64url').toString()).alg
  assert.equal(algorithm, name, `${server}: the ID token`)
}
