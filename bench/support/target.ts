import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Ready, Usage, Works } from './works.ts'

/** A measured server in a separate process, by default on the first core. */
export class Target {
  readonly name: string
  readonly origin: string
  readonly works: Works
  readonly #child: ChildProcess

  private constructor(name: string, child: ChildProcess, { port, works }: Ready) {
    this.name = name
    this.origin = `http://127.0.0.1:${port}`
    this.works = works
    this.#child = child
  }

  static async start(
    name: string,
    file: string,
    environment: Readonly<Record<string, string>>,
    cores = '0',
  ): Promise<Target> {
    const path = fileURLToPath(new URL(`../servers/${file}`, import.meta.url))
    const child = spawn('taskset', ['-c', cores, process.execPath, path], {
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
      env: { ...process.env, NODE_ENV: 'production', ...environment },
    })
    const ready = await responseOf<Ready>(child, name)
    return new Target(name, child, ready)
  }

  usage(): Promise<Usage> {
    const response = responseOf<Usage>(this.#child, this.name)
    this.#child.send('usage')
    return response
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return
    const ended = new Promise((resolve) => this.#child.once('exit', resolve))
    this.#child.kill()
    await ended
  }
}

/** The timeout of a start in milliseconds. A slow server must create a thousand tokens within this time. */
const startTimeout = 120_000

const responseOf = <T>(child: ChildProcess, name: string): Promise<T> =>
  new Promise((resolve, reject) => {
    const ended = () => {
      clearTimeout(late)
      reject(new Error(`${name} exited.`))
    }
    const late = setTimeout(() => {
      child.kill()
      reject(new Error(`${name} does not respond.`))
    }, startTimeout)
    child.once('exit', ended)
    child.once('message', (message) => {
      clearTimeout(late)
      child.off('exit', ended)
      resolve(message as T)
    })
  })
