import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { Worker } from 'node:worker_threads'

/**
 * Text that no log entry or error may contain. For random bytes, the text is the concatenation of all encodings that
 * the server uses.
 */
export interface Secret {
  readonly kind: 'random' | 'whole'
  readonly text: string
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

// Encodes bytes like `randomString`, so that a token that was created from the bytes is a part of this text.
const asCharacters = (bytes: Uint8Array): string =>
  Array.from(bytes, (byte) => (byte < 248 ? alphabet[byte % 62] : '')).join('')

/**
 * Reports every random secret of this process, and every password and secret key that it receives. All of these secrets
 * pass through node:crypto or the thread that hashes passwords.
 */
export const watchSecrets = (saw: (secret: Secret) => void): void => {
  const { randomFillSync, randomBytes, argon2, hkdfSync } = crypto
  const random = (bytes: Uint8Array, ...others: string[]): void => {
    for (const text of [asCharacters(bytes), ...others]) saw({ kind: 'random', text })
  }
  const whole = (value: unknown): void => {
    const text = typeof value === 'string' ? value : Buffer.from(value as Uint8Array).toString()
    if (text.length >= 12) saw({ kind: 'whole', text })
  }
  Object.assign(crypto, {
    randomFillSync(buffer: Uint8Array, ...rest: []) {
      randomFillSync(buffer, ...rest)
      random(buffer)
      return buffer
    },
    randomBytes(size: number, ...rest: []) {
      const bytes = randomBytes(size, ...rest) as Buffer | undefined
      if (bytes && size >= 16) random(bytes, bytes.toString('hex'), bytes.toString('base64url'))
      return bytes
    },
    argon2(name: 'argon2id', parameters: crypto.Argon2Parameters, ...rest: [() => void]) {
      whole(parameters.message)
      return argon2(name, parameters, ...rest)
    },
    hkdfSync(...all: Parameters<typeof hkdfSync>) {
      whole(all[1])
      return hkdfSync(...all)
    },
  })
  // Passwords are sent to the thread that hashes them.
  const { postMessage } = Worker.prototype
  Worker.prototype.postMessage = function (this: Worker, job, ...rest: []) {
    if (typeof job?.parameters?.message === 'string') whole(job.parameters.message)
    postMessage.call(this, job, ...rest)
  }
  // CSRF tokens and look-up digests are HMACs. Neither may be logged.
  const { digest } = crypto.Hmac.prototype
  Object.assign(crypto.Hmac.prototype, {
    digest(this: crypto.Hmac, encoding: 'base64url') {
      const made = digest.call(this, encoding)
      if (typeof made === 'string') saw({ kind: 'random', text: made })
      return made
    },
  })
  syncBuiltinESMExports()
}
