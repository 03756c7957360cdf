import { argon2Sync } from 'node:crypto'
import { readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import type { HashAnswer, HashJob } from './hash-job.ts'

// Runs in a thread of its own: one hash after the other.

/** Lowers the priority of this thread alone, which only Linux can: requests come first, and hashing still goes on. */
const yieldToRequests = (): void => {
  try {
    const [thread = ''] = /\d+$/.exec(readlinkSync('/proc/thread-self')) ?? []
    if (thread !== '') setPriority(Number(thread), constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // Elsewhere it runs like any other thread.
  }
}

yieldToRequests()

const answerTo = ({ id, parameters }: HashJob): HashAnswer => {
  try {
    return { id, tag: argon2Sync('argon2id', parameters) }
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) }
  }
}

parentPort?.on('message', (job: HashJob) => parentPort?.postMessage(answerTo(job)))
