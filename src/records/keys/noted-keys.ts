import { type KeyRing, keyIdOf } from '../../crypto/sealed.ts'
import type { LogSink } from '../../model/log.ts'
import { StoreUnavailable, StoreUnusable } from '../../store/contract/errors.ts'
import type { SealedStore } from '../../store/contract/sealed.ts'
import type { Store } from '../../store/store.ts'

type Noted = Pick<Store, 'secretKeys' | 'sealed'>

/** The maximum number of rows of each table that are read for the error message, so that the start remains fast. */
const maxRows = 100_000
/** Milliseconds between two checks that the current key is recorded. */
const interval = 60_000

/**
 * Checks that the key ring has every key that a node has recorded in the store.
 * @throws StoreUnusable, which lists each missing key and the rows that need it
 */
export const checkKeys = async ({ secretKeys, sealed }: Noted, keys: KeyRing): Promise<void> => {
  const noted = await secretKeys.select()
  const missing = noted.map(({ id }) => id).filter((id) => !keys.ids.includes(id))
  if (missing.length === 0) return
  const needs: string[] = []
  for (const id of missing) needs.push(`key ${id} is missing, and ${await rowsUnder(id, sealed)}`)
  throw new StoreUnusable(
    `The configured secret keys do not match the database: ${needs.join('; ')}. Set SECRET_KEY to the missing key, or add the missing key to SECRET_KEY_PREVIOUS.`,
  )
}

const rowsUnder = async (id: string, sealed: SealedStore): Promise<string> => {
  const counts: string[] = []
  for (const { table, countUnder } of Object.values(sealed)) {
    const { rows, isAll } = await countUnder(id, maxRows)
    if (rows > 0) counts.push(`${isAll ? '' : 'at least '}${rows} in ${table}`)
    else if (!isAll) counts.push(`none of the first ${maxRows} in ${table}`)
  }
  return counts.length === 0 ? 'no row is sealed under it' : `needed by rows: ${counts.join(', ')}`
}

/**
 * Checks that this process has the key of a sealed value. Without this check, the server would refuse a valid row as
 * forged if only other nodes have its key. If no node has recorded the key, does not throw: the row is forged, and the
 * caller refuses it.
 * @throws StoreUnavailable if only other nodes have the key
 */
export const mustHaveKeyOf = async (
  value: string,
  { store, keys }: { readonly store: Pick<Store, 'secretKeys'>; readonly keys: KeyRing },
): Promise<void> => {
  const id = keyIdOf(value)
  if (id === undefined || keys.ids.includes(id)) return
  if ((await store.secretKeys.select({ id })).length > 0)
    throw new StoreUnavailable(
      `Secret key ${id} is used by other nodes, but this process does not have it. Set SECRET_KEY to this key, or add it to SECRET_KEY_PREVIOUS.`,
    )
}

const note = async ({ secretKeys }: Noted, keys: KeyRing, now: number): Promise<void> => {
  // The key is nearly always recorded, and a read is cheaper than a write.
  const key = { id: keys.currentId }
  if ((await secretKeys.select(key)).length === 0)
    await secretKeys.insert({ ...key, createdAt: now })
}

/**
 * Records the current key, and checks every minute that the key is still recorded. A rotation of the keys may remove
 * the record while this node still writes with the key.
 */
export const keepNoted = async (
  store: Noted,
  keys: KeyRing,
  { clock, log }: { readonly clock: () => number; readonly log: LogSink },
) => {
  await note(store, keys, clock())
  let running = Promise.resolve()
  const failed = (error: unknown): void =>
    log({
      level: error instanceof StoreUnavailable ? 'warn' : 'error',
      event: 'secret_key.not_noted',
      message: 'The server could not record its secret key in the store, and retries every minute.',
      error,
    })
  const timer = setInterval(() => {
    running = note(store, keys, clock()).catch(failed)
  }, interval)
  timer.unref()
  return {
    async stop() {
      clearInterval(timer)
      await running
    },
  }
}
