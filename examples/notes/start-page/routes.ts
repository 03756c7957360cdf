import { join } from 'node:path'
import express, { type Request, type RequestHandler, type Response, type Router } from 'express'
import { type AuthorizationServer, InvalidField, type PageSession } from 'svc-oauth2server'
import { page, pageOf } from 'svc-oauth2server/express'
import { type Notes, noteProblem } from '../notes.ts'
import { sampleApplication } from '../sample-application/routes.ts'
import { type Call, callTo, withToken } from './call.ts'
import { basePathOf, linksOf } from './links.ts'
import { contentSecurityPolicy } from './shell.ts'
import { openShownTokens } from './shown-tokens.ts'
import { startPage } from './start-page.ts'

/** The demo data of the first start. */
export interface Demo {
  readonly email: string
  /** The client ID of the sample application. */
  readonly sampleClientId: string
}

/** Creates the start page with its forms, and the sample application. */
export const startPageRoutes = (
  server: AuthorizationServer,
  notes: Notes,
  demo: () => Demo | undefined,
): Router => {
  const router = express.Router()
  const links = linksOf(server)
  const basePath = basePathOf(server.issuer)
  const url = `${server.issuer}/api/notes`
  const personal = openShownTokens()
  const application = openShownTokens()

  const show = async (req: Request, res: Response, problem?: string): Promise<void> => {
    const session = pageOf(req)
    const { user } = session
    const call = callTo(req, basePath)
    const [byPersonal, byApplication] = user
      ? await Promise.all(
          [personal, application].map((tokens) => answerTo(call, tokens.get(user.id))),
        )
      : []
    const view = {
      session,
      links,
      url,
      notes: user ? notes.of(String(user.id)) : [],
      personal: byPersonal,
      application: byApplication,
      hasSample: demo() !== undefined,
      demoEmail: demo()?.email,
      ...(problem !== undefined && { problem }),
    }
    const markup = await startPage(view)
    res.status(problem === undefined ? 200 : 400)
    res.type('html').set('content-security-policy', contentSecurityPolicy).send(markup)
  }

  /** Handles a form of the start page, which must have the CSRF token of this browser. */
  const form = (
    change: (session: PageSession, body: Fields) => Promise<unknown>,
  ): RequestHandler[] => [
    page(server),
    express.urlencoded({ extended: false, limit: '16kb' }),
    async (req, res) => {
      const session = pageOf(req)
      const body: Fields = req.body ?? {}
      if (session.user === null) return res.redirect(303, links.login)
      if (!server.sessions.isCsrfToken(req.headers.cookie ?? null, textOf(body.csrf_token)))
        return show(req, res, 'This page was open for too long. Please try again.')
      try {
        await change(session, body)
      } catch (error) {
        if (error instanceof InvalidField) return show(req, res, error.message)
        throw error
      }
      res.redirect(303, links.home)
    },
  ]

  router.get('/', page(server), (req, res) => show(req, res))
  router.post(
    '/notes',
    form(async ({ user }, { text }) => {
      const problem = noteProblem(text)
      if (problem !== undefined) throw new InvalidField('text', problem)
      notes.add({ owner: String(user?.id), text: String(text) })
    }),
  )
  router.post(
    '/personal-token',
    form(async ({ user }) => {
      if (!user) return
      const { accessToken } = await server.tokens.createPersonal('Start page', user.id, {
        scopes: ['notes:read'],
        expiresIn: 3_600,
      })
      personal.set(user.id, accessToken)
    }),
  )
  for (const name of ['start-page.css', 'start-page.js']) {
    router.get(`/${name}`, (_req, res) => res.sendFile(join(import.meta.dirname, name)))
  }
  const clientId = () => demo()?.sampleClientId
  router.use('/sample', sampleApplication(server, clientId, application))
  return router
}

type Fields = Readonly<Record<string, unknown>>

const textOf = (value: unknown): string | undefined =>
  typeof value === 'string' ? value : undefined

const answerTo = async (call: Call, token: string | undefined) =>
  token === undefined ? undefined : call('/api/notes', withToken(token))
