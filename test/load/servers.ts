import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'

const program = join(import.meta.dirname, '../../src/cli/main.ts')

export type Variables = Readonly<Record<string, string>>

const start = (args: readonly string[], env: Variables): ChildProcess =>
  spawn(process.execPath, [program, ...args], {
    // Start outside the repository, because its package.json declares the scopes of the example application.
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? '', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })

const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0)
  await once(probe, 'listening')
  const address = probe.address()
  probe.close()
  return typeof address === 'object' && address ? address.port : 0
}

/** A process that runs `svc-oauth2server serve`. */
export interface ServerProcess {
  readonly url: string
  readonly pid: number
  /** The lines of the output that contain a warning or an error. */
  readonly warnings: readonly string[]
  stop(): Promise<void>
}

export const startServer = async (env: Variables): Promise<ServerProcess> => {
  const port = await freePort()
  const child = start(['serve'], { ...env, PORT: String(port) })
  const warnings: string[] = []
  child.stderr?.setEncoding('utf8').on('data', (lines: string) => {
    for (const line of lines.split('\n')) {
      if (/"level":"(?:warn|error)"|^error|Error/.test(line)) warnings.push(line)
    }
  })
  child.stdout?.resume()
  const url = `http://localhost:${port}`
  const ended = once(child, 'exit')
  for (let tries = 0; !(await fetch(`${url}/login`).catch(() => undefined)); tries += 1) {
    if (child.exitCode !== null || tries > 200)
      throw new Error(`A server does not start: ${warnings.join('\n')}`)
    await delay(50)
  }
  return {
    url,
    pid: child.pid ?? 0,
    warnings,
    async stop() {
      child.kill('SIGTERM')
      await ended
    },
  }
}

/** Runs a command of the command-line program. @returns its stdout */
export const runCommand = async (args: readonly string[], env: Variables): Promise<string> => {
  const child = start(args, env)
  const [[code], stdout, stderr] = await Promise.all([
    once(child, 'exit') as Promise<[number | null]>,
    child.stdout ? text(child.stdout) : '',
    child.stderr ? text(child.stderr) : '',
  ])
  if (code !== 0) throw new Error(`${args.join(' ')} ended with ${code}: ${stderr}`)
  return stdout.trim()
}
