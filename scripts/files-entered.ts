/**
 * Prints how many source files each kind of request enters, by directory: `npm run files-entered`. A file is entered if
 * one of its functions runs during the request. The column `files` is the sum without the adapter of `node:http`, which
 * another framework replaces.
 *
 *     npm run files-entered                     prints the numbers
 *     npm run files-entered -- --list REQUEST   prints the files of one kind of request, with their functions
 *     npm run files-entered -- --json           prints the files of every kind as JSON
 *
 * Uses SQLite in memory, or the PostgreSQL database at `--postgres URL`, which must be empty.
 */
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import { Session } from 'node:inspector/promises'
import type { AddressInfo } from 'node:net'
import { parseArgs } from 'node:util'
import { chain, mount, requireOauthScopes, rest } from '../src/adapters/node.ts'
import { createAuthorizationServer, Scope } from '../src/index.ts'
import { postgres } from '../src/store/postgres.ts'
import { sqlite } from '../src/store/sqlite.ts'

const { values } = parseArgs({
  options: {
    list: { type: 'string' },
    json: { type: 'boolean', default: false },
    postgres: { type: 'string' },
  },
})

const source = new URL('../src/', import.meta.url).href
const issuer = 'http://localhost:3000'
const redirectUri = 'https://client.example/cb'
/** The first rounds fill caches. Later rounds must agree, so that a timer cannot add a file. */
const warmUp = 3
const rounds = 3

const inspector = new Session()
inspector.connect()
await inspector.post('Profiler.enable')

const server = await createAuthorizationServer({
  issuer,
  secretKeys: ['a secret key for measurements, 32 bytes and more'],
  store: values.postgres === undefined ? sqlite(':memory:') : postgres(values.postgres),
  scopes: [new Scope('notes:read')],
  introspection: true,
  sweepInterval: 0,
  log: () => undefined,
})
const http = createServer(
  chain(mount(server), rest(server), requireOauthScopes('notes:read'), (_request, response) => {
    response.end('{}')
  }),
)
await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`

const { id } = await server.users.create({ email: 'ada@example.org', password: null })
const browser = { address: '127.0.0.1', userAgent: 'node', cookie: null, raw: undefined }
const [cookie = ''] = (await server.sessions.signIn(id, browser)).split(';')
const { client, clientSecret } = await server.clients.create({
  name: 'Notes',
  userId: id,
  redirectUris: [redirectUri],
  defaultScopes: ['notes:read'],
})
await server.consents.grant(id, client.clientId, ['notes:read'])
const { accessToken: key } = await server.tokens.createPersonal('Notes', id, {
  scopes: ['notes:read'],
})

const send = async (path: string, init: RequestInit, status = 200): Promise<Response> => {
  const response = await fetch(`${origin}${path}`, { redirect: 'manual', ...init })
  assert.equal(response.status, status, await response.clone().text())
  return response
}
const credentials = Buffer.from(`${client.clientId}:${clientSecret}`).toString('base64')
const post = async (path: string, form: Readonly<Record<string, string>>) => {
  const headers = { authorization: `Basic ${credentials}` }
  const response = await send(path, { method: 'POST', headers, body: new URLSearchParams(form) })
  return (await response.json()) as Record<string, string>
}
const read = (token: string) => send('/notes', { headers: { authorization: `Bearer ${token}` } })
const inBrowser = { cookie, 'user-agent': browser.userAgent }
const page = `/account/settings/applications/clients/${client.clientId}/`

let code = ''
let csrfToken = ''
let tokens: Record<string, string> = {}
const query = new URLSearchParams({
  response_type: 'code',
  client_id: client.clientId,
  redirect_uri: redirectUri,
})
/** The requests in their order. A request may use the result of an earlier one. */
const requests: Readonly<Record<string, () => Promise<unknown>>> = {
  async authorize() {
    const response = await send(`/oauth/authorize?${query}`, { headers: inBrowser }, 303)
    code = URL.parse(response.headers.get('location') ?? '')?.searchParams.get('code') ?? ''
  },
  async 'code exchange'() {
    const form = { grant_type: 'authorization_code', code, redirect_uri: redirectUri }
    tokens = await post('/oauth/token', form)
  },
  'bearer check': () => read(tokens.access_token ?? ''),
  key: () => read(key),
  introspection: () => post('/oauth/introspect', { token: tokens.access_token ?? '' }),
  refresh: () =>
    post('/oauth/token', {
      grant_type: 'refresh_token',
      refresh_token: tokens.refresh_token ?? '',
    }),
  client_credentials: () => post('/oauth/token', { grant_type: 'client_credentials' }),
  async page() {
    const html = await (await send(page, { headers: inBrowser })).text()
    csrfToken = /name="csrf_token" value="([^"]+)"/.exec(html)?.[1] ?? ''
  },
  'page save': () =>
    send(
      page,
      {
        method: 'POST',
        headers: { ...inBrowser, origin: issuer },
        body: new URLSearchParams({
          csrf_token: csrfToken,
          name: `Notes ${Math.random()}`,
          redirect_uris: redirectUri,
          default_scopes: 'notes:read',
        }),
      },
      303,
    ),
}

/** The entered files, with the names of the functions that ran. */
type Entered = ReadonlyMap<string, readonly string[]>

const enteredBy = async (work: () => Promise<unknown>): Promise<Entered> => {
  await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false })
  await work()
  const { result } = await inspector.post('Profiler.takePreciseCoverage')
  await inspector.post('Profiler.stopPreciseCoverage')
  return new Map(
    result
      .filter(({ url }) => url.startsWith(source))
      .map(({ url, functions }): [string, string[]] => [
        url.slice(source.length),
        functions
          .filter(({ ranges }) => (ranges[0]?.count ?? 0) > 0)
          .map((one) => one.functionName),
      ])
      .filter(([, functions]) => functions.length > 0),
  )
}

const entered = new Map<string, Entered>()
for (let round = 0; round < warmUp + rounds; round += 1)
  for (const [name, work] of Object.entries(requests)) {
    const found = await enteredBy(work)
    const before = round <= warmUp ? found : (entered.get(name) ?? found)
    entered.set(name, new Map([...found].filter(([file]) => before.has(file))))
  }

await new Promise((resolve) => {
  http.close(resolve)
  http.closeAllConnections()
})
await server.close()

const floors = 'server protocol pages records http store settings model crypto'.split(' ')
const within = (files: readonly string[], floor: string): readonly string[] =>
  files.filter((file) => file.startsWith(`${floor}/`))
const countsOf = (files: readonly string[]) => ({
  files: files.length - within(files, 'adapters').length,
  ...Object.fromEntries(floors.map((floor) => [floor, within(files, floor).length])),
})
const all = new Map([...entered].map(([name, files]) => [name, [...files.keys()].sort()]))
if (values.json) console.log(JSON.stringify(Object.fromEntries(all)))
else if (values.list === undefined)
  console.table(Object.fromEntries([...all].map(([name, files]) => [name, countsOf(files)])))
else
  for (const file of all.get(values.list) ?? []) {
    const functions = entered.get(values.list)?.get(file) ?? []
    console.log(`${file}: ${functions.map((name) => name || '(anonymous)').join(', ')}`)
  }
