import { fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'

/** The kinds of requests of a well-behaved caller. */
export type RequestKind =
  | 'bearer'
  | 'client'
  | 'introspection'
  | 'refresh'
  | 'login'
  | 'registration'
  | 'document'

/** The credentials and request rate of a well-behaved caller. */
export interface InnocentOptions {
  /** The URLs of the nodes, which receive the requests in turn. */
  readonly urls: readonly string[]
  /** The number of mixed requests per second. */
  readonly rate: number
  /** Additional requests, which the results list separately. */
  readonly extra: readonly { readonly kind: RequestKind; readonly perSecond: number }[]
  readonly clients: readonly { readonly clientId: string; readonly clientSecret: string }[]
  readonly users: readonly { readonly email: string; readonly password: string }[]
  readonly pairs: readonly {
    readonly access: string
    readonly refresh: string
    /** The index of the client in `clients`. */
    readonly client: number
  }[]
  /** The client ID of the first remote client document. */
  readonly remote: string
}

export interface Sample {
  readonly kind: RequestKind
  /** The scheduled time in milliseconds since the epoch. */
  readonly at: number
  /** The milliseconds from the scheduled time to the response. */
  readonly took: number
  /** The status of a failed response, or the reason for a missing response. */
  readonly failed?: number | 'reset' | 'silence'
}

export interface Caller extends AsyncDisposable {
  /** Stops sending requests, and waits for the last responses. */
  end(): Promise<readonly Sample[]>
}

export const startCaller = async (innocents: InnocentOptions): Promise<Caller> => {
  const child = fork(join(import.meta.dirname, 'innocent.ts'), { execArgv: [] })
  child.send(innocents)
  const ended = once(child, 'exit')
  const [first] = await Promise.race([once(child, 'message'), ended])
  if (first !== 'ready') throw new Error('The innocent caller does not start.')
  return {
    async end() {
      const answered = once(child, 'message')
      child.send('end')
      const [samples] = await Promise.race([answered, ended])
      if (!Array.isArray(samples)) throw new Error('The innocent caller exited.')
      return samples
    },
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await ended
    },
  }
}

export interface Figures {
  readonly requests: number
  /** The median in milliseconds. */
  readonly p50: number
  readonly p99: number
  readonly max: number
  /** Failed requests by kind and status. */
  readonly failures: Readonly<Record<string, number>>
}

const rounded = (milliseconds: number): number => Math.round(milliseconds * 10) / 10

export const figuresOf = (samples: readonly Sample[]): Figures => {
  const times = samples.map(({ took }) => took).sort((one, other) => one - other)
  const at = (share: number) =>
    rounded(times[Math.min(times.length - 1, Math.floor(times.length * share))] ?? 0)
  const failures: Record<string, number> = {}
  for (const { kind, failed } of samples) {
    if (failed === undefined) continue
    const name = `${kind} ${failed}`
    failures[name] = (failures[name] ?? 0) + 1
  }
  return { requests: times.length, p50: at(0.5), p99: at(0.99), max: at(1), failures }
}

export const failureCount = ({ failures }: Figures): number =>
  Object.values(failures).reduce((sum, count) => sum + count, 0)
