import { once } from 'node:events'
import { mkdir, readdir, stat, writeFile } from 'node:fs/promises'
import { connect, createServer, type Socket } from 'node:net'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import {
  complaints,
  freePort,
  type NotesOptions,
  notesEnvironment,
  notesProgram,
  Program,
  runNode,
  startNotes,
  temporaryFolder,
} from '../support/processes.ts'
import { UserAgent } from '../support/user-agent.ts'

interface Greeting {
  readonly email: string
  readonly password: string
  readonly token: string
  readonly curl: string
}

/** Parses the user, the password and the token from the output of the first start. */
const greetingIn = (stdout: string): Greeting => {
  const after = (words: string) => new RegExp(`^ *${words} +(\\S+)$`, 'm').exec(stdout)?.[1] ?? ''
  const curl = stdout.split('\n').filter((line) => line.includes('curl'))
  expect(curl).toHaveLength(1)
  return {
    email: after('e-mail'),
    password: after('password'),
    token: after('personal access token'),
    curl: curl[0] ?? '',
  }
}

const me = async (url: string, token: string): Promise<number> => {
  const response = await fetch(`${url}/api/me`, { headers: { authorization: `Bearer ${token}` } })
  await response.body?.cancel()
  return response.status
}

describe('the first start', () => {
  test('prints a demo user, a token and one curl command that succeeds unchanged', async () => {
    await using folder = await temporaryFolder()
    await using app = await startNotes({ data: folder.path })
    const { email, password, token, curl } = greetingIn(app.program.stdout)
    expect(email).toBe('demo@example.org')
    expect(password).toMatch(/^[a-z0-9-]{20,}$/)
    expect(token).toMatch(/^[A-Za-z0-9]{60}$/)

    await using asPrinted = new Program('sh', ['-c', curl], { limit: 60_000 })
    expect(await asPrinted.exited).toEqual({ code: 0, signal: null })
    expect(JSON.parse(asPrinted.stdout)).toEqual([
      { id: 1, text: 'Return the library books', created_at: expect.any(String) },
      { id: 2, text: 'Call the plumber', created_at: expect.any(String) },
      { id: 3, text: 'Book a table for Friday', created_at: expect.any(String) },
    ])
    const status = `${curl.trim()} -s -o /dev/null -w '%{http_code}'`
    await using withStatus = new Program('sh', ['-c', status], { limit: 60_000 })
    await withStatus.exited
    expect(withStatus.stdout).toBe('200')

    const response = await new UserAgent().logIn({
      issuer: app.url,
      user: { email } as never,
      password,
    })
    expect([response.status, response.headers.get('location')]).toEqual([303, '/'])
  })

  test('writes the log only to stderr', async () => {
    await using folder = await temporaryFolder()
    await using app = await startNotes({
      data: folder.path,
      env: { OAUTH2SERVER_REQUIRE_PKCE: 'never' },
    })
    const lines = app.program.stderr.trim().split('\n')
    expect(lines.map((line) => JSON.parse(line).event)).toEqual([
      'settings.loosened',
      'settings.loosened',
      'settings.loosened',
    ])
    expect(app.program.stdout).not.toContain('settings.loosened')
    const { password, token } = greetingIn(app.program.stdout)
    expect(app.program.stderr).not.toContain(password)
    expect(app.program.stderr).not.toContain(token)
  })

  test('creates a secret key and a database that only the owner of the files can read', async () => {
    await using folder = await temporaryFolder()
    const data = join(folder.path, 'not', 'there', 'yet')
    await using app = await startNotes({ data })
    const modes = await Promise.all(
      (await readdir(data)).sort().map(async (name) => {
        const { mode } = await stat(join(data, name))
        return [name, (mode & 0o777).toString(8)]
      }),
    )
    const ours = Object.fromEntries(modes.filter(([name]) => !name?.startsWith('notes')))
    expect(ours).toEqual({
      'oauth2server.sqlite': '600',
      'oauth2server.sqlite-shm': '600',
      'oauth2server.sqlite-wal': '600',
      'secret-key': '600',
    })
    expect(app.program.exit).toBeUndefined()
  })
})

