import { setTimeout as delay } from 'node:timers/promises'
import { postgres } from 'svc-oauth2server/postgres'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { lacks } from '../support/needs.ts'
import { makeDatabase, type TestDatabase } from '../support/postgres.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { startProxy } from '../support/tcp-proxy.ts'
import { ping, TestClient, UserAgent } from '../support/user-agent.ts'

const seconds = 60
const patience = { timeout: 10_000, interval: 10 }

const metricsToken = 'a-token-for-the-metrics-of-tests'

const measured = async ({ issuer }: TestServer): Promise<string> => {
  const headers = { authorization: `Bearer ${metricsToken}` }
  return (await fetch(`${issuer}/metrics`, { headers })).text()
}

/** Milliseconds in which nodes ask several times whether they hear. */
const several = 3_000

/**
 * Between transactions a client has no connection to the server, and what comes for it is lost. Within one it may
 * happen to have the very connection that it had before.
 */
const transactionMode = () => {
  let isInTransaction = true
  return {
    ...withoutNotifications(
      () => !isInTransaction,
      () => {
        isInTransaction = false
      },
    ),
    toServer(bytes: Buffer) {
      isInTransaction = true
      return bytes
    },
  }
}

/** Swallows what others tell, for as long as it is deaf. */
const withoutNotifications = (isDeaf: () => boolean, onReady = () => {}) => {
  let rest = Buffer.alloc(0)
  return {
    toServer: (bytes: Buffer) => bytes,
    toClient(bytes: Buffer) {
      rest = Buffer.concat([rest, bytes])
      const passed: Buffer[] = []
      while (rest.length >= 5 && rest.length > rest.readInt32BE(1)) {
        const end = 1 + rest.readInt32BE(1)
        const type = String.fromCharCode(rest[0] ?? 0)
        if (type !== 'A' || !isDeaf()) passed.push(rest.subarray(0, end))
        if (type === 'Z') onReady()
        rest = rest.subarray(end)
      }
      return Buffer.concat(passed)
    },
  }
}

