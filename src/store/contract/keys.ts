import type { Sealed } from '../../crypto/sealed.ts'

/** The secret keys that rows were sealed under, by their ids. */
export interface SecretKeyStore {
  ids(): Promise<readonly string[]>
  add(id: string, now: number): Promise<void>
  delete(id: string): Promise<void>
}

/** A key pair with which tokens are signed, as it is stored. */
export interface StoredSigningKey {
  /** Its `kid` (RFC 7517 §4.5). */
  readonly id: string
  readonly algorithm: string
  /** JSON (RFC 7517). */
  readonly publicKey: string
  readonly privateKey: Sealed
  /** Milliseconds since the epoch. */
  readonly createdAt: number
}

export interface SigningKeyStore {
  /** The youngest first. */
  all(): Promise<readonly StoredSigningKey[]>
  /** False where the id is taken: of several nodes, one makes the next key. */
  insert(key: StoredSigningKey): Promise<boolean>
  delete(id: string): Promise<void>
}
