import { parentPort, workerData } from 'node:worker_threads'
import { StoreUnavailable, StoreUnusable } from '../../contract/errors.ts'
import { openDatabase } from './database.ts'
import type { ThreadRequest, ThreadResponse } from './thread.ts'

// This module runs in a separate thread, with one connection.

const database = openDatabase(workerData.path, { synchronous: workerData.synchronous })
// If the database cannot be opened, every statement reports the error. Without this handler, the unhandled rejection
// would also terminate the worker.
database.catch(() => undefined)

const responseTo = async ({ id, sql, parameters }: ThreadRequest): Promise<ThreadResponse> => {
  try {
    return { id, result: await (await database).run(sql, parameters) }
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    const isOutage = error instanceof StoreUnavailable || error instanceof StoreUnusable
    return isOutage ? { id, unavailable: message } : { id, error: message }
  }
}

parentPort?.on('message', async (request: ThreadRequest) => {
  parentPort?.postMessage(await responseTo(request))
})
