import type { Digest } from '../../../crypto/digest.ts'
import { rotatedTokenCodec, type StoredRotation } from '../../../model/entities/rotated-token.ts'
import { type NewToken, tokenCodec } from '../../../model/entities/token.ts'

export interface RotationValues {
  readonly id: number
  /** The digest of the refresh token that is replaced. */
  readonly current: Digest
  readonly replacedDigest: Digest
  readonly replacedExpires: number | null
  readonly next: NewToken
  readonly rotated: StoredRotation
  /** The new expiry of the authorization; ignored if the current expiry is later. */
  readonly endsAt: number
}

/**
 * The conditions under which a rotation replaces a token pair, each with column, operator and parameter. In addition,
 * the authorization must not be revoked. PostgreSQL has no index for these operators, so it always finds the row by its
 * ID.
 */
export const rotationConditions = [
  ['refresh_token_digest', 'is not distinct from', 'current'],
  ['client_key', 'is not distinct from', 'client_key'],
  ['access_token_digest', 'is not distinct from', 'replaced_digest'],
  ['expires', 'is not distinct from', 'replaced_expires'],
] as const

/** A statement with `?` for each parameter. */
export interface RotationStatement {
  readonly text: string
  readonly parametersOf: (rotation: RotationValues) => (string | number | null)[]
}

// `+ 0` prevents the use of an index on the column, so that the database finds the row by its ID.

/**
 * Replaces the token pair. If this statement changes no row, the rotation fails, and the statements of
 * `afterReplacement` must not run.
 */
export const replacePair: RotationStatement = {
  text: `update oauth2server_token set ${tokenCodec.replacedColumns.map((name) => `${name} = ?`).join(', ')}
    where id = ? and ${rotationConditions.map(([name, operator]) => `${name} ${operator} ?`).join(' and ')}
    and exists (select 1 from oauth2server_authorization as a where a.id = ? and a.revoked_at + 0 is null)`,
  parametersOf: ({ id, current, replacedDigest, replacedExpires, next }) => [
    ...tokenCodec.toReplacedCells(next),
    id,
    ...[current, next.fields.clientKey, replacedDigest, replacedExpires],
    next.fields.authorizationId,
  ],
}

/**
 * The statements after the replacement. They delete the exchanged tokens, store the rotated refresh token, and extend
 * the authorization.
 */
export const afterReplacement: readonly RotationStatement[] = [
  {
    text: 'delete from oauth2server_token where parent_id = ?',
    parametersOf: ({ id }) => [id],
  },
  {
    text: `insert into oauth2server_rotated_refresh_token (${rotatedTokenCodec.columns.join(', ')})
      values (${rotatedTokenCodec.columns.map(() => '?').join(', ')})`,
    parametersOf: ({ rotated }) => rotatedTokenCodec.toCells(rotated),
  },
  {
    text: 'update oauth2server_authorization set expires_at = ? where id = ? and expires_at + 0 < ?',
    parametersOf: ({ next, endsAt }) => [endsAt, next.fields.authorizationId, endsAt],
  },
]
