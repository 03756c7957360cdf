import { digestOf } from '../../crypto/digest.ts'
import { hasBadChecksum } from '../../crypto/personal-token-value.ts'
import { frozen } from '../../model/entities/entity.ts'
import { accessClaims, refreshClaims } from '../../model/entities/token.ts'
import { type FoundToken, isExpired, Token } from '../../model/token.ts'
import { earliestRowOf, type UserId } from '../../model/user.ts'
import type { StoredToken, TokenWithState } from '../../store/contract/tokens.ts'
import type { RecordsContext } from '../context.ts'
import { refusedRow } from '../seals/refused-row.ts'

/** The value of an access token or of a refresh token. */
export interface TokenQuery {
  readonly accessToken?: string
  readonly refreshToken?: string
}

const isQuery = (by: unknown): by is TokenQuery => {
  if (typeof by !== 'object' || by === null) return false
  const { accessToken, refreshToken }: { accessToken?: unknown; refreshToken?: unknown } = by
  return isTextOrAbsent(accessToken) && isTextOrAbsent(refreshToken)
}

const isTextOrAbsent = (value: unknown): boolean => value === undefined || typeof value === 'string'

/** Does the same as `Tokens.find`. */
export const findToken = async (
  by: TokenQuery,
  context: RecordsContext,
): Promise<FoundToken | undefined> => {
  if (!isQuery(by))
    throw new TypeError('The argument must be { accessToken } or { refreshToken }, each a text.')
  const { accessToken, refreshToken } = by
  if (accessToken !== undefined) return findByAccess(accessToken, context)
  return refreshToken === undefined ? undefined : findByRefresh(refreshToken, context)
}

/** Returns `findToken` for a context. */
export const tokenFinder = (context: RecordsContext) => (by: TokenQuery) => findToken(by, context)

/**
 * Opens the sealed access token of a row; undefined if the row was tampered with. The claims of the seal contain the
 * digest, so the digest of the returned value is the digest of the row.
 */
export const openedAccess = (
  row: StoredToken,
  { keys }: Pick<RecordsContext, 'keys'>,
): string | undefined => keys.open('token', row.accessToken, accessClaims(row))

const findByAccess = async (
  accessToken: string,
  context: RecordsContext,
): Promise<FoundToken | undefined> => {
  const { store, settings, users, intact } = context
  const { tokenPersonalPrefix: prefix } = settings
  if (prefix !== '' && hasBadChecksum(prefix, accessToken)) return undefined
  const row = await store.tokens.findByAccess(digestOf('access_token', accessToken))
  // Search for a replaced access token only if no current access token matches.
  if (!row) return findFormer(accessToken, context)
  const known = intact.tokens.get(row)
  if (known && users.areInStore) return known
  // The digest of the row matches the presented token, so the sealed value must be that token.
  if (!known && openedAccess(row, context) !== accessToken) return refusedToken(row, context)
  const state = stateOf(row, context)
  if (state instanceof Promise) return state.then((now) => now && foundToken(row, now, context))
  const found = foundToken(row, state, context)
  intact.tokens.set(row, found)
  return found
}

/** Finds a token by an access token that a refresh has replaced, and that remains valid for the leeway. */
export const findFormer = async (
  accessToken: string,
  context: RecordsContext,
): Promise<FoundToken | undefined> => {
  const { store, settings } = context
  if (settings.refreshTokenLeeway === 0) return undefined
  const row = await store.tokens.findByFormer(digestOf('access_token', accessToken))
  if (!row) return undefined
  const { fields, formerDigest, formerExpires } = row
  // The seal of the current access token covers the digest and the expiry of the replaced access token.
  if (openedAccess(row, context) === undefined) return refusedToken(row, context)
  const state = await stateOf(row, context)
  if (!state || formerDigest === null || formerExpires === null) return undefined
  const former = { ...row, fields: { ...fields, expires: formerExpires } }
  return foundToken({ ...former, accessDigest: formerDigest }, state, context, { isFormer: true })
}

/** Finds a token by its refresh token. */
export const findByRefresh = async (
  presented: string,
  context: RecordsContext,
): Promise<FoundToken | undefined> => {
  const { store, keys, clock } = context
  const row = await store.tokens.findByRefresh(digestOf('refresh_token', presented))
  if (!row) return undefined
  const { fields, refreshDigest, refreshToken } = row
  if (refreshDigest === null || refreshToken === null) return undefined
  const claims = refreshClaims(refreshDigest, fields, row.authorization)
  if (keys.open('token', refreshToken, claims) !== presented)
    return refusedToken(row, context, refreshToken)
  const state = await stateOf(row, context)
  if (!state) return undefined
  const isAccessIntact =
    !isExpired(fields.expires, clock()) && openedAccess(row, context) !== undefined
  const authorization = frozen(row.authorization)
  return foundToken(row, state, context, { isAccessIntact, authorization })
}

const refusedToken = (
  { fields, accessToken }: TokenWithState,
  context: RecordsContext,
  sealed = accessToken,
): Promise<undefined> => refusedRow('token', sealed, { tokenId: fields.id }, context)

const foundToken = (
  row: TokenWithState,
  { user, client }: State,
  { scopes }: RecordsContext,
  others?: Partial<FoundToken>,
): FoundToken => {
  const { fields, accessDigest, lastUse } = row
  // A refresh may request every scope of the authorization, and checks which scopes the client is still allowed to have.
  const now = others?.authorization ? fields : { ...fields, scopes: scopesNow(row) }
  return frozen({
    token: new Token(now, scopes),
    accessDigest,
    lastUsedAt: lastUse?.at ?? null,
    user,
    client: frozen(client),
    ...others,
  })
}

/** Returns the scopes of a token that the client is still allowed to have. */
const scopesNow = ({ fields: { scopes }, client }: TokenWithState): readonly string[] => {
  const { allowedScopes } = client
  return allowedScopes ? scopes.filter((scope) => allowedScopes.includes(scope)) : scopes
}

type State = Pick<FoundToken, 'user' | 'client'>

/**
 * Returns the current user of a token, and the state of its client and of the owner of that client. Returns undefined if
 * the row of the user or of the client was tampered with.
 */
export const stateOf = (
  row: TokenWithState,
  context: RecordsContext,
): State | Promise<State | undefined> => {
  const { user, client } = row
  const { intact, users } = context
  if (!intact.isClient(client)) {
    const { clientId, stateSeal } = client
    return refusedRow('client', stateSeal, { clientId }, context)
  }
  if (!users.areInStore) return foundState(row, context)
  if (user === null) return { user, client }
  const found = users.current(user.id, user, context)
  if (found instanceof Promise) return found.then(() => undefined)
  return { user: found, client }
}

/** Asks the application for the user of a token and the owner of its client. */
const foundState = async (
  { fields: { userId, createdAt }, client }: TokenWithState,
  context: RecordsContext,
): Promise<State> => {
  const { userId: ownerId } = client
  const userOf = async (id: UserId | null) =>
    id === null ? null : context.users.current(id, null, context)
  const user = await userOf(userId)
  const owner = ownerId === userId ? user : await userOf(ownerId)
  const isOwn = owner?.active === true && client.createdAt >= earliestRowOf(owner)
  return {
    user: user && createdAt >= earliestRowOf(user) ? user : null,
    client: { ...client, ownerActive: ownerId === null || isOwn },
  }
}
