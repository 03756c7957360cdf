import type { HttpRequest } from '../../../http/request.ts'
import type { SignedIn } from '../../../model/auth.ts'
import type { Client } from '../../../model/client.ts'
import type { Parameters } from '../../../model/parameters.ts'
import { withQuery } from '../../../model/redirect-uri.ts'
import { isWithin } from '../../../model/scope.ts'
import { shownUserCode } from '../../../model/user-code.ts'
import {
  type DeviceAuthorization,
  deviceAuthorizations,
} from '../../../records/device-authorizations.ts'
import { deviceCode as deviceCodeGrant } from '../../grants/device-code.ts'
import type { Configuration, Identity, ServerContext } from '../../server-context.ts'
import {
  type BoundQuestion,
  boundTo,
  type ConsentFlow,
  choicesOf,
  clientOf,
  giveConsent,
  type Question,
  questionView,
  readDecision,
} from '../consent/consent-flow.ts'
import { renderProblem } from '../responses/problem.ts'
import { uiLocalesIn } from '../responses/reader.ts'
import { renderPage } from '../responses/render.ts'

/** A device that waits for the user's decision, found by its user code. */
interface FoundDevice {
  /** The name under which the user code is stored. */
  readonly name: string
  readonly userCode: string
  readonly deviceCode: string
  readonly asked: DeviceAuthorization
}

/** A device that a consent page showed, bound to the session of the user. */
type Confirmation = Omit<FoundDevice, 'asked'> & BoundQuestion

const confirmations = ({ transientValues }: Pick<ServerContext, 'transientValues'>) =>
  transientValues<Confirmation>('device_confirmation')

/** Returns the URL of the device page, with the requested languages. */
export const deviceAddress = (
  { query }: HttpRequest,
  { basePath, settings }: Identity & Configuration,
): string =>
  withQuery(`${basePath}${settings.oauthPrefix}/device`, { ui_locales: uiLocalesIn(query) })

/**
 * Returns the URL of the login page, which leads back to the device page.
 * @param prompt with `login`, the login page shows its form even to a logged-in user
 */
export const deviceLogin = (
  http: HttpRequest,
  userCode: string | undefined,
  server: ServerContext,
  prompt?: 'login',
): string => {
  const next = withQuery(deviceAddress(http, server), { user_code: userCode })
  return withQuery(server.ui.links.login, { next, prompt })
}

/**
 * Shows the consent page, even if the consent is remembered, because the user has to recognize the device (RFC 8628
 * §5.4).
 * @returns the page; undefined if the client may no longer make the request
 */
export const askAboutDevice = async (
  http: HttpRequest,
  { name, userCode, deviceCode, asked }: FoundDevice,
  signedIn: SignedIn,
  server: ServerContext,
): Promise<Response | undefined> => {
  const client = await clientOf(asked, http, server)
  if (!client?.isActive || !mayAsk(client, asked)) return undefined
  const shown = { name, userCode, deviceCode, ...boundTo(client, signedIn, server) }
  const id = await confirmations(server).put(shown, asked.expiresAt, String(signedIn.user.id))
  const choices = await choicesOf(asked, client, signedIn, server)
  return renderQuestion(http, { id, asked, client, ...choices }, userCode, signedIn, server)
}

/** Stores the user's decision about a device. The first decision is final. */
export const decideOnDevice = async (
  http: HttpRequest,
  params: Parameters,
  server: ServerContext,
): Promise<Response> => {
  const decision = await readDecision(deviceFlow(http, server), http, params, server)
  if (decision instanceof Response) return decision
  const { asked, client, signedIn, allowed, scopes } = decision
  const { name, deviceCode } = decision.stored
  const devices = deviceAuthorizations(server)
  const decided = { userId: signedIn.user.id, allowed }
  const again = deviceFlow(http, server).again(undefined)
  const isDecided = () =>
    renderProblem(http, server, 'decided', { status: 400, ways: again ? [again] : [] })
  if (!(await devices.beginDecision(deviceCode, asked, decided))) return isDecided()
  if (allowed) {
    const { id: consentId } = await giveConsent(decision, server)
    await devices.decide(deviceCode, asked, { ...decided, granted: { scopes, consentId } })
  }
  // Consume the user code last: if an earlier step fails, the user can send the form or enter the code again.
  if (!(await devices.take(name, deviceCode))) return isDecided()
  return renderPage(http, server, 'deviceDone', { client: client.name, allowed }, { signedIn })
}

const deviceFlow = (
  http: HttpRequest,
  server: ServerContext,
): ConsentFlow<DeviceAuthorization, Confirmation> => ({
  field: 'device_confirmation',
  async find(id) {
    const stored = await confirmations(server).get(id)
    const asked = stored && (await deviceAuthorizations(server).find(stored.deviceCode))
    return asked && { stored, asked }
  },
  again: (stored) => ({
    href: withQuery(deviceAddress(http, server), {
      user_code: stored && shownUserCode(stored.userCode),
    }),
    text: ({ device }) => device.title,
  }),
  mayAsk,
  ask: (question, { userCode }, signedIn, refused) =>
    renderQuestion(http, question, userCode, signedIn, server, refused),
})

const mayAsk = (client: Client, { scopes }: DeviceAuthorization): boolean =>
  client.allowedGrantTypes.includes(deviceCodeGrant.type) && isWithin(scopes, client.scopeCeiling)

const renderQuestion = (
  http: HttpRequest,
  question: Question<DeviceAuthorization>,
  userCode: string,
  signedIn: SignedIn,
  server: ServerContext,
  { problem, status }: { readonly problem?: string; readonly status?: number } = {},
): Promise<Response> => {
  const view = {
    ...questionView(question, signedIn, server),
    otherAccount: deviceLogin(http, shownUserCode(userCode), server, 'login'),
    action: deviceAddress(http, server),
    deviceConfirmation: question.id,
    userCode: shownUserCode(userCode),
    problem,
  }
  return renderPage(http, server, 'deviceConsent', view, { status, signedIn })
}
