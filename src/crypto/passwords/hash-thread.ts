import { Worker } from 'node:worker_threads'
import { workerFile } from '../worker-file.ts'
import { type Argon2Parameters, argon2id } from './argon2.ts'
import type { HashJob, HashResponse } from './hash-job.ts'

interface Waiting {
  readonly parameters: Argon2Parameters
  readonly resolve: (tag: Uint8Array) => void
  readonly reject: (error: unknown) => void
}

/**
 * Computes argon2id hashes in a worker thread, which starts at the first hash. If the worker fails, for example because
 * Node's permissions forbid workers, `argon2id` computes the hashes without a worker.
 */
export class HashThread {
  readonly #waiting = new Map<number, Waiting>()
  #worker: Worker | undefined
  #isImpossible = false
  #lastId = 0

  run(parameters: Argon2Parameters): Promise<Uint8Array> {
    const worker = this.#started()
    if (!worker) return argon2id(parameters)
    return new Promise((resolve, reject) => {
      this.#lastId += 1
      const job: HashJob = { id: this.#lastId, parameters }
      this.#waiting.set(job.id, { parameters, resolve, reject })
      // Keep the process alive only while a hash is being computed.
      worker.ref()
      worker.postMessage(job)
    })
  }

  #started(): Worker | undefined {
    if (this.#worker || this.#isImpossible) return this.#worker
    const file = workerFile('hash-worker', import.meta.url)
    if (!file) {
      this.#isImpossible = true
      return undefined
    }
    try {
      const worker = new Worker(file)
      worker.on('message', (response: HashResponse) => this.#answered(response))
      worker.on('error', () => this.#ended())
      worker.on('exit', () => this.#ended())
      this.#worker = worker
    } catch {
      this.#isImpossible = true
    }
    return this.#worker
  }

  #answered({ id, tag, error }: HashResponse): void {
    const waiting = this.#waiting.get(id)
    this.#waiting.delete(id)
    if (this.#waiting.size === 0) this.#worker?.unref()
    if (tag) waiting?.resolve(tag)
    else waiting?.reject(new Error(error))
  }

  #ended(): void {
    this.#worker = undefined
    this.#isImpossible = true
    const all = [...this.#waiting.values()]
    this.#waiting.clear()
    for (const { parameters, resolve, reject } of all) argon2id(parameters).then(resolve, reject)
  }
}
