import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { postgres } from '../../src/store/postgres.ts'
import { type Around, requestsTo } from './request-kinds.ts'

/** Milliseconds without a new statement after which the server waits for the held statements. */
const quiet = 40

/** Counts how often a request waits for PostgreSQL. */
interface SerialWaits extends AsyncDisposable {
  /** The URL of the database behind the proxy. */
  readonly url: string
  /**
   * Runs work, and returns how often it waited. The proxy holds the statements of the server until the server sends no
   * further ones, and then forwards all of them. So statements that the server sends at the same time are one wait.
   */
  count(work: () => Promise<unknown>): Promise<number>
}

/** Starts a proxy before a PostgreSQL server. It forwards everything until `count` is called. */
const serialWaits = async (target: string): Promise<SerialWaits> => {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let held: { readonly to: Socket; readonly bytes: Buffer }[] | undefined
  const proxy = createServer((client) => {
    const server = connect(Number(port || 5432), hostname)
    client.on('data', (bytes) => {
      if (held) held.push({ to: server, bytes })
      else server.write(bytes)
    })
    server.on('data', (bytes) => client.write(bytes))
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const address = proxy.address()
  const own = typeof address === 'object' ? address?.port : undefined
  const forward = () => {
    const statements = held ?? []
    if (held) held = []
    for (const { to, bytes } of statements) to.write(bytes)
  }
  return {
    url: Object.assign(new URL(target), { hostname: '127.0.0.1', port: `${own}` }).href,
    async count(work) {
      held = []
      let isDone = false
      const done = work().finally(() => {
        isDone = true
      })
      let waits = 0
      while (!isDone) {
        const before: number = held?.length ?? 0
        await Promise.race([delay(quiet), done.catch(() => undefined)])
        if (isDone || before === 0 || held?.length !== before) continue
        waits += 1
        forward()
      }
      forward()
      held = undefined
      await done
      return waits
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => {
        proxy.close(resolve)
      })
    },
  }
}

/** Returns the number of waits of each kind of request to a server on an empty database. */
export const measureSerialWaits = async (
  database: string,
): Promise<ReadonlyMap<string, number>> => {
  await using proxy = await serialWaits(database)
  await using requests = await requestsTo({ store: postgres(proxy.url) })
  const counted = new Map<string, number>()
  const count: Around = async (name, work) => {
    const found = await proxy.count(work)
    counted.set(name, Math.min(counted.get(name) ?? found, found))
  }
  // The first round fills caches and opens connections. A busy machine may split a wait, so the least number counts.
  for (let round = 0; round < 4; round += 1) await requests.send(count)
  return counted
}
