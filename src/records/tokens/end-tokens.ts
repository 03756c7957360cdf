import { type Digest, digestOf } from '../../crypto/digest.ts'
import type { Authorization } from '../../model/entities/authorization.ts'
import { rotationClaims, type StoredRotation } from '../../model/entities/rotated-token.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import type { UserId } from '../../model/user.ts'
import type { StoredToken } from '../../store/contract/tokens.ts'
import type { Store } from '../../store/store.ts'
import { nameOfClient, ofToken } from '../audit/audit-trail.ts'
import type { RecordsContext } from '../context.ts'
import { openedAccess } from './token-finder.ts'

/** Milliseconds for which a used code is stored after its expiry, for nodes whose clocks are behind. */
const unusedCodeMargin = 300_000

/** Returns the last four characters of a token, by which users recognize the token. */
export const endingOf = (accessToken: string): string => accessToken.slice(-4)

/** Returns the last four characters of a stored token; null without a row, or if the row was tampered with. */
export const endingOfRow = (
  row: StoredToken | undefined,
  context: Pick<RecordsContext, 'keys'>,
): string | null => {
  const value = row && openedAccess(row, context)
  return value === undefined ? null : endingOf(value)
}

/**
 * Does the same as `Tokens.revoke`. Revokes the former value of a rotated personal token alone.
 * @param as the name of the audit event. Default: `personal_token.deleted` or `token.revoked`
 */
export const revokeToken = async (
  { fields: token, successorId }: Pick<StoredToken, 'fields' | 'successorId'>,
  context: RecordsContext,
  as?: 'token.deleted',
  accessToken?: string,
): Promise<boolean> => {
  const { store, turns, audit, removed, clock } = context
  const { id, clientId, clientKey, authorizationId, parentId, isInternal: isRoutine } = token
  const isAlone = parentId !== null || successorId !== null
  const isOwn = token.isPersonal && !isAlone
  const event = as ?? (isOwn ? 'personal_token.deleted' : 'token.revoked')
  const end = async (tx: Store): Promise<boolean> => {
    if (isOwn) return tx.clients.delete(clientId, clock())
    if (isAlone || authorizationId === null) return (await tx.tokens.delete({ id })) > 0
    return tx.authorizations.revoke(authorizationId, clock())
  }
  const name = await nameOfClient(clientId, store)
  const isEnded = await turns.transaction(store, `token ${id}`, async (tx) => {
    // Read the value before it is deleted, for the audit event.
    const ending =
      accessToken === undefined
        ? endingOfRow(await tx.tokens.find(id), context)
        : endingOf(accessToken)
    if (!(await end(tx))) return false
    await audit.add(tx, event, { ...ofToken(token, name), isRoutine, details: { ending } })
    return true
  })
  if (isEnded && isOwn) await removed({ kind: 'client', key: clientKey })
  return isEnded
}

type UsedOnce = 'authorization_code' | 'device_code' | 'refresh_token'
type EndingEvent = 'token.revoked' | `${UsedOnce}.reused`

/** Revokes an authorization with its tokens. Returns false if it was revoked before. */
export const endAuthorization = async (
  authorization: Authorization,
  context: RecordsContext,
  event: EndingEvent = 'token.revoked',
): Promise<boolean> => {
  const name = await nameOfClient(authorization.clientId, context.store)
  return context.store.transaction((tx) => endWithin(tx, authorization, name, context, event))
}

/** Does the same as `endAuthorization` inside a transaction. @param subject the name of the client */
export const endWithin = async (
  tx: Store,
  { id, clientId, userId }: Pick<Authorization, 'id' | 'clientId' | 'userId'>,
  subject: string,
  { clock, audit }: Pick<RecordsContext, 'clock' | 'audit'>,
  event: EndingEvent = 'token.revoked',
): Promise<boolean> => {
  if (!(await tx.authorizations.revoke(id, clock()))) return false
  const details = { ending: null }
  const about = { userId, clientId, authorizationId: id, subject }
  if (event === 'token.revoked') await audit.add(tx, event, { ...about, details })
  else await audit.add(tx, event, { ...about, details: {} })
  return true
}

/** Finds a rotated refresh token whose seal is valid. */
export const findRotated = async (
  refreshToken: string,
  { store, keys }: Pick<RecordsContext, 'store' | 'keys'>,
): Promise<StoredRotation | undefined> => {
  const rotated = await store.rotatedTokens.find(digestOf('refresh_token', refreshToken))
  return rotated && keys.isIntact(rotated.seal, rotationClaims(rotated)) ? rotated : undefined
}

/** Returns the authorization of a rotated refresh token; undefined for any other value. */
export const authorizationOfRotated = async (
  refreshToken: string,
  context: Pick<RecordsContext, 'store' | 'keys'>,
): Promise<Authorization | undefined> => {
  const rotated = await findRotated(refreshToken, context)
  return rotated && context.store.authorizations.find(rotated.authorizationId)
}

/**
 * Uses up a code that leaked: inserts a revoked authorization, so that no request can redeem the code. If the code was
 * redeemed before, revokes its tokens. A concurrent redemption is either before or after the insert.
 * @param code undefined if the code is not stored any more
 * @returns false if nothing was revoked
 */
export const endCode = async (
  codeDigest: Digest,
  code: { clientId: string; userId?: UserId; expiresAt: number } | undefined,
  context: RecordsContext,
): Promise<boolean> => {
  const { store, clock } = context
  const client = code && (await store.clients.find(code.clientId))
  const unused = client && {
    clientKey: client.fields.clientKey,
    userId: code.userId ?? null,
    scopes: [],
    resources: [],
    codeDigest,
    code: null,
    userAgent: '',
    createdAt: clock(),
    // An abandoned redemption may still insert its tokens.
    expiresAt: code.expiresAt + unusedCodeMargin,
    revokedAt: clock(),
  }
  if (unused && (await store.authorizations.insertOnce(unused)) !== undefined) return true
  const redeemed = await store.authorizations.find({ codeDigest })
  return redeemed !== undefined && endAuthorization(redeemed, context)
}

/** Revokes the authorization of a code or refresh token that is used again. One of the two callers may be a thief. */
export const endReused = async (
  kind: UsedOnce,
  authorization: Authorization,
  context: RecordsContext,
): Promise<void> => {
  await endAuthorization(authorization, context, `${kind}.reused`)
  context.log({
    level: 'warn',
    // Write out the names, because a test compares the log events in the code with those in the documentation.
    event: {
      authorization_code: 'authorization_code.reused',
      device_code: 'device_code.reused',
      refresh_token: 'refresh_token.reused',
    }[kind],
    message: 'A code or refresh token was used again. Its authorization and tokens are revoked.',
    authorizationId: authorization.id,
    clientId: authorization.clientId,
  })
}

/**
 * Revokes the tokens of a code that is presented again with valid credentials (RFC 6749 §4.1.2).
 * @returns the error for the response; undefined if the code was never redeemed
 */
export const revokeReusedCode = async (
  kind: 'authorization_code' | 'device_code',
  code: string,
  context: RecordsContext,
): Promise<OAuthError | undefined> => {
  const authorization = await context.store.authorizations.find({
    codeDigest: digestOf(kind, code),
  })
  if (!authorization) return undefined
  if (authorization.revokedAt === null) await endReused(kind, authorization, context)
  return new OAuthError('invalid_grant', `The ${kind.replace('_', ' ')} is not valid.`)
}
