import { digestOf } from '../../crypto/digest.ts'
import { bits256, randomString } from '../../crypto/random.ts'
import {
  accessClaims,
  blankToken,
  type NewToken,
  refreshClaims,
  type TokenFields,
} from '../../model/entities/token.ts'
import type { Redemption, RefreshRedemption } from '../../model/redemption.ts'
import type { TokenData } from '../../model/save-token.ts'
import { isWithin, type ScopeRegistry } from '../../model/scope.ts'
import { sectorOf, sectorSince } from '../../model/sector.ts'
import { type IssuedToken, Token, type TokenSubject } from '../../model/token.ts'
import type { UserId } from '../../model/user.ts'
import { type About, type AboutToken, ofToken } from '../audit/audit-trail.ts'
import type { RecordsContext } from '../context.ts'

/**
 * Returns the fields of a new bearer or DPoP token without an authorization.
 * @throws ScopeDoesNotExists, OAuthError `invalid_scope`
 */
export const newTokenFields = (
  { settings, clock, scopes }: RecordsContext,
  redemption: Exclude<Redemption, RefreshRedemption>,
  userId: UserId | null,
): Omit<TokenFields, 'id'> => {
  const { client, resources = [], keyThumbprint: bound, loginDigest = null } = redemption
  const now = clock()
  const keyThumbprint = bound ?? null
  return {
    ...blankToken,
    clientId: client.clientId,
    clientKey: client.clientKey,
    userId,
    tokenType: keyThumbprint === null ? 'bearer' : 'dpop',
    expires: now + settings.tokenExpiresIn * 1000,
    scopes: checkedScopes(redemption, scopes),
    createdAt: now,
    resources,
    keyThumbprint,
    sector: sectorIn(redemption),
    loginDigest,
  }
}

const sectorIn = (redemption: Exclude<Redemption, RefreshRedemption>): string | null => {
  if (redemption.type !== 'user') return sectorOf(redemption.client)
  const { client, receivedAt, reusedSince = null } = redemption
  return sectorSince(sectorOf(client, receivedAt), reusedSince)
}

// A child of a personal token may have an internal scope of its parent.
const checkedScopes = (
  { type, scopes }: Exclude<Redemption, RefreshRedemption>,
  registry: ScopeRegistry,
): readonly string[] =>
  type === 'narrowing' ? registry.validated(scopes) : registry.issuable(scopes)

/** Creates the secrets of a token record. Creates a refresh token only if `refreshExpires` is set. */
export const newSecrets = (
  { random }: RecordsContext,
  fields: Omit<TokenFields, 'id'>,
): TokenData => ({
  fields,
  accessToken: randomString(bits256, random),
  refreshToken: fields.refreshExpires === null ? null : randomString(bits256, random),
})

/** Saves a token. If the application passed `saveToken`, calls `saveToken` with a function that saves the token. */
export const save = async (
  context: RecordsContext,
  request: Redemption,
  drawn: TokenData,
  persist: (data: TokenData) => Promise<number | Pick<TokenFields, 'id' | 'authorizationId'>>,
): Promise<IssuedToken> => {
  const { saveToken, scopes } = context
  const data = context.mint ? await minted(drawn, context) : drawn
  let { accessToken } = data
  const write = async (changed?: TokenData): Promise<Token> => {
    const row = changed ? await mintedAnew(data, restricted(data, changed), context) : data
    accessToken = row.accessToken
    const made = await persist(row)
    return new Token({ ...row.fields, ...(typeof made === 'number' ? { id: made } : made) }, scopes)
  }
  // The application may call `next` several times, but the token is saved only once.
  let saved: Promise<Token> | undefined
  const next = (changed?: TokenData): Promise<Token> => {
    saved ??= write(changed)
    return saved
  }
  const token = saveToken ? await saveToken(data, request, next) : await next()
  const { createdAt } = data.fields
  const expiresIn =
    token.expires === null ? null : Math.max(0, Math.ceil((token.expires - createdAt) / 1000))
  const { refreshToken } = data
  return { token, subject: subjectOf(request), accessToken, refreshToken, expiresIn }
}

// A token without an expiry is never a JWT, because a server that verifies JWTs with the published keys would accept a
// revoked token forever.
const minted = async (data: TokenData, { mint, store }: RecordsContext): Promise<TokenData> =>
  mint && data.fields.expires !== null
    ? { ...data, accessToken: await mint(data.fields, store) }
    : data

// If the application changed the fields, mint the JWT again, because the claims of the JWT must match the saved row.
const mintedAnew = async (
  before: TokenData,
  data: TokenData,
  context: RecordsContext,
): Promise<TokenData> => {
  const { scopes, expires } = before.fields
  const isSame =
    expires === data.fields.expires &&
    scopes.length === data.fields.scopes.length &&
    isWithin(scopes, data.fields.scopes)
  return isSame ? data : minted(data, context)
}

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
  const earlier =
    expires === null || fields.expires === null
      ? (fields.expires ?? expires)
      : Math.min(expires, fields.expires)
  const distinct = [...new Set(fields.scopes)]
  return { ...data, fields: { ...data.fields, scopes: distinct, expires: earlier } }
}

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

/** The fields by which a row refers to the successor or the predecessor of its access token. */
type OtherValue = Partial<Pick<NewToken, 'successorId' | 'formerDigest' | 'formerExpires'>>

/**
 * Creates the row of a token. The row contains the digest of each secret, and the secret sealed with the claims of the
 * row.
 */
export const sealedToken = (
  { keys }: RecordsContext,
  data: TokenData,
  { successorId = null, formerDigest = null, formerExpires = null }: OtherValue = {},
): NewToken => {
  const { fields, granted = fields } = data
  const accessDigest = digestOf('access_token', data.accessToken)
  const row = { fields, accessDigest, successorId, formerDigest, formerExpires }
  const accessToken = keys.seal('token', data.accessToken, accessClaims(row))
  if (data.refreshToken === null)
    return { ...row, accessToken, refreshDigest: null, refreshToken: null }
  const refreshDigest = digestOf('refresh_token', data.refreshToken)
  const refreshToken = keys.seal(
    'token',
    data.refreshToken,
    refreshClaims(refreshDigest, fields, granted),
  )
  return { ...row, accessToken, refreshDigest, refreshToken }
}

/** Returns the fields of the audit event `token.issued`. */
export const issuedFor = (
  redemption: Exclude<Redemption, RefreshRedemption>,
  token: AboutToken & Pick<TokenFields, 'scopes'>,
  grant: string | undefined,
): About<'token.issued'> => {
  const subject = redemption.type === 'narrowing' ? redemption.parent.user : redemption.subject
  return {
    ...ofToken(token, redemption.client.name),
    userEmail: subject?.email ?? null,
    details: { grant, scopes: token.scopes },
  }
}
