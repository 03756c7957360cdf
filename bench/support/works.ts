import type { Exchanges } from './exchanges.ts'

/** A request that is sent repeatedly. If it has several tokens, each repetition uses a different token. */
export interface Call {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /**
   * The first refresh tokens. Each request appends a refresh token to the body, and each response contains a new one.
   */
  readonly refreshTokens?: string[]
  /** Bearer tokens. The requests alternate between them. */
  readonly tokens?: readonly string[]
  /** Headers with unknown credentials. The server must refuse the request with 401. */
  readonly unknown?: Readonly<Record<string, string>>
  /** Headers with a token that lacks the scope. The server must refuse the request with 403. */
  readonly withoutScope?: Readonly<Record<string, string>>
}

/** The kinds of requests. `resources` uses a thousand tokens in turn, so that a cache of one token is no advantage. */
export const workNames = ['token', 'resource', 'resources', 'introspect', 'refresh', 'key'] as const
export type WorkName = (typeof workNames)[number]
export type Works = Partial<Record<WorkName, Call>> & { readonly exchanges?: Exchanges }

/** The report of a measured server to its parent process. */
export interface Ready {
  readonly type: 'ready'
  readonly port: number
  readonly works: Works
}

export interface Usage {
  readonly type: 'usage'
  /** Microseconds of CPU time that the server has used. */
  readonly cpu: number
  /** Bytes of memory that the server uses. */
  readonly memory: number
}

/** The secret key of this server in every process that opens the same database. */
export const secretKey = 'a secret key for measurements, 32 bytes and more'