describe.skipIf(await lacks('postgres'))('with a cache of look-ups on PostgreSQL', () => {
  let database: TestDatabase
  let a: TestServer
  let b: TestServer
  beforeAll(async () => {
    database = await makeDatabase()
    const store = cached()
    a = await startServer({ store })
    b = await startServer({ store, beside: a })
  })
  const cached = () => postgres(database.url, { poolSize: 3, lookupCacheSeconds: seconds })
  afterAll(async () => {
    await b?.close()
    await a?.close()
    await database?.drop()
  })

  const disable = (clientId: string, isDisabled: number) =>
    database.query('update oauth2server_client set is_disabled = $1 where client_id = $2', [
      isDisabled,
      clientId,
    ])

  /** Presents a token to a node until that node keeps it, which shows where its client is disabled past the store. */
  const keptBy = async (node: TestServer, token: string, clientId: string): Promise<void> => {
    await vi.waitFor(async () => {
      expect(await ping(node, token)).toBe(200)
      await disable(clientId, 1)
      const status = await ping(node, token)
      await disable(clientId, 0)
      expect(status).toBe(200)
    }, patience)
  }

  const authorized = async () => {
    const client = await TestClient.register(a, new UserAgent(), { allowedScopes: ['notes:read'] })
    const tokens = await client.tokens()
    for (const node of [a, b]) await keptBy(node, tokens.access_token, client.clientId)
    return { client, tokens }
  }

  test.each<[string, (of: Awaited<ReturnType<typeof authorized>>) => Promise<unknown>]>([
    [
      'RFC 7009 §2.1 a token that is revoked',
      async ({ client, tokens }) => {
        const body = new URLSearchParams({
          token: tokens.access_token,
          client_id: client.clientId,
          client_secret: client.clientSecret,
        })
        expect((await fetch(`${a.issuer}/oauth/revoke`, { method: 'POST', body })).status).toBe(200)
      },
    ],
    [
      'RFC 6749 §6 a token whose successor was issued',
      async ({ client, tokens }) =>
        expect((await client.refresh(tokens.refresh_token)).status).toBe(200),
    ],
    ['a client that is deleted', ({ client }) => a.server.clients.delete(client.clientId)],
    [
      'an application that the user does not allow any more',
      ({ client }) => a.server.authorizedApplications.revoke(a.user.id, client.clientId),
    ],
    [
      'a user who is deactivated',
      async () => {
        await a.server.users.setActive(a.user.id, false)
      },
    ],
  ])(
    '%s: the node that did it refuses at once, the other as soon as it is told',
    async (_, end) => {
      const kept = await authorized()
      const { access_token } = kept.tokens
      await end(kept)
      expect(await ping(a, access_token)).toBe(401)
      await vi.waitFor(async () => expect(await ping(b, access_token)).toBe(401), patience)
      await a.server.users.setActive(a.user.id, true)
    },
  )

  test('a personal token: scopes that are taken from it are gone, and it ends with its deletion', async () => {
    const token = await a.server.tokens.createPersonal('Kept', a.user.id, {
      scopes: ['notes:read'],
    })
    const read = async ({ issuer }: TestServer) =>
      (
        await fetch(`${issuer}/api/notes/`, {
          headers: { authorization: `Bearer ${token.accessToken}` },
        })
      ).status
    expect([await read(a), await read(b)]).toEqual([200, 200])
    for (const node of [a, b]) await keptBy(node, token.accessToken, token.clientId)
    const managed = await a.server.personalTokens.find(a.user.id, token.id)
    if (!managed) throw new Error('The token is gone.')
    await a.server.personalTokens.update(managed, { scopes: [] })
    expect(await read(a)).toBe(403)
    await vi.waitFor(async () => expect(await read(b)).toBe(403), patience)
    await a.server.tokens.revoke(token)
    expect(await read(a)).toBe(401)
    await vi.waitFor(async () => expect(await read(b)).toBe(401), patience)
  })

  test('RFC 8693 §2.1 a token that was narrowed from another ends with it', async () => {
    await using other = await startServer({ store: cached(), beside: a, tokenExchange: true })
    const client = await TestClient.register(other, new UserAgent())
    const tokens = await client.tokens()
    const { body } = await client.token({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: tokens.access_token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      scope: 'notes:read',
    })
    for (const node of [other, b]) await keptBy(node, body.access_token, client.clientId)
    expect((await client.refresh(tokens.refresh_token)).status).toBe(200)
    expect(await ping(other, body.access_token)).toBe(401)
    await vi.waitFor(async () => expect(await ping(b, body.access_token)).toBe(401), patience)
  })

  test('a node that cannot hear what changes keeps nothing, and does again when it can', async () => {
    const cut = `select pg_terminate_backend(pid) from pg_stat_activity
      where datname = current_database() and application_name = 'svc-oauth2server changes'`
    const newToken = () => a.server.tokens.createPersonal('Cut off', a.user.id)
    await vi.waitFor(async () => {
      await database.query(cut)
      const { clientId, accessToken } = await newToken()
      expect(await ping(b, accessToken)).toBe(200)
      await disable(clientId, 1)
      expect(await ping(b, accessToken)).toBe(401)
    }, patience)
    await vi.waitFor(async () => {
      const { clientId, accessToken } = await newToken()
      expect(await ping(b, accessToken)).toBe(200)
      await disable(clientId, 1)
      expect(await ping(b, accessToken)).toBe(200)
    }, patience)
  })

  test('what the cache is good for is measured', async () => {
    await using node = await startServer({ store: cached(), beside: a, metricsToken })
    const { client, tokens } = await authorized()
    await keptBy(node, tokens.access_token, client.clientId)
    const metrics = await measured(node)
    expect(metrics).toMatch(/^oauth2server_lookup_cache_hearing 1$/m)
    expect(metrics).toMatch(/^oauth2server_lookup_cache_lookups_total\{.*"hit"\} [1-9]\d*$/m)
    expect(metrics).toMatch(/^oauth2server_lookup_cache_lookups_total\{.*"miss"\} [1-9]\d*$/m)
  })

  test('what nodes ask each other all the time ends nothing that they keep', async () => {
    const { client, tokens } = await authorized()
    await disable(client.clientId, 1)
    await delay(several)
    for (const node of [a, b]) expect(await ping(node, tokens.access_token)).toBe(200)
  })

  test('behind PgBouncer in transaction mode, where nothing is heard, a node keeps nothing', async () => {
    await using pooler = await startProxy(database.url, transactionMode)
    const store = postgres(pooler.url, { prepare: false, lookupCacheSeconds: seconds })
    await using node = await startServer({ store, beside: a, metricsToken })
    for (let round = 0; round < 10; round += 1) {
      const { clientId, accessToken } = await a.server.tokens.createPersonal('Pooled', a.user.id)
      expect(await ping(node, accessToken)).toBe(200)
      await disable(clientId, 1)
      expect(await ping(node, accessToken)).toBe(401)
      await delay(several / 10)
    }
    const metrics = await measured(node)
    expect(metrics).toMatch(/^oauth2server_lookup_cache_hearing 0$/m)
    expect(metrics).toMatch(/^oauth2server_lookup_cache_lookups_total\{.*"hit"\} 0$/m)
  })

  test('a node whose connection goes on, but tells no more, keeps nothing from then on', async () => {
    let isDeaf = false
    await using pooler = await startProxy(database.url, () => withoutNotifications(() => isDeaf))
    const store = postgres(pooler.url, { lookupCacheSeconds: seconds })
    await using node = await startServer({ store, beside: a })
    const { client, tokens } = await authorized()
    await keptBy(node, tokens.access_token, client.clientId)
    isDeaf = true
    await disable(client.clientId, 1)
    await vi.waitFor(async () => expect(await ping(node, tokens.access_token)).toBe(401), patience)
  })

  test('the start warns of it', () => {
    expect(a.log.filter(({ event }) => event === 'settings.loosened')).toContainEqual(
      expect.objectContaining({ message: expect.stringContaining('lookupCacheSeconds is 60') }),
    )
  })

  test('what is ended by a process that keeps nothing, as by the command line, is told too', async () => {
    await using node = await startServer({ store: postgres(database.url), beside: a })
    const { client, tokens } = await authorized()
    await node.server.clients.delete(client.clientId)
    await vi.waitFor(async () => expect(await ping(b, tokens.access_token)).toBe(401), patience)
  })

  test('without the option every request asks', async () => {
    await using node = await startServer({ store: postgres(database.url), beside: a })
    const client = await TestClient.register(a, new UserAgent())
    const { access_token } = await client.tokens()
    expect(await ping(node, access_token)).toBe(200)
    await disable(client.clientId, 1)
    expect(await ping(node, access_token)).toBe(401)
  })

  test.each([-1, 61, Number.NaN])('%d seconds are refused', async (lookupCacheSeconds) => {
    await expect(postgres(database.url, { lookupCacheSeconds }).open()).rejects.toThrow(
      'lookupCacheSeconds accepts 0 to 60.',
    )
  })
})
