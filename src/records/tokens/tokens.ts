import { type Digest, digestOf } from '../../crypto/digest.ts'
import { hasBadChecksum } from '../../crypto/personal-token-value.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import type {
  ClientRedemption,
  NarrowingRedemption,
  Redemption,
  RefreshRedemption,
  UserRedemption,
} from '../../model/redemption.ts'
import { isWithin } from '../../model/scope.ts'
import { type FoundToken, type IssuedToken, Token, type TokenFields } from '../../model/token.ts'
import type { UserId } from '../../model/user.ts'
import { storedUserAgent } from '../../model/user-agent.ts'
import {
  ReferenceNotFound,
  StoreUnavailable,
  UniqueViolation,
} from '../../store/contract/errors.ts'
import type { RefreshTokenWithState, TokenWithState } from '../../store/contract/tokens.ts'
import type { Store } from '../../store/store.ts'
import { type About, nameOfClient, ofAuthorization, ofToken } from '../audit/audit-trail.ts'
import { type RecordsContext, retryOnCollision } from '../context.ts'
import { accessClaims, refreshClaims } from '../seals/claims.ts'
import { Users } from '../users/users.ts'
import { endAccessToken, endRotated } from './end-tokens.ts'
import { type PersonalToken, type PersonalTokenOptions, PersonalTokens } from './personal-tokens.ts'
import { redeemRefreshToken } from './refresh-rotation.ts'
import { endOfRefresh, newSecrets, save, sealedToken, unopened } from './token-row.ts'

/** Issues, finds and ends tokens: the only code that mints. */
export class Tokens {
  readonly #context: RecordsContext
  readonly #users: Users
  /** What was found in a row: the store gives the very same one again as long as nothing in it has changed. */
  readonly #known = new WeakMap<TokenWithState, FoundToken>()

  constructor(context: RecordsContext) {
    this.#context = context
    this.#users = new Users(context)
  }

