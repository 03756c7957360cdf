import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Ready, Usage, Works } from './works.ts'

/** The database of a server, which the parent process selects. */
export const place = {
  kind: process.env.BENCH_STORE === 'postgres' ? 'postgres' : 'sqlite',
  /** The path of a SQLite file, or the URL of a PostgreSQL database. */
  at: process.env.BENCH_DATABASE ?? ':memory:',
} as const

// Exit together with the parent process, even during the start of the server.
process.on('disconnect', () => process.exit())

/** The number of refresh tokens to create beforehand. More tokens than concurrent connections are required. */
export const refreshTokenCount = Number(process.env.BENCH_REFRESH_TOKENS ?? 1100)

/** Whether to create clients and tokens in the database. A measurement of the start-up does not need them. */
export const isSeeded = process.env.BENCH_SEED !== 'off'

/** Starts to listen, creates clients and tokens, and reports the port and the requests to the parent process. */
export const serve = async (
  listener: RequestListener,
  works: () => Works | Promise<Works>,
): Promise<void> => {
  const http = createServer(listener)
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  announce(port, isSeeded ? await works() : {})
}

/** Reports the port and the requests of a listening server to the parent process. */
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
