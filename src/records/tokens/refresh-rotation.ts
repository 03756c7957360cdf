import { type Digest, digestOf } from '../../crypto/digest.ts'
import { type RotatedRefreshToken, rotationClaims } from '../../model/entities/rotated-token.ts'
import { type Granted, type NewToken, refreshClaims } from '../../model/entities/token.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import type { RefreshRedemption } from '../../model/redemption.ts'
import type { TokenData } from '../../model/save-token.ts'
import { type FoundToken, type IssuedToken, isActive, Token } from '../../model/token.ts'
import type { TokenWithState } from '../../store/contract/tokens.ts'
import { ofToken } from '../audit/audit-trail.ts'
import type { RecordsContext } from '../context.ts'
import { endReused, findRotated } from './end-tokens.ts'
import { insertChild } from './exchange-token.ts'
import { sectorOfToken } from './sector-of-token.ts'
import { findByRefresh, openedAccess, stateOf } from './token-finder.ts'
import { endOfRefresh, isSameSet, issuedNow, save, sealedToken, secondsUntil } from './token-row.ts'

/**
 * Redeems a refresh token. With the security profile `fapi2`, the refresh token of a confidential client does not
 * change. Otherwise, rotates the refresh token (RFC 9700 §4.14.2). During the leeway after the rotation, an equal
 * request with the rotated token gets the same response again. Therefore, a lost response or a parallel refresh does
 * not log the user out. After the leeway, or if the successor was redeemed, reuse revokes the authorization.
 * @throws OAuthError `invalid_grant`
 */
export const redeemRefreshToken = async (
  redemption: RefreshRedemption,
  context: RecordsContext,
): Promise<IssuedToken> => {
  const { current, client, presented } = redemption
  if (current && context.settings.securityProfile === 'fapi2' && client.isConfidential)
    return refreshed(redemption, current, context, rewrite, presented)
  for (let pair = current, tries = 1; ; tries += 1) {
    try {
      if (pair) return await refreshed(redemption, pair, context, rotate)
    } catch (error) {
      if (!(error instanceof LostRace)) throw error
    }
    // If a concurrent request rotated the token first, this request presents a rotated token.
    const rotated = await findRotated(presented, context)
    if (rotated) return replay(redemption, rotated, context)
    if (!pair || tries > maxTries) throw refusedRefresh()
    // If a concurrent request has only revoked the access token, the refresh token can still be rotated.
    const found = await findByRefresh(presented, context)
    pair = found && { ...pair, found }
  }
}

const refusedRefresh = (): OAuthError =>
  new OAuthError('invalid_grant', 'The refresh token is not valid.')

/** The maximum number of further attempts while concurrent requests revoke access tokens. */
const maxTries = 2

/** A concurrent request has changed the token first. */
class LostRace extends Error {}

// Returns the values that a retry must repeat: the parameters, the resources and the key.
const parametersOf = (
  { parameters, resources }: RefreshRedemption,
  keyThumbprint: string | null,
): string =>
  resources === undefined && keyThumbprint === null
    ? parameters
    : JSON.stringify([parameters, resources ?? null, keyThumbprint])

/** A pair of tokens that a refresh replaces. */
interface Refresh {
  readonly redemption: RefreshRedemption
  readonly found: FoundToken
  readonly authorizationId: number
  /** The new expiry of the authorization, unless its current expiry is later. */
  readonly endsAt: number
}

/**
 * Issues the tokens of a refresh.
 * @param write writes the row of the tokens
 * @param refreshToken the new refresh token. Default: a random value
 * @throws OAuthError if a key-bound token would lose its key, if the token has no authorization, or if a scope is
 * internal; ScopeDoesNotExists for a scope that is not registered
 */
