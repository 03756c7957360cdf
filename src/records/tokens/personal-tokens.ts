import { newPersonalTokenValue } from '../../crypto/personal-token-value.ts'
import { blankToken, type TokenFields } from '../../model/entities/token.ts'
import { validName } from '../../model/field-rules.ts'
import { InvalidField } from '../../model/invalid-field.ts'
import {
  anything,
  flag,
  listOf,
  number,
  onlyMembers,
  orNull,
  text,
  time,
  whole,
} from '../../model/members.ts'
import { checkOverlap } from '../../model/overlap.ts'
import type { ScopeRegistry } from '../../model/scope.ts'
import { Token } from '../../model/token.ts'
import type { UserId } from '../../model/user.ts'
import { UniqueViolation } from '../../store/contract/errors.ts'
import type { Cursor, Page } from '../../store/contract/page.ts'
import type {
  PersonalTokenRow,
  PersonalTokenSummary,
  TokenUse,
} from '../../store/contract/tokens.ts'
import type { Store } from '../../store/store.ts'
import { ofToken } from '../audit/audit-trail.ts'
import { changesOf } from '../audit/changes.ts'
import { insertPersonalClient, rewritePersonalClient } from '../clients/insert-client.ts'
import { earliestRow, type RecordsContext, retryOnCollision } from '../context.ts'
import { refusedRow } from '../seals/refused-row.ts'
import { endingOf, revokeToken } from './end-tokens.ts'
import { openedAccess } from './token-finder.ts'
import { earlier, isSameSet, sealedToken } from './token-row.ts'

/** The options of a new personal token. */
export interface PersonalTokenOptions {
  readonly scopes?: readonly string[]
  /** Whether the token is internal. The pages of the user do not list internal tokens. */
  readonly isInternal?: boolean
  /** The lifetime in seconds. By default, the token does not expire, as specified. */
  readonly expiresIn?: number
  /** The maximum number of personal tokens of the user. Default: unlimited. */
  readonly most?: number
}

/** The values of a personal token to change. */
export interface TokenChanges {
  readonly name?: string
  readonly scopes?: readonly string[]
  /** Milliseconds since the epoch; null: the token does not expire. */
  readonly expires?: number | null
}

/** The options with which the value of a personal token is replaced. */
export interface RotationOptions {
  /** Seconds for which the former value remains valid, at most 30 days. Default: 0. */
  readonly overlap?: number
  /** The maximum lifetime of the new value in seconds. Default: the lifetime of the former value. */
  readonly maxExpiresIn?: number
}

const checkOptions = onlyMembers<PersonalTokenOptions>('createPersonal()', {
  scopes: listOf(text),
  isInternal: flag,
  expiresIn: anything,
  most: whole(0),
})
const checkChanges = onlyMembers<TokenChanges>('personalTokens.update()', {
  name: text,
  scopes: listOf(text),
  expires: orNull(time),
})
const checkRotation = onlyMembers<RotationOptions>('personalTokens.rotate()', {
  overlap: anything,
  maxExpiresIn: number,
})

/** A personal token with its new value. Later look-ups do not return the value. */
export type PersonalToken = Token & {
  readonly accessToken: string
  /** The expiry of the former value after a rotation; null if no former value is valid. */
  readonly previousExpires: number | null
}

/** A personal token on the pages of its user. */
export interface ManagedToken {
  readonly token: Token
  readonly name: string
  /** The last four characters of the value, by which the user recognizes the token. */
  readonly lastFour: string
  /** The scopes that guards required from this token. */
  readonly usedScopes: readonly string[]
  readonly lastUse: TokenUse | null
  /** The expiry of the value before the last rotation; null if that value is not valid. */
  readonly previousExpires: number | null
}

/** The maximum lifetime of a personal token, in seconds: 10 years. */
const maxLifetime = 315_360_000

/** Creates, lists, changes and rotates personal tokens. */
export class PersonalTokens {
  readonly #context: RecordsContext

  constructor(context: RecordsContext) {
    this.#context = context
  }

