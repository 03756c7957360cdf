import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Ready, Usage, Works } from './works.ts'

/** Where a server keeps its rows: chosen by whoever started it. */
export const place = {
  kind: process.env.BENCH_STORE === 'postgres' ? 'postgres' : 'sqlite',
  /** A path, or an address. */
  at: process.env.BENCH_DATABASE ?? ':memory:',
} as const

// Nobody is left when the measurement is stopped, be it in the middle of a start.
process.on('disconnect', () => process.exit())

/** Refresh tokens to be made beforehand: more of them than connections at once. */
export const refreshTokenCount = Number(process.env.BENCH_REFRESH_TOKENS ?? 1100)

/** Whether the database is to be given clients and tokens: not where only the start is measured. */
export const isSeeded = process.env.BENCH_SEED !== 'off'

/** Listens, makes what the requests need, and tells how to be measured. */
export const serve = async (
  listener: RequestListener,
  works: () => Works | Promise<Works>,
): Promise<void> => {
  const http = createServer(listener)
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  announce(port, isSeeded ? await works() : {})
}

/** The same for a server that listens by itself, and for one of several processes. */
export const announce = (
  port: number,
  works: Works,
  ofOthers: () => Promise<readonly Usage[]> = async () => [],
): void => {
  process.on('message', async () => {
    const { user, system } = process.cpuUsage()
    let [cpu, memory] = [user + system, process.memoryUsage.rss()]
    for (const usage of await ofOthers()) {
      cpu += usage.cpu
      memory += usage.memory
    }
    const usage: Usage = { type: 'usage', cpu, memory }
    process.send?.(usage)
  })
  const ready: Ready = { type: 'ready', port, works }
  process.send?.(ready)
}

export const basic = (id: string, secret: string): string =>
  `Basic ${Buffer.from(`${encodeURIComponent(id)}:${encodeURIComponent(secret)}`).toString('base64')}`

export const form = { 'content-type': 'application/x-www-form-urlencoded' } as const