const refreshed = async (
  redemption: RefreshRedemption,
  { found, scopes }: NonNullable<RefreshRedemption['current']>,
  context: RecordsContext,
  write: (refresh: Refresh, data: TokenData, context: RecordsContext) => Promise<void>,
  refreshToken?: string,
): Promise<IssuedToken> => {
  const { token, authorization, user } = found
  const { authorizationId } = token
  // A key-bound token remains bound, even if DPoP was disabled after the token was issued.
  const losesKey = token.keyThumbprint !== null && redemption.keyThumbprint === undefined
  if (authorizationId === null || !authorization || losesKey) throw refusedRefresh()
  const fresh = issuedNow(redemption, context)
  const fields = {
    ...token,
    ...fresh,
    sector: await sectorOfToken(token, redemption.client, context.store),
    scopes: context.scopes.issuable(scopes),
    resources: redemption.resources ?? authorization.resources,
    refreshExpires: endOfRefresh(context, fresh.createdAt, authorization.createdAt),
  }
  const given = {
    fields,
    granted: authorization,
    ...(refreshToken !== undefined && { refreshToken }),
  }
  const issued = await save(context, redemption, given, async (data) => {
    const { expires, refreshExpires } = data.fields
    const endsAt = Math.max(expires ?? 0, refreshExpires ?? 0)
    await write({ redemption, found, authorizationId, endsAt }, data, context)
    return token.id
  })
  await context.audit.addRoutine(context.store, 'token.refreshed', {
    ...ofToken(issued.token, found.client.name),
    userEmail: user?.email ?? null,
    details: { scopes: issued.token.scopes },
  })
  return issued
}

/**
 * Writes a new access token for the same refresh token. FAPI 2.0 Security Profile §5.3.2.1 (9) forbids rotation,
 * because the refresh token of a confidential client is bound to the credentials of the client.
 */
const rewrite = async (
  { redemption: { presented }, found: { token }, authorizationId, endsAt }: Refresh,
  data: TokenData,
  context: RecordsContext,
): Promise<void> => {
  const { id } = token
  await context.turns.transaction(context.store, `token ${id}`, async (tx) => {
    // Update the authorization before its token, like a revocation, to avoid a deadlock.
    await tx.authorizations.extend(authorizationId, endsAt)
    const row = await tx.tokens.find(id, { lock: 'change' })
    if (row?.refreshDigest !== digestOf('refresh_token', presented)) throw refusedRefresh()
    await tx.tokens.rewrite(id, sealedToken(context, data))
    await tx.tokens.delete({ parentId: id })
  })
}

const rotate = async (
  { redemption, found, authorizationId, endsAt }: Refresh,
  data: TokenData,
  context: RecordsContext,
): Promise<void> => {
  const { store, keys, settings, bounds } = context
  const { token, accessDigest } = found
  const digest = digestOf('refresh_token', redemption.presented)
  const next = sealedToken(context, data, formerOf(found, data.fields, context))
  const rotated = {
    digest,
    authorizationId,
    successor: next.refreshDigest ?? digest,
    parameters: parametersOf(redemption, data.fields.keyThumbprint),
    rotatedAt: data.fields.createdAt,
  }
  const isRotated = await store.tokens.rotate({
    id: token.id,
    replaced: { accessDigest, expires: token.expires },
    next,
    rotated: { ...rotated, seal: keys.sealRow(rotationClaims(rotated)) },
    mayBeExchanged: settings.tokenExchange,
    endsAt,
  })
  if (!isRotated) throw new LostRace()
  bounds.rotated(authorizationId)
}

/**
 * Returns the digest and the new expiry of the replaced access token. The token remains valid for the leeway, because
 * requests that were sent before the refresh still contain the token. Returns undefined if the leeway is 0, or if the
 * access token has expired or was tampered with. Also returns undefined if the new access token has other permissions
 * or another key.
 */
const formerOf = (
  { token, accessDigest, isAccessIntact = false }: FoundToken,
  next: NewToken['fields'],
  { settings: { refreshTokenLeeway } }: RecordsContext,
): { readonly formerDigest: Digest; readonly formerExpires: number } | undefined => {
  const isKept =
    isAccessIntact &&
    refreshTokenLeeway > 0 &&
    token.keyThumbprint === next.keyThumbprint &&
    isSameSet(token.scopes, next.scopes) &&
    isSameSet(token.resources, next.resources)
  if (!isKept) return undefined
  const end = next.createdAt + refreshTokenLeeway * 1000
  return { formerDigest: accessDigest, formerExpires: Math.min(token.expires ?? end, end) }
}