describe('a later start', () => {
  test('preserves the user, the token and the notes, and prints no secret', async () => {
    await using folder = await temporaryFolder()
    const headers = { 'content-type': 'application/json' }
    const first = await startNotes({ data: folder.path })
    const { email, password, token } = greetingIn(first.program.stdout)
    const authorization = `Bearer ${token}`
    const added = await fetch(`${first.url}/api/notes`, {
      method: 'POST',
      body: JSON.stringify({ text: 'kept' }),
      headers: { ...headers, authorization },
    })
    expect(added.status).toBe(201)
    expect(await first.program.stop()).toEqual({ code: 0, signal: null })

    await using second = await startNotes({ data: folder.path })
    for (const secret of [password, token, 'curl']) {
      expect(second.program.stdout).not.toContain(secret)
      expect(second.program.stderr).not.toContain(secret)
    }
    // The later start creates no other user, token or password.
    expect(second.program.stdout).not.toMatch(/[A-Za-z0-9]{40}|^ *password/m)
    const notes = await fetch(`${second.url}/api/notes`, { headers: { authorization } })
    expect(await notes.json()).toContainEqual(expect.objectContaining({ text: 'kept' }))
    const login = { issuer: second.url, user: { email } as never, password }
    expect((await new UserAgent().logIn(login)).status).toBe(303)
  })

  test('preserves the administrator, the notes and the sample application, and creates no others [T1804]', async () => {
    await using folder = await temporaryFolder()
    const sampleOf = async (url: string): Promise<string | null> => {
      const response = await fetch(`${url}/sample/start`, { redirect: 'manual' })
      return new URL(response.headers.get('location') ?? '').searchParams.get('client_id')
    }
    const first = await startNotes({ data: folder.path })
    const sample = await sampleOf(first.url)
    await first.program.stop()
    // The second start uses another port. A public client with a loopback redirect URI may do so (RFC 8252 §7.3).
    await using second = await startNotes({ data: folder.path })
    expect(await sampleOf(second.url)).toBe(sample)
    using database = new DatabaseSync(join(folder.path, 'oauth2server.sqlite'))
    const only = (query: string) => database.prepare(query).all()
    expect(only('select email, is_admin from oauth2server_user')).toEqual([
      { email: 'demo@example.org', is_admin: 1 },
    ])
    expect(only('select name from oauth2server_client where is_personal = 0')).toEqual([
      { name: 'Sample application' },
    ])
    using notes = new DatabaseSync(join(folder.path, 'notes.sqlite'))
    expect(notes.prepare('select count(*) as n from note').get()).toEqual({ n: 3 })
  })

  test('succeeds with a warning if a newer version changed the database', async () => {
    await using folder = await temporaryFolder()
    const app = await startNotes({ data: folder.path })
    const { token } = greetingIn(app.program.stdout)
    await app.program.stop()
    const path = join(folder.path, 'oauth2server.sqlite')
    using database = new DatabaseSync(path)
    const future = "('9999-from-the-future', '2100-01-01T00:00:00.000Z')"
    database.exec(`insert into oauth2server_migration (name, timestamp) values ${future}`)
    await using again = await startNotes({ data: folder.path })
    expect(again.program.stderr).toMatch(/schema\.newer.*9999-from-the-future/)
    expect(await me(again.url, token)).toBe(200)
  })
})

describe('two concurrent first starts', () => {
  test.each([1, 2, 3])(
    'create one demo user, and both processes accept requests (round %i)',
    async () => {
      await using folder = await temporaryFolder()
      const [left, right] = await Promise.all([
        startNotes({ data: folder.path }),
        startNotes({ data: folder.path }),
      ])
      await using _left = left
      await using _right = right
      const told = [left, right].filter(({ program }) => program.stdout.includes('password   '))
      expect(told).toHaveLength(1)
      const { token } = greetingIn(told[0]?.program.stdout ?? '')
      expect(await me(left.url, token)).toBe(200)
      expect(await me(right.url, token)).toBe(200)
      expect([left, right].map(({ program }) => complaints(program))).toEqual([[], []])

      using database = new DatabaseSync(join(folder.path, 'oauth2server.sqlite'))
      const count = (table: string) => database.prepare(`select count(*) as n from ${table}`).get()
      expect(count('oauth2server_user')).toEqual({ n: 1 })
      expect(count('oauth2server_token')).toEqual({ n: 1 })
      expect(count('oauth2server_secret_key')).toEqual({ n: 1 })
    },
  )
})

/** Starts the notes application, which must exit on its own, and returns the result. */
const failedStart = async ({ data, port, env }: NotesOptions) => {
  const variables = { ...notesEnvironment(port ?? (await freePort()), data), ...env }
  await using program = runNode([notesProgram], { env: variables, limit: 60_000 })
  const exit = await program.exited
  return { exit, stdout: program.stdout, stderr: complaints(program).join('\n') }
}

