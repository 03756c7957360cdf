import { setImmediate as nextTurn } from 'node:timers/promises'
import { noStore } from '../http/response.ts'
import type { AuditRecord } from '../model/audit-event.ts'
import { auditToWire, ownAuditToWire } from '../model/audit-wire.ts'
import type { Exports } from '../pages/parts/activity-row.ts'
import { inQuery, text } from '../protocol/openapi/schema.ts'
import type { Operations } from '../protocol/plug-ins/operation.ts'
import type { Endpoint } from '../protocol/plug-ins.ts'
import type { ServerContext } from '../protocol/server-context.ts'
import type { Settings } from '../settings/settings.ts'
import { activityQuery, conditionOf, periodIn, tokenIn } from './activity-search.ts'
import { adminActivityQuery, adminSearchIn } from './admin-activity-search.ts'
import { csvLine } from './csv.ts'
import { describePage, type PageOperation } from './page-operations.ts'
import { checkAdmin, type SettingsRequest, settingsRequestOf } from './settings-request.ts'

/** The maximum number of events in one file. */
export const maxExported = 50_000

/** Returns the URLs of the files with the events that a search finds. */
export const exportsOf = (page: string, search: Readonly<Record<string, string>>): Exports => {
  const fields = new URLSearchParams(Object.entries(search).filter(([, text]) => text !== ''))
  const to = (format: string) =>
    `${page}export/?${new URLSearchParams([...fields, ['format', format]])}`
  return { csv: to('csv'), jsonLines: to('jsonl'), max: maxExported }
}

type Batches = AsyncGenerator<readonly AuditRecord[], void, void>

/** Waits for the turn of an export, and runs its next step. */
type InTurn = (work: () => Promise<void>) => Promise<void>

interface Export {
  path(settings: Settings): string
  readonly operation: Required<Pick<PageOperation, 'operationId' | 'summary' | 'query'>>
  read(request: SettingsRequest): Batches
  toWire(event: AuditRecord): object
}

/** Describes the request for a file. */
const fileOperation = (
  { path, operation }: Pick<Export, 'path' | 'operation'>,
  server: ServerContext,
): Operations => {
  const format = inQuery('format', '`csv` (the default) or `jsonl`.')
  const query = [...operation.query, format]
  const { get } = describePage({ path }, { get: { ...operation, query } }, server)
  const content = { 'text/csv': { schema: text }, 'application/jsonl': { schema: text } }
  return {
    ...(get && {
      get: { ...get, responses: { ...get.responses, 200: { description: 'The file.', content } } },
    }),
  }
}

const newExport = ({ path, operation, read, toWire }: Export): Endpoint => ({
  path,
  describe: (server) => fileOperation({ path, operation }, server),
  methods: ['GET'],
  errors: 'page',
  async handle(http, server) {
    const request = await settingsRequestOf(http, server, () => http.path.replace(/export\/?$/, ''))
    if (request instanceof Response) return request
    const [wanted] = http.queryParameters().repeated('format')
    const format = wanted === 'jsonl' ? jsonLines : csv
    await server.operations.flushAudit()
    const batches = read(request)
    const day = new Date(server.clock()).toISOString().slice(0, 10)
    const inTurn: InTurn = (work) =>
      server.exports.run({ lane: String(request.signedIn.user.id) }, async () => {
        await nextTurn()
        return work()
      })
    return new Response(streamOf(batches, format.linesOf(toWire), inTurn), {
      headers: {
        ...noStore,
        'content-type': format.contentType,
        'content-disposition': `attachment; filename="activity-${day}.${format.ending}"`,
      },
    })
  },
})

/** Exports the user's own events as a file. */
export const activityExport = newExport({
  path: ({ settingsPrefix }) => `${settingsPrefix}/activity/export/`,
  operation: {
    operationId: 'exportActivity',
    summary: 'Returns the events of the user’s account as CSV or JSON Lines, newest first',
    query: activityQuery,
  },
  read(request) {
    const { activity } = request.server
    const { id } = request.signedIn.user
    const token = tokenIn(request)
    const search = {
      ...conditionOf(periodIn(request)),
      tokenId: token === '' ? undefined : Number(token),
    }
    return activity.pages((cursor) => activity.listByUser(id, cursor, search), maxExported)
  },
  toWire: ownAuditToWire,
})

/** Exports the events of all users as a file, for administrators. */
export const adminActivityExport = newExport({
  path: ({ adminPrefix }) => `${adminPrefix}/activity/export/`,
  operation: {
    operationId: 'exportEvents',
    summary: 'Returns all audit events as CSV or JSON Lines for administrators, newest first',
    query: adminActivityQuery,
  },
  read(request) {
    checkAdmin(request)
    const { activity } = request.server
    const { filter } = adminSearchIn(request)
    return activity.pages((cursor) => activity.search(filter, cursor), maxExported)
  },
  toWire: auditToWire,
})

interface Format {
  readonly contentType: string
  readonly ending: string
  /** Returns a function that converts one batch to lines; `isFirst` is true for the first batch. */
  linesOf(
    toWire: (event: AuditRecord) => object,
  ): (events: readonly AuditRecord[], isFirst: boolean) => string
}

const csv: Format = {
  contentType: 'text/csv; charset=utf-8; header=present',
  ending: 'csv',
  linesOf: (toWire) => (events, isFirst) => {
    // Spreadsheets recognize UTF-8 by the byte order mark.
    const head = isFirst ? `\uFEFF${csvLine(Object.keys(toWire(emptyEvent)))}` : ''
    return head + events.map((event) => csvLine(Object.values(toWire(event)))).join('')
  },
}

const jsonLines: Format = {
  contentType: 'application/jsonl; charset=utf-8',
  ending: 'jsonl',
  linesOf: (toWire) => (events) =>
    events.map((event) => `${JSON.stringify(toWire(event))}\n`).join(''),
}

/** An event that provides the column names of a file, even if the search finds no event. */
const emptyEvent: AuditRecord = {
  id: 0,
  at: 0,
  event: '',
  actor: 'system',
  actorId: null,
  actorEmail: '',
  userId: null,
  userEmail: null,
  clientId: null,
  tokenId: null,
  authorizationId: null,
  subject: '',
  address: '',
  userAgent: '',
  requestId: null,
  isRoutine: false,
  details: {},
}

// Reads the next batch only when the browser is ready to receive it, so that a slow browser does not fill the memory.
const streamOf = (
  batches: Batches,
  toLines: (events: readonly AuditRecord[], isFirst: boolean) => string,
  inTurn: InTurn,
): ReadableStream<Uint8Array> => {
  const encoder = new TextEncoder()
  let isFirst = true
  return new ReadableStream({
    pull: (controller) =>
      inTurn(async () => {
        const { value, done } = await batches.next()
        if (done || !value) return controller.close()
        controller.enqueue(encoder.encode(toLines(value, isFirst)))
        isFirst = false
      }),
    async cancel() {
      await batches.return()
    },
  })
}
