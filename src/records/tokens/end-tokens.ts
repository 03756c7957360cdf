import { type Digest, digestOf } from '../../crypto/digest.ts'
import type { Authorization } from '../../model/entities/authorization.ts'
import { rotationClaims } from '../../model/entities/rotated-token.ts'
import { accessClaims, type TokenFields } from '../../model/entities/token.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import type { FoundToken } from '../../model/token.ts'
import type { UserId } from '../../model/user.ts'
import type { Store } from '../../store/store.ts'
import { nameOfClient, ofAuthorization, ofToken } from '../audit/audit-trail.ts'
import type { RecordsContext } from '../context.ts'
import { endingOf, endingOfRow } from './token-ending.ts'

/** Milliseconds for which a used code is stored after its expiry, for nodes whose clocks are behind. */
const unusedCodeMargin = 300_000

/** An expiry that is in the past even for nodes whose clocks are behind. */
const longExpired = 0

/** The fields that decide how a token is revoked. */
export type RevocableToken = Pick<
  TokenFields,
  | 'id'
  | 'clientId'
  | 'clientKey'
  | 'userId'
  | 'isPersonal'
  | 'isInternal'
  | 'authorizationId'
  | 'parentId'
>

/** Does the same as `Tokens.revoke`. */
export const revokeToken = async (
  token: RevocableToken,
  { store, turns, audit, removed, keys, clock }: RecordsContext,
  as?: 'token.revoked' | 'token.deleted',
  accessToken?: string,
): Promise<boolean> => {
  const name = await nameOfClient(token.clientId, store)
  const isOwn = token.isPersonal && token.parentId === null
  const isEnded = await turns.transaction(store, `token ${token.id}`, async (tx) => {
    const event = as ?? (isOwn ? 'personal_token.deleted' : 'token.revoked')
    // Read the value before it is deleted, for the audit event.
    const ending =
      accessToken === undefined
        ? endingOfRow(await tx.tokens.find(token.id), keys)
        : endingOf(accessToken)
    if (!(await endRows(token, clock(), tx))) return false
    const { isInternal: isRoutine } = token
    await audit.add(tx, event, { ...ofToken(token, name), isRoutine, details: { ending } })
    return true
  })
  if (isEnded && isOwn) await removed({ kind: 'client', key: token.clientKey })
  return isEnded
}

const endRows = async (token: RevocableToken, now: number, tx: Store): Promise<boolean> => {
  const isChild = token.parentId !== null
  if (token.isPersonal && !isChild) return tx.clients.delete(token.clientId, now)
  if (isChild || token.authorizationId === null)
    return (await tx.tokens.delete({ id: token.id })) > 0
  return tx.authorizations.revoke(token.authorizationId, now)
}

/**
 * Revokes an access token with its children, and the access token that it replaced. The refresh token remains valid. If
 * the access token itself has been replaced, revokes only this access token. Returns false if the token was deleted, or
 * was replaced and its leeway has ended.
 */
export const endAccessToken = (
  { token, accessDigest, client }: FoundToken,
  accessToken: string,
  { store, turns, keys, audit }: RecordsContext,
): Promise<boolean> =>
  turns.transaction(store, `token ${token.id}`, async (tx) => {
    const row = await tx.tokens.hold(token.id)
    const isFormer = row?.formerDigest === accessDigest
    if (!row || (!isFormer && row.accessDigest !== accessDigest)) return false
    const value = isFormer ? keys.open('token', row.accessToken, accessClaims(row)) : accessToken
    if (value === undefined) return false
    const expires = isFormer ? row.fields.expires : longExpired
    const ended = {
      ...row,
      fields: { ...row.fields, expires },
      formerDigest: null,
      formerExpires: null,
    }
    const sealed = keys.seal('token', value, accessClaims(ended))
    await tx.tokens.rewrite(token.id, { ...ended, accessToken: sealed })
    if (!isFormer) await tx.tokens.delete({ parentId: token.id })
    const details = { ending: endingOf(accessToken) }
    await audit.add(tx, 'token.revoked', { ...ofToken(token, client.name), details })
    return true
  })

