import type { HttpRequest } from '../../../http/request.ts'
import type { SignedIn } from '../../../model/auth.ts'
import type { Client } from '../../../model/client.ts'
import type { Consent } from '../../../model/entities/consent.ts'
import type { Parameters } from '../../../model/parameters.ts'
import { withQuery } from '../../../model/redirect-uri.ts'
import type { UserId } from '../../../model/user.ts'
import { keepClient } from '../../../records/clients/self-described.ts'
import type { ServerContext } from '../../server-context.ts'
import { browserOf, isForeign } from '../../session/browser.ts'
import { type ProblemName, renderProblem, type Way } from '../responses/problem.ts'
import { readerOf, textsOf } from '../responses/reader.ts'
import { askingClient } from './asking-client.ts'
import { optionalScopesOf } from './optional-scopes.ts'

/** A client's request for the consent of a user: an authorization request or a device authorization request. */
export interface Asked {
  readonly clientId: string
  readonly scopes: readonly string[]
  /** The parameter `ui_locales`: the requested languages of the pages. */
  readonly uiLocales?: string | undefined
}

/** Binds a stored question to the user, the session and the content of the consent page. */
export interface BoundQuestion {
  /** The values of the client that the consent page showed, as one text, to detect later changes. */
  readonly terms: string
  readonly userId: UserId
  readonly sessionId: string
}

/** A client's request on a consent page, with the choices that the page offers to the user. */
export interface Question<A extends Asked> {
  /** The one-time ID under which the question is stored. The form contains this ID. */
  readonly id: string
  readonly asked: A
  readonly client: Client
  /** The optional scopes whose checkboxes are ticked. */
  readonly ticked: readonly string[]
  /** The requested scopes that the user granted to this client before. */
  readonly allowedBefore: readonly string[]
}

/**
 * The steps that differ between the consent to an authorization request (RFC 6749 §4.1.1) and the consent to a device
 * (RFC 8628 §3.3).
 */
export interface ConsentFlow<A extends Asked, Stored extends BoundQuestion> {
  /** The name of the form field that contains the one-time ID. */
  readonly field: string
  /** Returns the question with this ID; undefined if the question is unknown, decided or expired. */
  find(id: string): Promise<{ readonly stored: Stored; readonly asked: A } | undefined>
  /** Returns the link with which the user sees the question again; undefined if no link is known. */
  again(stored: Stored | undefined): Way | undefined
  /** Returns whether the time for the decision has ended, but the user may see the question again. */
  isLate?(stored: Stored): boolean
  /** Returns whether the client may still make this request. */
  mayAsk(client: Client, asked: A): boolean
  /** Shows the consent page again, with the reason why the server refused the decision. */
  ask(
    question: Question<A>,
    stored: Stored,
    signedIn: SignedIn,
    refused: { readonly problem: string; readonly status: number },
  ): Promise<Response>
}

/** A user's decision that passed all checks. */
export interface Decision<A extends Asked, Stored extends BoundQuestion> {
  readonly id: string
  readonly stored: Stored
  readonly asked: A
  readonly client: Client
  readonly signedIn: SignedIn
  readonly allowed: boolean
  /** The requested scopes without the declined scopes. */
  readonly scopes: readonly string[]
  readonly declined: readonly string[]
}

/** Looks up the client of a stored request, because the client may have changed since the request. */
export const clientOf = (
  { clientId }: Asked,
  { address }: HttpRequest,
  server: ServerContext,
): Promise<Client | undefined> => server.getClient(clientId, { address, forAuthorization: true })

/** Returns the values that bind a question to the user, the session and the content of the consent page. */
export const boundTo = (
  client: Client,
  { user, sessionId }: SignedIn,
  server: ServerContext,
): BoundQuestion => ({ terms: termsOf(client, server), userId: user.id, sessionId })

/**
 * Returns the optional scopes to tick and the scopes that the user granted to this client before. All optional scopes
 * are ticked, except the scopes that the user declined before.
 */
export const choicesOf = async (
  { scopes }: Asked,
  client: Client,
  { user }: SignedIn,
  { consents }: Pick<ServerContext, 'consents'>,
): Promise<Pick<Question<Asked>, 'ticked' | 'allowedBefore'>> => {
  const before = await consents.find(user.id, client.clientId)
  const declined = before?.declinedScopes ?? []
  const allowed = before?.scopes ?? []
  return {
    ticked: optionalScopesOf(scopes, client).filter((id) => !declined.includes(id)),
    allowedBefore: scopes.filter((id) => allowed.includes(id)),
  }
}

