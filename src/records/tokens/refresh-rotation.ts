import { digestOf } from '../../crypto/digest.ts'
import type { Authorization } from '../../model/authorization.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import type { RefreshRedemption } from '../../model/redemption.ts'
import { type IssuedToken, isActive, Token, type TokenFields } from '../../model/token.ts'
import type { TokenWithState } from '../../store/contract/tokens.ts'
import { ofAuthorization, ofToken } from '../audit/audit-trail.ts'
import { type RecordsContext, retryOnCollision } from '../context.ts'
import { accessClaims, type Granted, refreshClaims, rotationClaims } from '../seals/claims.ts'
import { Users } from '../users/users.ts'
import { endOfRefresh, newSecrets, save, sealedToken } from './token-row.ts'

/**
 * Rotates a refresh token (RFC 9700 §4.14.2). Shortly after the rotation, a request with the rotated token gets
 * the same response again, so that a lost response or a parallel refresh does not log the user out. After this leeway,
 * or if the successor was redeemed, reuse revokes the authorization.
 * @throws OAuthError `invalid_grant`
 */
export const redeemRefreshToken = async (
  redemption: RefreshRedemption,
  context: RecordsContext,
): Promise<IssuedToken> => {
  const { current } = redemption
  if (current) {
    try {
      return await rotate(redemption, current, context)
    } catch (error) {
      // A concurrent request rotated the token first, so this request presents a rotated token.
      if (!(error instanceof LostRace)) throw error
    }
  }
  return replay(redemption, context)
}

class LostRace extends Error {}

// A request counts as a retry only if it has the same parameters and the same key.
const parametersOf = ({ parameters, resources, keyThumbprint }: RefreshRedemption): string =>
  resources === undefined && keyThumbprint === undefined
    ? parameters
    : JSON.stringify([parameters, resources ?? null, keyThumbprint ?? null])

const refused = (): OAuthError => new OAuthError('invalid_grant', 'The refresh token is not valid.')

const rotate = async (
  redemption: RefreshRedemption,
  { found, scopes }: NonNullable<RefreshRedemption['current']>,
  context: RecordsContext,
): Promise<IssuedToken> => {
  const { token, authorization } = found
  const { authorizationId } = token
  const { resources = authorization?.resources ?? [], keyThumbprint = null } = redemption
  if (authorizationId === null || !authorization) throw refused()
  // A key-bound token remains bound, even if DPoP was disabled after it was issued.
  if (token.keyThumbprint !== null && keyThumbprint === null) throw refused()
  const now = context.clock()
  const presented = digestOf('refresh_token', redemption.presented)
  const fields: Omit<TokenFields, 'id'> = {
    ...token,
    scopes,
    resources,
    keyThumbprint,
    tokenType: keyThumbprint === null ? 'bearer' : 'dpop',
    createdAt: now,
    expires: now + context.settings.tokenExpiresIn * 1000,
    refreshExpires: endOfRefresh(context, now, authorization.createdAt),
  }
  const issued = await retryOnCollision(() =>
    save(
      context,
      redemption,
      { ...newSecrets(context, fields), granted: authorization },
      async (data) => {
        const next = sealedToken(context, data)
        const rotated = {
          digest: presented,
          authorizationId,
          successor: next.refreshDigest ?? presented,
          parameters: parametersOf(redemption),
          rotatedAt: now,
        }
        const isRotated = await context.store.tokens.rotate({
          id: token.id,
          next,
          rotated: { ...rotated, seal: context.keys.sealRow(rotationClaims(rotated)) },
          isNarrowed: context.settings.tokenExchange,
          endsAt: Math.max(data.fields.expires ?? 0, data.fields.refreshExpires ?? 0),
        })
        if (!isRotated) throw new LostRace()
        context.bounds.rotated(authorizationId)
        return token.id
      },
    ),
  )
  await context.audit.addRoutine(context.store, 'token.refreshed', {
    ...ofToken(issued.token, found.client.name),
    userEmail: found.user?.email ?? null,
    details: { scopes: issued.token.scopes },
  })
  return issued
}

const replay = async (
  redemption: RefreshRedemption,
  context: RecordsContext,
): Promise<IssuedToken> => {
  const { store, settings, clock, keys } = context
  const rotated = await store.tokens.findRotated(digestOf('refresh_token', redemption.presented))
  if (!rotated || !keys.isIntact(rotated.seal, rotationClaims(rotated))) throw refused()
  const authorization = await store.authorizations.find(rotated.authorizationId)
  // Reuse by another client must not revoke anything, and a revoked authorization is already revoked.
  if (authorization?.clientId !== redemption.client.clientId || authorization.revokedAt !== null)
    throw refused()

  const current = await store.tokens.ofAuthorization(authorization.id)
  const isLatest = current?.refreshDigest === rotated.successor
  const withinLeeway = clock() < rotated.rotatedAt + settings.refreshTokenLeeway * 1000
  // A public client can only be authenticated by the key of its tokens (RFC 9449 §5).
  const boundTo = current?.fields.keyThumbprint ?? null
  const mustHold = boundTo !== null && !redemption.client.isConfidential
  if (mustHold && redemption.keyThumbprint !== boundTo) throw refused()
  if (!current || !isLatest || !withinLeeway)
    throw await reused(authorization, redemption.client.name, context)
  if (rotated.parameters !== parametersOf(redemption)) throw refused()
  const successor = await store.tokens.findByAccess(current.accessDigest)
  if (successor?.fields.clientId !== redemption.client.clientId) throw refused()
  return sameResponse(successor, authorization, context)
}

const sameResponse = async (
  row: TokenWithState,
  granted: Granted,
  context: RecordsContext,
): Promise<IssuedToken> => {
  const { keys, scopes, clock } = context
  const { fields } = row
  const token = new Token(fields, scopes)
  const state = await new Users(context).stateOf(row)
  if (!state || !isActive({ token, ...state })) throw refused()
  const { user } = state
  const claims = accessClaims(row.accessDigest, fields, row.successorId)
  const accessToken = keys.open('token', row.accessToken, claims)
  const refreshToken =
    row.refreshToken !== null && row.refreshDigest !== null
      ? keys.open('token', row.refreshToken, refreshClaims(row.refreshDigest, fields, granted))
      : undefined
  if (accessToken === undefined || refreshToken === undefined) throw refused()
  const expiresIn =
    fields.expires === null ? null : Math.max(0, Math.ceil((fields.expires - clock()) / 1000))
  return { token, subject: user, accessToken, refreshToken, expiresIn }
}

const reused = async (
  authorization: Authorization,
  name: string,
  { store, clock, log, audit }: RecordsContext,
): Promise<OAuthError> => {
  const { id: authorizationId } = authorization
  await store.transaction(async (tx) => {
    if (!(await tx.authorizations.revoke(authorizationId, clock()))) return
    const about = { ...ofAuthorization(authorization, name), details: {} }
    await audit.add(tx, 'refresh_token.reused', about)
  })
  log({
    level: 'warn',
    event: 'refresh_token.reused',
    message: 'A rotated refresh token was presented again; its authorization is revoked.',
    authorizationId,
  })
  return refused()
}
