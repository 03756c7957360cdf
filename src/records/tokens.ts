import { type Digest, digestOf } from '../crypto/digest.ts'
import { isMisspelt } from '../crypto/personal-token-value.ts'
import type { ClientRedemption, Redemption, UserRedemption } from '../model/redemption.ts'
import { isWithin } from '../model/scope.ts'
import { type FoundToken, type IssuedToken, Token, type TokenFields } from '../model/token.ts'
import type { UserId } from '../model/user.ts'
import { OAuthError } from '../oauth-error.ts'
import {
  type RefreshTokenWithState,
  type Store,
  TakenValue,
  type TokenWithState,
  Vanished,
} from '../store/store.ts'
import { accessClaims, refreshClaims } from './claims.ts'
import { type RecordsContext, untilUnique } from './context.ts'
import { type PersonalToken, type PersonalTokenOptions, PersonalTokens } from './personal-tokens.ts'
import { redeemRefreshToken } from './refresh-rotation.ts'
import { endOfRefresh, newSecrets, save, sealedToken } from './token-row.ts'
import { Users } from './users.ts'

/** Issues, finds and ends tokens: the only code that mints. */
export class Tokens {
  readonly #context: RecordsContext
  readonly #users: Users

  constructor(context: RecordsContext) {
    this.#context = context
    this.#users = new Users(context)
  }

  /**
   * Turns what a grant found into tokens.
   * @throws OAuthError `invalid_grant` where a code or refresh token turns out to be used
   */
  issue(redemption: Redemption): Promise<IssuedToken> {
    if (redemption.type === 'refresh') return redeemRefreshToken(redemption, this.#context)
    return redemption.type === 'user'
      ? this.#issueForUser(redemption)
      : this.#issueForClient(redemption)
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
      if (isMisspelt(settings.tokenPersonalPrefix, accessToken)) return undefined
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

  /** Ends a token: a personal one with the client behind it, any other with its whole authorization. */
  async revoke(
    token: Pick<Token, 'id' | 'clientId' | 'isPersonal' | 'authorizationId'>,
  ): Promise<boolean> {
    const { store, clock } = this.#context
    if (token.isPersonal) return store.clients.delete(token.clientId)
    if (token.authorizationId === null) return store.tokens.delete(token.id)
    const { authorizationId } = token
    return store.transaction((tx) => tx.authorizations.revoke(authorizationId, clock()))
  }

  #issueForClient(redemption: ClientRedemption): Promise<IssuedToken> {
    const { client, subject, scopes } = redemption
    const fields = this.#newFields(client.clientId, subject?.id ?? null, scopes)
    return untilUnique(() =>
      save(this.#context, redemption, newSecrets(this.#context, fields), async (data) => {
        const id = await this.#context.store.tokens.insert(sealedToken(this.#context, data))
        if (id === undefined) throw new TakenValue()
        return id
      }),
    )
  }

