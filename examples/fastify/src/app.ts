import { join } from 'node:path'
import view from '@fastify/view'
import { Eta } from 'eta'
import Fastify, { type FastifyInstance } from 'fastify'
import type { AuthorizationServer } from 'svc-oauth2server'
import {
  authOf,
  mount,
  page,
  pageOf,
  requireApiAuth,
  requireOauthScopes,
  rest,
} from 'svc-oauth2server/fastify'

interface Note {
  readonly id: number
  readonly text: string
  readonly created_at: string
}

// The integration consists of the lines in this file and main.ts that use imports from svc-oauth2server.

/** Creates a page and a REST API under a prefix, with the embedded authorization server. */
export const createApp = (
  server: AuthorizationServer,
  prefix = '',
  app = Fastify(),
): FastifyInstance => {
  const stored = new Map<unknown, readonly Note[]>()
  const notesOf = (owner: unknown): readonly Note[] => stored.get(owner) ?? []
  app.register(view, { engine: { eta: new Eta() }, root: join(import.meta.dirname, '../views') })
  app.register(mount(server))

  const api = async (notes: FastifyInstance): Promise<void> => {
    await notes.register(rest(server))

    const reads = [requireApiAuth(), requireOauthScopes('notes:read')]
    notes.get('/notes', { onRequest: reads }, async (request) => notesOf(authOf(request).user?.id))

    const writes = [requireApiAuth(), requireOauthScopes('notes:write')]
    notes.post('/notes', { onRequest: writes }, async (request, reply) => {
      const { user } = authOf(request)
      const ownNotes = notesOf(user?.id)
      const text = String((request.body as { text?: unknown } | undefined)?.text ?? '')
      const note = { id: ownNotes.length + 1, text, created_at: new Date().toISOString() }
      stored.set(user?.id, [...ownNotes, note])
      return reply.code(201).send(note)
    })

    notes.get('/me', { onRequest: requireApiAuth() }, async (request) => {
      const { user, kind, scopes } = authOf(request)
      // The scopes of a session are null, because a session may do everything that its user may do.
      const showsEmail = scopes === null || scopes.includes('user:email')
      return { id: user?.id, email: showsEmail ? user?.email : undefined, kind }
    })

    const anybody = requireApiAuth({ allowAnonymous: true })
    notes.get('/public', { onRequest: anybody }, async (request) => {
      const { user, kind } = authOf(request)
      return { kind, user: user && { id: user.id } }
    })
  }
  app.register(api, { prefix: `${prefix}/api` })

  app.get(`${prefix}/`, { onRequest: page(server) }, (request, reply) =>
    reply.viewAsync('home.eta', pageOf(request)),
  )
  return app
}
