import { createServer } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { StoreUnavailable, StoreUnusable } from 'svc-oauth2server'
import { redis } from 'svc-oauth2server/redis'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { OpenTransients } from '../../src/store/contract/transients.ts'
import { lacks } from '../support/needs.ts'
import { freePort } from '../support/processes.ts'
import {
  newCable,
  newPrefix,
  type OwnRedis,
  openRedis,
  removeKeys,
  sharedRedis,
  startRedis,
} from '../support/redis.ts'
import { runConcurrently, successes, text } from './rows.ts'
import { transientsContract } from './transients-contract.ts'

const withoutRedis = await lacks('redis')
const keyPrefix = newPrefix()

/** Returns the error of work that must fail. */
const failing = async (work: Promise<unknown>): Promise<Error> => {
  const error: unknown = await work.then(
    () => new Error('It succeeded.'),
    (reason: unknown) => reason,
  )
  return error as Error
}

const unavailable = async (work: Promise<unknown>): Promise<void> =>
  expect(await failing(work)).toBeInstanceOf(StoreUnavailable)

/** The milliseconds after which a command fails if Redis does not respond. */
const commandTimeout = 1_000

/** Expects that all operations fail earlier than a command without a response would fail. */
const failAtOnce = async (transients: OpenTransients): Promise<void> => {
  // Fixed time: the control.
  const control = delay(commandTimeout, 'timed out')
  const all = operations(transients).map((operation) => unavailable(operation()))
  expect(await Promise.race([control, Promise.all(all).then(() => 'failed')])).toBe('failed')
}

const operations = (transients: OpenTransients): readonly (() => Promise<unknown>)[] => [
  () => transients.put(text(), 'x', 10, 0),
  () => transients.get([text()], 0),
  () => transients.take(text(), 0),
  () => transients.increment(text(), 10, 0),
  () => transients.delete(text()),
  () => transients.ping(),
]

const valueIn = async (transients: OpenTransients, key: string, now: number) =>
  (await transients.get([key], now))[0]?.value

/** Waits until the store responds again. */
const recovered = (transients: OpenTransients): Promise<void> => eventually(() => transients.ping())

/** Repeats a command until it succeeds: on a busy machine, even a command after a recovery may exceed its timeout. */
const eventually = <T>(command: () => Promise<T>): Promise<T> =>
  vi.waitFor(command, { timeout: 60_000, interval: 20 })

const openFor = async (issuer: string) => {
  const transients = await redis(sharedRedis).open(issuer)
  return Object.assign(transients, { [Symbol.asyncDispose]: () => transients.close() })
}

describe.skipIf(withoutRedis)('Redis', () => {
  let one: OpenTransients
  let other: OpenTransients
  beforeAll(async () => {
    one = await redis(sharedRedis, { keyPrefix }).open()
    other = await redis(sharedRedis, { keyPrefix }).open()
  })
  afterAll(async () => {
    await one.close()
    await other.close()
    await removeKeys(keyPrefix)
  })

  transientsContract('in Redis', () => ({ one, other }), { isSwept: false })

  test('separates values by issuer, and nodes of one issuer share them [T4322]', async () => {
    const key = text()
    const issuer = `https://${key}.example`
    await using first = await openFor(issuer)
    await using second = await openFor(issuer)
    await using neighbour = await openFor(`${issuer}/other`)
    expect(await first.increment(key, 10, 0)).toBe(1)
    expect(await second.increment(key, 10, 0)).toBe(2)
    expect(await neighbour.increment(key, 10, 0)).toBe(1)
    for (const each of [first, neighbour]) await each.delete(key)
  })

  test('separates values by prefix', async () => {
    const key = text()
    await using elsewhere = await openRedis(sharedRedis, { keyPrefix: `${keyPrefix}else:` })
    await one.put(key, 'here', 10, 0)
    expect(await valueIn(elsewhere, key, 0)).toBeUndefined()
    expect(await elsewhere.put(key, 'there', 10, 0)).toBe(true)
    expect(await valueIn(one, key, 0)).toBe('here')
  })

  test('accepts fractional times', async () => {
    const key = text()
    expect(await one.put(key, 'x', 1_000.5, 0.25)).toBe(true)
    expect(await valueIn(other, key, 1_000.4)).toBe('x')
    expect(await valueIn(other, key, 1_000.5)).toBeUndefined()
    expect(await one.increment(text(), 7.5, 0.1)).toBe(1)
  })

  test('answers ping', async () => {
    expect(await one.ping()).toBeUndefined()
  })
})

