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
import { Session } from 'node:inspector/promises'
import { parseArgs } from 'node:util'
import { postgres } from '../src/store/postgres.ts'
import { sqlite } from '../src/store/sqlite.ts'
import { type Around, redirectUri, requestsTo } from '../test/support/request-kinds.ts'

const { values } = parseArgs({
  options: {
    list: { type: 'string' },
    json: { type: 'boolean', default: false },
    postgres: { type: 'string' },
  },
})

const source = new URL('../src/', import.meta.url).href
/** The first rounds fill caches. Later rounds must agree, so that a timer cannot add a file. */
const warmUp = 3
const rounds = 3

const inspector = new Session()
inspector.connect()
await inspector.post('Profiler.enable')

const requests = await requestsTo({
  store: values.postgres === undefined ? sqlite(':memory:') : postgres(values.postgres),
  openidConnect: false,
})
const { server, origin, userId, clientId, inBrowser } = requests
const { accessToken: key } = await server.tokens.createPersonal('Notes', userId)
const page = `/account/settings/applications/clients/${clientId}/`

const send = async (path: string, init: RequestInit, status = 200): Promise<Response> => {
  const response = await fetch(`${origin}${path}`, { redirect: 'manual', ...init })
  assert.equal(response.status, status, await response.clone().text())
  return response
}

let csrfToken = ''
/** Further requests, in their order: the last sends the form of the page. */
const further: Readonly<Record<string, () => Promise<unknown>>> = {
  key: () => send('/notes', { headers: { authorization: `Bearer ${key}` } }),
  async page() {
    const html = await (await send(page, { headers: inBrowser })).text()
    csrfToken = /name="csrf_token" value="([^"]+)"/.exec(html)?.[1] ?? ''
  },
  'page save': () =>
    send(
      page,
      {
        method: 'POST',
        headers: { ...inBrowser, origin: server.issuer },
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
for (let round = 0; round < warmUp + rounds; round += 1) {
  const note: Around = async (name, work) => {
    const found = await enteredBy(work)
    const before = round <= warmUp ? found : (entered.get(name) ?? found)
    entered.set(name, new Map([...found].filter(([file]) => before.has(file))))
  }
  await requests.send(note)
  for (const [name, work] of Object.entries(further)) await note(name, work)
}
await requests[Symbol.asyncDispose]()

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
