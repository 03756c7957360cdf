/**
 * Measures the response time of each page in a database with 1,000 applications and 10,000 tokens of other users.
 * Prints a table in milliseconds: `node bench/pages.ts [requests per page]`.
 */
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthorizationServer, emailScope, Scope } from 'svc-oauth2server'
import { mount } from 'svc-oauth2server/node'
import { sqlite } from 'svc-oauth2server/sqlite'

const requests = Number(process.argv[2] ?? 500)
const email = 'somebody@example.org'
const password = 'correct horse battery staple'
const clients = 1_000
const tokens = 10_000

const folder = await mkdtemp(join(tmpdir(), 'oauth2server-pages-'))
const http = createServer()
await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
const issuer = `http://localhost:${(http.address() as AddressInfo).port}`
const server = await createAuthorizationServer({
  issuer,
  secretKeys: ['a secret key for measurements, 32 bytes and more'],
  store: sqlite(join(folder, 'pages.sqlite')),
  scopes: [emailScope, new Scope('notes:read', { helpText: 'Read your notes', group: 'Notes' })],
  sweepInterval: 0,
})
const routes = mount(server)
http.on('request', (request, response) => routes(request, response, () => response.end()))

const me = await server.users.create({ email, password, isAdmin: true })
const others = await Promise.all(
  Array.from({ length: 20 }, (_, n) =>
    server.users.create({ email: `other-${n}@example.org`, password: null }),
  ),
)
const scopes = ['notes:read']
const redirectUris = ['https://client.example/cb']
await server.transaction(async (tx) => {
  for (let n = 0; n < clients; n += 1) {
    const owner = others[n % others.length] ?? me
    const { client } = await tx.clients.create({ name: `App ${n}`, userId: owner.id, redirectUris })
    for (let m = 0; m < (tokens - 1_000) / clients; m += 1) {
      const subject = others[(n + m) % others.length] ?? me
      await tx.consents.grant(subject.id, client.clientId, scopes)
      await tx.tokens.issue({ type: 'user', client, subject, scopes, refreshable: true })
    }
    await tx.tokens.createPersonal(`Token ${n}`, owner.id, { scopes })
  }
})
const own = await server.clients.create({ name: 'Mine', userId: me.id, redirectUris })
const ownToken = await server.tokens.createPersonal('Mine', me.id, { scopes })
await server.consents.grant(me.id, own.client.clientId, scopes)
const device = await server.tokens.issue({
  type: 'user',
  client: own.client,
  subject: me,
  scopes,
  refreshable: true,
})

let cookie = ''
const get = async (path: string, init: RequestInit = {}): Promise<Response> => {
  const answer = await fetch(`${issuer}${path}`, {
    redirect: 'manual',
    ...init,
    headers: { cookie },
  })
  const [set] = answer.headers.getSetCookie()
  if (set) cookie = set.split(';', 1)[0] ?? ''
  return answer
}
const login = await (await get('/login')).text()
const csrf_token = /name="csrf_token" value="([^"]+)"/.exec(login)?.[1] ?? ''
await get('/login', { method: 'POST', body: new URLSearchParams({ email, password, csrf_token }) })

const settings = '/account/settings/applications/'
const authorize = new URLSearchParams({
  response_type: 'code',
  client_id: own.client.clientId,
  scope: 'notes:read user:email',
  prompt: 'consent',
})
const pages = [
  '/login?prompt=login',
  `/oauth/authorize?${authorize}`,
  '/oauth/errors?error=invalid_request',
  settings,
  `${settings}clients/new/`,
  `${settings}clients/${own.client.clientId}/`,
  `${settings}tokens/new/`,
  `${settings}tokens/${ownToken.id}/`,
  `${settings}tokens/${device.token.id}/view/`,
  '/account/settings/sessions/',
  '/admin/applications/',
  '/admin/applications/?client=App+99',
  `/admin/applications/${own.client.clientId}/`,
  '/admin/tokens/?token=other-3%40example.org',
]
const percentile = (sorted: readonly number[], share: number): string =>
  (sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0).toFixed(1)

console.log('| Page | median | p99 | max |\n| --- | ---: | ---: | ---: |')
for (const page of pages) {
  const times: number[] = []
  for (let n = 0; n < requests; n += 1) {
    const begin = performance.now()
    const answer = await get(page)
    await answer.text()
    times.push(performance.now() - begin)
    const expected = page.startsWith('/oauth/errors') ? 400 : 200
    if (answer.status !== expected) throw new Error(`${page} returned ${answer.status}.`)
  }
  times.sort((a, b) => a - b)
  const shown = page.replace(own.client.clientId, '{client_id}').replace(/\?response_type.*/, '')
  console.log(
    `| ${shown} | ${percentile(times, 0.5)} | ${percentile(times, 0.99)} | ${percentile(times, 1)} |`,
  )
}
http.close()
http.closeAllConnections()
await server.close()
await rm(folder, { recursive: true })