/** Returns the authorization of a rotated refresh token; undefined for any other value. */
export const authorizationOfRotated = async (
  refreshToken: string,
  { store, keys }: Pick<RecordsContext, 'store' | 'keys'>,
): Promise<Authorization | undefined> => {
  const rotated = await store.tokens.findRotated(digestOf('refresh_token', refreshToken))
  if (!rotated || !keys.isIntact(rotated.seal, rotationClaims(rotated))) return undefined
  return store.authorizations.find(rotated.authorizationId)
}

/**
 * Revokes the authorization of a rotated refresh token of this client, because the client may have lost the response
 * with the successor. Returns false if nothing was revoked.
 */
export const endRotated = async (
  refreshToken: string,
  clientId: string,
  context: RecordsContext,
): Promise<boolean> => {
  const authorization = await authorizationOfRotated(refreshToken, context)
  return authorization?.clientId === clientId && revoke(authorization, context)
}

/** A code that nobody has redeemed yet. */
export interface UnusedCode {
  readonly clientId: string
  readonly userId?: UserId
  /** Milliseconds since the epoch. */
  readonly expiresAt: number
}

/**
 * Uses up a code that leaked: inserts a revoked authorization, so that no request can redeem the code. If the code was
 * redeemed before, revokes its tokens. A concurrent redemption is either before or after the insert.
 * @param code undefined if the code is not stored any more
 * @returns false if nothing was revoked
 */
export const endCode = async (
  codeDigest: Digest,
  code: UnusedCode | undefined,
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
  const redeemed = await store.authorizations.findByCode(codeDigest)
  return redeemed !== undefined && revoke(redeemed, context)
}

/** Revokes an authorization with its tokens. Returns false if it was revoked before. */
export const endAuthorization = async (id: number, context: RecordsContext): Promise<boolean> => {
  const authorization = await context.store.authorizations.find(id)
  return authorization !== undefined && revoke(authorization, context)
}

const revoke = async (
  authorization: Authorization,
  { store, clock, audit }: RecordsContext,
): Promise<boolean> => {
  const name = await nameOfClient(authorization.clientId, store)
  return store.transaction(async (tx) => {
    if (!(await tx.authorizations.revoke(authorization.id, clock()))) return false
    const about = { ...ofAuthorization(authorization, name), details: { ending: null } }
    await audit.add(tx, 'token.revoked', about)
    return true
  })
}

/**
 * Revokes the tokens of a code that is presented again with valid credentials. One of the two callers may have stolen
 * the code (RFC 6749 §4.1.2).
 * @returns the error for the response
 */
export const revokeReusedCode = async (
  kind: 'authorization_code' | 'device_code',
  code: string,
  { store, clock, log, audit }: RecordsContext,
): Promise<OAuthError> => {
  const authorization = await store.authorizations.findByCode(digestOf(kind, code))
  if (authorization?.revokedAt === null) {
    const event = kind === 'device_code' ? 'device_code.reused' : 'authorization_code.reused'
    const name = await nameOfClient(authorization.clientId, store)
    await store.transaction(async (tx) => {
      if (!(await tx.authorizations.revoke(authorization.id, clock()))) return
      await audit.add(tx, event, { ...ofAuthorization(authorization, name), details: {} })
    })
    log({
      level: 'warn',
      event: kind === 'device_code' ? 'device_code.reused' : 'authorization_code.reused',
      message: 'A code was redeemed twice. Its authorization and tokens are revoked.',
      authorizationId: authorization.id,
      clientId: authorization.clientId,
    })
  }
  return new OAuthError('invalid_grant', `The ${kind.replace('_', ' ')} is not valid.`)
}
