import { parentPort, workerData } from 'node:worker_threads'
import type { Digest } from '../../src/crypto/digest.ts'
import { sqlite } from '../../src/store/sqlite.ts'
import { clientKey } from './rows.ts'

/** The work of one of the threads that `sqlite.test.ts` runs concurrently on the same file. */
export interface Task {
  readonly path: string
  readonly clientId: string
  readonly codes: readonly string[]
}

/** The codes that the thread redeemed, the values that it took, and the counts that it received. */
export interface Done {
  readonly redeemed: readonly string[]
  readonly taken: readonly string[]
  readonly numbers: readonly number[]
}

const { path, clientId, codes }: Task = workerData
const store = await sqlite(path).open()
await store.migrate()
const redeemed: string[] = []
const taken: string[] = []
const numbers: number[] = []
for (const code of codes) {
  const id = await store.transaction(async (tx) => {
    numbers.push(await tx.transients.increment('count', 10, 0))
    return tx.authorizations.insertOnce({
      clientKey: clientKey(clientId),
      userId: null,
      scopes: [],
      resources: [],
      codeDigest: code as Digest,
      code: null,
      userAgent: '',
      createdAt: 0,
      expiresAt: 10,
      revokedAt: null,
    })
  })
  if (id !== undefined) redeemed.push(code)
  if ((await store.transients.take(code, 0)) !== undefined) taken.push(code)
}
await store.close()
parentPort?.postMessage({ redeemed, taken, numbers } satisfies Done)
