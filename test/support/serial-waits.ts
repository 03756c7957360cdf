import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createAuthorizationServer, Scope } from 'svc-oauth2server'
import { chain, mount, requireApiAuth, rest } from 'svc-oauth2server/node'
import { postgres } from 'svc-oauth2server/postgres'

const redirectUri = 'https://client.example/cb'

/** Milliseconds without a new statement after which the server waits for the held statements. */
const quiet = 40

/** Counts how often a request waits for PostgreSQL. */
interface SerialWaits extends AsyncDisposable {
  /** The URL of the database behind the proxy. */
  readonly url: string
  /**
   * Runs work, and returns how often it waited. The proxy holds the statements of the server until the server sends no
   * further ones, and then forwards all of them. So statements that the server sends at the same time are one wait.
   */
  count(work: () => Promise<unknown>): Promise<number>
}

/** Starts a proxy before a PostgreSQL server. It forwards everything until `count` is called. */
const serialWaits = async (target: string): Promise<SerialWaits> => {
  const { hostname, port } = new URL(target)
  const sockets = new Set<Socket>()
  let held: { readonly to: Socket; readonly bytes: Buffer }[] | undefined
  const proxy = createServer((client) => {
    const server = connect(Number(port || 5432), hostname)
    client.on('data', (bytes) => {
      if (held) held.push({ to: server, bytes })
      else server.write(bytes)
    })
    server.on('data', (bytes) => client.write(bytes))
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
  })
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve))
  const address = proxy.address()
  const own = typeof address === 'object' ? address?.port : undefined
  const forward = () => {
    const statements = held ?? []
    if (held) held = []
    for (const { to, bytes } of statements) to.write(bytes)
  }
  return {
    url: Object.assign(new URL(target), { hostname: '127.0.0.1', port: `${own}` }).href,
    async count(work) {
      held = []
      let isDone = false
      const done = work().finally(() => {
        isDone = true
      })
      let waits = 0
      while (!isDone) {
        const before: number = held?.length ?? 0
        await Promise.race([delay(quiet), done.catch(() => undefined)])
        if (isDone || before === 0 || held?.length !== before) continue
        waits += 1
        forward()
      }
      forward()
      held = undefined
      await done
      return waits
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy()
      await new Promise((resolve) => {
        proxy.close(resolve)
      })
    },
  }
}

/** Returns the number of waits of each kind of request to a server on an empty database. */
export const measureSerialWaits = async (
  database: string,
): Promise<ReadonlyMap<string, number>> => {
  await using proxy = await serialWaits(database)
  const counted = new Map<string, number>()
  const issuer = 'http://localhost:3000'
  const server = await createAuthorizationServer({
    issuer,
    secretKeys: [randomBytes(48).toString('base64')],
    store: postgres(proxy.url),
    scopes: [new Scope('notes:read')],
    openidConnect: true,
    introspection: true,
    sweepInterval: 0,
    log: () => undefined,
  })
  const http = createHttpServer(
    chain(mount(server), rest(server), requireApiAuth(), (_request, response) => {
      response.end('{}')
    }),
  )
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
  const { id } = await server.users.create({ email: 'ada@example.org', password: null })
  const browser = { address: '', userAgent: 'test', cookie: null, raw: undefined }
  const [cookie = ''] = (await server.sessions.signIn(id, browser)).split(';')
  const { client, clientSecret } = await server.clients.create({
    name: 'Notes',
    userId: id,
    redirectUris: [redirectUri],
    openid: { id_token_signed_response_alg: 'ES256' },
  })
  await server.consents.grant(id, client.clientId, ['openid', 'notes:read'])
  const authorization = `Basic ${Buffer.from(`${client.clientId}:${clientSecret}`).toString('base64')}`
  const post = async (path: string, form: Record<string, string>) => {
    const response = await fetch(`${origin}${path}`, {
      method: 'POST',
      headers: { authorization },
      body: new URLSearchParams(form),
    })
    assert.equal(response.status, 200)
    return (await response.json()) as Record<string, string>
  }
  let code = ''
  let tokens: Record<string, string> = {}
  const authorize = async (scope: string) => {
    const query = new URLSearchParams({
      response_type: 'code',
      client_id: client.clientId,
      redirect_uri: redirectUri,
      scope,
    })
    const headers = { cookie, 'user-agent': browser.userAgent }
    const response = await server.fetch(
      new Request(`${issuer}/oauth/authorize?${query}`, { headers }),
    )
    code = URL.parse(response.headers.get('location') ?? '')?.searchParams.get('code') ?? ''
    assert.ok(code)
  }
  const exchange = async () => {
    tokens = await post('/oauth/token', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: redirectUri,
    })
  }
  const count = async (name: string, work: () => Promise<unknown>) => {
    const found = await proxy.count(work)
    counted.set(name, Math.min(counted.get(name) ?? found, found))
  }
  // The first round fills caches and opens connections. A busy machine may split a wait, so the least number counts.
  for (let round = 0; round < 4; round += 1) {
    await count('authorize', () => authorize('notes:read'))
    await count('code exchange', exchange)
    const { access_token: token = '', refresh_token = '' } = tokens
    await count('introspection', () => post('/oauth/introspect', { token }))
    await count('bearer check', () =>
      fetch(`${origin}/notes`, { headers: { authorization: `Bearer ${token}` } }),
    )
    await count('refresh', () =>
      post('/oauth/token', { grant_type: 'refresh_token', refresh_token }),
    )
    await count('client_credentials', () =>
      post('/oauth/token', { grant_type: 'client_credentials' }),
    )
    await authorize('openid notes:read')
    await count('code exchange with an ID token', exchange)
  }
  await new Promise((resolve) => {
    http.close(resolve)
    http.closeAllConnections()
  })
  await server.close()
  return counted
}
