import type { IncomingMessage, Server } from 'node:http'
import { join } from 'node:path'
import { serve } from '@hono/node-server'
import type { AuthorizationServer, Connection } from 'svc-oauth2server'
import * as adapter from 'svc-oauth2server/fetch'
import { loadDecorated } from '../support/decorated.ts'
import { describeAdapter, type Host, listening } from './embed.ts'
import * as notes from './hosts/notes.ts'

const { NotesApi } = await loadDecorated<typeof import('./hosts/notes-api.ts')>(
  join(import.meta.dirname, 'hosts/notes-api.ts'),
  { 'svc-oauth2server/fetch': adapter, './notes.ts': notes },
)

/** The notes application on `fetch`, without a framework. */
const application = (server: AuthorizationServer, basePath: string) => {
  const api = new NotesApi()
  const handlers: Readonly<Record<string, (request: Request) => Response | Promise<Response>>> = {
    'GET /api/notes': (request) => api.list(request),
    'POST /api/notes': (request) => api.add(request),
    'GET /api/me': (request) => api.me(request),
    'GET /api/public': (request) => api.open(request),
  }
  const home = async (request: Request, connection: Connection): Promise<Response> => {
    const session = await adapter
      .page(server, request, connection)
      .catch((error: unknown) => adapter.refusalResponse(error, server))
    if (session instanceof Response) return session
    const headers = new Headers({ 'content-type': 'text/html', 'cache-control': 'no-store' })
    if (session.setCookie !== undefined) headers.append('set-cookie', session.setCookie)
    return new Response(notes.homePage(session), { headers })
  }
  return async (request: Request, connection: Connection): Promise<Response> => {
    const { pathname } = new URL(request.url)
    if (server.handles(pathname)) return server.fetch(request, connection)
    const method = request.method === 'HEAD' ? 'GET' : request.method
    const path = pathname.startsWith(basePath) ? pathname.slice(basePath.length) : ''
    if (`${method} ${path}` === 'GET /') return home(request, connection)
    const handler = handlers[`${method} ${path}`]
    if (!handler) return new Response('There is nothing here.', { status: 404 })
    return (await adapter.rest(server, request, connection)) ?? handler(request)
  }
}

const fetchHost: Host = (server, { basePath }) => {
  const response = application(server, basePath)
  const fetch = (request: Request, { incoming }: { incoming: IncomingMessage }) =>
    response(request, { remoteAddress: incoming.socket.remoteAddress, target: incoming.url })
  return listening(serve({ fetch: fetch as never, port: 0, hostname: '127.0.0.1' }) as Server)
}

describeAdapter('fetch', fetchHost)