/** Returns the values that the views of both consent pages share. */
export const questionView = <A extends Asked>(
  { asked, client, ticked, allowedBefore }: Question<A>,
  { user }: SignedIn,
  server: ServerContext,
) => ({
  client: askingClient(client, server),
  user: user.email,
  scopes: asked.scopes.flatMap((scope) => server.scopes.get(scope) ?? []),
  optionalScopes: optionalScopesOf(asked.scopes, client),
  ticked,
  allowedBefore,
})

/**
 * Reads and checks the user's decision on a stored question. Does not consume the question.
 * @returns the decision, or a page that explains why the decision is refused
 */
export const readDecision = async <A extends Asked, Stored extends BoundQuestion>(
  flow: ConsentFlow<A, Stored>,
  http: HttpRequest,
  params: Parameters,
  server: ServerContext,
): Promise<Decision<A, Stored> | Response> => {
  let uiLocales: string | undefined
  const id = params.optional(flow.field)
  const refused = (status: number, name: ProblemName, way?: Way) =>
    renderProblem(http, server, name, { status, uiLocales, ways: way ? [way] : [] })
  if (isForeign(http, server.issuer)) return refused(403, 'foreign')
  const signedIn = await server.sessions.signedIn(browserOf(http))
  if (!signedIn) {
    const again = flow.again(id === undefined ? undefined : (await flow.find(id))?.stored)
    const href = withQuery(server.ui.links.login, { next: again?.href })
    return refused(403, 'loggedOut', { href, text: ({ login }) => login.submit })
  }
  const cookie = http.header('cookie')
  const hasCsrfToken = server.sessions.isCsrfToken(cookie, params.optional('csrf_token'))

  const found = id === undefined ? undefined : await flow.find(id)
  if (id === undefined || !found)
    return refused(hasCsrfToken ? 400 : 403, 'decided', flow.again(undefined))
  const { stored, asked } = found
  if (stored.userId !== signedIn.user.id || stored.sessionId !== signedIn.sessionId)
    return refused(403, 'foreign', flow.again(stored))

  uiLocales = asked.uiLocales
  if (flow.isLate?.(stored)) return refused(400, 'late', flow.again(stored))
  const client = await clientOf(asked, http, server)
  const isUnchanged =
    client?.isActive && flow.mayAsk(client, asked) && stored.terms === termsOf(client, server)
  if (!isUnchanged) return refused(400, 'clientChanged', flow.again(stored))
  const ticked = params.repeated('optional_scope')
  const texts = await textsOf(readerOf(http, server, { uiLocales }), server)
  const again = async (status: number, problem: string) => {
    const { allowedBefore } = await choicesOf(asked, client, signedIn, server)
    const question = { id, asked, client, ticked, allowedBefore }
    return flow.ask(question, stored, signedIn, { problem, status })
  }
  if (!hasCsrfToken) return again(403, texts.problem.stale)
  const confirm = params.optional('confirm')
  if (confirm !== 'yes' && confirm !== 'no') return again(400, texts.consent.undecided)

  // The form can only remove optional scopes from the request.
  const declined = optionalScopesOf(asked.scopes, client).filter((scope) => !ticked.includes(scope))
  const scopes = asked.scopes.filter((scope) => !declined.includes(scope))
  return { id, stored, asked, client, signedIn, allowed: confirm === 'yes', scopes, declined }
}

/** Stores the user's consent. Also stores a client that the server knows only from its metadata document. */
export const giveConsent = async <A extends Asked>(
  { client, signedIn, scopes, declined }: Decision<A, BoundQuestion>,
  { records, consents }: ServerContext,
): Promise<Consent> => {
  await keepClient(client, records)
  return consents.grant(signedIn.user.id, client.clientId, scopes, { declined })
}

// Returns the values of the client on which the user's decision depends. The server refuses a decision if these values
// have changed. Otherwise, the user would agree to a name, an owner or a required scope that the page did not show.
const termsOf = (client: Client, server: ServerContext): string =>
  JSON.stringify([
    askingClient(client, server),
    client.isConfidential,
    client.allowedGrantTypes,
    client.allowedResponseTypes,
    client.optionalScopes,
    server.settings.requirePkce,
  ])