describe.skipIf(withoutRedis)('values in Redis', () => {
  test('expire by themselves, a minute after the requested time', async () => {
    await using own = await startRedis()
    await using transients = await openRedis(own.url)
    const now = Date.UTC(2026, 0, 1)
    await transients.put('value', 'x', now + 5_000, now)
    await transients.increment('count', now + 5_000, now)
    await transients.increment('past', now - 5_000, now)
    for (const [key, life] of [
      ['value', 65_000],
      ['count', 65_000],
      ['past', 60_000],
    ] as const) {
      const left = Number(await own.command('PTTL', `oauth2server:${key}`))
      expect(left).toBeGreaterThan(life - 2_000)
      expect(left).toBeLessThanOrEqual(life)
    }
  })

  test('are in the database that the URL names', async () => {
    await using own = await startRedis()
    await using transients = await openRedis(`${own.url}/3`)
    await transients.put('key', 'x', 10, 0)
    expect(await own.command('DBSIZE')).toBe(0)
  })

  test('are found by scripts after Redis restarts without its cached scripts', async () => {
    await using own = await startRedis()
    await using transients = await openRedis(own.url)
    await own.command('SCRIPT', 'FLUSH')
    expect(await transients.put('key', 'x', 10, 0)).toBe(true)
    await own.command('SCRIPT', 'FLUSH')
    expect(await transients.take('key', 0)).toBe('x')
  })
})

describe.skipIf(withoutRedis)('access', () => {
  const password = 'ge heim/%,@:'
  const encoded = encodeURIComponent(password)

  test('decodes the password of the URL', async () => {
    await using own = await startRedis([], { password })
    const at = `127.0.0.1:${own.port}`
    await using transients = await openRedis(`redis://:${encoded}@${at}`)
    expect(await transients.put('key', 'x', 10, 0)).toBe(true)
    for (const url of [
      `redis://${at}`,
      `redis://:wr0ng-one@${at}`,
      `redis://me:${encoded}@${at}`,
    ]) {
      const error = await failing(redis(url).open())
      expect(error).toBeInstanceOf(StoreUnusable)
      expect(error.message).toMatch(/NOAUTH|WRONGPASS/)
      expect(error.message).not.toContain('wr0ng-one')
    }
  })

  test('needs only the permissions that the manual lists', async () => {
    const rights =
      '+@connection +eval +evalsha +hmget +hget +hset +hincrby +del +pexpire +ping ~oauth2server:*'
    await using own = await startRedis()
    await own.command('ACL', 'SETUSER', 'server', 'on', `>${password}`, ...rights.split(' '))
    const url = `redis://server:${encoded}@127.0.0.1:${own.port}`
    await using transients = await openRedis(url)
    for (const operation of operations(transients)) await operation()
    const error = await failing(redis(url, { keyPrefix: 'other:' }).open())
    expect(error).toBeInstanceOf(StoreUnusable)
    expect(error.message).toMatch(/NOPERM/)
  })

  test('removes the password from errors in which Redis repeats the password', async () => {
    const echo = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.on('data', () => {
        const error = `-ERR unknown command 'AUTH', with args beginning with: '${password}'\r\n`
        socket.write(error.repeat(3))
      })
    })
    await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve))
    const { port } = echo.address() as { port: number }
    const opener = redis(`redis://:${encoded}@127.0.0.1:${port}`)
    const error = await failing(opener.open())
    echo.close()
    expect(error).toBeInstanceOf(StoreUnusable)
    expect(error.message).toContain('unknown command')
    for (const shown of [error.message, error.stack, String(error.cause), opener.description]) {
      expect(shown).not.toContain(password)
      expect(shown).not.toContain(encoded)
    }
  })

  test('rediss:// uses TLS from the first byte, with the name of the host', async () => {
    const heard = Promise.withResolvers<Buffer>()
    const listener = createServer((socket) => {
      socket.on('error', () => undefined)
      socket.once('data', (data) => {
        heard.resolve(data)
        socket.destroy()
      })
    })
    await new Promise<void>((resolve) => listener.listen(0, 'localhost', resolve))
    const { port } = listener.address() as { port: number }
    const error = await failing(redis(`rediss://:${encoded}@localhost:${port}`).open())
    listener.close()
    const hello = await heard.promise
    expect(error).toBeInstanceOf(StoreUnavailable)
    // The first byte is the type of a TLS handshake record. The record contains the host name.
    expect(hello[0]).toBe(0x16)
    expect(hello.toString('latin1')).toContain('localhost')
    expect(hello.toString('latin1')).not.toContain(password)
  })
})

