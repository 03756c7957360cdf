import { accessClaims, type TokenFields } from '../../model/entities/token.ts'
import type { ClientRedemption, Redemption } from '../../model/redemption.ts'
import { type FoundToken, type IssuedToken, Token } from '../../model/token.ts'
import type { UserId } from '../../model/user.ts'
import { ofToken } from '../audit/audit-trail.ts'
import type { RecordsContext } from '../context.ts'
import { endingOf, revokeToken } from './end-tokens.ts'
import { exchangeToken } from './exchange-token.ts'
import { issueForUser } from './issue-for-user.ts'
import { type PersonalToken, type PersonalTokenOptions, PersonalTokens } from './personal-tokens.ts'
import { redeemRefreshToken } from './refresh-rotation.ts'
import { findToken, openedAccess, type TokenQuery } from './token-finder.ts'
import { issuedFor, newTokenFields, save, sealedToken } from './token-row.ts'

/** An expiry that is in the past even for nodes whose clocks are behind. */
const longExpired = 0

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
      : issueForClient(redemption, this.#context))
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
    return new PersonalTokens(this.#context).create(name, userId, options)
  }

  /**
   * Finds a token by its access token or, if none is passed, by its refresh token. Also finds personal tokens.
   * @throws TypeError for any other argument
   */
  find(by: TokenQuery): Promise<FoundToken | undefined> {
    return findToken(by, this.#context)
  }

  /** Lists the IDs of a user's personal tokens with this name. */
  async personalNamed(userId: UserId, name: string): Promise<readonly number[]> {
    const where = { userId, name: name.normalize('NFC').trim() }
    const rows = await this.#context.store.tokens.select(where)
    return rows.map(({ fields }) => fields.id)
  }

  /** Returns the record of a token by its ID, to manage it. An ID is not a credential. */
  async get(id: number): Promise<Token | undefined> {
    const row = await this.#context.store.tokens.find(id)
    return row && new Token(row.fields, this.#context.scopes)
  }

  /**
   * Revokes a token. With a personal token, also deletes its client. With a token of an authorization, also revokes the
   * authorization. An exchanged token is revoked alone. Returns false if nothing was revoked.
   * @param accessToken the value of the token, for the audit log. Without this value, one more query reads the row
   */
  revoke(token: TokenFields, accessToken?: string): Promise<boolean> {
    return revokeToken({ fields: token, successorId: null }, this.#context, undefined, accessToken)
  }

  /**
   * Revokes an access token with its children, and the access token that it replaced. The refresh token remains valid.
   * If the access token itself has been replaced, revokes only this access token. Returns false if the token was
   * deleted, or was replaced and its leeway has ended.
   */
  revokeAccess({ token, accessDigest, client }: FoundToken, accessToken: string): Promise<boolean> {
    const { store, turns, keys, audit } = this.#context
    return turns.transaction(store, `token ${token.id}`, async (tx) => {
      const row = await tx.tokens.find(token.id, { lock: 'change' })
      const isFormer = row?.formerDigest === accessDigest
      if (!row || (!isFormer && row.accessDigest !== accessDigest)) return false
      const value = isFormer ? openedAccess(row, this.#context) : accessToken
      if (value === undefined) return false
      const expires = isFormer ? row.fields.expires : longExpired
      const fields = { ...row.fields, expires }
      const ended = { ...row, fields, formerDigest: null, formerExpires: null }
      const sealed = keys.seal('token', value, accessClaims(ended))
      await tx.tokens.rewrite(token.id, { ...ended, accessToken: sealed })
      if (!isFormer) await tx.tokens.delete({ parentId: token.id })
      const details = { ending: endingOf(accessToken) }
      await audit.add(tx, 'token.revoked', { ...ofToken(token, client.name), details })
      return true
    })
  }
}

// `Array.isArray` does not narrow readonly arrays.
const isList = (value: object): value is readonly string[] => Array.isArray(value)

const issueForClient = (
  redemption: ClientRedemption,
  context: RecordsContext,
): Promise<IssuedToken> => {
  const { subject, clientVersion } = redemption
  const fields = newTokenFields(context, redemption, subject?.id ?? null)
  return save(context, redemption, { fields }, async (data) => {
    const id = await context.store.tokens.insert(sealedToken(context, data), clientVersion)
    if (id !== undefined) context.bounds.issued(data.fields)
    return id
  })
}
