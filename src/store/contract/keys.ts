import type { StoredSigningKey } from '../../model/entities/signing-key.ts'

/** The IDs of the secret keys under which rows are sealed. */
export interface SecretKeyStore {
  ids(): Promise<readonly string[]>
  add(id: string, now: number): Promise<void>
  delete(id: string): Promise<void>
}

export interface SigningKeyStore {
  /** Returns all keys, the newest first. */
  all(): Promise<readonly StoredSigningKey[]>
  /** Returns false if the ID is taken. Only one of several nodes can therefore create the next key. */
  insert(key: StoredSigningKey): Promise<boolean>
  delete(id: string): Promise<void>
}
