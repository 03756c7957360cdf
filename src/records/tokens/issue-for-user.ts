import { type Digest, digestOf } from '../../crypto/digest.ts'
import { storedUserAgent } from '../../model/bounds.ts'
import type { NewAuthorization } from '../../model/entities/authorization.ts'
import { offlineAccessScope, openidScope } from '../../model/openid-scopes.ts'
import type { ReservedIds, UserRedemption } from '../../model/redemption.ts'
import { isWithin } from '../../model/scope.ts'
import type { IssuedToken } from '../../model/token.ts'
import type { AuthorizedToken } from '../../store/contract/authorizations.ts'
import {
  ReferenceNotFound,
  StoreUnavailable,
  UniqueViolation,
} from '../../store/contract/errors.ts'
import type { Store } from '../../store/store.ts'
import type { About } from '../audit/audit-trail.ts'
import type { RecordsContext } from '../context.ts'
import { endWithin, revokeReusedCode } from './end-tokens.ts'
import { endOfRefresh, issuedFor, newTokenFields, save, sealedToken } from './token-row.ts'

/**
 * The margin below the limit `authorizationsPerApplication`. Within this margin, the limit is enforced again after the
 * commit. Concurrent exchanges do not see the authorizations of each other, and can together exceed the limit.
 */
const concurrentExchanges = 16

/** Another request redeemed the code first, so the insert violated the unique constraint on the digest of the code. */
class CodeWasRedeemed extends Error {}

/**
 * Creates an authorization of a user and issues its tokens, in one transaction or in one statement.
 * @throws OAuthError `invalid_grant` if the code was redeemed already; ReferenceNotFound if the consent or the session
 * has ended, or the user was deactivated
 */
export const issueForUser = async (
  redemption: UserRedemption,
  grant: string | undefined,
  context: RecordsContext,
): Promise<IssuedToken> => {
  const { client, subject, code } = redemption
  const refreshable = redemption.refreshable && client.allowedGrantTypes.includes('refresh_token')
  const fields = newTokenFields(context, redemption, subject.id)
  const { grantedResources: resources = fields.resources } = redemption
  const refreshExpires = refreshable ? endOfRefresh(context, fields.createdAt) : null
  const { store, turns } = context
  // The transaction locks the consent, so that the user cannot withdraw the consent concurrently.
  const row = `consent ${subject.id} ${client.clientId}`
  const codeDigest = code ? digestOf(code.kind, code.value) : null
  // The row of the authorization detects a second redemption of the code. Retain the row until the code expires, even
  // if the tokens expire earlier.
  const codeEnds =
    code?.keptUntil ?? fields.createdAt + context.settings.authorizationCodeExpiresIn * 1000
  let isNearLimit = false
  try {
    const issued = await save(
      context,
      redemption,
      { fields: { ...fields, refreshExpires } },
      async (data) => {
        const authorization: NewAuthorization = {
          clientKey: client.clientKey,
          userId: subject.id,
          scopes: data.fields.scopes,
          resources,
          codeDigest,
          code: code?.binding ?? null,
          userAgent: storedUserAgent(redemption.under?.userAgent ?? ''),
          createdAt: fields.createdAt,
          expiresAt: Math.max(data.fields.expires ?? 0, refreshExpires ?? 0, codeEnds),
          revokedAt: null,
        }
        const tokenOf = (authorizationId: number) =>
          sealedToken(context, {
            ...data,
            granted: authorization,
            fields: { ...data.fields, authorizationId },
          })
        const about = issuedFor(redemption, data.fields, grant)
        const login = loginOf(redemption, data.fields.scopes, context)
        const rows = { authorization, tokenOf, login }
        const atOnce = await insertAtOnce(redemption, rows, about, context)
        if (atOnce) return atOnce
        return turns.transaction(store, row, async (tx) => {
          const authorizationId = await tx.authorizations.insertOnce(authorization)
          if (authorizationId === undefined) throw new CodeWasRedeemed()
          await mustStillHold(redemption, context, tx)
          const tokenId = await tx.tokens.insert(tokenOf(authorizationId))
          if (tokenId === undefined) throw new UniqueViolation()
          await context.audit.add(tx, 'token.issued', { ...about, tokenId, authorizationId })
          if (login) await tx.clientLogins.insert({ ...login, authorizationId })
          isNearLimit = await endOldest(redemption, context, tx)
          return { tokenId, authorizationId }
        })
      },
    )
    if (isNearLimit) await endOldestOfAll(redemption, context)
    return issued
  } catch (error) {
    if (error instanceof CodeWasRedeemed && code)
      throw (await revokeReusedCode(code.kind, code.value, context)) ?? error
    throw error
  }
}

