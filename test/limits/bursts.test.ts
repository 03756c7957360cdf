import { once } from 'node:events'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { TokenQueues } from '../../src/protocol/token-queues.ts'
import { postgres } from '../../src/store/postgres.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { authorizationOf } from '../support/tokens.ts'

const withoutPostgres = await lacks('postgres')

interface Credentials {
  readonly clientId: string
  readonly clientSecret: string
}

/** Returns the text with a different percent-encoding for each number. */
const spelled = (text: string, spelling: number): string =>
  [...text]
    .map((character, at) =>
      (spelling >> at) & 1 ? `%${character.charCodeAt(0).toString(16)}` : character,
    )
    .join('')

/** Opens a connection. @returns a function that sends one token request over the connection and returns the status */
const connection = async (server: TestServer) => {
  const { socket, send } = newConnection(server)
  await once(socket, 'connect')
  return send
}

/** Opens a connection without waiting for it. @returns the socket, and a function that sends one token request */
const newConnection = ({ issuer }: TestServer) => {
  const { host, port } = new URL(issuer)
  const socket = connect(Number(port), '127.0.0.1')
  const answered = text(socket)
  const send = async (
    form: Record<string, string>,
    client?: Credentials,
    spelling = 0,
  ): Promise<number> => {
    const body = new URLSearchParams(form).toString()
    const lines = [
      'POST /oauth/token HTTP/1.1',
      `Host: ${host}`,
      'Connection: close',
      ...(client
        ? [
            `Authorization: Basic ${btoa(`${spelled(client.clientId, spelling)}:${client.clientSecret}`)}`,
          ]
        : []),
      'Content-Type: application/x-www-form-urlencoded',
      `Content-Length: ${body.length}`,
    ]
    socket.write(`${lines.join('\r\n')}\r\n\r\n${body}`)
    return Number((await answered).split(' ')[1])
  }
  return { socket, send }
}

const connections = (server: TestServer, count: number) =>
  Promise.all(Array.from({ length: count }, () => connection(server)))

const databases = {
  SQLite: async () => ({ store: undefined, remove: async () => undefined }),
  PostgreSQL: async () => {
    const { url, drop } = await makeDatabase()
    return { store: postgres(url), remove: drop }
  },
}

const started = async (name: keyof typeof databases) => {
  await using all = new AsyncDisposableStack()
  const { store, remove } = await databases[name]()
  all.defer(remove)
  let operations = 0
  const app = await startServer({
    ...(store && { store }),
    tokenExchange: true,
    aroundStore: (_operation, run) => {
      operations += 1
      return run()
    },
  })
  all.use(app)
  const moved = all.move()
  return {
    app,
    operations: () => operations,
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  }
}

const exchange = (accessToken: string) => ({
  grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
  subject_token: accessToken,
  subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
})

const burst = 200

describe.each(withoutPostgres ? (['SQLite'] as const) : (['SQLite', 'PostgreSQL'] as const))(
  '200 concurrent token requests of one client, on %s',
  (name) => {
    test.each([
      ['one spelling of the credentials', () => 0],
      ['200 spellings of the credentials', (index: number) => index],
    ] as const)(
      'succeed, but fewer than a quarter of their store operations precede the response to another client: %s [T582]',
      async (_, spelling) => {
        await using site = await started(name)
        const { app, operations } = site
        const [busy, other] = [await app.client(), await app.client()]
        const { accessToken } = await authorizationOf(app, busy.clientId)
        const sendOther = await connection(app)
        const sends = await connections(app, burst)
        const form = { grant_type: 'client_credentials' }
        // The server accepts connections in order, so it has accepted all earlier connections before this response.
        expect(await (await connection(app))(form, other)).toBe(200)

        const before = operations()
        const responses = sends.map((send, index) =>
          send(exchange(accessToken), busy, spelling(index)),
        )
        expect(await sendOther(form, other)).toBe(200)
        const done = operations() - before
        const statuses = await Promise.all(responses)
        const all = operations() - before

        expect(statuses.filter((status) => status !== 200)).toEqual([])
        expect(done).toBeLessThan(all / 4)
      },
    )

    test('on new connections succeed, but fewer than a quarter of their store operations precede the response to another client', async () => {
      await using site = await started(name)
      const { app, operations } = site
      const [busy, other] = [await app.client(), await app.client()]
      const { accessToken } = await authorizationOf(app, busy.clientId)
      const form = { grant_type: 'client_credentials' }
      expect(await (await connection(app))(form, other)).toBe(200)

      const before = operations()
      const responses = Array.from({ length: burst }, () =>
        newConnection(app).send(exchange(accessToken), busy),
      )
      expect(await newConnection(app).send(form, other)).toBe(200)
      const done = operations() - before
      const statuses = await Promise.all(responses)
      const all = operations() - before

      expect(statuses.filter((status) => status !== 200)).toEqual([])
      expect(done).toBeLessThan(all / 4)
    })
  },
)

