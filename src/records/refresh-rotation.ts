import { digestOf } from '../crypto/digest.ts'
import type { RefreshRedemption } from '../model/redemption.ts'
import { type IssuedToken, isActive, Token, type TokenFields } from '../model/token.ts'
import { OAuthError } from '../oauth-error.ts'
import type { RotatedRefreshToken, TokenWithState } from '../store/store.ts'
import { accessClaims, refreshClaims, rotationClaims } from './claims.ts'
import { type RecordsContext, untilUnique } from './context.ts'
import { endOfRefresh, newSecrets, save, sealedToken } from './token-row.ts'
import { Users } from './users.ts'

/**
 * Rotates a refresh token (RFC 9700 §4.14.2). Whoever presents a rotated one again gets the same answer
 * within the leeway, so that a lost answer or a parallel refresh logs nobody out; after it, or once the
 * successor was redeemed, reuse revokes the authorization.
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
      // Another request was faster; from here on we are the one that presents a rotated token.
      if (!(error instanceof LostRace)) throw error
    }
  }
  return replay(redemption, context)
}

class LostRace extends Error {}

const refused = (): OAuthError => new OAuthError('invalid_grant', 'The refresh token is not valid.')

const rotate = (
  redemption: RefreshRedemption,
  { found, scopes }: NonNullable<RefreshRedemption['current']>,
  context: RecordsContext,
): Promise<IssuedToken> => {
  const { token, authorization } = found
  const { authorizationId } = token
  if (authorizationId === null || !authorization) throw refused()
  const now = context.clock()
  const presented = digestOf('refresh_token', redemption.presented)
  const fields: Omit<TokenFields, 'id'> = {
    ...token,
    scopes,
    createdAt: now,
    expires: now + context.settings.tokenExpiresIn * 1000,
    refreshExpires: endOfRefresh(context, now, authorization.createdAt),
  }
  return untilUnique(() =>
    save(
      context,
      redemption,
      { ...newSecrets(context, fields), granted: authorization.scopes },
      (data) =>
        context.store.transaction(async (tx) => {
          const next = sealedToken(context, data)
          // First, since whoever revokes it begins with the authorization too.
          await tx.authorizations.extend(
            authorizationId,
            Math.max(data.fields.expires ?? 0, data.fields.refreshExpires ?? 0),
          )
          if (!(await tx.tokens.rotate(token.id, presented, next))) throw new LostRace()
          const rotated = {
            digest: presented,
            authorizationId,
            successor: next.refreshDigest ?? presented,
            parameters: redemption.parameters,
            rotatedAt: now,
          }
          const seal = context.keys.sealRow(rotationClaims(rotated))
          await tx.tokens.addRotated({ ...rotated, seal })
          return token.id
        }),
    ),
  )
}

const replay = async (
  redemption: RefreshRedemption,
  context: RecordsContext,
): Promise<IssuedToken> => {
  const { store, settings, clock, keys } = context
  const rotated = await store.tokens.findRotated(digestOf('refresh_token', redemption.presented))
  if (!rotated || !keys.isIntact(rotated.seal, rotationClaims(rotated))) throw refused()
  const authorization = await store.authorizations.find(rotated.authorizationId)
  // Only the client it was issued to has proven anything; and what was revoked stays so.
  if (authorization?.clientId !== redemption.client.clientId || authorization.revokedAt !== null)
    throw refused()

  const current = await store.tokens.ofAuthorization(authorization.id)
  const isLatest = current?.refreshDigest === rotated.successor
  const withinLeeway = clock() < rotated.rotatedAt + settings.refreshTokenLeeway * 1000
  if (!current || !isLatest || !withinLeeway) throw await reused(rotated, context)
  if (rotated.parameters !== redemption.parameters) throw refused()
  const successor = await store.tokens.findByAccess(current.accessDigest)
  if (successor?.fields.clientId !== redemption.client.clientId) throw refused()
  return sameAnswer(successor, authorization.scopes, context)
}

const sameAnswer = async (
  row: TokenWithState,
  granted: readonly string[],
  context: RecordsContext,
): Promise<IssuedToken> => {
  const { keys, scopes, clock } = context
  const { fields } = row
  const token = new Token(fields, scopes)
  const { user, client } = await new Users(context).stateOf(row)
  if (!isActive({ token, user, client })) throw refused()
  const accessToken = keys.open('token', row.accessToken, accessClaims(row.accessDigest, fields))
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
  { authorizationId }: RotatedRefreshToken,
  { store, clock, log }: RecordsContext,
): Promise<OAuthError> => {
  await store.transaction((tx) => tx.authorizations.revoke(authorizationId, clock()))
  log({
    level: 'warn',
    event: 'refresh_token.reused',
    message: 'A rotated refresh token was presented again; its authorization is revoked.',
    authorizationId,
  })
  return refused()
}
