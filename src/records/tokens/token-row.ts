import { digestOf } from '../../crypto/digest.ts'
import { bits256, randomString } from '../../crypto/random.ts'
import {
  accessClaims,
  blankToken,
  type NewToken,
  refreshClaims,
  type TokenFields,
} from '../../model/entities/token.ts'
import type { Redemption, RefreshRedemption, ReservedIds } from '../../model/redemption.ts'
import type { TokenData } from '../../model/save-token.ts'
import { isWithin } from '../../model/scope.ts'
import { sectorOf, sectorSince } from '../../model/sector.ts'
import { type IssuedToken, Token, type TokenSubject } from '../../model/token.ts'
import type { UserId } from '../../model/user.ts'
import { UniqueViolation } from '../../store/contract/errors.ts'
import { type About, type AboutToken, ofToken } from '../audit/audit-trail.ts'
import { type RecordsContext, retryOnCollision } from '../context.ts'

/** A redemption that issues the first token, with all fields of the token. */
type FirstRedemption = Exclude<Redemption, RefreshRedemption>

/**
 * Returns the fields of a new bearer or DPoP token without an authorization.
 * @throws ScopeDoesNotExists, OAuthError `invalid_scope`
 */
export const newTokenFields = (
  context: RecordsContext,
  redemption: FirstRedemption,
  userId: UserId | null,
): NewToken['fields'] => {
  const { type, client, scopes, resources = [], loginDigest = null } = redemption
  return {
    ...blankToken,
    ...issuedNow(redemption, context),
    clientId: client.clientId,
    clientKey: client.clientKey,
    userId,
    // A child of a personal token may have an internal scope of its parent.
    scopes:
      type === 'narrowing' ? context.scopes.validated(scopes) : context.scopes.issuable(scopes),
    resources,
    sector:
      type === 'user'
        ? sectorSince(sectorOf(client, redemption.receivedAt), redemption.reusedSince ?? null)
        : sectorOf(client),
    loginDigest,
  }
}

/** Returns the fields of a new access token that depend on the time and on the key of the request. */
export const issuedNow = (
  { keyThumbprint = null }: { readonly keyThumbprint?: string | null },
  { settings, clock }: RecordsContext,
): Pick<TokenFields, 'tokenType' | 'keyThumbprint' | 'createdAt' | 'expires'> => {
  const createdAt = clock()
  const expires = createdAt + settings.tokenExpiresIn * 1000
  const tokenType = keyThumbprint === null ? 'bearer' : 'dpop'
  return { tokenType, keyThumbprint, createdAt, expires }
}

/** A token to save. The missing secrets are drawn; a refresh token only if `refreshExpires` is set. */
type GivenToken = Pick<TokenData, 'fields'> & Partial<TokenData>

/**
 * Saves a token. If the application passed `saveToken`, calls `saveToken` with a function that saves the token.
 * @param persist returns the ID. If it returns undefined or throws `UniqueViolation`, a secret is taken, and the save is
 * repeated with other secrets.
 */
export const save = (
  context: RecordsContext,
  request: Redemption,
  given: GivenToken,
  persist: (data: TokenData) => Promise<number | ReservedIds | undefined>,
): Promise<IssuedToken> =>
  retryOnCollision(async () => {
    const { saveToken, scopes } = context
    const drawn = withSecrets(given, context)
    const data = context.mint ? await minted(drawn, context) : drawn
    let { accessToken } = data
    const write = async (changed?: TokenData): Promise<Token> => {
      const row = changed ? await mintedAnew(data, restricted(data, changed), context) : data
      accessToken = row.accessToken
      const made = await persist(row)
      if (made === undefined) throw new UniqueViolation()
      const { tokenId: id, authorizationId = row.fields.authorizationId } =
        typeof made === 'number' ? { tokenId: made } : made
      return new Token({ ...row.fields, id, authorizationId }, scopes)
    }
    // The application may call `next` several times, but the token is saved only once.
    let saved: Promise<Token> | undefined
    const next = (changed?: TokenData): Promise<Token> => {
      saved ??= write(changed)
      return saved
    }
    const token = saveToken ? await saveToken(data, request, next) : await next()
    const { refreshToken, fields } = data
    const expiresIn = secondsUntil(token.expires, fields.createdAt)
    return { token, subject: subjectOf(request), accessToken, refreshToken, expiresIn }
  })

