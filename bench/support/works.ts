/** One request that is sent again and again, or, where there are several bodies or tokens, those in turns. */
export interface Call {
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
  /** Refresh tokens to begin with; each answer brings the next. They stand at the end of the body. */
  readonly refreshTokens?: string[]
  /** Bearer tokens that are presented in turns. */
  readonly tokens?: readonly string[]
  /** The same request by somebody who must be refused: with 401. */
  readonly unknown?: Readonly<Record<string, string>>
  /** By a token that lacks the scope: 403. */
  readonly withoutScope?: Readonly<Record<string, string>>
}

/** `resources` is `resource` with a thousand tokens in turns, so that nobody is flattered by one. */
export const workNames = ['token', 'resource', 'resources', 'introspect', 'refresh', 'key'] as const
export type WorkName = (typeof workNames)[number]
export type Works = Partial<Record<WorkName, Call>>

/** What a server under measurement tells whoever started it. */
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

/** Our own, in each process that opens the same database. */
export const secretKey = 'a secret key for measurements, 32 bytes and more'
