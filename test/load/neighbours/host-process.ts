import { fork } from 'node:child_process'
import { once } from 'node:events'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { freePort } from '../../support/processes.ts'
import type { Variables } from '../servers.ts'

/** A method of the server that application code can call. */
export interface Order {
  readonly number: number
  readonly call:
    | 'clients.delete'
    | 'clients.makePublic'
    | 'clients.resetClientId'
    | 'users.delete'
    | 'sweep'
  readonly args: readonly unknown[]
}

export interface OrderResponse {
  readonly number: number
  readonly error?: string
}

export interface HostProcess {
  readonly url: string
  /** The warnings and errors in the log. */
  readonly complaints: readonly string[]
  /** Calls a method in the server process. Rejects with the message of the error that the method throws. */
  order(call: Order['call'], ...args: readonly unknown[]): Promise<void>
  stop(): Promise<void>
}

/** Milliseconds after which this module kills a server that does not stop. */
const stopTimeout = 15_000

export const startHost = async (env: Variables): Promise<HostProcess> => {
  const port = await freePort()
  const child = fork(join(import.meta.dirname, 'host.ts'), {
    cwd: tmpdir(),
    env: { PATH: process.env.PATH ?? '', ...env, PORT: String(port) },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  })
  const ended = once(child, 'exit')
  const complaints: string[] = []
  child.stderr?.setEncoding('utf8').on('data', (lines: string) => {
    for (const line of lines.split('\n'))
      if (/"level":"(?:warn|error)"|^error|Error/.test(line)) complaints.push(line)
  })
  const [first] = await Promise.race([once(child, 'message'), ended])
  if (first !== 'listening') throw new Error(`The server does not start: ${complaints.join('\n')}`)
  const waiting = new Map<number, (response: OrderResponse) => void>()
  child.on('message', (response: OrderResponse) => waiting.get(response.number)?.(response))
  void ended.then(() => {
    for (const [number, response] of waiting) response({ number, error: 'The server ended.' })
  })
  let orders = 0
  return {
    url: `http://127.0.0.1:${port}`,
    complaints,
    async order(call, ...args) {
      orders += 1
      const number = orders
      const answered = new Promise<OrderResponse>((response) => waiting.set(number, response))
      child.send({ number, call, args } satisfies Order)
      const { error } = await answered
      waiting.delete(number)
      if (error !== undefined) throw new Error(error)
    },
    async stop() {
      const timer = setTimeout(() => child.kill('SIGKILL'), stopTimeout)
      child.kill('SIGTERM')
      await ended
      clearTimeout(timer)
    },
  }
}
