import { createHash } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { sha256 } from '../../crypto/digest.ts'
import { encodeClaims, type KeyRing } from '../../crypto/sealed.ts'
import type { LogSink } from '../../model/log.ts'
import type { Settings } from '../../settings/settings.ts'
import type {
  AuditCheckpoint,
  AuditMark,
  SealedCheckpoint,
  StoredAuditRow,
} from '../../store/contract/audit.ts'
import type { Store } from '../../store/store.ts'
import { checkpointClaims } from '../seals/claims.ts'

/** Rows that one checkpoint covers at most. */
const mostRows = 1_000
/** Milliseconds between the first event of a checkpoint and its others: retention removes whole checkpoints. */
const span = 60_000
/** Checkpoints that are looked at together. */
const checkpointsAtOnce = 100
/** How far ids go on between two checkpoints at most: a row beyond was given its id by hand. */
export const reach = 2 ** 44
/** Milliseconds between two looks at whether earlier writers have committed, and how many looks one run takes. */
const betweenLooks = 100
const mostLooks = 5

/** The part of the server that the chain needs. */
export interface AuditChainOptions {
  readonly store: Store
  readonly keys: KeyRing
  readonly settings: Pick<Settings, 'auditExpiresIn'>
  readonly clock: () => number
  readonly log: LogSink
}

/** Ids in ascending order as text: `3-7,9`. */
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

/** A digest of rows, in the order in which they are added. */
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

/** Whether the checkpoint is as one of our keys sealed it. */
export const isCheckpointIntact = (checkpoint: SealedCheckpoint, keys: KeyRing): boolean =>
  keys.isIntact(checkpoint.seal, checkpointClaims(checkpoint))

/** The latest checkpoint that is intact, and the number of the last one if that is not intact. */
export const latestCheckpoint = async (
  { auditCheckpoints }: Pick<Store, 'auditCheckpoints'>,
  keys: KeyRing,
): Promise<{
  readonly intact: SealedCheckpoint | undefined
  readonly forged: number | undefined
}> => {
  let part = await auditCheckpoints.latest(1)
  const [last] = part
  for (;;) {
    const intact = part.find((checkpoint) => isCheckpointIntact(checkpoint, keys))
    const end = part.at(-1)
    if (intact || !end) return { intact, forged: intact === last ? undefined : last?.number }
    part = await auditCheckpoints.latest(mostRows, end.number)
  }
}

/**
 * Covers the rows of the audit log with checkpoints. Each is sealed, names the digest of the one before, and covers
 * rows that no transaction can add to any more. It also removes what has expired: a checkpoint says so first.
 */
export class AuditChain {
  readonly #options: AuditChainOptions
  #mark: AuditMark | undefined
  #head = 0

  constructor(options: AuditChainOptions) {
    this.#options = options
  }

  /**
   * Covers what is committed, a checkpoint each time.
   * @param now the time by which rows have expired; null where the clock may be wrong: then none are declared removed
   */
  coverage(now: number | null): { readonly name: string; removeSome(): Promise<number | null> } {
    let until: number | undefined
    return {
      name: 'audit checkpoints',
      removeSome: async () => {
        until ??= await this.#settledId()
        return (await this.#makeOne(until, now)) ? 0 : null
      },
    }
  }

  /** Removes the rows and checkpoints that a checkpoint has declared removed. */
  retention(): { readonly name: string; removeSome(limit: number): Promise<number | null> } {
    const { store, keys } = this.#options
    let base: SealedCheckpoint | undefined
    return {
      name: 'audit',
      removeSome: async (limit) => {
        if (!base) {
          const { intact } = await latestCheckpoint(store, keys)
          if (!intact || intact.removedUpTo === 0) return null
          const [first] = await store.auditCheckpoints.list(intact.removedUpTo - 1, 1)
          if (first?.number !== intact.removedUpTo || !isCheckpointIntact(first, keys)) return null
          base = first
        }
        const rows = await store.audit.deleteUpTo(base.lastId, limit)
        return rows || (await store.auditCheckpoints.deleteBelow(base.number, limit)) || null
      },
    }
  }

  /** Covers all that is there. */
  async coverAll(): Promise<void> {
    const { removeSome } = this.coverage(null)
    while ((await removeSome()) !== null);
  }

  /** Covers what is there, as far as a few checkpoints reach. */
  async coverSome(): Promise<void> {
    const { removeSome } = this.coverage(null)
    for (let made = 0; made < checkpointsAtOnce; made += 1)
      if ((await removeSome()) === null) return
  }

  /** The greatest id up to which every row is committed. Without one yet, the next run looks again. */
  async #settledId(): Promise<number> {
    const { audit } = this.#options.store
    this.#mark ??= await this.#newMark()
    const mark = this.#mark
    for (let looks = 1; !(await audit.isSettled(mark)); looks += 1) {
      if (looks === mostLooks) return 0
      await pause(betweenLooks)
    }
    this.#mark = undefined
    return mark.id
  }

