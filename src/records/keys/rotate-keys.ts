import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises'
import { type KeyRing, keyIdOf, type Sealed } from '../../crypto/sealed.ts'
import { type SealedKind, sealedEntities } from '../../model/entities/all.ts'
import type { Seal } from '../../model/entities/field.ts'
import { callback, onlyMembers } from '../../model/members.ts'
import type { ResealedRow, RowKey, SealedRow } from '../../store/contract/sealed.ts'
import { AuditChain } from '../audit/audit-chain.ts'
import type { RecordsContext } from '../context.ts'

/** The progress of a rotation of the secret keys. */
export interface KeyRotationProgress {
  /** The current table. */
  readonly table: string
  /** The number of rows that were resealed so far, in all tables. */
  readonly resealed: number
}

/** Rows that no configured key opens, because the rows were tampered with or their key is missing. */
export interface UnreadableRows {
  readonly table: string
  /** The key ID in the rows; null if the rows contain no key ID. */
  readonly keyId: string | null
  readonly rows: number
}

/** The result of a rotation of the secret keys. */
export interface KeyRotation {
  /** The number of resealed rows. */
  readonly resealed: number
  /** Rows that were not changed, and remain invalid. */
  readonly unreadable: readonly UnreadableRows[]
  /**
   * False if the last pass still resealed rows, for instance because a node that was not restarted wrote these rows.
   */
  readonly isComplete: boolean
  /** Seconds for which issued JWTs, codes and forms still need an earlier key. */
  readonly keepFor: number
}

/** The options of a rotation of the secret keys. */
export interface KeyRotationOptions {
  /** Called after each batch. */
  readonly onProgress?: (progress: KeyRotationProgress) => void
}

const checkOptions = onlyMembers<KeyRotationOptions>('rotateSecretKeys()', { onProgress: callback })

/** The number of rows that are read and written in one transaction. */
const batch = 250
/** The number of rows that are sealed before the event loop can handle requests again. */
const slice = 50
/** Milliseconds between two batches, so that other writers can write. */
const rest = 5
/** The maximum number of attempts for rows that are written concurrently. */
const maxAttempts = 5
/** The maximum number of passes over all tables while rows are still written under an earlier key. */
const maxRounds = 5
/** The maximum lifetime in seconds of values that wait for a decision or a form of a user. */
const timeToDecide = 600

const kinds = Object.keys(sealedEntities) as SealedKind[]

/**
 * Seals the stored rows under the current key, in batches. Skips unreadable rows and the audit events. Servers can
 * handle requests in the meantime, several nodes can run this function concurrently, and an interrupted run can be
 * repeated.
 */
export const rotateSecretKeys = async (
  context: RecordsContext,
  options: KeyRotationOptions = {},
): Promise<KeyRotation> => {
  checkOptions(options)
  const { onProgress } = options
  const { jwtExpiresIn, authorizationCodeExpiresIn } = context.settings
  // Rows of the audit log are not resealed, so cover them with checkpoints, which are resealed.
  await new AuditChain(context).coverAll()
  let resealed = 0
  let isComplete = false
  let unreadable: readonly UnreadableRows[] = []
  // The rotation is complete after a pass that finds nothing to do.
  for (let rounds = 0; rounds < maxRounds && !isComplete; rounds += 1) {
    isComplete = true
    unreadable = []
    for (const kind of kinds) {
      const { table } = context.store.sealed[kind]
      const found = await resealTable(kind, context, (rows) => {
        resealed += rows
        onProgress?.({ table, resealed })
      })
      if (found.hadWork) isComplete = false
      for (const [keyId, rows] of found.unreadable)
        unreadable = [...unreadable, { table, keyId, rows }]
    }
  }
  for (const rows of unreadable) report(rows, context)
  if (isComplete) await forgetEarlierKeys(context)
  const details = { count: resealed }
  if (resealed > 0) await context.audit.add(context.store, 'secret_key.rotated', { details })
  const keepFor = Math.max(jwtExpiresIn, authorizationCodeExpiresIn, timeToDecide)
  return { resealed, unreadable, isComplete, keepFor }
}

