import type { HttpRequest } from '../../../http/request.ts'
import type { SignedIn } from '../../../model/auth.ts'
import type { Consent } from '../../../model/authorization.ts'
import type { Client } from '../../../model/client.ts'
import type { Parameters } from '../../../model/parameters.ts'
import type { UserId } from '../../../model/user.ts'
import type { ServerContext } from '../../server-context.ts'
import { browserOf, isForeign } from '../../session/browser.ts'
import { type ProblemName, renderProblem } from '../responses/problem.ts'
import { readerOf, textsOf } from '../responses/reader.ts'
import { askingClient } from './asking-client.ts'
import { optionalScopesOf } from './optional-scopes.ts'

/** The request of a client to a user: an authorization request or a device authorization request. */
export interface Asked {
  readonly clientId: string
  readonly scopes: readonly string[]
  /** The languages that the request asks for. */
  readonly uiLocales?: string | undefined
}

/** The session that saw a stored question, and the terms that the page showed. */
export interface BoundQuestion {
  readonly terms: string
  readonly userId: UserId
  readonly sessionId: string
}

/** A question as its page shows it. */
export interface Question<A extends Asked> {
  /** The one-time ID under which it is stored. The form contains nothing else. */
  readonly id: string
  readonly asked: A
  readonly client: Client
  /** The optional scopes that are ticked. */
  readonly ticked: readonly string[]
}

/** The steps in which the two consent flows differ: a redirect (RFC 6749 §4.1.1) and a device (RFC 8628 §3.3). */
export interface ConsentFlow<A extends Asked, Stored extends BoundQuestion> {
  /** The form field with the one-time ID. */
  readonly field: string
  /** Returns the question that is stored under the ID; undefined if it was answered or has expired. */
  find(id: string): Promise<{ readonly stored: Stored; readonly asked: A } | undefined>
  /** Returns whether the client may still make this request. */
  mayAsk(client: Client, asked: A): boolean
  /** Shows the question once more. */
  ask(
    question: Question<A>,
    stored: Stored,
    signedIn: SignedIn,
    refused: { readonly problem: string; readonly status: number },
  ): Promise<Response>
}

/** A decision that passed every check and can be stored. */
export interface Decision<A extends Asked, Stored extends BoundQuestion> {
  readonly id: string
  readonly stored: Stored
  readonly asked: A
  readonly client: Client
  readonly signedIn: SignedIn
  readonly allowed: boolean
  /** The requested scopes without those that the user refused. */
  readonly scopes: readonly string[]
  readonly declined: readonly string[]
}

/** Returns the current client of a request. */
export const clientOf = (
  { clientId }: Asked,
  { address }: HttpRequest,
  server: ServerContext,
): Promise<Client | undefined> => server.getClient(clientId, { address, forAuthorization: true })

/** Binds a question to the session of the user, and to the terms that the page shows. */
export const boundTo = (
  client: Client,
  { user, sessionId }: SignedIn,
  server: ServerContext,
): BoundQuestion => ({ terms: termsOf(client, server), userId: user.id, sessionId })

/** Returns the optional scopes that are ticked initially: all except those that the user refused before. */
export const tickedAtFirst = async (
  { scopes }: Asked,
  client: Client,
  { user }: SignedIn,
  server: ServerContext,
): Promise<readonly string[]> => {
  const before = await server.consents.find(user.id, client.clientId)
  const declined = before?.declinedScopes ?? []
  return optionalScopesOf(scopes, client).filter((id) => !declined.includes(id))
}

/** Returns the members that the views of both consent pages share. */
export const questionView = <A extends Asked>(
  { asked, client, ticked }: Question<A>,
  { user }: SignedIn,
  { scopes }: ServerContext,
) => ({
  client: askingClient(client),
  user: user.email,
  scopes: asked.scopes.flatMap((scope) => scopes.get(scope) ?? []),
  optionalScopes: optionalScopesOf(asked.scopes, client),
  ticked,
})

/**
 * Reads the user's decision on a stored question, and consumes nothing.
 * @returns the decision, or a page that explains why it cannot be accepted
 */
export const readDecision = async <A extends Asked, Stored extends BoundQuestion>(
  flow: ConsentFlow<A, Stored>,
  http: HttpRequest,
  params: Parameters,
  server: ServerContext,
): Promise<Decision<A, Stored> | Response> => {
  let uiLocales: string | undefined
  const refused = (status: number, name: ProblemName) =>
    renderProblem(http, server, name, { status, uiLocales })
  if (isForeign(http, server.issuer)) return refused(403, 'foreign')
  const signedIn = await server.sessions.signedIn(browserOf(http))
  if (!signedIn) return refused(403, 'loggedOut')
  const cookie = http.headers.get('cookie')
  const hasCsrfToken = server.sessions.isCsrfToken(cookie, params.optional('csrf_token'))

  const id = params.optional(flow.field)
  const found = id === undefined ? undefined : await flow.find(id)
  if (id === undefined || !found) return refused(hasCsrfToken ? 400 : 403, 'decided')
  const { stored, asked } = found
  if (stored.userId !== signedIn.user.id || stored.sessionId !== signedIn.sessionId)
    return refused(403, 'foreign')

  uiLocales = asked.uiLocales
  const client = await clientOf(asked, http, server)
  const isUnchanged =
    client?.isActive && flow.mayAsk(client, asked) && stored.terms === termsOf(client, server)
  if (!isUnchanged) return refused(400, 'clientChanged')
  const ticked = params.repeated('optional_scope')
  if (!hasCsrfToken) {
    const problem = textsOf(readerOf(http, { uiLocales })).problem.stale
    return flow.ask({ id, asked, client, ticked }, stored, signedIn, { problem, status: 403 })
  }
  const confirm = params.optional('confirm')
  if (confirm !== 'yes' && confirm !== 'no') return refused(400, 'undecided')

  // The form can only remove optional scopes from the request.
  const declined = optionalScopesOf(asked.scopes, client).filter((scope) => !ticked.includes(scope))
  const scopes = asked.scopes.filter((scope) => !declined.includes(scope))
  return { id, stored, asked, client, signedIn, allowed: confirm === 'yes', scopes, declined }
}

/** Stores the consent that a user has given. */
export const giveConsent = async <A extends Asked>(
  { client, signedIn, scopes, declined }: Decision<A, BoundQuestion>,
  { clients, consents }: ServerContext,
): Promise<Consent> => {
  await clients.keep(client)
  return consents.grant(signedIn.user.id, client.clientId, scopes, { declined })
}

// The user decides about the client that the page showed. If the client changed since, the user has to be asked again:
// the user must not agree to a name, an owner or a required scope that the page did not show.
const termsOf = (client: Client, { settings }: ServerContext): string =>
  JSON.stringify([
    askingClient(client),
    client.isConfidential,
    client.allowedGrantTypes,
    client.allowedResponseTypes,
    client.optionalScopes,
    settings.requirePkce,
  ])
