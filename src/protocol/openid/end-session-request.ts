import type { HttpRequest } from '../../http/request.ts'
import type { Client } from '../../model/client.ts'
import { keptMetadata } from '../../model/client-metadata.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import type { Parameters } from '../../model/parameters.ts'
import { withQuery } from '../../model/redirect-uri.ts'
import { stateProblem } from '../../model/state-length.ts'
import type { ServerContext } from '../server-context.ts'
import { type VerifiedHint, verifiedHint } from './id-token-hint.ts'

/** A registered post-logout redirect URI, and the URI with the `state`. */
export interface PostLogoutTarget {
  readonly client: Client
  readonly uri: string
  readonly state: string | undefined
  readonly address: string
}

/** A request of a client to log the user out. OpenID Connect RP-Initiated Logout §2. */
export interface EndSessionRequest {
  /** The verified ID token; undefined without a valid ID token. */
  readonly hint: VerifiedHint | undefined
  readonly client: Client | undefined
  /** The URL to which the browser returns. */
  readonly target: PostLogoutTarget | undefined
  readonly uiLocales: string | undefined
}

const names = [
  'id_token_hint',
  'logout_hint',
  'client_id',
  'post_logout_redirect_uri',
  'state',
  'ui_locales',
]
/** The maximum number of characters, because servers and proxies refuse longer URLs. */
const maxQueryLength = 12_000

const refused = (sentence: string): OAuthError => new OAuthError('invalid_request', sentence)

/**
 * Returns the parameters of a submitted form as a query.
 * @throws OAuthError if the query is too long
 */
export const queryOfForm = (text: string): string => {
  const known = [...new URLSearchParams(text)].filter(([name]) => names.includes(name))
  const query = new URLSearchParams(known).toString()
  if (query.length > maxQueryLength) throw refused('The request is too long.')
  return query
}

/** Reads and validates the request. @throws OAuthError, which the server must show instead of redirecting (§4) */
export const readEndSessionRequest = async (
  params: Parameters,
  { address }: HttpRequest,
  server: ServerContext,
): Promise<EndSessionRequest> => {
  params.refuseRepeated(() => names)
  const sent = params.opaque('id_token_hint')
  const hint = sent === undefined ? undefined : await verifiedHint(sent, server)
  const named = params.optional('client_id')
  if (hint && named !== undefined && named !== hint.clientId)
    throw refused('id_token_hint is not an ID token for this client.')
  const clientId = named ?? hint?.clientId
  const client = clientId === undefined ? undefined : await server.getClient(clientId, { address })
  const uiLocales = params.opaque('ui_locales')?.slice(0, 500)
  return { hint, client, target: targetIn(params, clientId, client), uiLocales }
}

/** Returns the target of a client's request; undefined if the URI is not registered, or the client is not active. */
export const targetOf = (
  client: Client | undefined,
  uri: string,
  state: string | undefined,
): PostLogoutTarget | undefined => {
  const { post_logout_redirect_uris: registered = [] } = client ? keptMetadata(client) : {}
  if (!client?.isActive || !registered.includes(uri)) return undefined
  return { client, uri, state, address: withQuery(uri, { state }) }
}

const targetIn = (
  params: Parameters,
  clientId: string | undefined,
  client: Client | undefined,
): PostLogoutTarget | undefined => {
  const uri = params.optional('post_logout_redirect_uri')
  if (uri === undefined) return undefined
  if (clientId === undefined)
    throw refused('post_logout_redirect_uri needs client_id or a valid id_token_hint.')
  const state = params.opaque('state')
  const target = targetOf(client, uri, state)
  if (!target)
    throw refused('post_logout_redirect_uri is not registered for the client of this request.')
  const problem = stateProblem(state)
  if (problem !== undefined) throw refused(problem)
  return target
}
