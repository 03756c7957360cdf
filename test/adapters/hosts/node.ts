import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { json as readJson, text as readText } from 'node:stream/consumers'
import {
  authOf,
  chain,
  type Middleware,
  mount,
  page,
  pageOf,
  requireApiAuth,
  requireOauthScopes,
  rest,
} from 'svc-oauth2server/node'
import { type Host, listening } from '../embed.ts'
import { homePage, meOf, Notes, publicOf } from './notes.ts'

type HttpResponse = (request: IncomingMessage, response: ServerResponse) => unknown

const json = (body: (request: IncomingMessage) => unknown, status = 200): HttpResponse => {
  return async (request, response) => {
    const text = JSON.stringify(await body(request))
    response.writeHead(status, { 'content-type': 'application/json' })
    response.end(text)
  }
}

/** Creates a step for one method and path. GET includes HEAD. */
const route = (
  base: string,
  target: string,
  steps: readonly Middleware[],
  answer: HttpResponse,
): Middleware => {
  const [method, path] = target.split(' ')
  const run = chain(...steps, (request, response) => void answer(request, response))
  return (request, response, next) => {
    const asked = request.method === 'HEAD' ? 'GET' : request.method
    const [given] = (request.url ?? '').split('?')
    if (asked === method && given === `${base}${path}`) run(request, response)
    else next()
  }
}

/** A body parser of the application, which reads the whole body and stores the form as an object. */
const parseForms: Middleware = async (request, _response, next) => {
  if (!request.headers['content-type']?.startsWith('application/x-www-form')) return next()
  const body: Record<string, string | string[]> = {}
  for (const [name, value] of new URLSearchParams(await readText(request))) {
    const before = body[name]
    body[name] = before === undefined ? value : [before, value].flat()
  }
  Object.assign(request, { body })
  next()
}

/** The notes application on `node:http`, without a framework. */
export const nodeHost: Host = (server, { basePath, parsesBodies }) => {
  const notes = new Notes()
  const add = async (request: IncomingMessage) => {
    const { text } = (await readJson(request)) as { text: string }
    return notes.add(authOf(request), text)
  }
  const reads = [rest(server), requireApiAuth(), requireOauthScopes('notes:read')]
  const writes = [rest(server), requireApiAuth(), requireOauthScopes('notes:write')]
  const open = [rest(server), requireApiAuth({ allowAnonymous: true })]
  const home: HttpResponse = (request, response) =>
    response.setHeader('content-type', 'text/html').end(homePage(pageOf(request)))
  const app = chain(
    ...(parsesBodies ? [parseForms] : []),
    mount(server),
    route(
      basePath,
      'GET /api/notes',
      reads,
      json((request) => notes.of(authOf(request))),
    ),
    route(basePath, 'POST /api/notes', writes, json(add, 201)),
    route(
      basePath,
      'GET /api/me',
      [rest(server), requireApiAuth()],
      json((r) => meOf(authOf(r))),
    ),
    route(
      basePath,
      'GET /api/public',
      open,
      json((r) => publicOf(authOf(r))),
    ),
    route(basePath, 'GET /', [page(server)], home),
  )
  return listening(createServer(app).listen(0, '127.0.0.1'))
}
