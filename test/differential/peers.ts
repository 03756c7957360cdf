import { fork } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthorizationServer } from 'svc-oauth2server'
import { mount } from 'svc-oauth2server/node'
import { sqlite } from 'svc-oauth2server/sqlite'
import { testScopes } from '../support/scopes.ts'
import { type Addresses, Peer, registered } from './peer.ts'

export interface Running {
  readonly peer: Peer
  stop(): Promise<void>
}

const email = 'user@example.org'
const password = 'correct horse battery staple'

/** Starts this server with its default settings, and logs the user in. */
export const startOurs = async (): Promise<Running> => {
  const folder = await mkdtemp(join(tmpdir(), 'oauth2server-differential-'))
  const http = createServer()
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  const { port } = http.address() as AddressInfo
  const server = await createAuthorizationServer({
    issuer: `http://localhost:${port}`,
    secretKeys: ['the secret key of the differential runs'],
    store: sqlite(join(folder, 'ours.sqlite')),
    scopes: testScopes,
    log: () => {},
  })
  const handle = mount(server)
  http.on('request', (request, response) =>
    handle(request, response, () => response.writeHead(200).end()),
  )
  const user = await server.users.create({ email, password })
  const ids: Record<string, { id: string; secret: string | null }> = {}
  for (const { name, secret, redirectUris, grantTypes } of registered) {
    const { client, clientSecret } = await server.clients.create({
      name,
      userId: user.id,
      isConfidential: secret !== null,
      redirectUris,
      defaultScopes: ['notes:read'],
      allowedScopes: ['notes:read', 'notes:write'],
      grantTypes,
    })
    ids[name] = { id: client.clientId, secret: secret === null ? null : clientSecret }
  }
  const oauth = '/oauth'
  const peer = new Peer(
    'svc-oauth2server',
    {
      port,
      authorize: `${oauth}/authorize`,
      token: `${oauth}/token`,
      revoke: `${oauth}/revoke`,
      introspect: `${oauth}/introspect`,
      metadata: '/.well-known/oauth-authorization-server',
    },
    ids,
  )
  const page = await peer.send('/login')
  const csrf_token = /name="csrf_token" value="([^"]+)"/.exec(page.text)?.[1] ?? ''
  const body = new URLSearchParams({ email, password, csrf_token })
  const { status } = await peer.send('/login', { method: 'POST', body })
  if (status !== 303) throw new Error(`The login returned ${status}.`)
  return {
    peer,
    async stop() {
      http.close()
      http.closeAllConnections()
      await server.close()
      await rm(folder, { recursive: true })
    },
  }
}

const bench = join(import.meta.dirname, '../../bench')

/** Starts another library in a separate process. */
export const startPeer = async (name: string, file: string): Promise<Running> => {
  if (!existsSync(join(bench, 'node_modules')))
    throw new Error('The peers are not installed: npm ci --prefix bench')
  const child = fork(join(bench, 'servers/peers', file), [], {
    env: { PATH: process.env.PATH ?? '', DIFFERENTIAL_CLIENTS: JSON.stringify(registered) },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const addresses = await new Promise<Addresses>((resolve, reject) => {
    child.once('message', (message) => resolve(message as Addresses))
    child.once('exit', (status) => reject(new Error(`${name} exited with status ${status}.`)))
  })
  return {
    peer: new Peer(name, addresses),
    async stop() {
      child.kill()
    },
  }
}
