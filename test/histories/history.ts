import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface, type Interface } from 'node:readline'
import { promisify } from 'node:util'
import { type TemporaryFolder, temporaryFolder } from '../support/processes.ts'

/** The response to an operation: `unknown` if the connection or the node ended before a response. */
export type Answer = 'ok' | 'refused' | 'unauthenticated' | 'unknown'

/** One request with its response: see `Operation` in `checker/model.go`. Labels stand for values. */
export interface Operation {
  readonly do: string
  readonly of?: string
  readonly call: number
  readonly return: number
  readonly answer: Answer
  readonly secret?: string
  readonly token?: string
  readonly session?: string
  readonly access?: string
  readonly refresh?: string
  readonly newSecret?: string
  readonly node?: number
  readonly why?: string
}

export interface Verdict {
  readonly result: 'ok' | 'violation' | 'undecided'
  readonly of: string
  readonly operations?: readonly Operation[]
  readonly longest?: readonly Operation[]
}

/** Settings of the nodes that decide which history is allowed. */
export interface Rules {
  /** The leeway of refresh tokens in seconds. */
  readonly leeway: number
  /** See `model` in `checker/model.go`. */
  readonly strict?: boolean
}

/** The difference in milliseconds that the clocks of two nodes may have. */
const tolerance = 200

/** The program in `checker/`, which searches an order of the operations that the contract allows. */
export interface Checker extends AsyncDisposable {
  check(operations: readonly Operation[], rules: Rules): Promise<Verdict>
}

/** Builds and starts the checker. Go reads the library porcupine from its module cache, if it is there. */
export const startChecker = async (): Promise<Checker> => {
  const folder: TemporaryFolder = await temporaryFolder()
  const program = join(folder.path, 'checker')
  const cwd = join(import.meta.dirname, 'checker')
  const env = { ...process.env, GOTOOLCHAIN: 'local' }
  await promisify(execFile)('go', ['build', '-buildvcs=false', '-o', program, '.'], { cwd, env })
  const child: ChildProcess = spawn(program, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines: Interface = createInterface(child.stdout as NodeJS.ReadableStream)
  const ended = once(child, 'close')
  const waiting: ((line: string) => void)[] = []
  lines.on('line', (line) => waiting.shift()?.(line))
  return {
    check(operations, { leeway, strict = false }) {
      const times = { leeway: leeway * 1_000_000, tolerance: tolerance * 1_000 }
      const history = { ...times, strict, operations }
      child.stdin?.write(`${JSON.stringify(history)}\n`)
      return Promise.race([
        new Promise<Verdict>((resolve) => {
          waiting.push((line) => resolve(JSON.parse(line)))
        }),
        ended.then(() => Promise.reject(new Error('The checker ended before its verdict.'))),
      ])
    },
    async [Symbol.asyncDispose]() {
      child.stdin?.end()
      await ended
      await folder[Symbol.asyncDispose]()
    },
  }
}

/** Describes a violation for people, with one operation on each line. */
export const describe = ({ of, operations = [], longest = [] }: Verdict): string => {
  const first = operations[0]?.call ?? 0
  const isInOrder = new Set(longest.map(({ call, do: name }) => `${call} ${name}`))
  const lines = operations.map((operation) => {
    const { do: name, call, return: end, answer, of: _, ...rest } = operation
    const ended = answer === 'unknown' ? '…' : ms(end - first)
    const mark = isInOrder.has(`${call} ${name}`) ? ' ' : '!'
    return `${mark} ${ms(call - first)} to ${ended} ms: ${name} ${labels(rest)} → ${answer}`
  })
  const order = longest.map((operation) => `${operation.do} ${labels(operation)}`.trim())
  return [
    `No order of these operations is allowed (authorization ${of}; ! is not in the longest order):`,
    ...lines,
    `The longest order: ${order.join('; ')}.`,
  ].join('\n')
}

const ms = (microseconds: number): string => (microseconds / 1_000).toFixed(1)

const labels = (operation: Partial<Operation>): string => {
  const { secret, token, session, access, refresh, newSecret, node, why } = operation
  return [
    secret,
    session,
    token,
    ...(access === undefined ? [] : ['=>', access, refresh]),
    ...(newSecret === undefined ? [] : ['=>', newSecret]),
    ...(node === undefined ? [] : [`at ${node}`]),
    ...(why === undefined ? [] : [`(${why})`]),
  ]
    .filter((part) => part !== undefined)
    .join(' ')
}
