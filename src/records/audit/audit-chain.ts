import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { sha256 } from '../../crypto/digest.ts'
import { encodeClaims, type KeyRing } from '../../crypto/sealed.ts'
import { rowsInBatches } from '../../model/batches.ts'
import {
  type AuditCheckpoint,
  checkpointClaims,
  type SealedCheckpoint,
} from '../../model/entities/audit-checkpoint.ts'
import type { AuditMark, StoredAuditRow } from '../../store/contract/audit.ts'
import type { Store } from '../../store/store.ts'
import type { RecordsContext } from '../context.ts'

/** The maximum number of rows of one checkpoint. */
const maxRows = 1_000
/**
 * The maximum time between the first and the last event of one checkpoint, in milliseconds. The time is short, because
 * the server removes expired rows only when all rows of their checkpoint have expired.
 */
const span = 60_000
/** The number of checkpoints per query. */
const checkpointsAtOnce = 100
/**
 * The maximum gap between the last ID of a checkpoint and the IDs of later rows. A row with a greater ID counts as
 * inserted by an attacker, because this server does not write so many rows between two checkpoints.
 */
export const reach = 2 ** 44
/** Milliseconds between two checks whether earlier transactions have ended. */
const checkInterval = 100
/** The maximum number of checks for earlier transactions in one run. */
const maxChecks = 5

/** The parts of the server that the chain needs. */
type Context = Pick<RecordsContext, 'store' | 'keys' | 'settings' | 'clock' | 'log'>

/** Formats IDs in ascending order as ranges: `3-7,9`. */
export const idRanges = (ids: readonly number[]): string => {
  const ranges: { first: number; last: number }[] = []
  for (const id of ids) {
    const range = ranges.at(-1)
    if (range && id === range.last + 1) range.last = id
    else ranges.push({ first: id, last: id })
  }
  return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join()
}

export const idsOf = (ranges: string): readonly number[] =>
  ranges === ''
    ? []
    : ranges.split(',').flatMap((range) => {
        const [first = 0, last = first] = range.split('-').map(Number)
        return Array.from({ length: last - first + 1 }, (_, index) => first + index)
      })

/** Creates a digest of rows. The digest depends on the order of the rows. */
export const rowsDigest = () => {
  const hash = createHash('sha256')
  return {
    add: ({ id, values, seal }: StoredAuditRow) =>
      void hash.update(`${encodeClaims([id, ...values, seal])}\n`),
    end: () => hash.digest('base64url'),
  }
}

export const checkpointDigest = (checkpoint: AuditCheckpoint): string =>
  sha256(JSON.stringify(checkpointClaims(checkpoint)))

/** Returns whether the seal of a checkpoint is valid. */
export const isCheckpointIntact = (checkpoint: SealedCheckpoint, keys: KeyRing): boolean =>
  keys.isIntact(checkpoint.seal, checkpointClaims(checkpoint))

/** Yields the checkpoints after this number, and reads at most `limit` at once. */
export const checkpointsAfter = (
  number: number,
  { auditCheckpoints }: Pick<Store, 'auditCheckpoints'>,
  limit: number,
) =>
  rowsInBatches(limit, (last: SealedCheckpoint | undefined) =>
    auditCheckpoints.select({}, { after: last ?? { number }, limit }),
  )

/**
 * Returns the latest intact checkpoint. If the last checkpoint is not intact, `forged` is the number of the last
 * checkpoint.
 */
export const latestCheckpoint = async (
  { auditCheckpoints }: Pick<Store, 'auditCheckpoints'>,
  keys: KeyRing,
): Promise<{
  readonly intact: SealedCheckpoint | undefined
  readonly forged: number | undefined
}> => {
  let part = await auditCheckpoints.select({}, { limit: 1, isReversed: true })
  const [last] = part
  for (;;) {
    const intact = part.find((checkpoint) => isCheckpointIntact(checkpoint, keys))
    const end = part.at(-1)
    if (intact || !end) return { intact, forged: intact === last ? undefined : last?.number }
    part = await auditCheckpoints.select({}, { after: end, limit: maxRows, isReversed: true })
  }
}

/**
 * Covers the rows of the audit log with checkpoints. Each checkpoint is sealed, and contains the digest of the previous
 * checkpoint. A checkpoint covers a range of IDs in which no open transaction can still insert rows. Expired rows are
 * removed after a checkpoint has declared their removal.
 */
export class AuditChain {
  readonly #context: Context
  #mark: AuditMark | undefined
  /**
   * The greatest known number of a checkpoint. If the latest checkpoint has a lower number, checkpoints were removed.
   */
  #head = 0

  constructor(context: Context) {
    this.#context = context
  }

  /**
   * Returns a task that writes one checkpoint over committed rows in each call.
   * @param now the current time, in milliseconds since the epoch. Null if the clock may be wrong: the checkpoints then
   * declare no further rows removed.
   */
  coverage(now: number | null): () => Promise<number | null> {
    let until: number | undefined
    return async () => {
      until ??= await this.#settledId()
      return (await this.#makeOne(until, now)) ? 0 : null
    }
  }

  /** Returns a task that removes the rows and checkpoints that a checkpoint has declared removed. */
  retention(): (limit: number) => Promise<number | null> {
    const { store, keys } = this.#context
    let base: SealedCheckpoint | undefined
    return async (limit) => {
      if (!base) {
        const { intact } = await latestCheckpoint(store, keys)
        if (!intact || intact.removedUpTo === 0) return null
        const [first] = await store.auditCheckpoints.select({ number: intact.removedUpTo })
        if (!first || !isCheckpointIntact(first, keys)) return null
        base = first
      }
      const rows = await store.audit.deleteExpired(base, limit)
      return rows || (await store.auditCheckpoints.deleteExpired(base.number - 1, limit)) || null
    }
  }

  /** Covers all committed rows. */
  async coverAll(): Promise<void> {
    const cover = this.coverage(null)
    while ((await cover()) !== null);
  }

  /** Covers committed rows with a limited number of checkpoints. */
  async coverSome(): Promise<void> {
    const cover = this.coverage(null)
    for (let made = 0; made < checkpointsAtOnce; made += 1) if ((await cover()) === null) return
  }

  /** Returns the greatest ID up to which every row is committed, or 0 if an earlier transaction remains open. */
  async #settledId(): Promise<number> {
    const { audit } = this.#context.store
    this.#mark ??= await this.#newMark()
    const mark = this.#mark
    for (let checks = 1; !(await audit.isSettled(mark)); checks += 1) {
      if (checks === maxChecks) return 0
      await pause(checkInterval)
    }
    this.#mark = undefined
    return mark.id
  }

