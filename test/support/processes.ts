import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { reportModule, secretNet, secretsFile } from './secrets/net.ts'

/** The root directory of the repository. */
export const root = resolve(import.meta.dirname, '../..')

/** The program that `npm start` runs. */
export const notesProgram = join(root, 'examples/notes/main.ts')

const taken = new Set<number>()

/** The number of this vitest worker. Concurrent workers have different numbers. */
const worker = Number(process.env.VITEST_POOL_ID ?? 0)
/** The number of port ranges. Each worker has one, so this number must exceed the number of workers. */
const slices = 20

const isFree = (port: number): Promise<boolean> =>
  new Promise((response) => {
    const probe = createServer()
    probe.once('error', () => response(false))
    probe.listen(port, () => probe.close(() => response(true)))
  })

/**
 * Returns a free port. The port is below the range from which the system assigns ports, and only this worker uses its
 * range. So the port is still free when a program starts.
 */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = randomInt(10_000 / slices, 32_000 / slices) * slices + (worker % slices)
    if (taken.has(port) || !(await isFree(port))) continue
    taken.add(port)
    return port
  }
}

export interface TemporaryFolder {
  readonly path: string
  [Symbol.asyncDispose](): Promise<void>
}

export const temporaryFolder = async (): Promise<TemporaryFolder> => {
  const path = await mkdtemp(join(tmpdir(), 'oauth2server-full-'))
  return {
    path,
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true, maxRetries: 3 }),
  }
}

/** Returns the environment without the variables that npm and vitest add. */
export const plainEnvironment = (): Record<string, string> => {
  const ours = /^(?:npm_|INIT_CWD$|NODE_|VITEST|VITE_|TEST$|CI$|PROD$|DEV$|MODE$|BASE_URL$|SSR$)/i
  const theirs = /^(?:OAUTH2|SECRET_KEY|DATABASE_URL$|PORT$|HOST$|TRUSTED_PROXIES$)/
  const needed = ['NODE_EXTRA_CA_CERTS', 'npm_config_registry', 'npm_config_cache']
  return Object.fromEntries(
    Object.entries(process.env).filter(
      (entry): entry is [string, string] =>
        entry[1] !== undefined &&
        (needed.includes(entry[0]) || !(ours.test(entry[0]) || theirs.test(entry[0]))),
    ),
  )
}

/** Environment variables for a compile cache that all processes share, because many of them run the same program. */
export const compileCache: Record<string, string> = {
  NODE_COMPILE_CACHE: join(tmpdir(), 'oauth2server-compile-cache'),
}

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface ProgramOptions {
  readonly cwd?: string
  /** Variables in addition to `plainEnvironment()`; undefined removes a variable. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Milliseconds after which the program is killed. `Infinity` sets no limit. */
  readonly limit?: number
  /** The ID of the user that runs the program. Default: the current user. */
  readonly uid?: number
  readonly gid?: number
  /** The signal that Linux sends to the program if this process exits without stopping it, as after `kill -9`. */
  readonly signalWithParent?: NodeJS.Signals
  /** The network namespace of the program, for `ip netns`. */
  readonly namespace?: string | undefined
  /** Whether to open an IPC channel, over which the program can receive messages. */
  readonly messages?: boolean
}

const maxLifetime = 110_000
/** The timeout of waiting for a program, in milliseconds. It is long, because starts are slow on a busy machine. */
const patience = 60_000

/** Whether `setpriv` of util-linux is installed. */
const canSignalWithParent = spawnSync('setpriv', ['--pdeathsig', 'KILL', 'true']).status === 0

/** Wraps a command, so that Linux sends it a signal when its parent process ends, even after `kill -9`. */
export const tied = (
  command: string,
  args: readonly string[],
  signal: NodeJS.Signals,
): [string, string[]] =>
  canSignalWithParent
    ? ['setpriv', ['--pdeathsig', signal.slice('SIG'.length), '--', command, ...args]]
    : [command, [...args]]

const running = new Set<Program>()

/** Kills all programs that are still running. */
export const endPrograms = async (): Promise<void> => {
  await Promise.all([...running].map((program) => program.crash()))
}

/** A program that a test started. It is killed when the test disposes of it. */
export class Program {
  readonly #child: ChildProcess
  readonly #name: string
  readonly #watchers = new Set<() => void>()
  stdout = ''
  stderr = ''
  /** Resolves when the program has exited and all its output was read. */
  readonly exited: Promise<Exit>
  exit: Exit | undefined

