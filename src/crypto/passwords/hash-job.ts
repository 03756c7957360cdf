import type { Argon2Parameters } from './argon2.ts'

/** A hash job for the worker thread. */
export interface HashJob {
  readonly id: number
  readonly parameters: Argon2Parameters
}

export interface HashResponse {
  readonly id: number
  readonly tag?: Uint8Array
  readonly error?: string
}
