import { digestOf } from '../../crypto/digest.ts'
import type { TokenFields } from '../../model/entities/token.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import type { RefreshRedemption } from '../../model/redemption.ts'
import type { FoundToken, IssuedToken } from '../../model/token.ts'
import { ofToken } from '../audit/audit-trail.ts'
import { type RecordsContext, retryOnCollision } from '../context.ts'
import { sectorOfToken } from './sector-of-token.ts'
import { endOfRefresh, newSecrets, save, sealedToken } from './token-row.ts'

type Current = NonNullable<RefreshRedemption['current']>

/** Returns the error for a refresh token that is not valid. */
export const refusedRefresh = (): OAuthError =>
  new OAuthError('invalid_grant', 'The refresh token is not valid.')

/**
 * Returns the fields of a token after a refresh.
 * @throws OAuthError if a key-bound token would lose its key, if the token has no authorization, or if a scope is
 * internal; ScopeDoesNotExists for a scope that is not registered
 */
export const fieldsAfterRefresh = async (
  redemption: RefreshRedemption,
  { found: { token, authorization }, scopes }: Current,
  context: RecordsContext,
): Promise<Omit<TokenFields, 'id'>> => {
  const keyThumbprint = redemption.keyThumbprint ?? null
  // A key-bound token remains bound, even if DPoP was disabled after the token was issued.
  if (!authorization || (token.keyThumbprint !== null && keyThumbprint === null))
    throw refusedRefresh()
  const now = context.clock()
  return {
    ...token,
    sector: await sectorOfToken(token, redemption.client, context.store),
    scopes: context.scopes.issuable(scopes),
    resources: redemption.resources ?? authorization.resources,
    keyThumbprint,
    tokenType: keyThumbprint === null ? 'bearer' : 'dpop',
    createdAt: now,
    expires: now + context.settings.tokenExpiresIn * 1000,
    refreshExpires: endOfRefresh(context, now, authorization.createdAt),
  }
}

/** Records the audit event of a refresh. */
export const noteRefresh = (
  { token }: IssuedToken,
  { client, user }: FoundToken,
  { audit, store }: RecordsContext,
): Promise<void> =>
  audit.addRoutine(store, 'token.refreshed', {
    ...ofToken(token, client.name),
    userEmail: user?.email ?? null,
    details: { scopes: token.scopes },
  })

/**
 * Issues a new access token for the same refresh token. FAPI 2.0 Security Profile §5.3.2.1 (9) forbids rotation,
 * because the refresh token of a confidential client is bound to the credentials of the client.
 * @throws OAuthError `invalid_grant`
 */
export const refreshInPlace = async (
  redemption: RefreshRedemption,
  { found, scopes }: Current,
  context: RecordsContext,
): Promise<IssuedToken> => {
  const { token, authorization } = found
  const { id, authorizationId } = token
  if (authorizationId === null || !authorization) throw refusedRefresh()
  const { presented } = redemption
  const fields = await fieldsAfterRefresh(redemption, { found, scopes }, context)
  const issued = await retryOnCollision(() =>
    save(
      context,
      redemption,
      { ...newSecrets(context, fields), refreshToken: presented, granted: authorization },
      async (data) => {
        const { store, turns } = context
        const endsAt = Math.max(data.fields.expires ?? 0, data.fields.refreshExpires ?? 0)
        await turns.transaction(store, `token ${id}`, async (tx) => {
          // Update the authorization before its token, like a revocation, to avoid a deadlock.
          await tx.authorizations.extend(authorizationId, endsAt)
          const row = await tx.tokens.hold(id)
          if (row?.refreshDigest !== digestOf('refresh_token', presented)) throw refusedRefresh()
          await tx.tokens.rewrite(id, sealedToken(context, data))
          await tx.tokens.delete({ parentId: id })
        })
        return id
      },
    ),
  )
  await noteRefresh(issued, found, context)
  return issued
}
