import type { HttpRequest } from '../../../http/request.ts'
import type { SignedIn } from '../../../model/auth.ts'
import { OAuthError } from '../../../model/oauth-error.ts'
import type { Parameters } from '../../../model/parameters.ts'
import { shownUserCode, userCodeIn } from '../../../model/user-code.ts'
import type { FormProblem } from '../../../pages/form-problem.ts'
import { deviceAuthorizations } from '../../../records/device-authorizations.ts'
import type { Endpoint } from '../../plug-ins.ts'
import type { ServerContext } from '../../server-context.ts'
import { browserOf, isForeign } from '../../session/browser.ts'
import { renderProblem } from '../responses/problem.ts'
import { readerOf, textsOf } from '../responses/reader.ts'
import { renderPage } from '../responses/render.ts'
import { redirectResponse } from '../responses/responses.ts'
import { askAboutDevice, decideOnDevice, deviceAddress, deviceLogin } from './device-consent.ts'
import { noteWrongUserCode, tryUserCode } from './user-code-tries.ts'

/** The page on which a user enters a user code and decides about the device. RFC 8628 §3.3. */
export const deviceEndpoint: Endpoint = {
  path: ({ oauthPrefix }) => `${oauthPrefix}/device`,
  methods: ['GET', 'POST'],
  errors: 'page',
  async handle(http, server) {
    if (http.method !== 'POST') return show(http, server)
    const params = await http.form()
    if (params.repeated('confirm').length > 0) return decideOnDevice(http, params, server)
    if (isForeign(http, server.issuer))
      return renderProblem(http, server, 'foreign', { status: 403 })
    const signedIn = await server.sessions.signedIn(browserOf(http))
    return signedIn ? enter(http, params, signedIn, server) : toLogin(http, params, server)
  },
}

// A user code in the URL only pre-fills the form, because the link may come from an attacker (RFC 8628 §3.3.1, §5.4).
const show = async (http: HttpRequest, server: ServerContext): Promise<Response> => {
  const params = http.queryParameters()
  const signedIn = await server.sessions.signedIn(browserOf(http))
  return signedIn ? form(http, codeIn(params), signedIn, server) : toLogin(http, params, server)
}

const enter = async (
  http: HttpRequest,
  params: Parameters,
  signedIn: SignedIn,
  server: ServerContext,
): Promise<Response> => {
  const { device, problems } = await textsOf(readerOf(http, server), server)
  const typed = params.opaque('user_code')
  const again = (problem: string, status: number, headers = {}) => {
    const shown = codeIn(params) ?? typed?.slice(0, maxShownLength)
    // Mark the field only if the code is wrong, because the other problems do not concern the typed code.
    const fields = problem === device.wrong ? [{ name: 'user_code', sentence: problem }] : undefined
    const shownProblem = { sentence: problem, ...(fields && { fields }) }
    return form(http, shown, signedIn, server, { problem: shownProblem, status, headers })
  }
  if (!server.sessions.isCsrfToken(http.header('cookie'), params.optional('csrf_token')))
    return again(problems.stale, 403)
  if (typed === undefined) return again(device.wrong, 400)
  let wasRight: () => Promise<void>
  try {
    wasRight = await tryUserCode(signedIn, http, server)
  } catch (error) {
    if (!(error instanceof OAuthError && error.status === 429)) throw error
    return again(device.tooMany, error.status, error.headers)
  }
  // Return the same response for mistyped, expired and used codes, so that an attacker cannot learn which codes exist.
  const found = await deviceAuthorizations(server)
    .findByUserCode(typed)
    .catch(async (error: unknown) => {
      // The store failed before the code was checked, so do not count the attempt as wrong.
      await wasRight()
      throw error
    })
  if (found) await wasRight()
  else await noteWrongUserCode(server)
  const asking = found && (await askAboutDevice(http, found, signedIn, server))
  return asking ?? again(device.wrong, 400)
}

/** The maximum length of an invalid code that the form shows again, in characters. */
const maxShownLength = 20

const codeIn = (params: Parameters): string | undefined => {
  const code = userCodeIn(params.opaque('user_code') ?? '')
  return code && shownUserCode(code)
}

const form = (
  http: HttpRequest,
  userCode: string | undefined,
  signedIn: SignedIn,
  server: ServerContext,
  refused: {
    readonly problem?: FormProblem
    readonly status?: number
    readonly headers?: Readonly<Record<string, string>>
  } = {},
): Promise<Response> => {
  const { problem, status, headers } = refused
  const view = { action: deviceAddress(http, server), userCode: userCode ?? '', problem }
  return renderPage(http, server, 'device', view, { status, headers, signedIn })
}

const toLogin = (http: HttpRequest, params: Parameters, server: ServerContext): Response =>
  redirectResponse({ page: deviceLogin(http, codeIn(params), server) }, server)
