import { type KeyRing, keyIdOf } from '../../crypto/sealed.ts'
import { rowsInBatches } from '../../model/batches.ts'
import type { SealedCheckpoint } from '../../model/entities/audit-checkpoint.ts'
import type { StoredAuditRow } from '../../store/contract/audit.ts'
import type { Store } from '../../store/store.ts'
import {
  checkpointDigest,
  checkpointsAfter,
  idsOf,
  isCheckpointIntact,
  latestCheckpoint,
  reach,
  rowsDigest,
} from './audit-chain.ts'

/** The number of rows or checkpoints per query. */
const readAtOnce = 500

/** A defect of the audit log. */
export interface AuditDefect {
  readonly kind:
    | 'row_changed'
    | 'row_removed'
    | 'row_inserted'
    /** The row has no valid seal, or was a copy of another row when a checkpoint covered the row. */
    | 'row_forged'
    /** The row is a copy of another row, and no checkpoint covers the row yet. */
    | 'row_copied'
    /** Some rows in this range were changed or swapped. The verification cannot determine which rows. */
    | 'rows_changed'
    | 'checkpoint_changed'
    | 'checkpoint_removed'
    /** The checkpoint that `head` identifies is missing, or has another digest. */
    | 'head_differs'
    /** The checkpoint that `head` identifies has expired, so its digest cannot be compared. */
    | 'head_expired'
  /** IDs of rows (`7`, `3-5`) or numbers of checkpoints. */
  readonly ids: string
}

/** The options of a verification of the audit log. */
export interface AuditVerificationOptions {
  /** The `head` that an earlier verification returned, and that was stored outside of the database. */
  readonly head?: string | undefined
  /** Called with each defect that is found. */
  readonly onDefect?: ((defect: AuditDefect) => void) | undefined
}

/** The result of a verification. */
export interface AuditVerification {
  readonly checkpoints: number
  /** The number of rows that checkpoints cover. */
  readonly rows: number
  readonly firstId: number | null
  readonly lastId: number | null
  /**
   * The number of rows after the last checkpoint, and the earliest time of these rows. The verification does not detect
   * the removal of these rows.
   */
  readonly uncovered: { readonly rows: number; readonly since: number | null }
  /** The number and the digest of the last intact checkpoint; null if no intact checkpoint exists. */
  readonly head: string | null
  readonly defects: number
}

/** Returns the number and the digest of a checkpoint, such as `12:digest`. */
const headOf = (checkpoint: SealedCheckpoint): string =>
  `${checkpoint.number}:${checkpointDigest(checkpoint)}`

/** Finds rows of the audit log that were changed, removed or inserted. Reads the log in batches. */
export const verifyAudit = (
  { store, keys }: { readonly store: Store; readonly keys: KeyRing },
  options?: AuditVerificationOptions,
): Promise<AuditVerification> => new Verifier(store, keys, options).run()

class Verifier {
  readonly #store: Store
  readonly #keys: KeyRing
  readonly #head: string | undefined
  readonly #headNumber: number
  readonly #onDefect: AuditVerificationOptions['onDefect']
  #defects = 0
  #lastChanged = 0
  #checkpoints = 0
  #rows = 0
  #firstId: number | null = null
  #lastId: number | null = null

  constructor(store: Store, keys: KeyRing, { head, onDefect }: AuditVerificationOptions = {}) {
    this.#store = store
    this.#keys = keys
    this.#head = head
    this.#headNumber = Number.parseInt(head ?? '0', 10)
    this.#onDefect = onDefect
  }

