import { Hono } from 'hono'
import type { AuthorizationServer } from 'svc-oauth2server'
import {
  authOf,
  mount,
  page,
  pageOf,
  requireApiAuth,
  requireOauthScopes,
  rest,
} from 'svc-oauth2server/hono'
import { homePage } from './home-page.ts'

interface Note {
  readonly id: number
  readonly text: string
  readonly created_at: string
}

// The integration consists of the lines in this file and main.ts that use imports from svc-oauth2server.

/** Creates a page and a REST API under a prefix, with the embedded authorization server. */
export const createApp = (server: AuthorizationServer, prefix = '/', app = new Hono()): Hono => {
  const notes = new Hono()
  const stored = new Map<unknown, readonly Note[]>()
  const notesOf = (owner: unknown): readonly Note[] => stored.get(owner) ?? []

  notes.use('/api/*', rest(server))

  notes.get('/api/notes', requireApiAuth(), requireOauthScopes('notes:read'), (c) =>
    c.json(notesOf(authOf(c).user?.id)),
  )
  notes.post('/api/notes', requireApiAuth(), requireOauthScopes('notes:write'), async (c) => {
    const { user } = authOf(c)
    const text = String((await c.req.json()).text ?? '')
    const ownNotes = notesOf(user?.id)
    const note = { id: ownNotes.length + 1, text, created_at: new Date().toISOString() }
    stored.set(user?.id, [...ownNotes, note])
    return c.json(note, 201)
  })
  notes.get('/api/me', requireApiAuth(), (c) => {
    const { user, kind, scopes } = authOf(c)
    // The scopes of a session are null, because a session may do everything that its user may do.
    const showsEmail = scopes === null || scopes.includes('user:email')
    return c.json({ id: user?.id, email: showsEmail ? user?.email : undefined, kind })
  })
  notes.get('/api/public', requireApiAuth({ allowAnonymous: true }), (c) => {
    const { user, kind } = authOf(c)
    return c.json({ kind, user: user && { id: user.id } })
  })

  notes.get('/', page(server), (c) => c.html(homePage(pageOf(c))))

  app.use(mount(server))
  app.route(prefix, notes)
  return app
}
