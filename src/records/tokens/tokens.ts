import type { OAuthError } from '../../model/oauth-error.ts'
import type { ClientRedemption, Redemption } from '../../model/redemption.ts'
import { type FoundToken, type IssuedToken, Token } from '../../model/token.ts'
import type { UserId } from '../../model/user.ts'
import { UniqueViolation } from '../../store/contract/errors.ts'
import { type RecordsContext, retryOnCollision } from '../context.ts'
import {
  endAccessToken,
  endRotated,
  type RevocableToken,
  revokeReusedCode,
  revokeToken,
} from './end-tokens.ts'
import { exchangeToken } from './exchange-token.ts'
import { issueForUser } from './issue-for-user.ts'
import {
  createPersonalToken,
  type PersonalToken,
  type PersonalTokenOptions,
} from './personal-tokens.ts'
import { redeemRefreshToken } from './refresh-rotation.ts'
import { findToken, type TokenQuery } from './token-finder.ts'
import { issuedFor, newSecrets, newTokenFields, save, sealedToken } from './token-row.ts'

/** Issues, finds and revokes tokens. `PersonalTokens` issues the personal tokens. */
export class Tokens {
  readonly #context: RecordsContext

  constructor(context: RecordsContext) {
    this.#context = context
  }

  /**
   * Issues the tokens of a grant.
   * @param grant the name of the grant, for the audit log
   * @throws OAuthError if the code, refresh token or parent token is no longer valid, or a scope is internal;
   * ScopeDoesNotExists for a scope that is not registered; ReferenceNotFound if the consent or the session has ended;
   * ClientChanged if the client has changed since the caller read it
   */
  async issue(redemption: Redemption, grant?: string): Promise<IssuedToken> {
    if (redemption.type === 'refresh') return redeemRefreshToken(redemption, this.#context)
    if (redemption.type === 'user') return issueForUser(redemption, grant, this.#context)
    const issued = await (redemption.type === 'narrowing'
      ? exchangeToken(redemption, this.#context)
      : this.#issueForClient(redemption))
    const { audit, store } = this.#context
    await audit.addRoutine(store, 'token.issued', issuedFor(redemption, issued.token, grant))
    return issued
  }

  /**
   * Creates a personal access token, and a client of the same name to which the token belongs. By default, the token
   * does not expire.
   * @throws InvalidField, ScopeDoesNotExists: nothing was written
   */
  createPersonal(
    name: string,
    userId: UserId,
    options?: PersonalTokenOptions,
  ): Promise<PersonalToken>
  /**
   * Creates a personal access token with the arguments of the specification: `create_personal(name, user_id, scopes,
   * is_internal)`.
   */
  createPersonal(
    name: string,
    userId: UserId,
    scopes: readonly string[] | null | undefined,
    isInternal?: boolean,
  ): Promise<PersonalToken>
  createPersonal(
    name: string,
    userId: UserId,
    given?: PersonalTokenOptions | readonly string[] | null,
    isInternal = false,
  ): Promise<PersonalToken> {
    const scopes = given ?? []
    const options = isList(scopes) ? { scopes, isInternal } : scopes
    return createPersonalToken(name, userId, options, this.#context)
  }

  /**
   * Finds a token by its access token or, if none is passed, by its refresh token. Also finds personal tokens.
   * @throws TypeError for any other argument
   */
  find(by: TokenQuery): Promise<FoundToken | undefined> {
    return findToken(by, this.#context)
  }

  /** Lists the IDs of a user's personal tokens with this name. */
  personalNamed(userId: UserId, name: string): Promise<readonly number[]> {
    return this.#context.store.tokens.personalNamed(userId, name.normalize('NFC').trim())
  }

  /** Returns the record of a token by its ID, to manage it. An ID is not a credential. */
  async get(id: number): Promise<Token | undefined> {
    const row = await this.#context.store.tokens.find(id)
    return row && new Token(row.fields, this.#context.scopes)
  }

  /**
   * Revokes a token. With a personal token, also deletes its client. With a token of an authorization, also revokes the
   * authorization. An exchanged token is revoked alone. Returns false if nothing was revoked.
   * @param as the name of the audit event. Default: `personal_token.deleted` or `token.revoked`
   * @param accessToken the value of the token, for the audit log. Without this value, one more query reads the row
   */
  revoke(
    token: RevocableToken,
    as?: 'token.revoked' | 'token.deleted',
    accessToken?: string,
  ): Promise<boolean> {
    return revokeToken(token, this.#context, as, accessToken)
  }

  /**
   * Revokes an access token, but not its refresh token. Returns false if the token was deleted, or was replaced and its
   * leeway has ended.
   */
  revokeAccess(found: FoundToken, accessToken: string): Promise<boolean> {
    return endAccessToken(found, accessToken, this.#context)
  }

  /**
   * Revokes the authorization of a refresh token that was rotated already. Returns false if nothing was revoked, for
   * instance if the authorization belongs to another client.
   */
  revokeRotated(refreshToken: string, clientId: string): Promise<boolean> {
    return endRotated(refreshToken, clientId, this.#context)
  }

  /**
   * Revokes the tokens of a code that is presented again.
   * @returns the error for the response
   */
  revokeReusedCode(kind: 'authorization_code' | 'device_code', code: string): Promise<OAuthError> {
    return revokeReusedCode(kind, code, this.#context)
  }

  #issueForClient(redemption: ClientRedemption): Promise<IssuedToken> {
    const { subject, clientVersion } = redemption
    const fields = newTokenFields(this.#context, redemption, subject?.id ?? null)
    return retryOnCollision(() =>
      save(this.#context, redemption, newSecrets(this.#context, fields), async (data) => {
        const row = sealedToken(this.#context, data)
        const id = await this.#context.store.tokens.insert(row, clientVersion)
        if (id === undefined) throw new UniqueViolation()
        this.#context.bounds.issued(data.fields)
        return id
      }),
    )
  }
}

// `Array.isArray` does not narrow readonly arrays.
const isList = (value: object): value is readonly string[] => Array.isArray(value)