describe('a queue of token requests', () => {
  const never = () => new Promise<never>(() => undefined)
  const turns = async (count: number) => {
    for (let turn = 0; turn < count; turn += 1) await nextTurn()
  }

  test('runs at most 32 concurrent requests of one sender, in the order of their arrival', async () => {
    const queues = new TokenQueues()
    const begun: number[] = []
    const ends: (() => void)[] = []
    const all = Array.from({ length: 40 }, (_, number) =>
      queues.run('sender', () => {
        begun.push(number)
        return new Promise<void>((resolve) => ends.push(resolve))
      }),
    )
    await expect.poll(() => begun.length).toBe(32)
    await turns(100)
    expect(begun).toHaveLength(32)
    for (let ended = 0; ended < 40; ended += 1) {
      await expect.poll(() => ends.length).toBeGreaterThan(ended)
      ends[ended]?.()
    }
    await Promise.all(all)
    expect(begun).toEqual(Array.from({ length: 40 }, (_, number) => number))
  })

  test('starts about one request per 33 turns of the event loop while requests arrive, and all other requests afterwards', async () => {
    const queues = new TokenQueues()
    let begun = 0
    const work = async () => {
      begun += 1
    }
    const all: Promise<void>[] = []
    for (let turn = 0; turn < 330; turn += 1) {
      all.push(queues.run('sender', work))
      await turns(1)
    }
    expect(begun).toBeGreaterThan(5)
    expect(begun).toBeLessThan(15)
    await Promise.all(all)
    expect(begun).toBe(330)
  })

  test('alternates between the requests of two senders', async () => {
    const queues = new TokenQueues()
    const begun: string[] = []
    const run = (sender: string) =>
      queues.run(sender, async () => {
        begun.push(sender)
      })
    const burst = Array.from({ length: 100 }, () => run('busy'))
    await Promise.all([run('other'), run('other')])
    expect(begun.filter((sender) => sender === 'busy').length).toBeLessThan(10)
    await Promise.all(burst)
  })

  test('returns 429 to a sender with 1,000 waiting requests, and runs the requests of other senders', async () => {
    const queues = new TokenQueues()
    for (let count = 0; count < 1_001; count += 1) void queues.run('sender', never)
    await expect(queues.run('sender', never)).rejects.toMatchObject({
      status: 429,
      headers: { 'retry-after': '30' },
    })
    expect(await queues.run('another', async () => 'done')).toBe('done')
  })

  test('runs the next request after a request fails', async () => {
    const queues = new TokenQueues()
    const failing = Array.from({ length: 40 }, () =>
      queues.run('sender', () => Promise.reject(new Error('It fails.'))),
    )
    const outcomes = await Promise.allSettled(failing)
    expect(outcomes.every(({ status }) => status === 'rejected')).toBe(true)
    expect(await queues.run('sender', async () => 'done')).toBe('done')
  })
})