describe('a Redis URL', () => {
  test.each([
    ['redis://localhost', 'redis://localhost'],
    ['redis://user:secret@[::1]:7000/2', 'redis://[::1]:7000/2'],
    ['rediss://:secret@a.example:6380/', 'rediss://a.example:6380'],
    ['redis://u:secret@a:7000,b:7001', 'redis://a:7000,redis://b:7001'],
    ['redis://a:7000, redis://b:7001', 'redis://a:7000,redis://b:7001'],
  ])('the description of %s is without user and password', (url, description) => {
    expect(redis(url).description).toBe(description)
  })

  test.each([
    '',
    'localhost:6379',
    'http://:s3cret@localhost',
    'redis://',
    'redis://:s3cret@localhost/name',
    'redis://:s3cret@localhost/1/2',
    'redis://:s3cret@localhost?tls=true',
    'redis://:s3cret@localhost#x',
    'redis://:s3cret%@localhost',
    'redis://:s3cret@localhost:99999',
    'redis://:s3cret@a,rediss://b',
    'redis://:s3cret@a,redis://:s3cret@b',
    'redis://:s3cret@a/1,b',
    'redis://:s3cret@a,b/1',
    'redis://:s3cret@a,',
    'redis://:s3cret,more@a',
  ])('rejects %j with a message that does not contain the password', (url) => {
    const refused = () => redis(url)
    expect(refused).toThrow(StoreUnusable)
    expect(refused).toThrow(/^The address of Redis cannot be read\. .*Accepted: redis:/)
    expect(refused).not.toThrow(/s3cret/)
  })
})

describe.skipIf(withoutRedis)('a start without Redis', () => {
  test('fails immediately if the connection is refused, with a message that describes the solution', async () => {
    for (const host of ['127.0.0.1', 'localhost']) {
      const error = await failing(redis(`redis://:secret@${host}:${await freePort()}`).open())
      expect(error).toBeInstanceOf(StoreUnavailable)
      expect(error.message).toMatch(
        /^Redis at redis:\/\/\S+:\d+ cannot be reached: connect ECONNREFUSED \S+\. Check that Redis runs and that OAUTH2_CACHE_REDIS_URL is correct\./,
      )
      expect(error.message).not.toContain('secret')
    }
  })

  test('fails after the timeout if Redis does not respond', async () => {
    await using own = await startRedis()
    own.pause()
    const opener = redis(own.url, { connectTimeout: 300 })
    const error = await failing(opener.open())
    expect(error).toBeInstanceOf(StoreUnavailable)
    expect(error.message).toContain('there was no response within 300 ms')
  })

  test('fails if the server is a read-only replica', async () => {
    await using own = await startRedis()
    await own.command('REPLICAOF', '127.0.0.1', String(await freePort()))
    const error = await failing(redis(own.url).open())
    expect(error).toBeInstanceOf(StoreUnusable)
    expect(error.message).toContain('READONLY')
  })
})