  async #newMark(): Promise<AuditMark> {
    const { store, keys } = this.#context
    const after = (await latestCheckpoint(store, keys)).intact?.lastId ?? 0
    const mark = await store.audit.mark({ after, until: after + reach })
    if (mark.wasSetBack) this.#tampered('row', Math.max(after, mark.id))
    return mark
  }

  /**
   * Returns the next checkpoint number that no forged checkpoint uses; undefined if another node has created the next
   * checkpoint.
   */
  async #freeNumber(last: SealedCheckpoint | undefined): Promise<number | undefined> {
    const { store, keys } = this.#context
    const latest = last?.number ?? 0
    let number = latest + 1
    for await (const checkpoint of checkpointsAfter(latest, store, maxRows)) {
      if (checkpoint.number !== number) return number
      if (isCheckpointIntact(checkpoint, keys)) return undefined
      number += 1
    }
    return number
  }

  async #makeOne(until: number, expiryNow: number | null): Promise<boolean> {
    const { store, keys, clock } = this.#context
    const { intact: last, forged: forgedCheckpoint } = await latestCheckpoint(store, keys)
    if (forgedCheckpoint !== undefined) this.#tampered('checkpoint', forgedCheckpoint)
    else if ((last?.number ?? 0) < this.#head) this.#tampered('checkpoint', this.#head)
    const afterId = last?.lastId ?? 0
    const rows = until > afterId ? await this.#rowsAfter(afterId, until) : []
    const removed = await this.#expiredUpTo(last, expiryNow)
    if (rows.length === 0 && removed === (last?.removedUpTo ?? 0)) return false
    const number = await this.#freeNumber(last)
    if (number === undefined) return false
    const now = clock()
    const digest = rowsDigest()
    const lastId = rows.at(-1)?.id ?? afterId
    const copies =
      rows.length > 0 ? await store.audit.copies({ after: afterId, until: lastId }) : []
    const forged: number[] = []
    // An empty checkpoint must expire later than the checkpoints that it declares removed. Otherwise, each removal
    // would require another checkpoint.
    let latestAt = rows.length === 0 ? now : 0
    for (const row of rows) {
      digest.add(row)
      const isForged = copies.includes(row.id) || !keys.isAuditIntact(row.seal, row.values)
      if (isForged) forged.push(row.id)
      // A forged row may contain any time, and the clock of a node may be ahead. Use at most the current time, so that
      // no row delays the removal.
      latestAt = Math.max(latestAt, isForged ? now : Math.min(Number(row.values[0]), now))
    }
    for (const id of forged) this.#tampered('row', id)
    const checkpoint: AuditCheckpoint = {
      number,
      at: now,
      afterId,
      lastId,
      ids: idRanges(rows.map(({ id }) => id)),
      rowsDigest: digest.end(),
      latestAt,
      forged: idRanges(forged),
      removedUpTo: removed,
      previous: last ? checkpointDigest(last) : '',
    }
    const seal = keys.sealRow(checkpointClaims(checkpoint))
    // If several nodes insert this checkpoint, only one succeeds.
    const isOurs = await store.auditCheckpoints.insert({ ...checkpoint, seal })
    this.#head = Math.max(this.#head, checkpoint.number)
    return isOurs
  }

  async #rowsAfter(after: number, until: number): Promise<readonly StoredAuditRow[]> {
    const { audit } = this.#context.store
    const rows = await audit.select(
      { id: { upTo: until } },
      { after: { id: after }, limit: maxRows },
    )
    const first = Number(rows[0]?.values[0])
    const end = rows.findIndex(
      ({ values }, index) => index > 0 && !(Math.abs(Number(values[0]) - first) < span),
    )
    return end === -1 ? rows : rows.slice(0, end)
  }

  /** Returns the number of the last checkpoint whose rows have all expired. */
  async #expiredUpTo(last: SealedCheckpoint | undefined, now: number | null): Promise<number> {
    const { store, keys, settings } = this.#context
    const before = last?.removedUpTo ?? 0
    if (settings.auditExpiresIn === 0 || !last || now === null) return before
    const expired = now - settings.auditExpiresIn * 1000
    let removed = before
    for await (const checkpoint of checkpointsAfter(before, store, checkpointsAtOnce)) {
      // Ignore the contents of a changed checkpoint.
      if (!isCheckpointIntact(checkpoint, keys)) continue
      if (checkpoint.latestAt >= expired) break
      removed = checkpoint.number
      if (removed - before >= checkpointsAtOnce) break
    }
    return removed
  }

  #tampered(what: 'row' | 'checkpoint', id: number): void {
    this.#context.log({
      level: 'error',
      event: 'audit.tampered',
      message: `The ${what} ${id} of the audit log was changed, removed or inserted outside of this server. The command audit verify lists all defects.`,
      what,
      id,
    })
  }
}
