import express, { type Express } from 'express'
import type { AuthorizationServer } from 'svc-oauth2server'
import {
  authOf,
  mount,
  page,
  pageOf,
  requireApiAuth,
  requireOauthScopes,
  rest,
} from 'svc-oauth2server/express'
import { abilityOf, may } from './access.ts'
import { type Notes, noteProblem } from './notes.ts'
import { linksOf } from './start-page/links.ts'
import { notFoundPage } from './start-page/not-found-page.ts'
import { type Demo, startPageRoutes } from './start-page/routes.ts'
import { contentSecurityPolicy } from './start-page/shell.ts'

/**
 * Creates the notes application: its start page at `/`, its REST API under `/api`, and the authorization server.
 * @param demo returns the demo data of `npm start`; undefined if the sample application is not registered
 */
export const createApp = (
  server: AuthorizationServer,
  notes: Notes,
  demo: () => Demo | undefined = () => undefined,
): Express => {
  const host = express()
  host.disable('x-powered-by')
  host.use(mount(server))

  const app = express.Router()
  // The guards of a route check who is calling, what the token permits, and what the user may do.
  app.use('/api', rest(server), express.json({ limit: '16kb' }))

  app.get(
    '/api/notes',
    requireApiAuth(),
    requireOauthScopes('notes:read'),
    may('read'),
    (req, res) => {
      res.json(notes.of(userId(req)))
    },
  )
  app.post(
    '/api/notes',
    requireApiAuth(),
    requireOauthScopes('notes:write'),
    may('create'),
    (req, res) => {
      const text: unknown = req.body?.text
      const problem = noteProblem(text)
      if (problem !== undefined) {
        res.status(400).json({ status: 400, message: problem })
        return
      }
      res.status(201).json(notes.add({ owner: userId(req), text: String(text) }))
    },
  )
  app.delete(
    '/api/notes/:id',
    requireApiAuth(),
    requireOauthScopes('notes:write'),
    may('delete'),
    (req, res) => {
      const note = notes.find(Number(req.params.id))
      // Return 404 for notes of other users, so that a caller does not learn whether the notes exist.
      if (!note || abilityOf(authOf(req)).cannot('delete', note)) {
        res.status(404).json({ status: 404, message: 'There is no such note.' })
        return
      }
      notes.delete(note.id)
      res.status(204).end()
    },
  )
  app.get('/api/me', requireApiAuth(), (req, res) => {
    const { user, kind, scopes } = authOf(req)
    const mayShowEmail = scopes === null || scopes.includes('user:email')
    res.json({ id: user?.id ?? null, ...(mayShowEmail && user ? { email: user.email } : {}), kind })
  })
  app.get('/api/public', requireApiAuth({ allowAnonymous: true }), (req, res) => {
    const { kind, user } = authOf(req)
    res.json({ kind, user: user && { id: user.id } })
  })
  app.use('/api', (_req, res) => {
    res.status(404).json({ status: 404, message: 'There is no page at this address.' })
  })

  app.use(startPageRoutes(server, notes, demo))
  host.use(new URL(server.issuer).pathname, app)
  const links = linksOf(server)
  host.use(page(server), async (req, res) => {
    const markup = await notFoundPage({ links, session: pageOf(req) })
    res.status(404).type('html').set('content-security-policy', contentSecurityPolicy).send(markup)
  })
  host.use(failures)
  return host
}

const userId = (req: express.Request): string => String(authOf(req).user?.id)

// Errors of the body parser with a 4xx status are errors of the caller. All other errors are server errors, and are
// logged.
const failures: express.ErrorRequestHandler = (error, _req, res, next) => {
  if (res.headersSent) return next(error)
  const parserStatus: unknown = error?.status
  const isClientError =
    typeof parserStatus === 'number' && parserStatus >= 400 && parserStatus < 500
  if (!isClientError) console.error(error)
  const status = isClientError ? parserStatus : 500
  res.status(status).json({
    status,
    message: isClientError ? 'The request cannot be read.' : 'Something went wrong.',
  })
}