  /**
   * Creates a personal token, and a client of the same name to which the token belongs. Without `expiresIn`, the token
   * does not expire.
   * @throws InvalidField, ScopeDoesNotExists: nothing was written
   */
  async create(
    name: string,
    userId: UserId,
    options: PersonalTokenOptions = {},
  ): Promise<PersonalToken> {
    checkOptions(options)
    const { scopes = [], isInternal = false, expiresIn, most } = options
    const { store, turns, clock, scopes: registry, audit } = this.#context
    const checked = { name: validName(name), scopes: registry.validated(scopes) }
    checkLife(expiresIn)
    return turns.transaction(store, `user ${userId}`, async (tx) => {
      const within = { ...this.#context, store: tx }
      if (most !== undefined) await checkRoom(userId, most, within)
      const client = await insertPersonalClient(checked.name, userId, checked.scopes, within)
      const now = clock()
      const fields = {
        ...blankToken,
        clientId: client.clientId,
        clientKey: client.clientKey,
        userId: client.userId,
        expires: expiresIn === undefined ? null : now + expiresIn * 1000,
        scopes: checked.scopes,
        isPersonal: true,
        isInternal,
        createdAt: now,
      }
      const token = await retryOnCollision(async () => {
        const accessToken = newValue(within)
        const id = await tx.tokens.insert(sealedToken(within, { fields, accessToken }))
        return id === undefined
          ? undefined
          : new TokenWithValue({ ...fields, id }, registry, accessToken)
      })
      const ending = endingOf(token.accessToken)
      await audit.add(tx, 'personal_token.created', {
        ...ofToken(token, checked.name),
        isRoutine: isInternal,
        details: { scopes: fields.scopes, expires: fields.expires, ending },
      })
      return token
    })
  }

  /** Lists a user's personal tokens, without internal tokens. @param ids lists only the tokens with these IDs */
  async listByUser(
    userId: UserId,
    cursor: Cursor,
    ids?: readonly number[],
  ): Promise<Page<ManagedToken>> {
    const where = { userId, now: this.#context.clock(), ...(ids && { ids }) }
    const { items, next } = await this.#context.store.tokens.list('personal', where, cursor)
    const earliest = await earliestRow(userId, this.#context)
    const own = items.filter(({ fields }) => fields.createdAt >= earliest)
    const managed = await Promise.all(own.map((row) => this.#managed(row)))
    return { items: managed.filter((item) => item !== undefined), next }
  }

  /**
   * Lists the summaries of a user's personal tokens, without internal tokens. An HTML page searches and sorts the
   * summaries, and then calls `among` for the tokens on the page.
   */
  async summariesOf(userId: UserId, cursor: Cursor): Promise<Page<PersonalTokenSummary>> {
    const where = { userId, now: this.#context.clock() }
    const { items, next } = await this.#context.store.tokens.summaries('personal', where, cursor)
    const earliest = await earliestRow(userId, this.#context)
    return { items: items.filter(({ createdAt }) => createdAt >= earliest), next }
  }

  /** Returns the user's personal tokens with these IDs, in the order of the IDs. Omits unknown IDs. */
  async among(userId: UserId, ids: readonly number[]): Promise<readonly ManagedToken[]> {
    const { items } = await this.listByUser(userId, { after: null, limit: ids.length }, ids)
    const known = new Map(items.map((item) => [item.token.id, item]))
    return ids.flatMap((id) => known.get(id) ?? [])
  }

  /** Returns the user's personal token with this ID; undefined for an internal token or a token of another user. */
  async find(userId: UserId, id: number): Promise<ManagedToken | undefined> {
    const row = await personalOf(userId, id, this.#context)
    return row && this.#managed(row)
  }

  /**
   * Changes the given values. New scopes also apply to a former value that is still valid, and the former value does
   * not outlive a new expiry.
   * @param guard runs before the write, with the stored values. If the guard throws, nothing is written.
   * @throws InvalidField, ScopeDoesNotExists: nothing was written
   */
  async update(
    { token, name: before }: ManagedToken,
    changes: TokenChanges,
    guard?: (before: Pick<Token, 'scopes' | 'expires' | 'createdAt'> & { name: string }) => void,
  ): Promise<void> {
    checkChanges(changes)
    const { store, scopes: registry, audit, clock } = this.#context
    const name = changes.name === undefined ? undefined : validName(changes.name)
    const scopes = changes.scopes && registry.validated(changes.scopes)
    await store.transaction(async (tx) => {
      const context = { ...this.#context, store: tx }
      if (guard) {
        // Lock the client, as `rotate` does, so that no concurrent change is overwritten.
        await tx.clients.find(token.clientId)
        const current = await tx.tokens.personal(token.id, clock())
        if (current) guard({ ...current.fields, name: current.name })
      }
      await rewritePersonalClient(token.clientId, { name, defaultScopes: scopes }, context)
      const { expires } = changes
      const was = { name: before, scopes: token.scopes, expires: timeText(token.expires) }
      const is = { name, scopes, expires: timeText(expires) }
      const details = changesOf(was, is)
      const about = { ...ofToken(token, name ?? before), details }
      if (details.fields.length > 0) await audit.add(tx, 'personal_token.edited', about)
      const isSame = scopes && isSameSet(scopes, token.scopes)
      if ((!scopes || isSame) && expires === undefined) return
      // This look-up locks the rows, so that no new child with the old scopes can be created.
      const rows = await tx.tokens.select({ clientId: token.clientId }, { lock: 'change' })
      for (const row of rows.filter(({ fields }) => fields.parentId === null)) {
        // Delete the children. A child may hold a scope that the change removes, or may outlive the new expiry.
        await tx.tokens.delete({ parentId: row.fields.id })
        const accessToken = openedAccess(row, context)
        // Do not reseal a row that was tampered with, because it must remain invalid.
        if (accessToken === undefined) continue
        const { successorId } = row
        const end = expires === undefined ? row.fields.expires : expires
        const fields = {
          ...row.fields,
          scopes: scopes ?? row.fields.scopes,
          expires: successorId === null ? end : earlier(row.fields.expires, end),
        }
        const sealed = sealedToken(context, { fields, accessToken }, { successorId })
        await tx.tokens.rewrite(row.fields.id, sealed)
      }
    })
  }

  /** Revokes all former values of a token that are still valid. */
  async endFormers({ token }: ManagedToken): Promise<void> {
    for (const row of await this.#context.store.tokens.select(
      { clientId: token.clientId },
      { lock: 'change' },
    ))
      if (row.successorId === token.id) await revokeToken(row, this.#context)
  }

  /**
   * Replaces the value of a token, and restarts its lifetime. The ID does not change.
   * @throws InvalidField for an unknown token, or for an overlap that is not a whole number of seconds up to 30 days
   */
  async rotate(id: number, options: RotationOptions = {}): Promise<PersonalToken> {
    checkRotation(options)
    const { overlap = 0, maxExpiresIn } = options
    checkOverlap(overlap)
    const { store, clock, audit, scopes: registry } = this.#context
    return retryOnCollision(() =>
      store.transaction(async (tx) => {
        const now = clock()
        // Then a concurrent change of scopes also applies to the former value.
        await lockClientOf(id, tx)
        const before = await tx.tokens.personal(id, now)
        const formerValue = before && openedAccess(before, this.#context)
        if (!before || formerValue === undefined)
          throw new InvalidField('id', 'There is no such token.')
        const { expires, createdAt } = before.fields
        const life = earlier(
          expires === null ? null : expires - createdAt,
          maxExpiresIn === undefined ? null : maxExpiresIn * 1000,
        )
        const fields = {
          ...before.fields,
          createdAt: now,
          expires: life === null ? null : now + life,
        }
        const accessToken = newValue(this.#context)
        // The row is updated in place, so the unique index does not detect that the new value equals the former value.
        if (accessToken === formerValue) throw new UniqueViolation()
        await tx.tokens.delete({ successorId: id })
        await tx.tokens.delete({ parentId: id })
        await tx.tokens.rewrite(id, sealedToken(this.#context, { fields, accessToken }))
        const end = Math.min(now + overlap * 1000, expires ?? Number.POSITIVE_INFINITY)
        if (end > now) {
          const former = { fields: { ...before.fields, expires: end }, accessToken: formerValue }
          const sealed = sealedToken(this.#context, former, { successorId: id })
          if ((await tx.tokens.insert(sealed)) === undefined) throw new UniqueViolation()
        }
        await audit.add(tx, 'personal_token.rotated', {
          ...ofToken(fields, before.name),
          isRoutine: fields.isInternal,
          details: { overlap, ending: endingOf(accessToken) },
        })
        return new TokenWithValue(fields, registry, accessToken, end > now ? end : null)
      }),
    )
  }

  // Do not return a row that was tampered with: a form would write its values back under a valid seal.
  async #managed(row: PersonalTokenRow): Promise<ManagedToken | undefined> {
    const { fields, name, lastUse, usedScopes, previousExpires } = row
    const value = openedAccess(row, this.#context)
    if (value === undefined)
      return refusedRow('token', row.accessToken, { tokenId: fields.id }, this.#context)
    const token = new Token(fields, this.#context.scopes)
    return { token, name, lastFour: endingOf(value), usedScopes, lastUse, previousExpires }
  }
}

/**
 * Finds a user's personal token; undefined for an internal token or a token of another user. Inside a transaction, locks
 * its row.
 */
export const personalOf = async (
  userId: UserId,
  id: number,
  context: RecordsContext,
): Promise<PersonalTokenRow | undefined> => {
  const row = await context.store.tokens.personal(id, context.clock())
  if (row?.fields.userId !== userId || row.fields.isInternal) return undefined
  return row.fields.createdAt >= (await earliestRow(userId, context)) ? row : undefined
}

/** Locks the client of a token. Every transaction that changes a personal token locks its client first. */
export const lockClientOf = async (id: number, { tokens, clients }: Store): Promise<void> => {
  const token = await tokens.find(id)
  if (token) await clients.find(token.fields.clientId)
}

const newValue = ({ settings, random }: RecordsContext): string =>
  newPersonalTokenValue(settings.tokenPersonalPrefix, settings.tokenPersonalSaltLen, random)

const timeText = (at: number | null | undefined): string | null | undefined =>
  typeof at === 'number' ? new Date(at).toISOString() : at

/** A token with its value. Accessors are not enumerable, so logging or storing the token does not reveal the value. */
class TokenWithValue extends Token implements PersonalToken {
  readonly #accessToken: string
  readonly #previousExpires: number | null

  constructor(
    fields: TokenFields,
    scopes: ScopeRegistry,
    accessToken: string,
    previousExpires: number | null = null,
  ) {
    super(fields, scopes)
    this.#accessToken = accessToken
    this.#previousExpires = previousExpires
  }

  get accessToken(): string {
    return this.#accessToken
  }

  get previousExpires(): number | null {
    return this.#previousExpires
  }
}

/**
 * Checks inside a transaction that a user may create a token.
 * @throws InvalidField if the user has `most` tokens already
 */
export const checkRoom = async (
  userId: UserId,
  most: number,
  context: RecordsContext,
): Promise<void> => {
  // This look-up locks the user, so that concurrent calls cannot exceed the maximum.
  await context.users.find(userId, context)
  if ((await context.store.tokens.count('personal', { userId, now: context.clock() }, most)) < most)
    return
  throw new InvalidField('user_id', `The user has ${most} tokens already, which is the maximum.`, {
    problem: 'tooManyPersonalTokens',
    value: most,
  })
}

const checkLife = (expiresIn: number | undefined): void => {
  if (expiresIn === undefined) return
  if (Number.isSafeInteger(expiresIn) && expiresIn > 0 && expiresIn <= maxLifetime) return
  throw new InvalidField('expires_in', 'The lifetime must be from 1 second to 10 years.', {
    problem: 'expiresInvalid',
  })
}