const replay = async (
  redemption: RefreshRedemption,
  rotated: RotatedRefreshToken,
  context: RecordsContext,
): Promise<IssuedToken> => {
  const { store, settings, clock } = context
  const authorization = await store.authorizations.find(rotated.authorizationId)
  // Refuse another client, which must not be able to revoke the authorization. A revoked authorization has no tokens.
  if (authorization?.clientId !== redemption.client.clientId || authorization.revokedAt !== null)
    throw refusedRefresh()
  const reused = async () => {
    await endReused('refresh_token', authorization, context)
    return refusedRefresh()
  }

  const current = await store.tokens.find({ authorizationId: authorization.id }, { lock: 'change' })
  const isLatest = current?.refreshDigest === rotated.successor
  const withinLeeway = clock() < rotated.rotatedAt + settings.refreshTokenLeeway * 1000
  // A public client has no credentials. Therefore, require the key to which the tokens are bound (RFC 9449 §5).
  const { client, keyThumbprint } = redemption
  const bound = current?.fields.keyThumbprint ?? null
  const mustHold = bound !== null && !client.isConfidential
  if (mustHold && keyThumbprint !== bound) throw refusedRefresh()
  if (!current || !isLatest || !withinLeeway) throw await reused()
  const hasOtherKey = keyThumbprint !== undefined && keyThumbprint !== bound
  const firstKey = hasOtherKey ? bound : (keyThumbprint ?? null)
  if (rotated.parameters !== parametersOf(redemption, firstKey)) throw refusedRefresh()
  try {
    const successor = await store.tokens.findByAccess(current.accessDigest)
    if (successor?.fields.clientId !== client.clientId) throw refusedRefresh()
    const same = await sameResponse(successor, authorization, context)
    if (!hasOtherKey) return same
    return await withOtherKey(redemption, successor, same, context)
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    // If a concurrent request has redeemed the successor in the meantime, this request is a reuse.
    const latest = await store.tokens.find(
      { authorizationId: authorization.id },
      { lock: 'change' },
    )
    if (!latest || latest.refreshDigest === rotated.successor) throw error
    throw await reused()
  }
}

/**
 * Issues an additional access token that is bound to another key of the client. The refresh token of a confidential
 * client is bound to the credentials of the client, so the client may use several keys (RFC 9449 §5).
 */
const withOtherKey = async (
  redemption: RefreshRedemption,
  { fields, accessDigest }: TokenWithState,
  { subject, refreshToken }: IssuedToken,
  context: RecordsContext,
): Promise<IssuedToken> => {
  const child = {
    ...fields,
    ...issuedNow(redemption, context),
    expires: fields.expires,
    authorizationId: null,
    refreshExpires: null,
    parentId: fields.id,
    loginDigest: null,
  }
  const issued = await insertChild(redemption, fields, accessDigest, child, context)
  return { ...issued, subject, refreshToken }
}

const sameResponse = async (
  row: TokenWithState,
  granted: Granted,
  context: RecordsContext,
): Promise<IssuedToken> => {
  const { keys, scopes, clock } = context
  const { fields, refreshDigest } = row
  const token = new Token(fields, scopes)
  const state = await stateOf(row, context)
  if (!state || !isActive({ token, ...state })) throw refusedRefresh()
  const accessToken = openedAccess(row, context)
  const refreshToken =
    row.refreshToken !== null && refreshDigest !== null
      ? keys.open('token', row.refreshToken, refreshClaims(refreshDigest, fields, granted))
      : undefined
  if (accessToken === undefined || refreshToken === undefined) throw refusedRefresh()
  const expiresIn = secondsUntil(fields.expires, clock())
  return { token, subject: state.user, accessToken, refreshToken, expiresIn }
}