  async #newMark(): Promise<AuditMark> {
    const { store, keys } = this.#options
    const after = (await latestCheckpoint(store, keys)).intact?.lastId ?? 0
    const mark = await store.audit.mark({ after, until: after + reach })
    if (mark.wasSetBack) this.#tampered('row', Math.max(after, mark.id))
    return mark
  }

  /** The first number behind the last checkpoint that no forged one has; undefined where another node was faster. */
  async #freeNumber(last: SealedCheckpoint | undefined): Promise<number | undefined> {
    const { store, keys } = this.#options
    let number = (last?.number ?? 0) + 1
    for (;;) {
      const part = await store.auditCheckpoints.list(number - 1, mostRows)
      for (const checkpoint of part) {
        if (checkpoint.number !== number) return number
        if (isCheckpointIntact(checkpoint, keys)) return undefined
        number += 1
      }
      if (part.length < mostRows) return number
    }
  }

  async #makeOne(until: number, expiryNow: number | null): Promise<boolean> {
    const { store, keys, clock } = this.#options
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
    // An empty one expires later than those that it declares removed: otherwise each would ask for another.
    let latestAt = rows.length === 0 ? now : 0
    for (const row of rows) {
      digest.add(row)
      const isForged = copies.includes(row.id) || !keys.isAuditIntact(row.seal, row.values)
      if (isForged) forged.push(row.id)
      // A forged row may say any time. A node whose clock is ahead must not hold up the removal.
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
    // Of several nodes one makes it; the others have nothing left to do.
    const isOurs = await store.auditCheckpoints.insert({ ...checkpoint, seal })
    this.#head = Math.max(this.#head, checkpoint.number)
    return isOurs
  }

  async #rowsAfter(after: number, until: number): Promise<readonly StoredAuditRow[]> {
    const rows = await this.#options.store.audit.rows({ after, until }, mostRows)
    const first = Number(rows[0]?.values[0])
    const end = rows.findIndex(
      ({ values }, index) => index > 0 && !(Math.abs(Number(values[0]) - first) < span),
    )
    return end === -1 ? rows : rows.slice(0, end)
  }

  /** The last of the checkpoints whose rows have all expired. */
  async #expiredUpTo(last: SealedCheckpoint | undefined, now: number | null): Promise<number> {
    const { store, keys, settings } = this.#options
    let removed = last?.removedUpTo ?? 0
    if (settings.auditExpiresIn === 0 || !last || now === null) return removed
    const expired = now - settings.auditExpiresIn * 1000
    for (const checkpoint of await store.auditCheckpoints.list(removed, checkpointsAtOnce)) {
      // What a changed checkpoint says decides nothing.
      if (!isCheckpointIntact(checkpoint, keys)) continue
      if (checkpoint.latestAt >= expired) break
      removed = checkpoint.number
    }
    return removed
  }

  #tampered(what: 'row' | 'checkpoint', id: number): void {
    this.#options.log({
      level: 'error',
      event: 'audit.tampered',
      message: `The ${what} ${id} of the audit log was changed, removed or inserted past this server; audit verify lists all of them.`,
      what,
      id,
    })
  }
}