const withSecrets = (given: GivenToken, { random }: RecordsContext): TokenData => ({
  accessToken: randomString(bits256, random),
  refreshToken: given.fields.refreshExpires === null ? null : randomString(bits256, random),
  ...given,
})

/** Returns the seconds until a token expires, for `expires_in`; null: the token does not expire. */
export const secondsUntil = (expires: number | null, now: number): number | null =>
  expires === null ? null : Math.max(0, Math.ceil((expires - now) / 1000))

// A token without an expiry is never a JWT, because a server that verifies JWTs with the published keys would accept a
// revoked token forever.
const minted = async (data: TokenData, { mint, store }: RecordsContext): Promise<TokenData> =>
  mint && data.fields.expires !== null
    ? { ...data, accessToken: await mint(data.fields, store) }
    : data

// If the application changed the fields, mint the JWT again, because the claims of the JWT must match the saved row.
const mintedAnew = async (
  { fields: { scopes, expires } }: TokenData,
  data: TokenData,
  context: RecordsContext,
): Promise<TokenData> =>
  expires === data.fields.expires && isSameSet(scopes, data.fields.scopes)
    ? data
    : minted(data, context)

/** Returns whether two lists contain the same values, in any order. */
export const isSameSet = (one: readonly string[], other: readonly string[]): boolean =>
  isWithin(one, other) && isWithin(other, one)

const subjectOf = (request: Redemption): TokenSubject | null => {
  if (request.type === 'refresh') return request.current?.found.user ?? null
  return request.type === 'narrowing' ? request.parent.user : request.subject
}

// The application may remove scopes and shorten the lifetime, but not add scopes or extend the lifetime.
const restricted = (data: TokenData, { fields }: TokenData): TokenData => {
  const { scopes, expires } = data.fields
  if (!isWithin(fields.scopes, scopes)) throw new Error('saveToken must not add scopes.')
  if (fields.expires !== null && !Number.isSafeInteger(fields.expires))
    throw new TypeError('saveToken must return expires in milliseconds since the epoch.')
  const distinct = [...new Set(fields.scopes)]
  const expiry = earlier(expires, fields.expires)
  return { ...data, fields: { ...data.fields, scopes: distinct, expires: expiry } }
}

/** Returns the earlier of two times or the shorter of two durations. Null is later than any time. */
export const earlier = (one: number | null, other: number | null): number | null =>
  one === null || other === null ? (one ?? other) : Math.min(one, other)

/**
 * Returns the expiry of a new refresh token. Each refresh restarts the lifetime, but the setting
 * `authorizationExpiresIn` limits the total time.
 */
export const endOfRefresh = (
  { settings: { refreshTokenExpiresIn, authorizationExpiresIn } }: RecordsContext,
  now: number,
  authorizedAt = now,
): number => {
  const own = now + refreshTokenExpiresIn * 1000
  return authorizationExpiresIn === 0
    ? own
    : Math.min(own, authorizedAt + authorizationExpiresIn * 1000)
}

/**
 * Creates the row of a token. The row contains the digest of each secret, and the secret sealed with the claims of the
 * row.
 * @param other the successor or the predecessor of the access token
 */
export const sealedToken = (
  { keys }: RecordsContext,
  {
    fields,
    accessToken,
    refreshToken = null,
    granted = fields,
  }: GivenToken & { accessToken: string },
  other: Partial<Pick<NewToken, 'successorId' | 'formerDigest' | 'formerExpires'>> = {},
): NewToken => {
  const { successorId = null, formerDigest = null, formerExpires = null } = other
  const accessDigest = digestOf('access_token', accessToken)
  const refreshDigest = refreshToken === null ? null : digestOf('refresh_token', refreshToken)
  const row = { fields, accessDigest, refreshDigest, successorId, formerDigest, formerExpires }
  return {
    ...row,
    accessToken: keys.seal('token', accessToken, accessClaims(row)),
    refreshToken:
      refreshToken === null || refreshDigest === null
        ? null
        : keys.seal('token', refreshToken, refreshClaims(refreshDigest, fields, granted)),
  }
}

/** Returns the fields of the audit event `token.issued`. */
export const issuedFor = (
  redemption: FirstRedemption,
  token: AboutToken & Pick<TokenFields, 'scopes'>,
  grant: string | undefined,
): About<'token.issued'> => ({
  ...ofToken(token, redemption.client.name),
  userEmail: subjectOf(redemption)?.email ?? null,
  details: { grant, scopes: token.scopes },
})