describe.skipIf(withoutRedis)('an outage', { concurrent: true }, () => {
  test('every operation fails immediately while Redis is stopped, and succeeds after Redis restarts', async () => {
    await using own = await startRedis()
    await using transients = await openRedis(own.url)
    await own.stop()
    await vi.waitFor(() => unavailable(transients.ping()))
    await failAtOnce(transients)
    await vi.waitFor(async () => {
      const error = await failing(transients.ping())
      expect(error.message).toMatch(/^Redis at redis:\S+ cannot be used: connect ECONNREFUSED/)
    })
    // Fixed time: Redis stays stopped for several attempts to connect.
    await delay(1_000)
    await own.start()
    for (const operation of operations(transients)) await eventually(operation)
  })

  test('commands without a response fail when Redis stops, and no command is sent twice', async () => {
    await using own = await startRedis()
    await using transients = await openRedis(own.url)
    own.pause()
    const pending = Array.from({ length: 20 }, () => failing(transients.increment('n', 10, 0)))
    // Fixed time: the commands are sent.
    await delay(100)
    await own.stop()
    for (const error of await Promise.all(pending)) {
      expect(error).toBeInstanceOf(StoreUnavailable)
      expect(error.message).not.toContain('no response')
    }
    await own.start()
    await recovered(transients)
    expect(await transients.increment('n', 10, 0)).toBe(1)
  })

  test('an unresponsive Redis fails the first operations after a second and later operations immediately, until it responds', async () => {
    await using own = await startRedis()
    await using transients = await openRedis(own.url)
    await transients.put('key', 'x', 10, 0)
    own.pause()
    const first = await Promise.all(operations(transients).map((operation) => failing(operation())))
    for (const error of first) {
      expect(error).toBeInstanceOf(StoreUnavailable)
      expect(error.message).toContain('there was no response within 1000 ms')
    }
    // No connection has been opened since the timeout, so the next operations fail immediately.
    await failAtOnce(transients)
    own.resume()
    await eventually(async () => expect(await valueIn(transients, 'key', 0)).toBe('x'))
  })

  test.each(['under load', 'without load'])(
    'replaces a connection that is cut without an error %s',
    async (load) => {
      await using own = await startRedis()
      await using cable = await newCable(own.port)
      await using transients = await openRedis(`redis://127.0.0.1:${cable.port}`)
      cable.cut()
      // Fixed time: longer than the check of an idle connection.
      if (load === 'without load') await delay(4_000)
      else await unavailable(transients.ping())
      cable.restore()
      await eventually(async () => expect(await transients.put(text(), 'x', 10, 0)).toBe(true))
    },
  )

  test('resolves the host name again after the server became a replica', async () => {
    await using own = await startRedis()
    await using next = await startRedis()
    // After the change, the host name resolves to another address, as with managed services.
    const port = await freePort()
    const name = await newCable(own.port, port)
    await using transients = await openRedis(`redis://127.0.0.1:${port}`)
    await own.command('REPLICAOF', '127.0.0.1', String(next.port))
    name.forwardTo(next.port)
    await unavailable(transients.increment('n', 10, 0))
    await recovered(transients)
    expect(await transients.increment('n', 10, 0)).toBe(1)
    await name[Symbol.asyncDispose]()
  })

  test('throws StoreUnavailable while Redis is full, and neither loses nor consumes a value', async () => {
    await using own = await startRedis(['--maxmemory-policy', 'noeviction'])
    await using transients = await openRedis(own.url)
    await transients.put('key', 'x', 10, 0)
    await own.command('CONFIG', 'SET', 'maxmemory', '1')
    const error = await failing(transients.put('other', 'x', 10, 0))
    expect(error).toBeInstanceOf(StoreUnavailable)
    expect(error.message).toContain('OOM')
    expect(await valueIn(transients, 'key', 0)).toBe('x')
    await own.command('CONFIG', 'SET', 'maxmemory', '0')
    expect(await transients.take('key', 0)).toBe('x')
  })

  test('sends nothing and does not reconnect after close()', async () => {
    await using own = await startRedis()
    const transients = await redis(own.url).open()
    await transients.close()
    await transients.close()
    await failAtOnce(transients)
    await own.stop()
    await own.start()
    // Fixed time: the closed store could connect again.
    await delay(300)
    expect(
      String(await own.command('CLIENT', 'LIST'))
        .trim()
        .split('\n'),
    ).toHaveLength(1)
  })
})

