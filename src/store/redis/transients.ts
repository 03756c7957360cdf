import type { OpenTransients } from '../store.ts'
import type { Commands } from './connection.ts'

/** Runs a command, and says so where Redis cannot be used. @throws StoreUnavailable */
export type Run = <T>(command: (commands: Commands) => Promise<T>) => Promise<T>

// The caller's clock decides when a value has ended, and may be behind that of Redis.
const margin = 60_000

/** The operations, each one command that nothing comes in between. */
export const redisTransients = (run: Run, prefix: string): Omit<OpenTransients, 'close'> => {
  const life = (expiresAt: number, now: number): string =>
    String(Math.max(0, Math.ceil(expiresAt - now)) + margin)
  return {
    put: (key, value, expiresAt, now) =>
      run(({ put }) => put(prefix + key, value, `${expiresAt}`, `${now}`, life(expiresAt, now))),
  }
}
