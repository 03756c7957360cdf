import { type Digest, digestOf } from '../../crypto/digest.ts'
import type { Authorization } from '../../model/entities/authorization.ts'
import { type RotatedRefreshToken, rotationClaims } from '../../model/entities/rotated-token.ts'
import type { Granted, TokenFields } from '../../model/entities/token.ts'
import { accessClaims, refreshClaims } from '../../model/entities/token.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import type { RefreshRedemption } from '../../model/redemption.ts'
import { isWithin } from '../../model/scope.ts'
import { type FoundToken, type IssuedToken, isActive, Token } from '../../model/token.ts'
import type { TokenWithState } from '../../store/contract/tokens.ts'
import { ofAuthorization } from '../audit/audit-trail.ts'
import { type RecordsContext, retryOnCollision } from '../context.ts'
import { insertChild } from './exchange-token.ts'
import {
  fieldsAfterRefresh,
  noteRefresh,
  refreshInPlace,
  refusedRefresh,
} from './refresh-in-place.ts'
import { findByRefresh, stateOf } from './token-finder.ts'
import { newSecrets, save, sealedToken } from './token-row.ts'

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
  const { current, client } = redemption
  if (current && context.settings.securityProfile === 'fapi2' && client.isConfidential)
    return refreshInPlace(redemption, current, context)
  for (let pair = current, tries = 0; pair && tries < maxTries; tries += 1) {
    try {
      return await rotate(redemption, pair, context)
    } catch (error) {
      if (!(error instanceof LostRace)) throw error
    }
    // A concurrent request rotated the token first, so this request presents a rotated token.
    const rotated = await findRotated(redemption, context)
    if (rotated) return replay(redemption, rotated, context)
    // A concurrent request has only revoked the access token, so the refresh token can still be rotated.
    const found = await findByRefresh(redemption.presented, context)
    pair = found && { ...pair, found }
  }
  const rotated = await findRotated(redemption, context)
  if (!rotated) throw refusedRefresh()
  return replay(redemption, rotated, context)
}

const findRotated = async (
  { presented }: RefreshRedemption,
  { store, keys }: RecordsContext,
): Promise<RotatedRefreshToken | undefined> => {
  const rotated = await store.tokens.findRotated(digestOf('refresh_token', presented))
  return rotated && keys.isIntact(rotated.seal, rotationClaims(rotated)) ? rotated : undefined
}

/** The maximum number of attempts while concurrent requests revoke access tokens. */
const maxTries = 3

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

const rotate = async (
  redemption: RefreshRedemption,
  { found, scopes }: NonNullable<RefreshRedemption['current']>,
  context: RecordsContext,
): Promise<IssuedToken> => {
  const { token, authorization } = found
  const { authorizationId } = token
  if (authorizationId === null || !authorization) throw refusedRefresh()
  const presented = digestOf('refresh_token', redemption.presented)
  const fields = await fieldsAfterRefresh(redemption, { found, scopes }, context)
  const now = fields.createdAt
  const issued = await retryOnCollision(() =>
    save(
      context,
      redemption,
      { ...newSecrets(context, fields), granted: authorization },
      async (data) => {
        const former = formerOf(found, data.fields, context)
        const next = sealedToken(context, data, former)
        const rotated = {
          digest: presented,
          authorizationId,
          successor: next.refreshDigest ?? presented,
          parameters: parametersOf(redemption, fields.keyThumbprint),
          rotatedAt: now,
        }
        const isRotated = await context.store.tokens.rotate({
          id: token.id,
          replaced: { accessDigest: found.accessDigest, expires: token.expires },
          next,
          rotated: { ...rotated, seal: context.keys.sealRow(rotationClaims(rotated)) },
          mayBeExchanged: context.settings.tokenExchange,
          endsAt: Math.max(data.fields.expires ?? 0, data.fields.refreshExpires ?? 0),
        })
        if (!isRotated) throw new LostRace()
        context.bounds.rotated(authorizationId)
        return token.id
      },
    ),
  )
  await noteRefresh(issued, found, context)
  return issued
}

