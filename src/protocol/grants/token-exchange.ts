import type { HttpRequest } from '../../http/request.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import type { Parameters } from '../../model/parameters.ts'
import { narrow } from '../../model/scope.ts'
import { type FoundToken, isActive, isExpired } from '../../model/token.ts'
import type { BuiltInGrant } from '../plug-ins.ts'
import type { Configuration } from '../server-context.ts'

/** RFC 8693 §3 */
const accessTokenType = 'urn:ietf:params:oauth:token-type:access_token'

const refused = (): OAuthError =>
  new OAuthError('invalid_request', 'The subject token is not valid.')

const subjectToken = (params: Parameters): string => {
  const value = params.opaque('subject_token')
  if (value === undefined) throw new OAuthError('invalid_request', 'subject_token is missing.')
  return value
}

// RFC 8693 §2.1. Refuse `actor_token`, because delegation to another holder is not supported.
const checkTypes = (params: Parameters): void => {
  if (params.required('subject_token_type') !== accessTokenType)
    throw new OAuthError('invalid_request', `subject_token_type must be ${accessTokenType}.`)
  const requested = params.optional('requested_token_type') ?? accessTokenType
  if (requested !== accessTokenType)
    throw new OAuthError('invalid_request', `requested_token_type must be ${accessTokenType}.`)
  for (const name of ['actor_token', 'actor_token_type']) {
    if (params.opaque(name) !== undefined)
      throw new OAuthError('invalid_request', `${name} is not supported.`)
  }
}

// Refuse unsupported restrictions, because ignoring them would issue a token with more rights than requested.
const checkTarget = (params: Parameters, { settings }: Configuration): void => {
  const isGiven = (name: string) => params.repeated(name).some((value) => value !== '')
  if (isGiven('audience') || (isGiven('resource') && !settings.resourceIndicators))
    throw new OAuthError('invalid_target', 'The target is unknown.')
}

/** Returns the lifetime of the new token in seconds; the extension parameter `expires_in` can shorten it. */
const lifetime = (params: Parameters, { settings }: Configuration): number => {
  const asked = params.optional('expires_in')
  if (asked === undefined) return settings.tokenExpiresIn
  if (!/^[1-9]\d{0,9}$/.test(asked))
    throw new OAuthError('invalid_request', 'expires_in must be a number of seconds.')
  return Math.min(Number(asked), settings.tokenExpiresIn)
}

// Refuse to exchange a child token, because a revocation would have to follow chains of parents.
const isParent = (found: FoundToken, now: number): boolean =>
  found.token.parentId === null && !isExpired(found.token.expires, now) && isActive(found)

const hasCredentials = (http: HttpRequest, params: Parameters): boolean =>
  http.header('authorization') !== null ||
  ['client_secret', 'client_assertion'].some((name) => params.opaque(name) !== undefined)

/**
 * Exchanges an access token for a child token of the same holder, with the same or fewer permissions. The child is
 * revoked with its parent. Other types of token exchange are not supported. RFC 8693.
 */
export const tokenExchange: BuiltInGrant = {
  type: 'urn:ietf:params:oauth:grant-type:token-exchange',
  isOn: (settings) => settings.tokenExchange,
  worksWithoutConsent: false,
  parameters: [
    'subject_token',
    'subject_token_type',
    'requested_token_type',
    'scope',
    'actor_token',
    'actor_token_type',
    'expires_in',
  ],
  response: { issued_token_type: accessTokenType },

  /** Returns the hidden client of a personal token, which cannot authenticate; undefined for other tokens. */
  async findClient({ params, http }, server) {
    const accessToken = subjectToken(params)
    // Limit wrong tokens, because an attacker could guess tokens here without a client secret.
    server.limits.check('wrongTokens', http.address)
    const found = await server.getToken({ accessToken })
    if (!found) await server.limits.countFailure('wrongTokens', http.address)
    if (!found?.token.isPersonal) return undefined
    const { clientId } = found.token
    const named = params.optional('client_id')
    if (named !== undefined && named !== clientId)
      throw new OAuthError('invalid_request', 'client_id is not the client of the subject token.')
    return server.clients.find(clientId)
  },

  async redeem({ client, params, http, now }, server) {
    checkTypes(params)
    checkTarget(params, server)
    if (client.isPersonal && hasCredentials(http, params))
      throw new OAuthError(
        'invalid_request',
        'A request with a personal token must not contain client credentials.',
      )
    const parent = await server.getToken({ accessToken: subjectToken(params) })
    if (parent?.token.clientId !== client.clientId || !isParent(parent, now)) throw refused()
    const { resources } = parent.token
    const scopes = server.scopes.registered(parent.token.scopes)
    return {
      type: 'narrowing',
      client,
      parent,
      scopes: narrow(params.opaque('scope'), { within: scopes, otherwise: scopes }),
      resources,
      expiresIn: lifetime(params, server),
    }
  },
}