  async #issueForUser(redemption: UserRedemption): Promise<IssuedToken> {
    const { client, subject, scopes, code } = redemption
    const refreshable = redemption.refreshable && client.allowedGrantTypes.includes('refresh_token')
    const fields = this.#newFields(client.clientId, subject.id, scopes)
    const refreshExpires = refreshable ? endOfRefresh(this.#context, fields.createdAt) : null
    const codeDigest = code ? digestOf('authorization_code', code.value) : null
    // The tombstone has to outlive the code, however short its tokens live.
    const codeEnds = fields.createdAt + this.#context.settings.authorizationCodeExpiresIn * 1000
    try {
      return await untilUnique(() =>
        save(
          this.#context,
          redemption,
          newSecrets(this.#context, { ...fields, refreshExpires }),
          (data) =>
            this.#context.store.transaction(async (tx) => {
              const authorizationId = await tx.authorizations.insertOnce({
                clientId: client.clientId,
                userId: subject.id,
                scopes: data.fields.scopes,
                codeDigest,
                code: code?.binding ?? null,
                userAgent: redemption.under?.userAgent.slice(0, longestUserAgent) ?? '',
                createdAt: fields.createdAt,
                expiresAt: Math.max(data.fields.expires ?? 0, refreshExpires ?? 0, codeEnds),
              })
              if (authorizationId === undefined) throw new CodeWasRedeemed()
              await this.#mustStillHold(redemption, tx)
              const row = { ...data, fields: { ...data.fields, authorizationId } }
              const id = await tx.tokens.insert(sealedToken(this.#context, row))
              if (id === undefined) throw new TakenValue()
              return { id, authorizationId }
            }),
        ),
      )
    } catch (error) {
      if (error instanceof CodeWasRedeemed && code) throw await this.revokeReusedCode(code.value)
      throw error
    }
  }

  // Consent and session were there when the request was judged; this is the last moment to withdraw them.
  async #mustStillHold(
    { client, subject, under, scopes }: UserRedemption,
    tx: Store,
  ): Promise<void> {
    if (!under) return
    const consent = await tx.consents.find(subject.id, client.clientId)
    const session =
      under.sessionId === null || (await tx.sessions.find(under.sessionId as Digest)) !== undefined
    const isGranted = consent && isWithin(scopes, consent.consent.scopes)
    if (consent?.consent.id !== under.consentId || !isGranted || !session)
      throw new Vanished('The consent was withdrawn, or the session ended.')
  }

  /**
   * Revokes what was issued from a code that is presented again with full proof: whoever comes second
   * holds a stolen code, or the first did (RFC 6749 §4.1.2).
   * @returns the refusal to answer
   */
  async revokeReusedCode(code: string): Promise<OAuthError> {
    const { store, clock, log } = this.#context
    const authorization = await store.authorizations.findByCode(
      digestOf('authorization_code', code),
    )
    if (authorization?.revokedAt === null) {
      await store.transaction((tx) => tx.authorizations.revoke(authorization.id, clock()))
      log({
        level: 'warn',
        event: 'authorization_code.reused',
        message: 'An authorization code was redeemed twice; what was issued from it is revoked.',
        authorizationId: authorization.id,
        clientId: authorization.clientId,
      })
    }
    return new OAuthError('invalid_grant', 'The authorization code is not valid.')
  }

  #newFields(
    clientId: string,
    userId: UserId | null,
    scopes: readonly string[],
  ): Omit<TokenFields, 'id'> {
    const { settings, clock } = this.#context
    const now = clock()
    return {
      clientId,
      userId,
      authorizationId: null,
      tokenType: 'bearer',
      expires: now + settings.tokenExpiresIn * 1000,
      refreshExpires: null,
      scopes,
      isPersonal: false,
      isInternal: false,
      createdAt: now,
    }
  }

  async #opened(row: TokenWithState, accessToken: string): Promise<FoundToken | undefined> {
    const { keys, scopes } = this.#context
    const claims = accessClaims(row.accessDigest, row.fields)
    if (keys.open('token', row.accessToken, claims) !== accessToken) return this.#tampered(row)
    return {
      token: new Token(row.fields, scopes),
      lastUsedAt: row.lastUse?.at ?? null,
      ...(await this.#users.stateOf(row)),
    }
  }

  async #openedRefresh(
    row: RefreshTokenWithState,
    refreshToken: string,
  ): Promise<FoundToken | undefined> {
    const { keys, scopes } = this.#context
    const { fields, authorization } = row
    if (row.refreshDigest === null || row.refreshToken === null) return undefined
    const claims = refreshClaims(row.refreshDigest, fields, authorization.scopes)
    if (keys.open('token', row.refreshToken, claims) !== refreshToken) return this.#tampered(row)
    return {
      token: new Token(fields, scopes),
      lastUsedAt: row.lastUse?.at ?? null,
      ...(await this.#users.stateOf(row)),
      authorization,
    }
  }

  #tampered({ fields }: TokenWithState): undefined {
    this.#context.log({
      level: 'error',
      event: 'token.tampered',
      message:
        'A token row was not written by this server, or by another secret key; it is refused.',
      tokenId: fields.id,
    })
    return undefined
  }
}

const longestUserAgent = 512

/** Somebody was faster: the insert that decides has been won already. */
class CodeWasRedeemed extends Error {}