  constructor(command: string, args: readonly string[], options: ProgramOptions = {}) {
    const { cwd = root, env = {}, limit = maxLifetime, messages = false } = options
    const { uid, gid, signalWithParent = 'SIGKILL' } = options
    this.#name = [command, ...args].join(' ')
    this.#child = spawn(...tied(command, args, signalWithParent), {
      cwd,
      env: { ...plainEnvironment(), ...env },
      stdio: ['ignore', 'pipe', 'pipe', ...(messages ? (['ipc'] as const) : [])],
      // Start a process group, so that a signal also reaches child processes of the program.
      detached: true,
      ...(uid !== undefined && { uid }),
      ...(gid !== undefined && { gid }),
    })
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      this.stdout += text
      this.#changed()
    })
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      this.stderr += text
      this.#changed()
    })
    running.add(this)
    const timer =
      limit === Number.POSITIVE_INFINITY ? undefined : setTimeout(() => this.kill('SIGKILL'), limit)
    this.exited = new Promise((ended) => {
      const end = (exit: Exit) => {
        clearTimeout(timer)
        running.delete(this)
        secretNet().addText(`stderr of ${this.#name}`, this.stderr)
        this.exit = exit
        this.#changed()
        ended(exit)
      }
      this.#child.once('close', (code, signal) => end({ code, signal }))
      this.#child.once('error', (error) => {
        this.stderr += String(error)
        end({ code: null, signal: null })
      })
    })
  }

  get pid(): number {
    return this.#child.pid ?? 0
  }

  /** Signals the program and its child processes. */
  kill(signal: NodeJS.Signals = 'SIGTERM'): void {
    if (this.pid === 0 || this.exit) return
    try {
      process.kill(-this.pid, signal)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }

  /** Kills the program like `kill -9`, and waits until it has exited. */
  async crash(): Promise<void> {
    this.kill('SIGKILL')
    await this.exited
  }

  /** Sends SIGTERM to the program, and waits until it has exited. */
  stop(): Promise<Exit> {
    this.kill('SIGTERM')
    return this.exited
  }

  /** Waits until the output of the program matches a pattern. */
  async says(
    pattern: RegExp,
    { on = 'stdout', within = patience }: { on?: 'stdout' | 'stderr'; within?: number } = {},
  ): Promise<RegExpExecArray> {
    return this.#until(() => pattern.exec(this[on]) ?? undefined, within, `say ${pattern}`)
  }

  /** Sends the program a message and waits for the reply. */
  ask(message: object, within = patience): Promise<unknown> {
    return new Promise((resolveResponse, reject) => {
      const timer = setTimeout(() => reject(new Error(`${this.#name} does not respond.`)), within)
      this.#child.once('message', (response) => {
        clearTimeout(timer)
        resolveResponse(response)
      })
      this.#child.send(message)
    })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.crash()
  }

  #changed(): void {
    for (const look of this.#watchers) look()
  }

  #until<T>(find: () => T | undefined, within: number, what: string): Promise<T> {
    return new Promise((found, reject) => {
      const finish = (settle: () => void) => {
        clearTimeout(timer)
        this.#watchers.delete(look)
        settle()
      }
      const failed = (why: string) =>
        finish(() =>
          reject(
            new Error(
              `${this.#name} ${why} before it could ${what}.\n${this.stdout}\n${this.stderr}`,
            ),
          ),
        )
      const look = () => {
        const value = find()
        if (value !== undefined) finish(() => found(value))
        else if (this.exit)
          failed(`ended with ${this.exit.code ?? this.exit.signal ?? 'no process'}`)
      }
      const timer = setTimeout(() => failed(`ran for ${within} ms`), within)
      this.#watchers.add(look)
      look()
    })
  }
}

/** Starts a Node program that reports its secrets, so that the test fails if its stderr contains one. */
export const runNode = (args: readonly string[], options: ProgramOptions = {}): Program => {
  const command = [process.execPath, '--import', reportModule, ...args]
  const { namespace } = options
  const enter = namespace === undefined ? [] : ['nsenter', `--net=/run/netns/${namespace}`, '--']
  const [program = '', ...rest] = [...enter, ...command]
  return new Program(program, rest, {
    ...options,
    env: { TEST_SECRETS: secretsFile(), ...options.env },
  })
}

/** Returns the lines of a server's stderr, without the start-up warnings about settings. */
export const complaints = ({ stderr }: Pick<Program, 'stderr'>): readonly string[] =>
  stderr.split('\n').filter((line) => line !== '' && !line.includes('"settings.loosened"'))

/** A running server program. */
export interface RunningServer extends AsyncDisposable {
  readonly program: Program
  readonly url: string
  readonly port: number
}

export interface NotesOptions extends ProgramOptions {
  /** The directory of the server's data. */
  readonly data: string
  readonly port?: number
}

/** Returns the environment variables for the port and the data of a server. */
export const notesEnvironment = (port: number, data: string): Record<string, string> => ({
  PORT: String(port),
  DATABASE_URL: `sqlite:${join(data, 'oauth2server.sqlite')}`,
  ...compileCache,
  PATH: `${dirname(process.execPath)}:${process.env.PATH}`,
})

/** Starts the example application, and waits until it accepts requests. */
export const startNotes = async ({
  data,
  port,
  env,
  ...options
}: NotesOptions): Promise<RunningServer> => {
  const at = port ?? (await freePort())
  const program = runNode([notesProgram], {
    ...options,
    env: { ...notesEnvironment(at, data), ...env },
  })
  await program.says(/Stop with Ctrl-C/)
  return {
    program,
    port: at,
    url: env?.BASE_URL ?? `http://localhost:${at}`,
    [Symbol.asyncDispose]: () => program.crash(),
  }
}
