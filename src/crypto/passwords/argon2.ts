import * as crypto from 'node:crypto'
import { promisify } from 'node:util'

/** The inputs of argon2id (RFC 9106 §3.1). `memory` is in KiB, `tagLength` in bytes. */
export interface Argon2Parameters {
  readonly message: string
  readonly nonce: Uint8Array
  readonly memory: number
  readonly passes: number
  readonly parallelism: number
  readonly tagLength: number
}

/** The error for a runtime without argon2, if the package `@noble/hashes` is missing too. */
export class Argon2Missing extends Error {
  override readonly name = 'Argon2Missing'

  constructor() {
    super(
      'This runtime does not contain argon2, which hashes the passwords of the built-in users. Use Node 24.7 or newer, or install the package @noble/hashes.',
    )
  }
}

// Node 24.7 added argon2. Other runtimes lack the export, so a named import would fail when this module is loaded.
const { argon2, argon2Sync }: Partial<Pick<typeof crypto, 'argon2' | 'argon2Sync'>> = crypto

const library = async () => {
  try {
    return await import('@noble/hashes/argon2.js')
  } catch {
    throw new Argon2Missing()
  }
}

const optionsOf = ({
  memory: m,
  passes: t,
  parallelism: p,
  tagLength: dkLen,
}: Argon2Parameters) => ({
  m,
  t,
  p,
  dkLen,
})

/** @throws Argon2Missing if neither the runtime nor the package `@noble/hashes` can compute argon2id */
export const requireArgon2 = async (): Promise<void> => {
  if (!argon2) await library()
}

/**
 * Computes argon2id asynchronously. If the runtime contains argon2, another thread computes the hash. Otherwise, the
 * package `@noble/hashes` computes the hash in this thread, in many short steps.
 * @throws Argon2Missing
 */
export const argon2id = async (parameters: Argon2Parameters): Promise<Uint8Array> => {
  if (argon2) return promisify(argon2)('argon2id', parameters)
  const { argon2idAsync } = await library()
  return argon2idAsync(parameters.message, parameters.nonce, optionsOf(parameters))
}

/** Computes argon2id, and blocks this thread until the hash is complete. @throws Argon2Missing */
export const argon2idBlocking = async (parameters: Argon2Parameters): Promise<Uint8Array> => {
  if (argon2Sync) return argon2Sync('argon2id', parameters)
  const { argon2id: compute } = await library()
  return compute(parameters.message, parameters.nonce, optionsOf(parameters))
}
