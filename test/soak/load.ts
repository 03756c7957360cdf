import { setTimeout as delay } from 'node:timers/promises'
import { Meter } from '../load/meter.ts'
import type { TestData } from '../support/observed-test-data.ts'
import { TooMany, Worker } from './steps.ts'

const workers = 16

/** Runs random steps with several workers, at full speed or at a given rate, until stop() is called. */
export class Load {
  readonly meter = new Meter()
  readonly #workers: readonly Worker[]
  #interval = 0
  #slot = 0
  #isOver = false
  steps = 0
  /** The number of device authorizations that the workers started. */
  devices = 0
  tooMany = 0
  failed = 0

  constructor(furniture: TestData) {
    this.#workers = Array.from({ length: workers }, () => new Worker(furniture))
  }

  get requests(): number {
    return this.#workers.reduce((sum, worker) => sum + worker.requests, 0)
  }

  /** Changes the rate. @param rate steps per second, or 0 for unlimited speed */
  pace(rate: number): void {
    this.#interval = rate === 0 ? 0 : 1_000 / rate
    this.#slot = performance.now()
  }

  /** Runs steps. Resolves when all steps have ended after stop() was called. */
  async run(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => this.#work(worker)))
  }

  stop(): void {
    this.#isOver = true
  }

  async #work(worker: Worker): Promise<void> {
    while (!this.#isOver) {
      // After a delay because of a busy server or machine, do not catch up on missed steps.
      this.#slot = Math.max(this.#slot + this.#interval, performance.now())
      if (this.#interval > 0) await delay(Math.max(0, this.#slot - performance.now()))
      if (this.#isOver) return
      const [name, step] = worker.next()
      await this.meter.time(name, async () => {
        try {
          await step()
        } catch (error) {
          if (!(error instanceof TooMany)) {
            this.failed += 1
            throw error
          }
          this.tooMany += 1
        }
      })
      this.steps += 1
      if (name === 'device') this.devices += 1
    }
  }
}
