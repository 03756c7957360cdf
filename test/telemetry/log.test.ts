import fastify from 'fastify'
import { pino } from 'pino'
import { type LogEntry, logTo } from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import { runNode, temporaryFolder } from '../support/processes.ts'
import { startServer } from '../support/server.ts'

/** Returns the line that a pino logger writes for an entry. */
const written = (entry: LogEntry): Record<string, unknown> => {
  let line = ''
  const logger = pino({ level: 'debug', base: null, timestamp: false }, {
    write: (text: string) => {
      line += text
    },
  } as never)
  logTo(logger)(entry)
  return JSON.parse(line) as Record<string, unknown>
}

describe('logTo', () => {
  test('writes to a logger of pino at the level of the entry', () => {
    for (const [level, number] of [
      ['debug', 20],
      ['info', 30],
      ['warn', 40],
      ['error', 50],
    ] as const) {
      expect(written({ level, event: 'x.y', message: 'Something happened.', userId: 7 })).toEqual({
        level: number,
        event: 'x.y',
        userId: 7,
        msg: 'Something happened.',
      })
    }
  })

  test("writes to Fastify's logger", async () => {
    const lines: string[] = []
    const stream = { write: (line: string) => void lines.push(line) }
    const app = fastify({ logger: { level: 'info', stream } })
    logTo(app.log)({ level: 'warn', event: 'x.y', message: 'Something happened.' })
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([{ event: 'x.y', level: 40 }])
    await app.close()
  })

  test('writes the stack of an error without the fields that a driver adds', () => {
    const driver = Object.assign(new Error('duplicate key'), {
      detail: 'Key (email)=(secret@example.org) exists.',
      parameters: ['secret'],
    })
    const error = new TypeError('outer', { cause: driver })
    const entry = written({ level: 'error', event: 'x', message: 'm', error })
    expect(JSON.stringify(entry)).not.toContain('secret')
    expect(entry.error).toEqual({
      name: 'TypeError',
      stack: expect.stringMatching(/^TypeError: outer\n/),
      cause: { name: 'Error', stack: expect.stringMatching(/^Error: duplicate key\n/) },
    })
  })

  test('omits a cause that is not an error, such as the claims of a JWT', () => {
    const error = new Error('expired', { cause: { payload: { sub: 'secret' } } })
    const entry = written({ level: 'info', event: 'x', message: 'm', cause: error })
    expect(entry.cause).toEqual({ name: 'Error', stack: expect.any(String) })
  })

  test('stops at a circular cause', () => {
    const error = new Error('circle')
    error.cause = error
    expect(() => written({ level: 'error', event: 'x', message: 'm', error })).not.toThrow()
  })
})

// By default, the implicit grant and tokens in the query each cause a warning. Without the implicit grant, one warning
// remains.
const oneWarning = { allowedResponseTypes: ['code'] } as const

describe('logLevel', () => {
  test.each([
    ['debug', ['settings.loosened', 'http.request']],
    ['info', ['settings.loosened']],
    ['warn', ['settings.loosened']],
    ['error', []],
    ['silent', []],
  ] as const)('%s writes the events %j', async (logLevel, events) => {
    await using app = await startServer({ logLevel, ...oneWarning })
    await fetch(`${app.issuer}/login?next=/secret`)
    expect(app.log.map(({ event }) => event)).toEqual(events)
  })

  test('writes a line for every request at level debug, with the path pattern instead of the path', async () => {
    await using app = await startServer({ logLevel: 'debug', securityProfile: 'oauth2.1' })
    await fetch(`${app.issuer}/account/settings/applications/clients/an-id/?access_token=secret`, {
      redirect: 'manual',
    })
    expect(app.log).toEqual([
      {
        level: 'debug',
        event: 'http.request',
        message: 'A request was processed.',
        method: 'GET',
        route: '/account/settings/applications/clients/:client_id/',
        status: 303,
        milliseconds: expect.any(Number),
        requestId: expect.any(String),
      },
    ])
  })
})

test('writes to stderr by default, one JSON object per line, even right before the process is killed', async () => {
  await using folder = await temporaryFolder()
  const program = `
    import { createAuthorizationServer } from 'svc-oauth2server'
    import { sqlite } from 'svc-oauth2server/sqlite'
    const server = await createAuthorizationServer({
      issuer: 'http://localhost', secretKeys: ['a secret key for tests, and for tests alone'],
      store: sqlite('${folder.path}/x.sqlite'), requirePkce: 'never', logLevel: 'debug',
      allowedResponseTypes: ['code'], acceptQueryAccessToken: false,
    })
    await server.fetch(new Request('http://localhost/login'))
    process.kill(process.pid, 'SIGKILL')`
  await using running = runNode(['--input-type=module', '--eval', program])
  expect(await running.exited).toMatchObject({ signal: 'SIGKILL' })
  const lines = running.stderr.trimEnd().split('\n')
  const entries = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  expect(entries.map(({ level, event }) => [level, event])).toEqual([
    ['warn', 'settings.loosened'],
    ['debug', 'http.request'],
  ])
  expect(Object.keys(entries[1] ?? {})).toEqual([
    'level',
    'time',
    'pid',
    'hostname',
    'event',
    'method',
    'route',
    'status',
    'milliseconds',
    'requestId',
    'message',
  ])
  expect(running.stdout).toBe('')
})
