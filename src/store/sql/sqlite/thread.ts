import { Worker } from 'node:worker_threads'
import { workerFile } from '../../../crypto/worker-file.ts'
import { StoreUnavailable } from '../../contract/errors.ts'
import type { StatementResult } from './database.ts'

/** A statement for the thread. */
export interface ThreadRequest {
  readonly id: number
  readonly sql: string
  readonly parameters: readonly unknown[]
}

export interface ThreadResponse {
  readonly id: number
  readonly result?: StatementResult
  readonly unavailable?: string
  readonly error?: string
}

interface Waiting {
  readonly resolve: (result: StatementResult) => void
  readonly reject: (error: Error) => void
}

/** Returns the file of the thread; undefined if a bundler of the application left it out. */
export const sqliteWorkerFile = (): URL | undefined => workerFile('worker', import.meta.url)

/**
 * A connection for background work in a separate thread, because SQLite blocks the calling thread while it waits for
 * the disk. The thread starts with the first statement.
 */
export class SqliteThread {
  readonly #file: URL
  readonly #path: string
  readonly #synchronous: 'NORMAL' | 'FULL'
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #lastId = 0
  #isClosed = false

  /** @param file the file of the thread, from `sqliteWorkerFile` */
  constructor(file: URL, path: string, synchronous: 'NORMAL' | 'FULL') {
    this.#file = file
    this.#path = path
    this.#synchronous = synchronous
  }

  /** Whether the thread can run a statement at once. */
  get isIdle(): boolean {
    return this.#waiting.size === 0 && !this.#isClosed
  }

  /** Runs a statement in the thread. @throws StoreUnavailable during an outage, and if the thread has ended */
  async run(sql: string, parameters: readonly unknown[]): Promise<StatementResult> {
    // A new thread would open the database again.
    if (this.#isClosed) throw new StoreUnavailable('The database is closed.')
    const worker = this.#startWorker()
    return new Promise((resolve, reject) => {
      this.#lastId += 1
      const request: ThreadRequest = { id: this.#lastId, sql, parameters }
      this.#waiting.set(request.id, { resolve, reject })
      // Keep the process alive only while a statement waits for its result.
      worker.ref()
      worker.postMessage(request)
    })
  }

  async begin(): Promise<void> {
    await this.run('begin immediate', [])
  }

  async commit(): Promise<void> {
    await this.run('commit', [])
  }

  async rollback(): Promise<void> {
    await this.run('rollback', [])
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#worker?.terminate()
  }

  #startWorker(): Worker {
    if (this.#worker) return this.#worker
    const worker = new Worker(this.#file, {
      workerData: { path: this.#path, synchronous: this.#synchronous },
    })
    worker.on('message', (response: ThreadResponse) => this.#answered(response))
    worker.on('error', (error) => this.#ended(error))
    worker.on('exit', () => this.#ended())
    this.#worker = worker
    return worker
  }

  #answered({ id, result, unavailable, error }: ThreadResponse): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (this.#waiting.size === 0) this.#worker?.unref()
    if (result) waiting?.resolve(result)
    else if (unavailable !== undefined) waiting?.reject(new StoreUnavailable(unavailable))
    else waiting?.reject(new Error(error))
  }

  // The next statement starts a new thread.
  #ended(cause?: unknown): void {
    this.#worker = undefined
    const error = new StoreUnavailable('The thread of the database has ended.', { cause })
    for (const { reject } of this.#waiting.values()) reject(error)
    this.#waiting.clear()
  }
}
