import type { HttpRequest } from '../../../http/request.ts'
import type { SignedIn } from '../../../model/auth.ts'
import type { Client } from '../../../model/client.ts'
import type { Parameters } from '../../../model/parameters.ts'
import { withQuery } from '../../../model/redirect-uri.ts'
import { isWithin } from '../../../model/scope.ts'
import type { UserId } from '../../../model/user.ts'
import { shownUserCode } from '../../../model/user-code.ts'
import {
  type DeviceAuthorization,
  type DeviceDecision,
  deviceAuthorizations,
} from '../../../records/device-authorizations.ts'
import { deviceCode as deviceCodeGrant } from '../../grants/device-code.ts'
import type { Configuration, Identity, ServerContext } from '../../server-context.ts'
import { askingClient } from '../authorization/asking-client.ts'
import { optionalScopesOf } from '../authorization/optional-scopes.ts'
import { type ProblemName, renderProblem } from '../responses/problem.ts'
import { readerOf, textsOf, uiLocalesIn } from '../responses/reader.ts'
import { renderPage } from '../responses/render.ts'

/** A device that waits for a decision, found by its user code. */
interface FoundDevice {
  /** By which the user code is taken. */
  readonly name: string
  readonly userCode: string
  readonly deviceCode: string
  readonly asked: DeviceAuthorization
}

/** What a user was shown, bound to the session that saw it. */
interface Confirmation extends Omit<FoundDevice, 'asked'> {
  /** What the client was allowed when its user was asked. */
  readonly terms: string
  readonly userId: UserId
  readonly sessionId: string
}

const confirmations = ({ transientValues }: Pick<ServerContext, 'transientValues'>) =>
  transientValues<Confirmation>('device_confirmation')

/** Where the forms go, in the languages that the page was asked for in. */
export const deviceAddress = (
  { query }: HttpRequest,
  { basePath, settings }: Identity & Configuration,
): string =>
  withQuery(`${basePath}${settings.oauthPrefix}/device`, { ui_locales: uiLocalesIn(query) })

/** Asks, always: the form carries nothing but a one-time id. Undefined where the client may not ask any more. */
export const askAboutDevice = async (
  http: HttpRequest,
  found: FoundDevice,
  signedIn: SignedIn,
  server: ServerContext,
): Promise<Response | undefined> => {
  const { name, userCode, deviceCode, asked } = found
  const client = await clientOf(asked, http, server)
  if (!client || !mayAsk(client, asked)) return undefined
  const { user, sessionId } = signedIn
  const shown = { name, userCode, deviceCode, terms: termsOf(client), userId: user.id, sessionId }
  const id = await confirmations(server).put(shown, asked.expiresAt)
  const before = await server.consents.find(user.id, client.clientId)
  const declined = before?.declinedScopes ?? []
  const ticked = optionalScopesOf(asked.scopes, client).filter((id) => !declined.includes(id))
  return renderQuestion(http, { id, userCode, asked, client, ticked }, signedIn, server)
}

/** The user's decision about a device. The first one is final, whoever made it. */
export const decideOnDevice = async (
  http: HttpRequest,
  params: Parameters,
  signedIn: SignedIn,
  server: ServerContext,
): Promise<Response> => {
  const refused = (status: number, name: ProblemName) =>
    renderProblem(http, server, name, { status })
  const devices = deviceAuthorizations(server)
  const { user, sessionId } = signedIn
  const id = params.optional('device_confirmation')
  const shown = id === undefined ? undefined : await confirmations(server).get(id)
  if (id === undefined || !shown) return refused(400, 'decided')
  if (shown.userId !== user.id || shown.sessionId !== sessionId) return refused(403, 'foreign')
  const { name, userCode, deviceCode, terms } = shown
  const asked = await devices.find(deviceCode)
  if (!asked) return refused(400, 'decided')
  const client = await clientOf(asked, http, server)
  if (!client || !mayAsk(client, asked) || terms !== termsOf(client))
    return refused(400, 'clientChanged')
  if (!server.sessions.isCsrfToken(http.headers.get('cookie'), params.optional('csrf_token'))) {
    const problem = textsOf(readerOf(http)).problem.stale
    const ticked = params.repeated('optional_scope')
    const question = { id, userCode, asked, client, ticked }
    return renderQuestion(http, question, signedIn, server, { problem, status: 403 })
  }
  const decision = params.optional('confirm')
  if (decision !== 'yes' && decision !== 'no') return refused(400, 'undecided')

  const decided = { userId: user.id, allowed: decision === 'yes' }
  const { allowed } = decided
  if (!(await devices.beginDecision(deviceCode, asked, decided))) return refused(400, 'decided')
  if (allowed) {
    const granted = await grantTo(params, asked, client, signedIn, server)
    await devices.decide(deviceCode, asked, { ...decided, granted })
  }
  // Last: after an outage on the way here, the user can send the form or enter the code again.
  if (!(await devices.take(name, deviceCode))) return refused(400, 'decided')
  return renderPage(http, server, 'deviceDone', { client: client.name, allowed }, { signedIn })
}

const grantTo = async (
  params: Parameters,
  asked: DeviceAuthorization,
  client: Client,
  { user }: SignedIn,
  server: ServerContext,
): Promise<DeviceDecision['granted']> => {
  // The form can take optional scopes away from what was asked for, and nothing else.
  const ticked = params.repeated('optional_scope')
  const declined = optionalScopesOf(asked.scopes, client).filter((id) => !ticked.includes(id))
  const scopes = asked.scopes.filter((id) => !declined.includes(id))
  await server.clients.keep(client)
  const consent = await server.consents.grant(user.id, client.clientId, scopes, { declined })
  return { scopes, consentId: consent.id }
}

const clientOf = (
  { clientId }: DeviceAuthorization,
  { address }: HttpRequest,
  server: ServerContext,
): Promise<Client | undefined> => server.getClient(clientId, { address, forAuthorization: true })

const mayAsk = (client: Client, { scopes }: DeviceAuthorization): boolean =>
  client.isActive &&
  client.allowedGrantTypes.includes(deviceCodeGrant.type) &&
  isWithin(scopes, client.scopeCeiling)

// What a client is and may do has changed while its user was asked: the request has to be judged anew.
const termsOf = ({ name, website, isConfidential, isVerified, optionalScopes }: Client): string =>
  JSON.stringify([name, website, isConfidential, isVerified, optionalScopes])

/** What the page asks about. */
interface Question extends Pick<FoundDevice, 'userCode' | 'asked'> {
  readonly id: string
  readonly client: Client
  /** The optional scopes that stand ticked. */
  readonly ticked: readonly string[]
}

const renderQuestion = (
  http: HttpRequest,
  { id, userCode, asked, client, ticked }: Question,
  signedIn: SignedIn,
  server: ServerContext,
  { problem, status }: { readonly problem?: string; readonly status?: number } = {},
): Promise<Response> => {
  const view = {
    action: deviceAddress(http, server),
    deviceConfirmation: id,
    userCode: shownUserCode(userCode),
    client: askingClient(client),
    user: signedIn.user.email,
    scopes: asked.scopes.flatMap((scope) => server.scopes.get(scope) ?? []),
    optionalScopes: optionalScopesOf(asked.scopes, client),
    ticked,
    problem,
  }
  return renderPage(http, server, 'deviceConsent', view, { status, signedIn })
}
