import type { ConnectionOptions } from 'node:tls'
import type { RedisAddress } from './address.ts'

/** The commands of a client, for a single Redis or a cluster. */
export interface Commands {
  put(key: string, ...values: readonly string[]): Promise<boolean>
  take(key: string, ...values: readonly string[]): Promise<string | undefined>
  increment(key: string, ...values: readonly string[]): Promise<number>
  makeRoom(key: string, ...values: readonly string[]): Promise<readonly string[]>
  hmGet(key: string, fields: string[]): Promise<readonly (string | null)[]>
  del(key: string): Promise<number>
  ping(): Promise<string>
}

/** A connection that reconnects automatically. Commands fail while the connection is interrupted. */
export interface RedisConnection {
  readonly commands: Commands
  /** Opens the connection. The promise rejects if the connection cannot be opened. */
  connect(): Promise<void>
  /** Returns whether this Redis belongs to a cluster, and therefore stores only some of the keys. */
  isPartial(): Promise<boolean>
  /** Replaces unresponsive connections. Does nothing if another caller has already replaced `used`. */
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
