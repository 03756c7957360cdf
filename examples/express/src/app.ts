import { join } from 'node:path'
import express, { type Express } from 'express'
import type { AuthorizationServer } from 'svc-oauth2server'
import {
  authOf,
  mount,
  page,
  requireApiAuth,
  requireOauthScopes,
  rest,
} from 'svc-oauth2server/express'

interface Note {
  readonly id: number
  readonly text: string
  readonly created_at: string
}

// The integration consists of the lines in this file and main.ts that use imports from svc-oauth2server.

/** Creates a page and a REST API under a prefix, with the embedded authorization server. */
export const createApp = (server: AuthorizationServer, prefix = '/', app = express()): Express => {
  const notes = express.Router()
  const stored = new Map<unknown, readonly Note[]>()
  const notesOf = (owner: unknown): readonly Note[] => stored.get(owner) ?? []

  notes.use('/api', rest(server), express.json())

  notes.get('/api/notes', requireApiAuth(), requireOauthScopes('notes:read'), (req, res) => {
    res.json(notesOf(authOf(req).user?.id))
  })
  notes.post('/api/notes', requireApiAuth(), requireOauthScopes('notes:write'), (req, res) => {
    const ownNotes = notesOf(authOf(req).user?.id)
    const text = String(req.body?.text ?? '')
    const note = { id: ownNotes.length + 1, text, created_at: new Date().toISOString() }
    stored.set(authOf(req).user?.id, [...ownNotes, note])
    res.status(201).json(note)
  })
  notes.get('/api/me', requireApiAuth(), (req, res) => {
    const { user, kind, scopes } = authOf(req)
    // The scopes of a session are null, because a session may do everything that its user may do.
    const showsEmail = scopes === null || scopes.includes('user:email')
    res.json({ id: user?.id, email: showsEmail ? user?.email : undefined, kind })
  })
  notes.get('/api/public', requireApiAuth({ allowAnonymous: true }), (req, res) => {
    const { user, kind } = authOf(req)
    res.json({ kind, user: user && { id: user.id } })
  })

  notes.get('/', page(server), (_req, res) => res.render('home'))

  app.set('view engine', 'ejs')
  app.set('views', join(import.meta.dirname, '../views'))
  app.use(mount(server))
  app.use(prefix, notes)
  return app
}
