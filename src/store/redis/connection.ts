import type { ConnectionOptions } from 'node:tls'
import type { RedisAddress } from './address.ts'

/** The commands that a client provides, for a single Redis and for a cluster. */
export interface Commands {
  put(key: string, ...values: readonly string[]): Promise<boolean>
  replace(key: string, ...values: readonly string[]): Promise<boolean>
  take(key: string, ...values: readonly string[]): Promise<string | undefined>
  increment(key: string, ...values: readonly string[]): Promise<number>
  hmGet(key: string, fields: string[]): Promise<readonly (string | null)[]>
  del(key: string): Promise<number>
  ping(): Promise<string>
}

/** A connection that reconnects automatically. Commands fail while it is disconnected. */
export interface RedisConnection {
  readonly commands: Commands
  /** Connects for the first time. Rejects if that fails. */
  connect(): Promise<void>
  /** Returns whether the node belongs to a cluster, and has only some of the keys. */
  isPartial(): Promise<boolean>
  /** Replaces connections that do not answer. Concurrent callers that saw the same timeout cause one replacement. */
  renew(used: Commands): void
  close(): void
}

export interface ConnectionSettings {
  readonly address: RedisAddress
  readonly connectTimeout: number
  readonly tls: ConnectionOptions
  /** Called with errors that do not belong to a command. */
  readonly onError: (error: Error) => void
}
