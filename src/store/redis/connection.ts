import type { ConnectionOptions } from 'node:tls'
import type { RedisAddress } from './address.ts'

/** The commands that are used of a client, be it of one Redis or of a cluster. */
export interface Commands {
  put(key: string, ...values: readonly string[]): Promise<boolean>
  replace(key: string, ...values: readonly string[]): Promise<boolean>
  take(key: string, ...values: readonly string[]): Promise<string | undefined>
  increment(key: string, ...values: readonly string[]): Promise<number>
  hmGet(key: string, fields: string[]): Promise<readonly (string | null)[]>
  del(key: string): Promise<number>
  ping(): Promise<string>
}

/** A connection that repairs itself, and refuses commands until it has. */
export interface RedisConnection {
  readonly commands: Commands
  /** Connects for the first time. Rejects where that fails. */
  connect(): Promise<void>
  /** Whether it is to one node of a cluster, which has some of the keys only. */
  isPartial(): Promise<boolean>
  /** Drops what does not answer, and connects anew. Several callers who met the same silence renew once. */
  renew(met: Commands): void
  close(): void
}

export interface ConnectionSettings {
  readonly address: RedisAddress
  readonly connectTimeout: number
  readonly tls: ConnectionOptions
  /** Called with what went wrong beside any command. */
  readonly onError: (error: Error) => void
}
