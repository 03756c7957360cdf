import type { Sealed } from '../../../crypto/sealed.ts'
import { split } from '../../../model/entities/field.ts'
import type { UserId } from '../../../model/user.ts'
import type { TokenStore, TokenWithState } from '../../contract/tokens.ts'
import { byKey, type Handle, lookup, onceFor } from '../handle.ts'
import { isTrue, type JoinedUser, joinedUser, userColumnsOf } from '../user-source.ts'
import { authorizationId, fromRow, type JoinedToken, type LiveTokens } from './base-query.ts'

interface StateRow extends JoinedToken, JoinedUser {
  readonly client_name: string
  readonly client_created_at: number
  readonly client_disabled: number
  readonly client_seal: string
  readonly client_scopes: string | null
  readonly owner_id: UserId | null
  readonly owner_active: number | boolean | null
}

const stateFrom =
  (handle: Handle) =>
  (row: StateRow): TokenWithState => ({
    ...fromRow(row),
    client: {
      clientKey: row.client_key,
      clientId: row.client_id,
      name: row.client_name,
      createdAt: row.client_created_at,
      userId: row.owner_id,
      ownerActive: row.owner_id === null || isTrue(row.owner_active),
      isDisabled: row.client_disabled === 1,
      allowedScopes: row.client_scopes === null ? null : split(row.client_scopes),
      stateSeal: row.client_seal as Sealed,
    },
    user: joinedUser(handle, row),
  })

/**
 * Builds the look-ups of the bearer check and of the refresh grant. Each look-up returns a token with its client, the
 * owner of the client and the user of the token. Their state decides whether the token is valid.
 */
export const tokenStates = (
  handle: Handle,
  tokens: () => LiveTokens,
): Pick<TokenStore, 'findByAccess' | 'findByFormer' | 'findByRefresh'> => {
  // The bearer check reads the token, client, owner and user in one query.
  const withState = () =>
    tokens()
      .select(['c.name as client_name', 'c.is_disabled as client_disabled'])
      .select(['c.allowed_scopes as client_scopes', 'c.state_seal as client_seal'])
      .select(['c.created_at as client_created_at'])
      .select(['c.user_id as owner_id', 'o.active as owner_active'])
      .select(userColumnsOf(handle))
  const stateFromRow = stateFrom(handle)
  const stateOf = onceFor(stateFromRow)
  const byAccess = lookup(
    handle,
    'tokens.findByAccess',
    (match) => withState().where(match('t.access_token_digest')),
    (row) => row.access_token_digest,
  )
  const byFormer = lookup(
    handle,
    'tokens.findByFormer',
    (match) => withState().where(match('t.former_digest')),
    (row) => row.former_digest ?? '',
  )
  const byRefresh = lookup(
    handle,
    'tokens.findByRefresh',
    (match) =>
      withState()
        .innerJoin('oauth2server_authorization as a', (join) =>
          join.on(byKey(handle, 'a.id', authorizationId)),
        )
        .select(['a.scopes as granted', 'a.resources as granted_resources'])
        .select('a.created_at as granted_at')
        .where(match('t.refresh_token_digest')),
    (row) => row.refresh_token_digest ?? '',
  )

  return {
    async findByAccess(digest) {
      const row = await byAccess(digest)
      return row && stateOf(row)
    },

    async findByFormer(digest) {
      const row = await byFormer(digest)
      return row && stateFromRow(row)
    },

    async findByRefresh(digest) {
      const row = await byRefresh(digest)
      if (!row) return undefined
      return {
        ...stateFromRow(row),
        authorization: {
          scopes: split(row.granted),
          resources: split(row.granted_resources),
          createdAt: row.granted_at,
        },
      }
    },
  }
}
