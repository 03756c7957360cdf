import { Agent, request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { freePort, runNode, startNotes, temporaryFolder } from '../support/processes.ts'
import { environmentOf, mainProgram, workplace } from './workplace.ts'

/** Opens a connection for a request that is written in pieces. */
const dial = async (port: number) => {
  const socket: Socket = connect(port, '127.0.0.1')
  let heard = ''
  let listener: () => void = () => undefined
  socket.setEncoding('latin1').on('data', (text: string) => {
    heard += text
    listener()
  })
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(heard)))
  socket.on('error', () => undefined)
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  return {
    write: (...lines: readonly string[]) => socket.write(lines.join('\r\n')),
    hears: (what: RegExp) =>
      new Promise<void>((resolve) => {
        listener = () => what.test(heard) && resolve()
        listener()
      }),
    /** Resolves to all received data when the server has closed the connection. */
    ended,
  }
}

const refusesConnections = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('error', () => resolve(true)).once('connect', () => resolve(false))
    socket.once('connect', () => socket.destroy())
  })

const untilRefused = async (port: number): Promise<void> => {
  while (!(await refusesConnections(port)));
}

test('serve finishes requests in flight after SIGTERM, reports "not ready" until then, and exits', async () => {
  await using place = await workplace()
  const port = await freePort()
  await using program = runNode([mainProgram, 'serve'], {
    cwd: place.folder,
    env: { ...environmentOf(place.database), PORT: String(port) },
  })
  await program.says(/listens/, { on: 'stderr' })
  const body = 'grant_type=client_credentials&client_id=x&client_secret=y'
  const token = await dial(port)
  const type = 'Content-Type: application/x-www-form-urlencoded'
  token.write('POST /oauth/token HTTP/1.1', 'Host: localhost', type, '')
  token.write(`Content-Length: ${body.length}`, '', body.slice(0, 10))
  const ready = await dial(port)
  ready.write('GET /health/ready HTTP/1.1', 'Host: localhost', '')
  const live = await dial(port)
  live.write('GET /health/live HTTP/1.1', 'Host: localhost', '')
  expect((await fetch(`http://localhost:${port}/health/ready`)).status).toBe(200)

  program.kill('SIGTERM')
  await untilRefused(port)
  ready.write('', '')
  live.write('', '')
  expect(await ready.ended).toMatch(/^HTTP\/1\.1 503 [\s\S]*retry-after: \d+[\s\S]*"not ready"/i)
  expect(await live.ended).toMatch(/^HTTP\/1\.1 200 /)
  expect(program.exit).toBeUndefined()
  token.write(body.slice(10))
  expect(await token.ended).toMatch(
    /^HTTP\/1\.1 401 [\s\S]*connection: close[\s\S]*invalid_client/i,
  )
  expect(await program.exited).toEqual({ code: 0, signal: null })
})

/** Sends requests one after the other on keep-alive connections, until the server refuses connections. */
const keepAsking = async (port: number): Promise<readonly string[]> => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const cutOff: string[] = []
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  const ask = () =>
    new Promise<boolean>((resolve) => {
      const options = {
        port,
        host: '127.0.0.1',
        path: '/oauth/token',
        method: 'POST',
        agent,
        headers,
      }
      const asked = request(options, (response) =>
        response.resume().once('end', () => resolve(true)),
      )
      asked.once('error', (error: NodeJS.ErrnoException) => {
        if (asked.reusedSocket) cutOff.push(String(error.code))
        resolve(false)
      })
      asked.end('grant_type=client_credentials&client_id=x&client_secret=y')
    })
  while (await ask());
  agent.destroy()
  return cutOff
}

/**
 * Repeats an attempt in which this process had to send a request within a second. On a busy machine, this process may be
 * late, and then the attempt proves nothing. Fails if this process was in time, or late five times.
 */
const inTime = async (attempt: () => Promise<unknown>): Promise<void> => {
  for (let tries = 1; ; tries += 1) {
    const lag = monitorEventLoopDelay({ resolution: 10 })
    lag.enable()
    try {
      await attempt()
      return
    } catch (error) {
      if (lag.max < 200e6 || tries === 5) throw error
    } finally {
      lag.disable()
    }
  }
}

test('a restart aborts no request on a keep-alive connection', async () => {
  await using place = await workplace()
  for (let restarts = 0; restarts < 3; restarts += 1) {
    await inTime(async () => {
      const port = await freePort()
      await using program = runNode([mainProgram, 'serve'], {
        cwd: place.folder,
        env: { ...environmentOf(place.database), PORT: String(port) },
      })
      await program.says(/listens/, { on: 'stderr' })
      const clients = Promise.all(Array.from({ length: 20 }, () => keepAsking(port)))
      // Fixed time: the signal arrives in the middle of the load.
      await delay(500)
      program.kill('SIGTERM')
      const cutOff = (await clients).flat()
      expect(await program.exited).toEqual({ code: 0, signal: null })
      expect(cutOff).toEqual([])
    })
  }
})

test('a response on a keep-alive connection contains Connection: close, and an idle connection does not delay the exit', async () => {
  await using place = await workplace()
  await inTime(async () => {
    const port = await freePort()
    await using program = runNode([mainProgram, 'serve'], {
      cwd: place.folder,
      env: { ...environmentOf(place.database), PORT: String(port) },
    })
    await program.says(/listens/, { on: 'stderr' })
    const [used, unused] = await Promise.all([dial(port), dial(port)])
    const live = ['GET /health/live HTTP/1.1', 'Host: localhost', '', '']
    for (const { write } of [used, unused]) write(...live)
    await Promise.all([used.hears(/"live"/), unused.hears(/"live"/)])
    program.kill('SIGTERM')
    await untilRefused(port)
    used.write('GET /health/ready HTTP/1.1', 'Host: localhost', '', '')
    expect(await used.ended).toMatch(/ 503 [\s\S]*connection: close[\s\S]*"not ready"/i)
    expect(await unused.ended).not.toMatch(/connection: close/i)
    expect(await program.exited).toEqual({ code: 0, signal: null })
  })
})

test('the example application finishes requests in flight after SIGTERM, and exits', async () => {
  await using data = await temporaryFolder()
  await using notes = await startNotes({ data: data.path })
  const ready = await dial(notes.port)
  ready.write('GET /health/ready HTTP/1.1', 'Host: localhost', '')
  expect((await fetch(`${notes.url}/health/ready`)).status).toBe(200)
  notes.program.kill('SIGTERM')
  await untilRefused(notes.port)
  ready.write('', '')
  expect(await ready.ended).toMatch(/^HTTP\/1\.1 503 /)
  expect(await notes.program.exited).toEqual({ code: 0, signal: null })
})
