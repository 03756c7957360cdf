import { type Digest, digestOf } from '../../crypto/digest.ts'
import type { Credential } from '../../model/credential.ts'
import { InvalidField } from '../../model/invalid-field.ts'
import type { UserId } from '../../model/user.ts'
import type { StoredToken } from '../../store/contract/tokens.ts'
import type { Store } from '../../store/store.ts'
import { ofToken } from '../audit/audit-trail.ts'
import { insertPersonalClient } from '../clients/insert-client.ts'
import type { RecordsContext } from '../context.ts'
import { TransientValues } from '../transient-values.ts'
import { endingOfRow } from './end-tokens.ts'
import { checkRoom, lockClientOf, personalOf } from './personal-tokens.ts'
import { openedAccess } from './token-finder.ts'
import { sealedToken } from './token-row.ts'

/**
 * Milliseconds for which a deletion can be undone: the ten seconds that pages promise, and two seconds for the request.
 */
const undoPeriod = 12_000

/** Events after which deleted tokens cannot be restored, because somebody wants to end all access to the account. */
const finalEvents = ['user.tokens_ended', 'user.deactivated', 'user.password_changed'] as const

/** The tolerated difference between the clocks of two nodes, in milliseconds. */
const clockMargin = 1_000

/** The deleted personal tokens of a user. */
export interface Ended {
  readonly names: readonly string[]
  /** The value that `restore` requires to restore the tokens. */
  readonly undo: string
}

/** A deleted personal token: the row of its value, and the rows of former values that were still valid. */
interface Kept {
  readonly name: string
  readonly rows: readonly StoredToken[]
}

interface KeptTokens {
  readonly userId: UserId
  /** The time of the deletion, in milliseconds since the epoch. */
  readonly endedAt: number
  readonly tokens: readonly Kept[]
}

/** What is known about a deleted value of a personal token. */
type DeletedToken = Pick<Credential, 'name' | 'userId' | 'tokenId'>

/**
 * Finds a token that was deleted or restored in the last day, by its value. A search for the token that finds nothing
 * must call this function afterwards, and then search again. After the period to restore the token, the result contains
 * the digest alone.
 */
export const findEnded = async (
  accessToken: string,
  context: RecordsContext,
): Promise<(Partial<DeletedToken> & { readonly digest: Digest }) | undefined> => {
  const digest = digestOf('access_token', accessToken)
  // Read both notes in one statement, because `restore` replaces the first note with the second, which remains.
  const kind = ['deleted token', 'restored token'] as const
  const notes = await context.store.sweeperNotes.select({ kind, key: digest })
  return notes.length === 0 ? undefined : { ...(await deletedTokens(context).get(digest)), digest }
}

const deletedTokens = (context: RecordsContext) =>
  new TransientValues<DeletedToken>('deleted_token', context)

/**
 * Makes the deletion of a token final, because its value leaked. Returns false if the token is not deleted, was
 * restored, or if another call was first. Waits for a concurrent `restore`.
 */
export const makeFinal = async (
  digest: Digest,
  { store: { sweeperNotes } }: Pick<RecordsContext, 'store'>,
): Promise<boolean> => (await sweeperNotes.delete({ kind: 'deleted token', key: digest })) > 0

/**
 * Prevents that this value of a token is ever restored, also after a later deletion. Makes an earlier deletion final.
 * A concurrent `restore` either reads the note of this call, or has committed when this call returns. The caller then
 * finds the restored token. @returns the result of `makeFinal`
 */
export const blockRestoring = async (digest: Digest, context: RecordsContext): Promise<boolean> => {
  const { store, clock } = context
  await store.sweeperNotes.put({ kind: 'leaked token', key: digest, at: clock() })
  return makeFinal(digest, context)
}

/**
 * Deletes personal tokens, which their user can restore for a few seconds. The rows are deleted immediately, so that
 * every node refuses the tokens. A sealed short-lived value contains the deleted rows until the period ends.
 */
export class EndedTokens {
  readonly #context: RecordsContext
  readonly #kept: TransientValues<KeptTokens>

  constructor(context: RecordsContext) {
    this.#context = context
    this.#kept = new TransientValues('ended_tokens', context)
  }

