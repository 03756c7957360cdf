import { readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'
import { parentPort } from 'node:worker_threads'
import { argon2idBlocking } from './argon2.ts'
import type { HashJob, HashResponse } from './hash-job.ts'

// The worker thread, which computes one hash at a time.

/**
 * Lowers the priority of this thread below the priority of the thread that processes requests. Works only on Linux,
 * where `setPriority` accepts the ID of a thread.
 */
const yieldToRequests = (): void => {
  try {
    const thread = readlinkSync('/proc/thread-self').split('/').at(-1) ?? ''
    if (thread !== '') setPriority(Number(thread), constants.priority.PRIORITY_BELOW_NORMAL)
  } catch {
    // This system does not support or permit the change, so the thread retains its priority.
  }
}

yieldToRequests()

const responseTo = async ({ id, parameters }: HashJob): Promise<HashResponse> => {
  try {
    return { id, tag: await argon2idBlocking(parameters) }
  } catch (error) {
    return { id, error: error instanceof Error ? error.message : String(error) }
  }
}

parentPort?.on('message', async (job: HashJob) => parentPort?.postMessage(await responseTo(job)))
