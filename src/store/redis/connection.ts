import type { ConnectionOptions } from 'node:tls'
import type { RedisAddress } from './address.ts'

/** The commands of a client, for a single Redis or a cluster. */
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
  /** Opens the connection. The promise rejects if the connection cannot be opened. */
  connect(): Promise<void>
  /** Returns whether this Redis belongs to a cluster, so that it has only some of the keys. */
  isPartial(): Promise<boolean>
  /** Replaces unresponsive connections, once for all concurrent callers with the same timeout. */
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
