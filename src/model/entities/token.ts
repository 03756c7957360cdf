import type { Digest } from '../../crypto/digest.ts'
import type { Claims, Sealed } from '../../crypto/sealed.ts'
import type { Authorization } from './authorization.ts'
import { blankOf, claimsOf, entity, type RecordOf, type SourceOf } from './entity.ts'
import {
  computed,
  flag,
  having,
  list,
  nullable,
  number,
  optional,
  sealed,
  text,
  userKey,
} from './field.ts'

/** A rotation and a rewrite only write the columns of these fields. Other values, such as the user, cannot change. */
const isReplaced = { isReplaced: true } as const
const sectors = { since: 17 } as const

/** The fields of a token. */
const fields = {
  id: having(number(), { place: 'assigned' }),
  clientId: having(text(), { place: 'joined' }),
  clientKey: number(),
  userId: nullable(userKey()),
  /** The authorization of the token; null for personal tokens, exchanged tokens and tokens of `client_credentials`. */
  authorizationId: optional(number()),
  /** A token of the type `dpop` is bound to a key (RFC 9449 §5). */
  tokenType: having(text<'bearer' | 'dpop'>(), { ...isReplaced, initial: 'bearer' }),
  /** Milliseconds since the epoch; null: the token does not expire. */
  expires: having(nullable(number()), isReplaced),
  refreshExpires: having(optional(number()), isReplaced),
  scopes: having(list(), isReplaced),
  isPersonal: having(flag(), { initial: false }),
  isInternal: having(flag(), { initial: false }),
  createdAt: having(number(), isReplaced),
  /** The resources for which the token is valid (RFC 8707 §2); empty: all resources that the server protects. */
  resources: having(list(), { ...isReplaced, initial: [] }),
  /** The thumbprint of the key whose possession a request must prove (RFC 9449 §6.1); null for a bearer token. */
  keyThumbprint: having(optional(text()), isReplaced),
  /** The token for which this token was exchanged (RFC 8693). Revoking the parent also revokes this token. */
  parentId: optional(number()),
  /** The sector of the user's subject (OpenID Connect Core §8.1); null: the subject is the ID of the user. */
  sector: having(optional(text()), { ...isReplaced, ...sectors }),
  /** The digest of the OpenID Connect values that are stored with the authorization; null without such values. */
  loginDigest: having(optional(text()), sectors),
}
/** The digests for look-ups, and the values that refer to other tokens. */
const digests = {
  accessDigest: having(text<Digest>(), { ...isReplaced, column: 'access_token_digest' }),
  refreshDigest: having(nullable(text<Digest>()), {
    ...isReplaced,
    column: 'refresh_token_digest',
  }),
  /** The ID of the new token, if this row is the former value of a rotated personal token; otherwise null. */
  successorId: nullable(number()),
  /** The digest of a replaced access token that remains valid for a while after the rotation; null without this token. */
  formerDigest: having(nullable(text<Digest>()), isReplaced),
  /** The replaced access token remains valid until this time, in milliseconds since the epoch. */
  formerExpires: having(nullable(number()), isReplaced),
}

/** The fields of a token without its secrets. */
export interface TokenFields extends RecordOf<typeof fields> {}
/** The default fields of a token. */
export const blankToken = blankOf(fields)

const access = claimsOf('access_token', { ...fields, ...digests }, [
  'accessDigest',
  'clientKey',
  'userId',
  'authorizationId',
  'scopes',
  'expires',
  'isPersonal',
  'isInternal',
  'resources',
  'keyThumbprint',
  'parentId',
  'tokenType',
  'createdAt',
  'successorId',
  'formerDigest',
  'formerExpires',
])
const refresh = claimsOf('refresh_token', { ...fields, ...digests }, [
  'refreshDigest',
  'clientKey',
  'userId',
  'authorizationId',
  'scopes',
  'refreshExpires',
  'resources',
  'createdAt',
  'keyThumbprint',
  'isPersonal',
  'isInternal',
  'parentId',
])

type Source = SourceOf<typeof fields>

/** The claims of an access token. */
export const accessClaims = ({
  fields,
  accessDigest,
  successorId,
  formerDigest,
  formerExpires,
}: Omit<RecordOf<typeof digests>, 'refreshDigest'> & { readonly fields: Source }): Claims =>
  access({ ...fields, accessDigest, successorId, formerDigest, formerExpires })

/** The fields of an authorization that limit its tokens. */
export type Granted = Pick<Authorization, 'scopes' | 'resources' | 'createdAt'>

/**
 * The claims of a refresh token.
 * @param granted the fields of the authorization. A refresh may request scopes that the current access token lacks.
 */
export const refreshClaims = (
  refreshDigest: Digest,
  fields: Source,
  { scopes, resources, createdAt }: Granted,
): Claims => refresh({ ...fields, refreshDigest, scopes, resources, createdAt })

/** Each secret is stored twice: as a digest for look-ups, and as a sealed value. */
const row = {
  fields,
  ...digests,
  accessToken: having(sealed(accessClaims, 'token'), isReplaced),
  refreshToken: having(
    nullable(
      sealed(
        ({ refreshDigest, fields, granted }: NewToken & { readonly granted: Granted }) =>
          refreshDigest === null ? undefined : refreshClaims(refreshDigest, fields, granted),
        'token',
      ),
    ),
    isReplaced,
  ),
}

/** The row of a token, as it is inserted. */
export interface NewToken extends RecordOf<typeof digests> {
  readonly fields: Omit<TokenFields, 'id'>
  readonly accessToken: Sealed
  readonly refreshToken: Sealed | null
}

/** The time at which both tokens have expired; null if they never expire. The index of the sweeper needs this column. */
const endsAt = computed(
  nullable(number()),
  ({ fields: { expires, refreshExpires } }: NewToken): number | null =>
    expires === null ? null : Math.max(expires, refreshExpires ?? 0),
)
export const tokenCodec = entity('oauth2server_token', row, {
  computed: { endsAt: having(endsAt, isReplaced) },
  apart: {
    lastUsedAt: nullable(number()),
    lastUsedAddress: nullable(text()),
    /** The scopes that guards required from a personal token. */
    usedScopes: having(text(), { place: 'assigned' }),
  },
})
