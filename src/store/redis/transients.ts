import type { OpenTransients, Room, Transient } from '../contract/transients.ts'
import type { Commands } from './connection.ts'

/** Runs a command. @throws StoreUnavailable if Redis cannot run the command */
export type Run = <T>(command: (redis: Commands) => Promise<T>) => Promise<T>

/**
 * Milliseconds for which Redis retains values after their expiry. The clock of the reading process determines the
 * expiry, and may be behind the clock of the process that stored the value.
 */
const margin = 60_000

/** The operations on Redis: one command each, or one command for each key. */
export const redisTransients = (run: Run, prefix: string): Omit<OpenTransients, 'close'> => {
  const lifeOf = (expiresAt: number, now: number): string =>
    String(Math.max(0, Math.ceil(expiresAt - now)) + margin)
  const get = async (key: string, now: number): Promise<Transient | undefined> => {
    const fields = ['value', 'count', 'expires_at']
    const [value = null, count, end] = await run((redis) => redis.hmGet(prefix + key, fields))
    const expiresAt = Number(end)
    return expiresAt > now ? { value, count: Number(count), expiresAt } : undefined
  }
  // One script cannot delete the excess values, because in a cluster, each key may be on another node. The client sends
  // this command together with the write of the value, so that the write waits only if there are excess values.
  const makeRoom = async (key: string, expiresAt: number, now: number, room?: Room) => {
    if (!room) return
    const owner = `${prefix}owner:${room.owner}`
    const values = [key, `${expiresAt}`, `${room.most}`, lifeOf(expiresAt, now)]
    const excess = await run((redis) => redis.makeRoom(owner, ...values))
    await Promise.all(excess.map((one) => run((redis) => redis.del(prefix + one))))
  }
  // Values that expire before `replacedUntil` are replaced.
  const put = async (
    [key, value, expiresAt, now, room]: Parameters<OpenTransients['put']>,
    replacedUntil: string,
  ) => {
    const life = lifeOf(expiresAt, now)
    const [isStored] = await Promise.all([
      run((redis) => redis.put(prefix + key, value, `${expiresAt}`, replacedUntil, life)),
      makeRoom(key, expiresAt, now, room),
    ])
    return isStored
  }
  return {
    put: (...values) => put(values, `${values[3]}`),
    async set(...values) {
      await put(values, 'inf')
    },
    // The client sends these commands without waiting for replies. In a cluster, a single command for all keys could
    // fail, because the keys may be on different nodes.
    get: (keys, now) => Promise.all(keys.map((key) => get(key, now))),
    take: (key, now) => run((redis) => redis.take(prefix + key, `${now}`)),
    increment: (key, expiresAt, now, by = 1) =>
      run((redis) =>
        redis.increment(prefix + key, `${expiresAt}`, `${now}`, lifeOf(expiresAt, now), `${by}`),
      ),
    async delete(key) {
      await run((redis) => redis.del(prefix + key))
    },
    // Redis removes expired keys itself.
    deleteExpired: async () => 0,
    async ping() {
      await run((redis) => redis.ping())
    },
  }
}
