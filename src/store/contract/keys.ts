import type { Sealed } from '../../crypto/sealed.ts'

/** The IDs of the secret keys under which rows are sealed. */
export interface SecretKeyStore {
  ids(): Promise<readonly string[]>
  add(id: string, now: number): Promise<void>
  delete(id: string): Promise<void>
}

/** A stored key pair for signing tokens. */
export interface StoredSigningKey {
  /** The `kid` of the key (RFC 7517 §4.5). */
  readonly id: string
  readonly algorithm: string
  /** A JWK as JSON (RFC 7517). */
  readonly publicKey: string
  readonly privateKey: Sealed
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

export interface SigningKeyStore {
  /** Returns all keys, the newest first. */
  all(): Promise<readonly StoredSigningKey[]>
  /** Returns false if the ID is taken. Only one of several nodes can therefore create the next key. */
  insert(key: StoredSigningKey): Promise<boolean>
  delete(id: string): Promise<void>
}