/** Returns the login at the client, if the token has the scope `openid`. */
const loginOf = (
  { client: { clientKey }, subject: { id: userId }, login }: UserRedemption,
  scopes: readonly string[],
  { clock, settings }: RecordsContext,
): AuthorizedToken['login'] => {
  if (!login || !scopes.includes(openidScope.id)) return undefined
  const isOffline = scopes.includes(offlineAccessScope.id)
  const expiresAt = clock() + settings.sessionExpiresIn * 1000
  return { ...login, clientKey, userId, isOffline, expiresAt }
}

/**
 * Inserts all rows at once if the consent, the session and the user still hold. Returns undefined without effect if the
 * store has no such operation, or if a condition is not met. The transaction then finds out why.
 */
const insertAtOnce = async (
  { reserved: ids, under, scopes }: UserRedemption,
  rows: Pick<AuthorizedToken, 'authorization' | 'tokenOf' | 'login'>,
  about: About<'token.issued'>,
  { store, settings, audit }: RecordsContext,
): Promise<ReservedIds | undefined> => {
  const { insertWithToken } = store.authorizations
  const most = settings.authorizationsPerApplication - concurrentExchanges
  if (!under || !insertWithToken || most < 1) return undefined
  const consent = { id: under.consentId, scopes }
  const { sessionId } = under
  return audit.addWith('token.issued', about, (eventOf) =>
    insertWithToken({ ...rows, ids, eventOf, consent, sessionId, most }),
  )
}

// Check the consent, the session and the user again, because they may have changed after the first check.
const mustStillHold = async (
  { client, subject, under, scopes }: UserRedemption,
  { users }: RecordsContext,
  tx: Store,
): Promise<void> => {
  if (!under) return
  // Take a shared lock, so that exchanges of the same user do not wait for each other. A disconnected node could hold
  // an exclusive lock for a long time.
  const consent = await tx.consents.find(
    { userId: subject.id, clientId: client.clientId },
    { lock: 'share' },
  )
  const { sessionId } = under
  const session = sessionId === null ? null : await tx.sessions.find(sessionId as Digest)
  // If the store cannot read the users, the callback of the application was called before the transaction.
  const user =
    sessionId === null && users.areInStore ? await tx.users.find(subject.id) : session?.user
  const isActive = !users.areInStore || user?.active === true
  const isGranted =
    consent?.consent.clientKey === client.clientKey && isWithin(scopes, consent.consent.scopes)
  if (consent?.consent.id !== under.consentId || !isGranted || session === undefined || !isActive)
    throw new ReferenceNotFound(
      'The consent was withdrawn, the session ended, or the user was deactivated.',
    )
}

/**
 * Revokes the oldest authorizations of a user for one application if their number exceeds the limit.
 * @returns whether the number is so close to the limit that concurrent exchanges may have exceeded the limit
 */
const endOldest = async (
  { client, subject }: UserRedemption,
  context: RecordsContext,
  tx: Store,
): Promise<boolean> => {
  const { settings } = context
  const { clientId, name } = client
  const most = settings.authorizationsPerApplication
  const near = Math.min(most, concurrentExchanges)
  const found = await tx.authorizations.listExceeding(subject.id, clientId, most - near)
  for (const id of found.slice(near)) {
    const authorization = { id, clientId, userId: subject.id }
    if (!(await endWithin(tx, authorization, name, context))) continue
    // A logout revokes the authorization of each stored login, so their number must be limited too.
    if (settings.openidConnect) await tx.clientLogins.delete({ id: String(id) })
  }
  return found.length > 0
}

// The exchange that commits last sees all concurrent exchanges. Exchanges therefore need not wait for each other.
const endOldestOfAll = async (
  redemption: UserRedemption,
  context: RecordsContext,
): Promise<void> => {
  try {
    await context.store.transaction((tx) => endOldest(redemption, context, tx))
  } catch (error) {
    // Ignore an outage, because the token is already issued. The next exchange revokes the authorizations beyond the
    // limit.
    if (!(error instanceof StoreUnavailable)) throw error
  }
}
