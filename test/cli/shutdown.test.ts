import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { freePort, runNode, startNotes, temporaryFolder } from '../support/processes.ts'
import { environmentOf, mainProgram, workplace } from './workplace.ts'

/** A connection whose request is written bit by bit. */
const dial = async (port: number) => {
  const socket: Socket = connect(port, '127.0.0.1')
  let heard = ''
  socket.setEncoding('latin1').on('data', (text: string) => {
    heard += text
  })
  const ended = new Promise<string>((resolve) => socket.once('close', () => resolve(heard)))
  socket.on('error', () => undefined)
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  return {
    write: (...lines: readonly string[]) => socket.write(lines.join('\r\n')),
    /** All that was answered until the server closed. */
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

test('serve: SIGTERM finishes requests in flight, is not ready meanwhile, and exits', async () => {
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

test('the example application does the same', async () => {
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