  /** Deletes the user's personal tokens with these IDs. Ignores IDs of other tokens. */
  async end(userId: UserId, ids: readonly number[]): Promise<Ended> {
    const { store, turns, clock, removed } = this.#context
    const endedAt = clock()
    const tokens = await turns.transaction(store, `user ${userId}`, async (tx) => {
      const within = { ...this.#context, store: tx }
      const ended: Kept[] = []
      // Delete in the order of the IDs, so that two requests do not deadlock.
      for (const id of [...new Set(ids)].sort((a, b) => a - b)) {
        const kept = await this.#end(userId, id, within)
        if (kept) ended.push(kept)
      }
      return ended
    })
    for (const { rows } of tokens)
      if (rows[0]) await removed({ kind: 'client', key: rows[0].fields.clientKey })
    for (const { name, rows } of tokens)
      for (const { accessDigest, fields } of rows) {
        const value = { name, userId, tokenId: fields.id }
        await deletedTokens(this.#context).set(accessDigest, value, clock() + undoPeriod)
      }
    const kept = { userId, endedAt, tokens }
    const undo = await this.#kept.put(kept, clock() + undoPeriod, String(userId))
    return { names: tokens.map(({ name }) => name), undo }
  }

  /**
   * Restores deleted tokens with their IDs, values, expiry and last use.
   * @param most the maximum number of personal tokens of the user
   * @returns the number of restored tokens; 0 if the period has ended, if the tokens were already restored, or after
   * one of the `finalEvents`, such as a new password
   * @throws InvalidField if the user has the maximum number of tokens. A later call can then still restore the tokens.
   */
  async restore(userId: UserId, undo: string, most: number): Promise<number> {
    const { store, turns, clock } = this.#context
    const kept = await this.#kept.take(undo)
    if (kept?.userId !== userId) return 0
    try {
      return await turns.transaction(store, `user ${userId}`, async (tx) => {
        // This look-up locks the user, so that a final event is committed either before the check or after the restore.
        const within = { ...this.#context, store: tx }
        const user = await within.users.find(userId, within)
        if (!user?.active || (await this.#isFinal(kept, tx))) return 0
        let restored = 0
        for (const token of kept.tokens) {
          await checkRoom(userId, most, within)
          if (await restoreToken(token, within)) restored += 1
        }
        return restored
      })
    } catch (error) {
      if (error instanceof InvalidField)
        await this.#kept.set(undo, kept, clock() + undoPeriod, String(userId))
      throw error
    }
  }

  async #isFinal({ userId, endedAt }: KeptTokens, { audit }: Store): Promise<boolean> {
    const since = endedAt - clockMargin
    for (const event of finalEvents) {
      const { items } = await audit.list(
        'latest',
        { userId, event, since },
        { after: null, limit: 1 },
      )
      if (items.length > 0) return true
    }
    return false
  }

  async #end(userId: UserId, id: number, within: RecordsContext): Promise<Kept | undefined> {
    const { store: tx, clock, audit } = within
    await lockClientOf(id, tx)
    const row = await personalOf(userId, id, within)
    if (!row) return undefined
    const { name, previousExpires: _, ...own } = row
    const { clientId } = row.fields
    const former = (await tx.tokens.select({ clientId }, { lock: 'change' })).filter(
      ({ successorId }) => successorId === id,
    )
    await tx.clients.delete(clientId, clock())
    for (const { fields, accessDigest } of [...former, own]) {
      await tx.sweeperNotes.put({ kind: 'deleted token', key: accessDigest, at: clock() })
      await tx.tokens.delete({ parentId: fields.id })
      await tx.tokens.delete({ id: fields.id })
    }
    const details = { ending: endingOfRow(row, within) }
    await audit.add(tx, 'personal_token.deleted', { ...ofToken(row.fields, name), details })
    return { name, rows: [own, ...former] }
  }
}

// The rows of the deleted client will be removed, so the tokens get a new client, and new seals with the key of this
// client.
const restoreToken = async ({ name, rows }: Kept, context: RecordsContext): Promise<boolean> => {
  const { store: tx, audit, clock } = context
  // Only the caller that deletes the note of a value may restore the value. `blockRestoring` deletes it, too.
  const restorable: StoredToken[] = []
  for (const row of rows) if (await makeFinal(row.accessDigest, context)) restorable.push(row)
  // Read these notes after the deletion above, for which `blockRestoring` waits.
  const digests = restorable.map(({ accessDigest }) => accessDigest)
  const leaked = await tx.sweeperNotes.select({ kind: 'leaked token', key: digests })
  const isLeaked = new Set<string>(leaked.map(({ key }) => key))
  const kept = restorable.filter(({ accessDigest }) => !isLeaked.has(accessDigest))
  const [own] = kept
  if (!own || own !== rows[0] || own.fields.userId === null) return false
  const { userId, scopes } = own.fields
  const { clientId, clientKey } = await insertPersonalClient(name, userId, scopes, context)
  for (const row of kept) {
    const { accessDigest, successorId, lastUse } = row
    const accessToken = openedAccess(row, context)
    if (accessToken === undefined) return false
    const fields = { ...row.fields, clientId, clientKey }
    const sealed = sealedToken(context, { fields, accessToken }, { successorId })
    await tx.tokens.restore(fields.id, sealed)
    await tx.sweeperNotes.put({ kind: 'restored token', key: accessDigest, at: clock() })
    if (lastUse) await tx.tokens.touch(new Map([[fields.id, lastUse]]))
  }
  const about = { ...ofToken({ ...own.fields, clientId }, name), details: {} }
  await audit.add(tx, 'personal_token.restored', about)
  return true
}