/**
 * Makes one pass over a table, in descending order of the primary keys.
 * @returns whether there were rows to reseal, and the key IDs of unreadable rows with their numbers
 */
const resealTable = async (
  kind: SealedKind,
  { store, keys }: RecordsContext,
  onBatch: (rows: number) => void,
): Promise<{ hadWork: boolean; unreadable: ReadonlyMap<string | null, number> }> => {
  const sealed = store.sealed[kind]
  const unreadable = new Map<string | null, number>()
  let hadWork = false
  let attempts = 1
  for (let after: RowKey | null = null; ; ) {
    const { rows, next } = await sealed.notUnder(keys.currentId, after, batch)
    const { resealed, unread } = await sealedUnderCurrent(kind, rows, keys)
    const written = resealed.length === 0 ? 0 : await sealed.reseal(resealed)
    if (resealed.length > 0) hadWork = true
    onBatch(written)
    await (resealed.length === 0 ? nextTurn() : pause(rest))
    if (written < resealed.length && attempts < maxAttempts) {
      attempts += 1
      continue
    }
    for (const keyId of unread) unreadable.set(keyId, (unreadable.get(keyId) ?? 0) + 1)
    if (!next) return { hadWork, unreadable }
    after = next
    attempts = 1
  }
}

/** Seals rows anew. Also returns the key ID of each row that cannot be opened. */
const sealedUnderCurrent = async (
  kind: SealedKind,
  rows: readonly SealedRow[],
  keys: KeyRing,
): Promise<{ resealed: readonly ResealedRow[]; unread: readonly (string | null)[] }> => {
  const resealed: ResealedRow[] = []
  const unread: (string | null)[] = []
  for (const [index, row] of rows.entries()) {
    if (index > 0 && index % slice === 0) await nextTurn()
    const anew = sealedAnew(kind, row, keys)
    if (anew.resealed) resealed.push(anew.resealed)
    const [first] = anew.unreadable
    if (first !== undefined) unread.push(keyIdOf(first) ?? null)
  }
  return { resealed, unread }
}

const report = ({ table, keyId, rows }: UnreadableRows, { keys, log }: RecordsContext): void => {
  log({
    level: 'error',
    event: 'secret_key.unreadable_rows',
    message: `Rows of ${table} ${reasonOf(keyId, keys)}: ${rows}. The server refuses these rows, and the rotation did not change them.`,
    table,
    keyId,
    rows,
  })
}

const reasonOf = (keyId: string | null, keys: KeyRing): string => {
  if (keyId === null) return 'that are not sealed'
  return keys.ids.includes(keyId)
    ? `that key ${keyId} does not open, because the rows were tampered with`
    : `under key ${keyId}, which is not configured`
}

// Retain the records of keys that this process does not have, because another node may still need the keys.
const forgetEarlierKeys = async ({ store, keys }: RecordsContext): Promise<void> => {
  const earlier = keys.ids.filter((id) => id !== keys.currentId)
  await store.secretKeys.delete({ id: earlier })
}

/** The result of resealing a row, with the values that could not be opened. */
interface SealedAnew {
  /** Undefined if no value changed. */
  readonly resealed: ResealedRow | undefined
  readonly unreadable: readonly Sealed[]
}

/**
 * Seals the values of a row under the current key. A value with an invalid seal remains unchanged, and the server
 * continues to refuse the value.
 */
const sealedAnew = (kind: SealedKind, before: SealedRow, keys: KeyRing): SealedAnew => {
  const seals: readonly Seal[] = sealedEntities[kind].seals
  const unreadable: Sealed[] = []
  const sealed = before.sealed.map((old, at) => {
    if (old === null || old.startsWith(`${keys.currentId}.`)) return old
    const { purpose, claims: claimsOf } = seals[at] as Seal
    const claims = claimsOf(before.row as never)
    const opened = claims && keys.open(purpose, old, claims)
    if (claims && opened !== undefined) return keys.seal(purpose, opened, claims)
    unreadable.push(old)
    return old
  })
  const hasChanged = sealed.some((value, at) => value !== before.sealed[at])
  return { resealed: hasChanged ? { before, sealed } : undefined, unreadable }
}
