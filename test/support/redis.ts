import { randomBytes } from 'node:crypto'
import { connect, createServer, type Socket } from 'node:net'
import { createClient } from '@redis/client'
import { redis } from 'svc-oauth2server/redis'
import { freePort, Program, temporaryFolder } from './processes.ts'

/** The URL of the Redis that all tests of a run share: see services.ts. Empty if Redis is not installed. */
export const sharedRedis: string = process.env.TEST_REDIS_URL ?? ''

/** Returns a key prefix that no other run uses. */
export const newPrefix = (): string => `test-${randomBytes(8).toString('hex')}:`

const clientOf = (port: number, password?: string) =>
  createClient({
    socket: { host: '127.0.0.1', port, reconnectStrategy: false },
    ...(password !== undefined && { password }),
  })
    .on('error', () => undefined)
    .connect()

/** Deletes every key with a prefix. */
export const removeKeys = async (prefix: string): Promise<void> => {
  const client = await createClient({ url: sharedRedis }).connect()
  for await (const keys of client.scanIterator({ MATCH: `${prefix}*`, COUNT: 1_000 }))
    if (keys.length > 0) await client.del(keys)
  client.destroy()
}

/** A Redis server that a test may stop, start and pause. */
export interface OwnRedis extends AsyncDisposable {
  readonly port: number
  readonly url: string
  start(): Promise<void>
  stop(): Promise<void>
  /** Pauses the process: connections remain open, but commands get no reply. */
  pause(): void
  resume(): void
  /** Runs a command and returns its reply, like `redis-cli`. */
  command(...args: readonly string[]): Promise<unknown>
}

export const startRedis = async (
  args: readonly string[] = [],
  { port: given, password }: { readonly port?: number; readonly password?: string } = {},
): Promise<OwnRedis> => {
  const port = given ?? (await freePort())
  const folder = await temporaryFolder()
  const kept = ['--save', '', '--appendonly', 'no', '--loglevel', 'notice', '--dir', folder.path]
  const secret = password === undefined ? [] : ['--requirepass', password]
  let program: Program | undefined
  const own: OwnRedis = {
    port,
    url: `redis://127.0.0.1:${port}`,
    async start() {
      const options = ['--port', String(port), '--bind', '127.0.0.1', ...kept, ...secret, ...args]
      program = new Program('redis-server', options, { limit: Number.POSITIVE_INFINITY })
      await program.says(/Ready to accept connections/)
    },
    async stop() {
      await program?.crash()
    },
    pause: () => program?.kill('SIGSTOP'),
    resume: () => program?.kill('SIGCONT'),
    async command(...command) {
      const client = await clientOf(port, password)
      try {
        return await client.sendCommand(command)
      } finally {
        client.destroy()
      }
    },
    async [Symbol.asyncDispose]() {
      await own.stop()
      await folder[Symbol.asyncDispose]()
    },
  }
  await own.start()
  return own
}

/** A proxy between two programs, which can drop their traffic without closing connections. */
export interface Cable extends AsyncDisposable {
  readonly port: number
  /** Drops all traffic without closing a connection. */
  cut(): void
  /** Forwards new connections to another port. */
  forwardTo(port: number): void
  /** Forwards traffic again, but only on new connections. */
  restore(): void
}

export const newCable = async (to: number, port?: number): Promise<Cable> => {
  let target = to
  const ends = new Set<Socket>()
  let isCut = false
  const server = createServer((near) => {
    const far = connect(target, '127.0.0.1')
    for (const end of [near, far]) {
      ends.add(end)
      end.on('error', () => undefined)
    }
    if (isCut) return
    near.pipe(far)
    far.pipe(near)
    near.once('close', () => far.destroy())
    far.once('close', () => near.destroy())
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  const address = server.address()
  return {
    port: typeof address === 'object' && address ? address.port : 0,
    cut() {
      isCut = true
      for (const end of ends) end.unpipe().pause()
    },
    forwardTo(other) {
      target = other
    },
    restore() {
      isCut = false
    },
    async [Symbol.asyncDispose]() {
      for (const end of ends) end.destroy()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Opens a store of short-lived values in Redis for `await using`. Waits longer than usual, and tries twice. */
export const openRedis = async (url: string, options: Parameters<typeof redis>[1] = {}) => {
  const open = () => redis(url, { connectTimeout: 20_000, ...options }).open()
  const transients = await open().catch(open)
  return Object.assign(transients, { [Symbol.asyncDispose]: () => transients.close() })
}