/**
 * Returns the digest and the new expiry of the replaced access token. The token remains valid for the leeway, because
 * requests that were sent before the refresh still contain the token. Returns undefined if the leeway is 0, or if the
 * access token has expired or was tampered with. Also returns undefined if the new access token has other permissions
 * or another key.
 */
const formerOf = (
  { token, accessDigest, isAccessIntact = false }: FoundToken,
  next: Omit<TokenFields, 'id'>,
  { settings: { refreshTokenLeeway } }: RecordsContext,
): { readonly formerDigest: Digest; readonly formerExpires: number } | undefined => {
  const hasSame = (name: 'scopes' | 'resources') =>
    token[name].length === next[name].length && isWithin(token[name], next[name])
  const isKept =
    isAccessIntact &&
    refreshTokenLeeway > 0 &&
    token.keyThumbprint === next.keyThumbprint &&
    hasSame('scopes') &&
    hasSame('resources')
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

  const current = await store.tokens.ofAuthorization(authorization.id)
  const isLatest = current?.refreshDigest === rotated.successor
  const withinLeeway = clock() < rotated.rotatedAt + settings.refreshTokenLeeway * 1000
  // A public client has no credentials. Therefore, require the key to which the tokens are bound (RFC 9449 §5).
  const { client, keyThumbprint } = redemption
  const boundTo = current?.fields.keyThumbprint ?? null
  const mustHold = boundTo !== null && !client.isConfidential
  if (mustHold && keyThumbprint !== boundTo) throw refusedRefresh()
  if (!current || !isLatest || !withinLeeway)
    throw await reused(authorization, client.name, context)
  const hasOtherKey = keyThumbprint !== undefined && keyThumbprint !== boundTo
  const firstKey = hasOtherKey ? boundTo : (keyThumbprint ?? null)
  if (rotated.parameters !== parametersOf(redemption, firstKey)) throw refusedRefresh()
  try {
    const successor = await store.tokens.findByAccess(current.accessDigest)
    if (successor?.fields.clientId !== client.clientId) throw refusedRefresh()
    const same = await sameResponse(successor, authorization, context)
    if (!hasOtherKey) return same
    return await withOtherKey(keyThumbprint, same, { redemption, successor, context })
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error
    // If a concurrent request has redeemed the successor in the meantime, this request is a reuse.
    const latest = await store.tokens.ofAuthorization(authorization.id)
    if (!latest || latest.refreshDigest === rotated.successor) throw error
    throw await reused(authorization, client.name, context)
  }
}

interface OtherKey {
  readonly redemption: RefreshRedemption
  readonly successor: TokenWithState
  readonly context: RecordsContext
}

/**
 * Issues an additional access token that is bound to another key of the client. The refresh token of a confidential
 * client is bound to the credentials of the client, so the client may use several keys (RFC 9449 §5).
 */
const withOtherKey = async (
  keyThumbprint: string,
  same: IssuedToken,
  { redemption, successor, context }: OtherKey,
): Promise<IssuedToken> => {
  const { fields, accessDigest } = successor
  const child = {
    ...fields,
    authorizationId: null,
    refreshExpires: null,
    keyThumbprint,
    tokenType: 'dpop',
    createdAt: context.clock(),
    parentId: fields.id,
    loginDigest: null,
  } as const
  const issued = await insertChild(redemption, { token: fields, accessDigest }, child, context)
  return { ...issued, subject: same.subject, refreshToken: same.refreshToken }
}

const sameResponse = async (
  row: TokenWithState,
  granted: Granted,
  context: RecordsContext,
): Promise<IssuedToken> => {
  const { keys, scopes, clock } = context
  const { fields } = row
  const token = new Token(fields, scopes)
  const state = await stateOf(row, context)
  if (!state || !isActive({ token, ...state })) throw refusedRefresh()
  const { user } = state
  const accessToken = keys.open('token', row.accessToken, accessClaims(row))
  const refreshToken =
    row.refreshToken !== null && row.refreshDigest !== null
      ? keys.open('token', row.refreshToken, refreshClaims(row.refreshDigest, fields, granted))
      : undefined
  if (accessToken === undefined || refreshToken === undefined) throw refusedRefresh()
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
  return refusedRefresh()
}