describe.skipIf(withoutRedis)('a blocked event loop', () => {
  test('does not cause a timeout if the response has arrived', async () => {
    await using own = await startRedis()
    await using transients = await openRedis(own.url)
    await transients.put(text(), 'x', 10, 0)
    const answered = transients.put('key', 'x', 10, 0)
    await new Promise((resolve) => setImmediate(() => setImmediate(resolve)))
    for (const until = performance.now() + 1_200; performance.now() < until; );
    expect(await answered).toBe(true)
  })
})

describe.skipIf(withoutRedis)('a cluster', { concurrent: true }, () => {
  const startCluster = async (announced?: number, further: readonly string[] = []) => {
    const port = await freePort()
    const cluster = ['--cluster-enabled', 'yes', '--cluster-config-file', `nodes-${port}.conf`]
    const bus = [
      '--cluster-port',
      String(await freePort()),
      '--cluster-require-full-coverage',
      'no',
    ]
    const known = announced === undefined ? [] : ['--cluster-announce-port', String(announced)]
    const own = await startRedis(
      [...cluster, ...bus, '--cluster-announce-ip', '127.0.0.1', ...known, ...further],
      { port },
    )
    return own
  }

  /** @param other a node that has no connections yet */
  const meet = async (first: OwnRedis | undefined, other: OwnRedis) => {
    const [, bus = ''] = /@(\d+)/.exec(String(await other.command('CLUSTER', 'NODES'))) ?? []
    await first?.command('CLUSTER', 'MEET', '127.0.0.1', String(other.port), bus)
  }

  const joined = async (nodes: readonly Awaited<ReturnType<typeof startCluster>>[]) => {
    const share = Math.ceil(16_384 / nodes.length)
    for (const [index, node] of nodes.entries()) {
      const last = Math.min(16_384, (index + 1) * share) - 1
      await node.command('CLUSTER', 'ADDSLOTSRANGE', String(index * share), String(last))
      await node.command('CLUSTER', 'SET-CONFIG-EPOCH', String(index + 1))
    }
    const [first, ...others] = nodes
    for (const other of others) await meet(first, other)
    for (const node of nodes) {
      await vi.waitFor(
        async () => {
          const info = String(await node.command('CLUSTER', 'INFO'))
          expect(info).toContain('cluster_state:ok')
          expect(info).toContain('cluster_slots_ok:16384')
        },
        { timeout: 60_000, interval: 100 },
      )
    }
  }

  test('passes the contract on all nodes, although the URL contains only some of the nodes', async () => {
    const nodes = [await startCluster(), await startCluster(), await startCluster()]
    await using _a = nodes[0]
    await using _b = nodes[1]
    await using _c = nodes[2]
    await joined(nodes)
    const [first, second] = nodes
    const url = `redis://127.0.0.1:${first?.port},127.0.0.1:${second?.port}`
    // The default of one second is too short on a busy machine.
    const patient = { commandTimeout: 5_000 }
    await using one = await openRedis(url, patient)
    await using other = await openRedis(url, patient)
    const keys = Array.from({ length: 60 }, text)
    for (const key of keys) expect(await one.put(key, key, 10, 0)).toBe(true)
    for (const node of nodes) expect(Number(await node.command('DBSIZE'))).toBeGreaterThan(3)
    for (const key of keys) {
      const taken = await runConcurrently(6, (index) => (index % 2 ? one : other).take(key, 0))
      expect(successes(taken)).toEqual([key])
      const counted = await runConcurrently(4, (index) =>
        (index % 2 ? one : other).increment(key, 10, 0),
      )
      expect([...counted].sort()).toEqual([1, 2, 3, 4])
    }
    await one.ping()

    // If one node is unreachable, only the keys of that node are unavailable.
    await nodes[2]?.stop()
    await vi.waitFor(() => unavailable(one.ping()))
    const settled = await Promise.allSettled(keys.map((key) => one.increment(key, 10, 0)))
    const failed = settled.filter(({ status }) => status === 'rejected')
    expect(failed.length).toBeGreaterThan(3)
    expect(failed.length).toBeLessThan(50)
    await nodes[2]?.start()
    await recovered(one)
  })

  test('is detected with a single address, and a Redis without cluster support is rejected if the URL contains several addresses', async () => {
    await using node = await startCluster()
    await using another = await startCluster()
    await joined([node, another])
    for (const { url } of [node, another]) {
      await using transients = await openRedis(url)
      for (const key of Array.from({ length: 20 }, text))
        expect(await transients.put(key, 'x', 10, 0)).toBe(true)
    }
    await using single = await startRedis()
    const error = await failing(redis(`${single.url},${single.url}`).open())
    expect(error).toBeInstanceOf(StoreUnusable)
    expect(error.message).toContain('cluster support disabled')
  })

  // An unresponsive node does not refuse connections, so the driver does not discover the nodes again.
  test.each(['unresponsive', 'stopped'] as const)(
    'operations succeed again after a replica replaces a master that is %s',
    async (how) => {
      const soon = ['--cluster-node-timeout', '1000', '--repl-diskless-sync-delay', '0']
      await using first = await startCluster(undefined, soon)
      await using second = await startCluster(undefined, soon)
      await using third = await startCluster(undefined, soon)
      await using replica = await startCluster(undefined, soon)
      const masters = [first, second, third]
      await joined(masters)
      await meet(first, replica)
      const id = String(await third.command('CLUSTER', 'MYID'))
      const patient = { timeout: 60_000, interval: 100 }
      await vi.waitFor(() => replica.command('CLUSTER', 'REPLICATE', id), patient)
      const copies = async () =>
        expect(String(await replica.command('INFO', 'replication'))).toContain('link_status:up')
      await vi.waitFor(copies, patient)
      const slots = async (own: OwnRedis) => JSON.stringify(await own.command('CLUSTER', 'SLOTS'))
      for (const own of masters)
        await vi.waitFor(
          async () => expect(await slots(own)).toContain(`,${replica.port},`),
          patient,
        )

      await using transients = await openRedis(masters.map(({ url }) => url).join())
      const keys = Array.from({ length: 30 }, text)
      const failures = async () => {
        const counted = keys.map((key) => transients.increment(key, 10, 0))
        return (await Promise.allSettled(counted)).filter(({ status }) => status === 'rejected')
      }
      expect(await failures()).toEqual([])
      if (how === 'unresponsive') third.pause()
      else await third.stop()
      let worst = 0
      const taken = (own: OwnRedis) => async () => {
        worst = Math.max(worst, (await failures()).length)
        expect(await slots(own)).not.toContain(`,${third.port},`)
      }
      for (const own of [first, second]) await vi.waitFor(taken(own), patient)
      expect(worst).toBeGreaterThan(0)
      expect(worst).toBeLessThan(keys.length)
      await vi.waitFor(async () => expect(await failures()).toEqual([]), {
        timeout: 60_000,
        interval: 100,
      })
      // The former master becomes a replica, and clients do not write to it.
      if (how === 'unresponsive') third.resume()
      else await third.start()
      const followed = async () =>
        expect(String(await third.command('INFO', 'replication'))).toContain('role:slave')
      await vi.waitFor(followed, patient)
      await vi.waitFor(async () => expect(await failures()).toEqual([]), patient)
    },
  )

  test('also replaces a connection that is cut without an error in a cluster', async () => {
    const port = await freePort()
    await using node = await startCluster(port)
    await using cable = await newCable(node.port, port)
    await joined([node])
    await using transients = await openRedis(`redis://127.0.0.1:${port}`)
    await eventually(() => transients.set('key', 'x', 10, 0))
    cable.cut()
    for (let times = 0; times < 2; times += 1) {
      const error = await failing(transients.get(['key'], 0))
      expect(error).toBeInstanceOf(StoreUnavailable)
    }
    cable.restore()
    await eventually(async () => expect(await valueIn(transients, 'key', 0)).toBe('x'))
  })
})
