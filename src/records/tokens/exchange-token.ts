import type { Digest } from '../../crypto/digest.ts'
import type { NewToken, TokenFields } from '../../model/entities/token.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import type { NarrowingRedemption, Redemption } from '../../model/redemption.ts'
import { isWithin } from '../../model/scope.ts'
import type { IssuedToken } from '../../model/token.ts'
import type { RecordsContext } from '../context.ts'
import { earlier, newTokenFields, save, sealedToken } from './token-row.ts'

/**
 * Exchanges a token for a narrower token (RFC 8693), which becomes invalid with its parent.
 * @throws OAuthError if the new token would not be narrower, or the parent has changed
 */
export const exchangeToken = async (
  redemption: NarrowingRedemption,
  context: RecordsContext,
): Promise<IssuedToken> => {
  const { parent, expiresIn } = redemption
  const { id, userId, expires, isPersonal, isInternal, sector } = parent.token
  const basic = newTokenFields(context, redemption, userId)
  const fields = {
    ...basic,
    isPersonal,
    isInternal,
    parentId: id,
    sector: sector ?? basic.sector,
    expires: earlier(basic.createdAt + expiresIn * 1000, expires),
  }
  mustBeNarrower(fields, parent.token)
  return insertChild(redemption, parent.token, parent.accessDigest, fields, context)
}

/**
 * Issues a token that becomes invalid with its parent.
 * @throws OAuthError if the parent has changed
 */
export const insertChild = (
  redemption: Redemption,
  { id, clientId, expires }: TokenFields,
  accessDigest: Digest,
  fields: NewToken['fields'],
  context: RecordsContext,
): Promise<IssuedToken> =>
  save(context, redemption, { fields }, async (data) => {
    const { store, turns, bounds } = context
    // The parent must still exist unchanged when the child is inserted.
    const childId = await turns.transaction(store, `client ${clientId}`, async (tx) => {
      // Lock the client first, in the same order as transactions that delete or change the parent.
      await tx.clients.find(clientId)
      const row = await tx.tokens.find(id, { lock: 'change' })
      const isUnchanged =
        row?.accessDigest === accessDigest &&
        row.fields.expires === expires &&
        isWithin(data.fields.scopes, row.fields.scopes)
      if (!isUnchanged)
        throw new OAuthError('invalid_request', 'The subject token is no longer valid.')
      return tx.tokens.insert(sealedToken(context, data))
    })
    if (childId !== undefined) bounds.narrowed(id)
    return childId
  })

// Verify the bounds here again, so that a faulty grant or extension cannot widen a token.
const mustBeNarrower = (child: NewToken['fields'], parent: TokenFields): void => {
  const { scopes, resources, keyThumbprint } = parent
  if (!isWithin(child.scopes, scopes))
    throw new OAuthError('invalid_scope', 'The subject token does not have all requested scopes.')
  const isForFewerResources =
    resources.length === 0 || (child.resources.length > 0 && isWithin(child.resources, resources))
  if (!isForFewerResources)
    throw new OAuthError(
      'invalid_target',
      'The subject token is not valid for the requested resource.',
    )
  // Only the holder of the key may exchange a key-bound token (RFC 9449 §6.1).
  if (keyThumbprint !== null && child.keyThumbprint !== keyThumbprint)
    throw new OAuthError('invalid_request', 'The subject token is bound to another key.')
}