/** Expects exit status 1, and on stderr exactly one message with the given number of lines. */
const expectProblem = (
  { exit, stdout, stderr }: Awaited<ReturnType<typeof failedStart>>,
  message: RegExp,
  { lines = 1 } = {},
) => {
  expect(stderr).toMatch(message)
  expect(stderr.trimEnd().split('\n')).toHaveLength(lines)
  expect(stderr).not.toMatch(/^\s+at |node:internal|Error:|\[object/m)
  expect(stdout).toBe('')
  expect(exit).toEqual({ code: 1, signal: null })
}

describe('a start exits with status 1 and one message without a stack trace', () => {
  test('if the port is in use', async () => {
    await using folder = await temporaryFolder()
    const port = await freePort()
    const other = createServer().listen(port, '127.0.0.1')
    try {
      const refused = await failedStart({ data: folder.path, port })
      expectProblem(refused, new RegExp(`^Port ${port} on 127.0.0.1 is already in use.*PORT`))
      // The failed start has not created the demo user, so the next start can print its password.
      await using app = await startNotes({ data: folder.path })
      greetingIn(app.program.stdout)
    } finally {
      other.close()
    }
  })

  test('if the data folder is not writable', async () => {
    await using folder = await temporaryFolder()
    const file = join(folder.path, 'file')
    await writeFile(file, '')
    const data = join(file, 'data')
    expectProblem(await failedStart({ data }), /^The secret key file \S+ cannot be .*SECRET_KEY/)
    const env = { SECRET_KEY: 'a secret key of more than 32 bytes' }
    expectProblem(
      await failedStart({ data, env }),
      /^The database file \S+ cannot be written .*DATABASE_URL/,
    )
  })

  test('if the database file is not a database', async () => {
    await using folder = await temporaryFolder()
    await writeFile(join(folder.path, 'oauth2server.sqlite'), 'not a database. '.repeat(500))
    expectProblem(await failedStart({ data: folder.path }), /^The database file .*not a database/)
    await using another = await temporaryFolder()
    await mkdir(join(another.path, 'oauth2server.sqlite'))
    expectProblem(await failedStart({ data: another.path }), /^The database file .*directory/)
  })

  test('if the secret key does not match the database, or is too short', async () => {
    await using folder = await temporaryFolder()
    const key = (text: string) => ({ SECRET_KEY: `the ${text} secret key of more than 32 bytes` })
    const app = await startNotes({ data: folder.path, env: key('right') })
    const { token } = greetingIn(app.program.stdout)
    await app.program.stop()
    const wrong = await failedStart({ data: folder.path, env: key('wrong') })
    expectProblem(wrong, /^The configured secret keys do not match .*SECRET_KEY_PREVIOUS/)
    expect(wrong.stderr).not.toContain('the wrong secret')
    const short = await failedStart({ data: folder.path, env: { SECRET_KEY: 'too short' } })
    expectProblem(short, /SECRET_KEY.* 32 bytes/, { lines: 2 })
    expect(short.stderr).not.toContain('too short')
    // The failed starts did not change the data.
    await using again = await startNotes({ data: folder.path, env: key('right') })
    expect(await me(again.url, token)).toBe(200)
  })

  test('if several settings are invalid, and lists each setting with its accepted values', async () => {
    await using folder = await temporaryFolder()
    const data = join(folder.path, 'data')
    const refused = await failedStart({
      data,
      env: {
        OAUTH2SERVER_REQUIRE_PKCE: 'sometimes',
        OAUTH2SERVER_CLIENT_ID_SALT_LEN: '12',
        OAUTH2SERVER_REQIRE_PKCE: 'always',
        OAUTH2_CACHE_TYPE: 'disk',
        TRUSTED_PROXIES: 'everybody',
        PORT: '99999',
      },
    })
    expectProblem(refused, /^Some settings cannot be used:/, { lines: 7 })
    const { stderr } = refused
    expect(stderr).toMatch(
      /OAUTH2SERVER_REQUIRE_PKCE accepts one of public, always, never.*sometimes/,
    )
    expect(stderr).toMatch(/OAUTH2SERVER_CLIENT_ID_SALT_LEN accepts an integer from 22 to 255.*12/)
    expect(stderr).toMatch(/OAUTH2SERVER_REQIRE_PKCE is not a setting/)
    expect(stderr).toMatch(/OAUTH2_CACHE_TYPE accepts one of database, redis, memory.*disk/)
    expect(stderr).toMatch(/TRUSTED_PROXIES accepts .*everybody/)
    expect(stderr).toMatch(/PORT accepts a number from 1 to 65535.*99999/)
    // The start failed before it created anything.
    await expect(stat(data)).rejects.toThrow('ENOENT')
  })

  test.each([
    ['BASE_URL', 'http://api.example.org', /BASE_URL.* https/],
    ['BASE_URL', 'somewhere', /BASE_URL.*https:/],
    ['DATABASE_URL', 'mysql://localhost/x', /DATABASE_URL accepts sqlite:PATH/],
    ['OAUTH2SERVER_DEFAULT_SCOPES', 'no:such', /OAUTH2SERVER_DEFAULT_SCOPES.*no:such/],
    ['OAUTH2SERVER_JWT_VERYFICATION_FACTORY', './none.js:verify', /JWT_VERYFICATION_FACTORY/],
  ])('exits with 1 and one message for %s=%s', async (name, value, message) => {
    await using folder = await temporaryFolder()
    const refused = await failedStart({ data: folder.path, env: { [name]: value } })
    expectProblem(refused, message, { lines: 2 })
  })
})

/** Sends the head and a part of the body of a token request. */
const sendHalfARequest = async (port: number, body: string): Promise<Socket> => {
  const socket = connect(port, '127.0.0.1')
  socket.setEncoding('utf8').on('error', () => undefined)
  const head = `POST /oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\nExpect: 100-continue\r\n\r\n`
  socket.write(head + body.slice(0, 5))
  const [response] = await once(socket, 'data')
  // The server has read the head and now waits for the body.
  expect(response).toBe('HTTP/1.1 100 Continue\r\n\r\n')
  socket.pause()
  return socket
}

const isListening = (port: number): Promise<boolean> =>
  new Promise((response) => {
    const socket = connect(port, '127.0.0.1')
    const end = (is: boolean) => () => {
      socket.destroy()
      response(is)
    }
    socket.once('connect', end(true)).once('error', end(false))
  })

/** Options for polls on a busy machine, in milliseconds. */
const longPoll = { timeout: 60_000, interval: 10 }

const everything = async (socket: Socket): Promise<string> => {
  let text = ''
  for await (const chunk of socket) text += chunk
  return text
}

describe('FT-09 Client disconnects and shutdown', () => {
  test.each(['SIGTERM', 'SIGINT'] as const)(
    '%s: completes the request in flight, accepts no new request, and exits with status 0',
    async (signal) => {
      await using folder = await temporaryFolder()
      await using app = await startNotes({ data: folder.path })
      const body = 'grant_type=client_credentials'
      const socket = await sendHalfARequest(app.port, body)
      app.program.kill(signal)
      await expect.poll(() => isListening(app.port), longPoll).toBe(false)
      expect(app.program.exit).toBeUndefined()
      await expect(fetch(`${app.url}/api/public`)).rejects.toThrow()

      const response = everything(socket)
      socket.write(body.slice(5))
      // The server would wait five seconds for the next request on a connection that it kept open.
      expect(await response).toMatch(
        /^HTTP\/1\.1 401 [\s\S]*\r\nconnection: close\r\n[\s\S]*invalid_client/i,
      )
      expect(await app.program.exited).toEqual({ code: 0, signal: null })
      expect(complaints(app.program)).toEqual([])
    },
  )

  test('completes each accepted request under load, and exits with status 0', async () => {
    await using folder = await temporaryFolder()
    await using app = await startNotes({ data: folder.path })
    const { token } = greetingIn(app.program.stdout)
    const responses: number[] = []
    const torn: unknown[] = []
    const client = async () => {
      for (;;) {
        let response: Response
        try {
          response = await fetch(`${app.url}/oauth/ping`, {
            headers: { authorization: `Bearer ${token}` },
          })
        } catch {
          return
        }
        responses.push(response.status)
        await response.json().catch((error) => torn.push(error))
      }
    }
    const clients = Array.from({ length: 20 }, client)
    await expect.poll(() => responses.length, longPoll).toBeGreaterThan(100)
    app.program.kill('SIGTERM')
    await Promise.all(clients)
    expect(await app.program.exited).toEqual({ code: 0, signal: null })
    expect(new Set(responses)).toEqual(new Set([200]))
    expect(torn).toEqual([])
    expect(complaints(app.program)).toEqual([])
  })

  test('exits although a client never completes its request', async () => {
    await using folder = await temporaryFolder()
    await using app = await startNotes({ data: folder.path })
    const socket = await sendHalfARequest(app.port, 'grant_type=client_credentials')
    // A killed process would have no exit status.
    expect(await app.program.stop()).toEqual({ code: 0, signal: null })
    socket.destroy()
  })

  test('a client that disconnects during its request causes no error', async () => {
    await using folder = await temporaryFolder()
    await using app = await startNotes({ data: folder.path })
    for (let round = 0; round < 20; round += 1) {
      const socket = connect(app.port, '127.0.0.1')
      socket.on('error', () => undefined)
      const body = 'grant_type=client_credentials'
      socket.write(
        `POST /oauth/token HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n\r\n${round % 2 ? body : 'gr'}`,
      )
      // Fixed time: the client disconnects at any moment of the request.
      await delay(round)
      socket.destroy()
    }
    const { token } = greetingIn(app.program.stdout)
    expect(await me(app.url, token)).toBe(200)
    // A warning or an error would be a false alarm. Log entries at lower levels are allowed.
    const levels = app.program.stderr
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line))
      .filter(({ event }) => event !== 'settings.loosened')
      .map(({ level }) => level)
    expect(levels.filter((level) => level !== 'info')).toEqual([])
    expect(await app.program.stop()).toEqual({ code: 0, signal: null })
  })
})