  /**
   * Turns what a grant found into tokens.
   * @param grant the name of that grant, for the record of what was issued
   * @throws OAuthError `invalid_grant` where a code or refresh token turns out to be used
   */
  async issue(redemption: Redemption, grant?: string): Promise<IssuedToken> {
    if (redemption.type === 'refresh') return redeemRefreshToken(redemption, this.#context)
    if (redemption.type === 'user') return this.#issueForUser(redemption, grant)
    const issued = await (redemption.type === 'narrowing'
      ? this.#narrow(redemption)
      : this.#issueForClient(redemption))
    const { audit, store } = this.#context
    await audit.addRoutine(store, 'token.issued', issuedFor(redemption, issued.token, grant))
    return issued
  }

  /**
   * Creates a personal access token: a client of that name behind it, and a token that does not expire.
   * @throws InvalidField, ScopeDoesNotExists: nothing was written
   */
  createPersonal(
    name: string,
    userId: UserId,
    options?: PersonalTokenOptions,
  ): Promise<PersonalToken> {
    return new PersonalTokens(this.#context).create(name, userId, options)
  }

  /** The token of an access token, or of a refresh token where that is absent. Finds personal tokens too. */
  async find({
    accessToken,
    refreshToken,
  }: {
    readonly accessToken?: string
    readonly refreshToken?: string
  }): Promise<FoundToken | undefined> {
    const { store, settings } = this.#context
    if (accessToken !== undefined) {
      if (hasBadChecksum(settings.tokenPersonalPrefix, accessToken)) return undefined
      const row = await store.tokens.findByAccess(digestOf('access_token', accessToken))
      return row && this.#opened(row, accessToken)
    }
    if (refreshToken === undefined) return undefined
    const row = await store.tokens.findByRefresh(digestOf('refresh_token', refreshToken))
    return row && this.#openedRefresh(row, refreshToken)
  }

  /** The ids of a user's personal tokens of that name. */
  personalNamed(userId: UserId, name: string): Promise<readonly number[]> {
    return this.#context.store.tokens.personalNamed(userId, name.normalize('NFC').trim())
  }

  /** The record of a token by its id, for those who manage tokens: it proves nothing. */
  async get(id: number): Promise<Token | undefined> {
    const row = await this.#context.store.tokens.find(id)
    return row && new Token(row.fields, this.#context.scopes)
  }

  /**
   * Ends a token: a personal one with the client behind it, any other with its whole authorization.
   * @param as what it is recorded as, where that does not follow from the token
   */
  async revoke(token: RevocableToken, as?: 'token.revoked' | 'token.deleted'): Promise<boolean> {
    const { store, turns, audit, removed } = this.#context
    const name = await nameOfClient(token.clientId, store)
    const isOwn = token.isPersonal && token.parentId === null
    const isEnded = await turns.transaction(store, `token ${token.id}`, async (tx) => {
      if (!(await this.#end(token, tx))) return false
      const event = as ?? (isOwn ? 'personal_token.deleted' : 'token.revoked')
      const { isInternal: isRoutine } = token
      await audit.add(tx, event, { ...ofToken(token, name), isRoutine, details: {} })
      return true
    })
    if (isEnded && isOwn) await removed({ kind: 'client', key: token.clientKey })
    return isEnded
  }

  async #end(token: RevocableToken, tx: Store): Promise<boolean> {
    if (token.parentId !== null) return tx.tokens.delete(token.id)
    if (token.isPersonal) return tx.clients.delete(token.clientId, this.#context.clock())
    if (token.authorizationId === null) return tx.tokens.delete(token.id)
    return tx.authorizations.revoke(token.authorizationId, this.#context.clock())
  }

  /**
   * Ends an access token alone: the refresh token beside it goes on. False where it is not the current one any more.
   */
  revokeAccess(found: FoundToken, accessToken: string): Promise<boolean> {
    return endAccessToken(found, accessToken, this.#context)
  }

  /** Ends the authorization of a refresh token that was rotated already, if it is this client's. */
  revokeRotated(refreshToken: string, clientId: string): Promise<boolean> {
    return endRotated(refreshToken, clientId, this.#context)
  }

  #issueForClient(redemption: ClientRedemption): Promise<IssuedToken> {
    const { subject } = redemption
    const fields = this.#newFields(redemption, subject?.id ?? null)
    return retryOnCollision(() =>
      save(this.#context, redemption, newSecrets(this.#context, fields), async (data) => {
        const id = await this.#context.store.tokens.insert(sealedToken(this.#context, data))
        if (id === undefined) throw new UniqueViolation()
        this.#context.bounds.issued(data.fields)
        return id
      }),
    )
  }

  async #issueForUser(redemption: UserRedemption, grant?: string): Promise<IssuedToken> {
    const { client, subject, code } = redemption
    const refreshable = redemption.refreshable && client.allowedGrantTypes.includes('refresh_token')
    const fields = this.#newFields(redemption, subject.id)
    const { grantedResources: resources = fields.resources } = redemption
    const refreshExpires = refreshable ? endOfRefresh(this.#context, fields.createdAt) : null
    const { store, turns } = this.#context
    // The consent is locked, so that it is not withdrawn meanwhile.
    const row = `consent ${subject.id} ${client.clientId}`
    const codeDigest = code ? digestOf(code.kind, code.value) : null
    // The tombstone has to outlive the code, however short its tokens live.
    const codeEnds =
      code?.keptUntil ?? fields.createdAt + this.#context.settings.authorizationCodeExpiresIn * 1000
    let isNearLimit = false
    try {
      const issued = await retryOnCollision(() =>
        save(
          this.#context,
          redemption,
          newSecrets(this.#context, { ...fields, refreshExpires }),
          (data) =>
            turns.transaction(store, row, async (tx) => {
              const authorizationId = await tx.authorizations.insertOnce({
                clientKey: client.clientKey,
                userId: subject.id,
                scopes: data.fields.scopes,
                resources,
                codeDigest,
                code: code?.binding ?? null,
                userAgent: storedUserAgent(redemption.under?.userAgent ?? ''),
                createdAt: fields.createdAt,
                expiresAt: Math.max(data.fields.expires ?? 0, refreshExpires ?? 0, codeEnds),
              })
              if (authorizationId === undefined) throw new CodeWasRedeemed()
              await this.#mustStillHold(redemption, tx)
              const { createdAt } = fields
              const granted = { scopes: data.fields.scopes, resources, createdAt }
              const issued = { ...data, granted, fields: { ...data.fields, authorizationId } }
              const id = await tx.tokens.insert(sealedToken(this.#context, issued))
              if (id === undefined) throw new UniqueViolation()
              const made = { ...issued.fields, id }
              const about = issuedFor(redemption, made, grant)
              await this.#context.audit.add(tx, 'token.issued', about)
              isNearLimit = await this.#endOldest(redemption, tx)
              return { id, authorizationId }
            }),
        ),
      )
      if (isNearLimit) await this.#endOldestOfAll(redemption)
      return issued
    } catch (error) {
      if (error instanceof CodeWasRedeemed && code)
        throw await this.revokeReusedCode(code.kind, code.value)
      throw error
    }
  }

  async #narrow(redemption: NarrowingRedemption): Promise<IssuedToken> {
    const { parent, expiresIn } = redemption
    const { id, clientId, userId, expires, isPersonal, isInternal } = parent.token
    const made = this.#newFields(redemption, userId)
    const ends = made.createdAt + expiresIn * 1000
    const fields: Omit<TokenFields, 'id'> = {
      ...made,
      isPersonal,
      isInternal,
      parentId: id,
      expires: expires === null ? ends : Math.min(ends, expires),
    }
    checkNarrowing(fields, parent.token)
    return retryOnCollision(() =>
      save(this.#context, redemption, newSecrets(this.#context, fields), async (data) => {
        const { store, turns } = this.#context
        // The parent must still exist unchanged when the child is inserted.
        const made = await turns.transaction(store, `client ${clientId}`, async (tx) => {
          // Lock the client first, as deleting or changing the parent does.
          await tx.clients.find(clientId)
          const row = await tx.tokens.hold(id)
          const isAsItWas =
            row?.accessDigest === parent.accessDigest &&
            row.fields.expires === expires &&
            isWithin(data.fields.scopes, row.fields.scopes)
          if (!isAsItWas)
            throw new OAuthError('invalid_request', 'The subject token is not valid any more.')
          return tx.tokens.insert(sealedToken(this.#context, data))
        })
        if (made === undefined) throw new UniqueViolation()
        this.#context.bounds.narrowed(id)
        return made
      }),
    )
  }

  // Consent and session were there when the request was judged; this is the last moment to withdraw them.
  async #mustStillHold(
    { client, subject, under, scopes }: UserRedemption,
    tx: Store,
  ): Promise<void> {
    if (!under) return
    // Shared: exchanges for one user must not wait for each other, least of all for those of a node that was cut off.
    const consent = await tx.consents.find(subject.id, client.clientId, { isShared: true })
    const session =
      under.sessionId === null || (await tx.sessions.find(under.sessionId as Digest)) !== undefined
    const isGranted =
      consent?.consent.clientKey === client.clientKey && isWithin(scopes, consent.consent.scopes)
    if (consent?.consent.id !== under.consentId || !isGranted || !session)
      throw new ReferenceNotFound('The consent was withdrawn, or the session ended.')
  }

  /**
   * Ends the oldest authorizations where the user has given the application more than it may have.
   * @returns whether exchanges at the same moment, which do not see each other, may have gone beyond the limit
   */
  async #endOldest({ client, subject }: UserRedemption, tx: Store): Promise<boolean> {
    const { clock, settings, audit } = this.#context
    const { clientId, name } = client
    const most = settings.authorizationsPerApplication
    const near = Math.min(most, concurrentExchanges)
    const found = await tx.authorizations.beyond(subject.id, clientId, most - near)
    for (const authorizationId of found.slice(near)) {
      if (!(await tx.authorizations.revoke(authorizationId, clock()))) continue
      const about = { userId: subject.id, clientId, authorizationId, subject: name, details: {} }
      await audit.add(tx, 'token.revoked', about)
    }
    return found.length > 0
  }

  // The last of the concurrent exchanges to commit sees all others, so no exchange has to wait for another.
  async #endOldestOfAll(redemption: UserRedemption): Promise<void> {
    try {
      await this.#context.store.transaction((tx) => this.#endOldest(redemption, tx))
    } catch (error) {
      // The token is issued already; the next exchange ends what is too many.
      if (!(error instanceof StoreUnavailable)) throw error
    }
  }

  /**
   * Revokes the tokens of a code that is presented again with full proof: one of the two callers stole it
   * (RFC 6749 §4.1.2).
   * @returns the refusal to answer
   */
  async revokeReusedCode(
    kind: 'authorization_code' | 'device_code',
    code: string,
  ): Promise<OAuthError> {
    const { store, clock, log, audit } = this.#context
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
        message: 'A code was redeemed twice; what was issued from it is revoked.',
        authorizationId: authorization.id,
        clientId: authorization.clientId,
      })
    }
    return new OAuthError('invalid_grant', `The ${kind.replace('_', ' ')} is not valid.`)
  }

  #newFields(
    {
      client,
      scopes,
      resources = [],
      keyThumbprint: bound,
    }: Exclude<Redemption, RefreshRedemption>,
    userId: UserId | null,
  ): Omit<TokenFields, 'id'> {
    const { settings, clock } = this.#context
    const now = clock()
    const keyThumbprint = bound ?? null
    return {
      clientId: client.clientId,
      clientKey: client.clientKey,
      userId,
      authorizationId: null,
      tokenType: keyThumbprint === null ? 'bearer' : 'dpop',
      expires: now + settings.tokenExpiresIn * 1000,
      refreshExpires: null,
      scopes,
      isPersonal: false,
      isInternal: false,
      createdAt: now,
      resources,
      keyThumbprint,
      parentId: null,
    }
  }

  #opened(
    row: TokenWithState,
    accessToken: string,
  ): FoundToken | undefined | Promise<FoundToken | undefined> {
    const { keys, hostUsers } = this.#context
    const known = this.#known.get(row)
    if (known && !hostUsers) return known
    // The digest of the row matches the presented token, so the sealed value must be that token.
    const claims = accessClaims(row.accessDigest, row.fields, row.successorId)
    if (!known && keys.open('token', row.accessToken, claims) !== accessToken)
      return unopened(row, row.accessToken, this.#context)
    const state = hostUsers ? undefined : this.#users.joinedState(row)
    if (!state) return this.#users.stateOf(row).then((now) => now && this.#found(row, now))
    const found = this.#found(row, state)
    this.#known.set(row, found)
    return found
  }

  #found(row: TokenWithState, { user, client }: Pick<FoundToken, 'user' | 'client'>): FoundToken {
    const { fields, accessDigest, lastUse } = row
    return {
      token: new Token({ ...fields, scopes: scopesNow(row) }, this.#context.scopes),
      accessDigest,
      lastUsedAt: lastUse?.at ?? null,
      user,
      client,
    }
  }

  async #openedRefresh(
    row: RefreshTokenWithState,
    refreshToken: string,
  ): Promise<FoundToken | undefined> {
    const { keys, scopes } = this.#context
    const { fields, authorization } = row
    if (row.refreshDigest === null || row.refreshToken === null) return undefined
    const claims = refreshClaims(row.refreshDigest, fields, authorization)
    if (keys.open('token', row.refreshToken, claims) !== refreshToken)
      return unopened(row, row.refreshToken, this.#context)
    const state = await this.#users.stateOf(row)
    return (
      state && {
        token: new Token(fields, scopes),
        accessDigest: row.accessDigest,
        lastUsedAt: row.lastUse?.at ?? null,
        ...state,
        authorization,
      }
    )
  }
}

/** What has to be known of a token to end it. */
type RevocableToken = Pick<
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

/** How close to the limit exchanges at the same moment are counted once more. */
const concurrentExchanges = 16

const issuedFor = (
  redemption: Exclude<Redemption, RefreshRedemption>,
  token: Pick<TokenFields, 'id' | 'clientId' | 'userId' | 'authorizationId' | 'scopes'>,
  grant: string | undefined,
): About<'token.issued'> => {
  const subject = redemption.type === 'narrowing' ? redemption.parent.user : redemption.subject
  return {
    ...ofToken(token, redemption.client.name),
    userEmail: subject?.email ?? null,
    details: { grant, scopes: token.scopes },
  }
}

/** A child may do no more than its parent, whatever a grant or an extension made of the request. */
const checkNarrowing = (child: Omit<TokenFields, 'id'>, parent: Token): void => {
  const { scopes, resources, keyThumbprint } = parent
  if (!isWithin(child.scopes, scopes))
    throw new OAuthError('invalid_scope', 'The scope is more than that of the subject token.')
  const isForLess =
    resources.length === 0 || (child.resources.length > 0 && isWithin(child.resources, resources))
  if (!isForLess)
    throw new OAuthError('invalid_target', 'The subject token is not for that resource.')
  // Without the key, or with another one, it is not its holder who asks (RFC 9449 §6.1).
  if (keyThumbprint !== null && child.keyThumbprint !== keyThumbprint)
    throw new OAuthError('invalid_request', 'The subject token is bound to another key.')
}

/** Somebody was faster: the insert that decides has been won already. */
class CodeWasRedeemed extends Error {}

/** What a client lost since counts from the next request on. */
const scopesNow = ({ fields: { scopes }, client }: TokenWithState): readonly string[] => {
  const { allowedScopes } = client
  return allowedScopes ? scopes.filter((scope) => allowedScopes.includes(scope)) : scopes
}
