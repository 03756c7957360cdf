/** A repeated request, which may cycle through several bodies or tokens. */
export interface Call {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** The initial refresh tokens. Each request appends one to its body, and each response contains the next. */
  readonly refreshTokens?: string[]
  /** Bearer tokens. The requests alternate between them. */
  readonly tokens?: readonly string[]
  /** Headers with unknown credentials, which the server must refuse with 401. */
  readonly unknown?: Readonly<Record<string, string>>
  /** Headers with a token without the scope, which the server must refuse with 403. */
  readonly withoutScope?: Readonly<Record<string, string>>
}

/** `resources` alternates between a thousand tokens, so that a cache of one token is no advantage. */
export const workNames = ['token', 'resource', 'resources', 'introspect', 'refresh', 'key'] as const
export type WorkName = (typeof workNames)[number]
export type Works = Partial<Record<WorkName, Call>>

/** The report of a measured server to its parent process. */
export interface Ready {
  readonly type: 'ready'
  readonly port: number
  readonly works: Works
}

export interface Usage {
  readonly type: 'usage'
  /** Microseconds of CPU time. */
  readonly cpu: number
  /** Bytes. */
  readonly memory: number
}

/** The secret key of this server in every process that opens the same database. */
export const secretKey = 'a secret key for measurements, 32 bytes and more'