  async run(): Promise<AuditVerification> {
    const removed = await this.#removedUpTo()
    let last: SealedCheckpoint | undefined
    // Start with the last checkpoint whose rows were removed, because the next checkpoint contains its digest.
    const before = removed > 0 ? removed - 1 : Number.MIN_SAFE_INTEGER
    let hasSeenHead = false
    for await (const checkpoint of checkpointsAfter(before, this.#store, readAtOnce)) {
      if (!isCheckpointIntact(checkpoint, this.#keys)) {
        this.#report('checkpoint_changed', checkpoint.number)
        this.#lastChanged = checkpoint.number
        continue
      }
      if (checkpoint.number === this.#headNumber) {
        hasSeenHead = true
        if (headOf(checkpoint) !== this.#head) this.#report('head_differs', checkpoint.number)
      }
      await this.#checkOne(checkpoint, last, removed)
      last = checkpoint
    }
    if (this.#head !== undefined && !hasSeenHead) {
      const isExpired = this.#headNumber < (await this.#removedUpTo())
      this.#report(isExpired ? 'head_expired' : 'head_differs', this.#headNumber)
    }
    if (removed === 0) await this.#beforeFirst()
    const uncovered = await this.#uncovered(last?.lastId ?? 0)
    return {
      checkpoints: this.#checkpoints,
      rows: this.#rows,
      firstId: this.#firstId,
      lastId: this.#lastId,
      uncovered,
      head: last ? headOf(last) : null,
      defects: this.#defects,
    }
  }

  async #checkOne(
    checkpoint: SealedCheckpoint,
    last: SealedCheckpoint | undefined,
    removed: number,
  ): Promise<void> {
    const { number, previous } = checkpoint
    this.#checkpoints += 1
    // Retention may have removed the rows of this checkpoint, and all checkpoints before it.
    if (number <= removed) return
    const isNext = previous === (last ? checkpointDigest(last) : '')
    if (!isNext && (await this.#removedUpTo()) < number) {
      const first = last ? last.number + 1 : Math.max(removed, 1)
      if (this.#lastChanged < first)
        this.#report('checkpoint_removed', idRange(first, Math.max(first, number - 1)))
      await this.#withoutCheckpoint(last?.lastId ?? null, checkpoint.afterId)
    }
    const found = await this.#rowDefects(checkpoint)
    // Retention may have removed the rows during the verification.
    if (found.length > 0 && (await this.#removedUpTo()) >= number) return
    for (const { kind, ids } of found) this.#report(kind, ids)
  }

  /** Returns the defects of the rows that a checkpoint covers. */
  async #rowDefects(checkpoint: SealedCheckpoint): Promise<readonly AuditDefect[]> {
    const expected = new Set(idsOf(checkpoint.ids))
    const forged = new Set(idsOf(checkpoint.forged))
    const digest = rowsDigest()
    const defects: AuditDefect[] = [...forged].map((id) => ({ kind: 'row_forged', ids: `${id}` }))
    const changed: number[] = []
    let rows = 0
    for await (const row of this.#between(checkpoint.afterId, checkpoint.lastId)) {
      if (!expected.delete(row.id)) {
        // The number of these rows is unbounded, so do not collect all of them.
        if (defects.length < readAtOnce) defects.push({ kind: 'row_inserted', ids: `${row.id}` })
        continue
      }
      rows += 1
      digest.add(row)
      if (!forged.has(row.id) && this.#isChanged(row)) changed.push(row.id)
    }
    this.#count(checkpoint, rows)
    for (const id of changed) defects.push({ kind: 'row_changed', ids: `${id}` })
    for (const id of expected) defects.push({ kind: 'row_removed', ids: `${id}` })
    const isSame = digest.end() === checkpoint.rowsDigest
    if (!isSame && changed.length === 0 && expected.size === 0)
      defects.push({ kind: 'rows_changed', ids: checkpoint.ids })
    return defects
  }

  // The database assigns IDs from 1, so this package did not write a row with a lower ID.
  async #beforeFirst(): Promise<void> {
    for await (const { id } of this.#between(null, 0)) this.#report('row_inserted', id)
  }

  /** Verifies the seals of rows that no intact checkpoint covers. */
  async #withoutCheckpoint(after: number | null, until: number): Promise<void> {
    for await (const row of this.#between(after, until))
      if (this.#isChanged(row)) this.#report('row_changed', row.id)
  }

  async #uncovered(after: number): Promise<AuditVerification['uncovered']> {
    let rows = 0
    let since: number | null = null
    let from = after
    for await (const row of this.#between(after)) {
      if (row.id > after + reach) {
        this.#report('row_inserted', row.id)
        continue
      }
      rows += 1
      since = Math.min(since ?? Number.POSITIVE_INFINITY, Number(row.values[0]))
      if (!this.#keys.isAuditIntact(row.seal, row.values)) this.#report('row_forged', row.id)
      if (rows % readAtOnce !== 0) continue
      await this.#copies(from, row.id)
      from = row.id
    }
    await this.#copies(from, after + reach)
    return { rows, since }
  }

  async #copies(after: number, until: number): Promise<void> {
    for (const id of await this.#store.audit.copies({ after, until }))
      this.#report('row_copied', id)
  }

  // If the secret key of an old row is no longer configured, the seal of the row cannot be verified. Only the
  // checkpoint then proves that the row is unchanged.
  #isChanged({ seal, values }: StoredAuditRow): boolean {
    const isOfKnownKey = this.#keys.ids.includes(keyIdOf(seal) ?? '')
    return isOfKnownKey && !this.#keys.isAuditIntact(seal, values)
  }

  #between(after: number | null, until?: number): AsyncGenerator<StoredAuditRow> {
    return rowsInBatches(readAtOnce, (last: StoredAuditRow | undefined) => {
      const id = last?.id ?? after
      return this.#store.audit.select(until === undefined ? {} : { id: { upTo: until } }, {
        after: id === null ? undefined : { id },
        limit: readAtOnce,
      })
    })
  }

  async #removedUpTo(): Promise<number> {
    return (await latestCheckpoint(this.#store, this.#keys)).intact?.removedUpTo ?? 0
  }

  #count({ ids, lastId }: SealedCheckpoint, rows: number): void {
    this.#rows += rows
    if (ids === '') return
    this.#firstId ??= Number.parseInt(ids, 10)
    this.#lastId = lastId
  }

  #report(kind: AuditDefect['kind'], ids: number | string): void {
    this.#defects += 1
    this.#onDefect?.({ kind, ids: `${ids}` })
  }
}

const idRange = (first: number, last: number): string =>
  first === last ? `${first}` : `${first}-${last}`
