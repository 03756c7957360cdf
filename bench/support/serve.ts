import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Ready, Usage, Works } from './works.ts'

/** The database of a server, which the parent process selects. */
export const place = {
  kind: process.env.BENCH_STORE === 'postgres' ? 'postgres' : 'sqlite',
  /** A path, or an address. */
  at: process.env.BENCH_DATABASE ?? ':memory:',
} as const

// Ends the server when the measurement is stopped, even during its start.
process.on('disconnect', () => process.exit())

/** The number of refresh tokens to create beforehand. There have to be more than concurrent connections. */
export const refreshTokenCount = Number(process.env.BENCH_REFRESH_TOKENS ?? 1100)

/** Whether to create clients and tokens in the database. Not necessary to measure only the start-up. */
export const isSeeded = process.env.BENCH_SEED !== 'off'

/** Starts to listen, creates the objects that the requests need, and reports both to the parent process. */
export const serve = async (
  listener: RequestListener,
  works: () => Works | Promise<Works>,
): Promise<void> => {
  const http = createServer(listener)
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  announce(port, isSeeded ? await works() : {})
}

/** Reports a server that listens on its own, or has several processes. */
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
