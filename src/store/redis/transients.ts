import type { OpenTransients } from '../contract/transients.ts'
import type { Commands } from './connection.ts'

/** Runs a command. @throws StoreUnavailable where Redis cannot do it */
export type Run = <T>(command: (redis: Commands) => Promise<T>) => Promise<T>

/** Milliseconds. The caller's clock decides when a value has ended, and may be behind that of Redis. */
const margin = 60_000

/** The operations over Redis, each of them one command, or one command for each key. */
export const redisTransients = (run: Run, prefix: string): Omit<OpenTransients, 'close'> => {
  const life = (expiresAt: number, now: number): string =>
    String(Math.max(0, Math.ceil(expiresAt - now)) + margin)
  const get = async (key: string, now: number): Promise<string | undefined> => {
    const fields = ['value', 'expires_at']
    const [value, expiresAt] = await run((redis) => redis.hmGet(prefix + key, fields))
    return Number(expiresAt) > now ? (value ?? undefined) : undefined
  }
  return {
    put: (key, value, expiresAt, now) =>
      run((redis) =>
        redis.put(prefix + key, value, `${expiresAt}`, `${now}`, life(expiresAt, now)),
      ),
    async set(key, value, expiresAt, now) {
      await run((redis) => redis.replace(prefix + key, value, `${expiresAt}`, life(expiresAt, now)))
    },
    get,
    // The client sends them in one packet. In a cluster the keys are on different nodes, so no command reads them all.
    getMany: (keys, now) => Promise.all(keys.map((key) => get(key, now))),
    take: (key, now) => run((redis) => redis.take(prefix + key, `${now}`)),
    increment: (key, expiresAt, now) =>
      run((redis) => redis.increment(prefix + key, `${expiresAt}`, `${now}`, life(expiresAt, now))),
    async delete(key) {
      await run((redis) => redis.del(prefix + key))
    },
    // Redis removes by itself what has ended.
    deleteExpired: async () => 0,
    async ping() {
      await run((redis) => redis.ping())
    },
  }
}
