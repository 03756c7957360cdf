import type { AuditRecord } from '../../model/audit-event.ts'
import { itemsOfPages } from '../../model/batches.ts'
import { callback, onlyMembers, text, time, whole } from '../../model/members.ts'
import type { RoutineCount } from '../../model/routine-count.ts'
import type { UserId } from '../../model/user.ts'
import type { AuditFilter } from '../../store/contract/audit.ts'
import type { RoutineTotal } from '../../store/contract/audit-counts.ts'
import type { Cursor, Page } from '../../store/contract/page.ts'
import { earliestRow, type RecordsContext } from '../context.ts'
import {
  type AuditVerification,
  type AuditVerificationOptions,
  verifyAudit,
} from './audit-verification.ts'

const checkSearch = onlyMembers<ActivitySearch>('activity', {
  user: text,
  event: text,
  clientId: text,
  tokenId: whole(0),
  address: text,
  since: time,
  until: time,
})
const checkVerification = onlyMembers<AuditVerificationOptions>('activity.verify()', {
  head: text,
  onDefect: callback,
})

/** The number of events per query when all events are read. */
const readAtOnce = 500

/** The search criteria for events. */
export interface ActivitySearch extends Omit<AuditFilter, 'userId' | 'withoutRoutine'> {
  /** A user ID or an e-mail address. */
  readonly user?: string | undefined
}

/** Reads the audit log. */
export class Activity {
  readonly #context: RecordsContext

  constructor(context: RecordsContext) {
    this.#context = context
  }

  /** Lists the events of a user's account, the latest first, without routine events. */
  async listByUser(
    userId: UserId,
    cursor: Cursor,
    search: Pick<AuditFilter, 'event' | 'tokenId' | 'since' | 'until'> = {},
  ): Promise<Page<AuditRecord>> {
    const { store } = this.#context
    const filter = { ...search, userId, withoutRoutine: true }
    const { items, next } = await store.audit.list('latest', filter, cursor)
    const earliest = await earliestRow(userId, this.#context)
    return { items: items.filter(({ at }) => at >= earliest), next }
  }

  /** Lists the latest events of a token, a client or a user, without routine events. */
  async latestOf(
    filter: Pick<AuditFilter, 'tokenId' | 'clientId' | 'userId'>,
    limit: number,
  ): Promise<readonly AuditRecord[]> {
    const cursor = { after: null, limit }
    const { store } = this.#context
    return (await store.audit.list('latest', { ...filter, withoutRoutine: true }, cursor)).items
  }

  /** Lists the events that match a search, the latest first. */
  async search(search: ActivitySearch, cursor: Cursor): Promise<Page<AuditRecord>> {
    return this.#context.store.audit.list('latest', await this.#filter(search), cursor)
  }

  /** Yields the pages of a list of events, with at most `limit` events in total. */
  async *pages(
    read: (cursor: Cursor) => Promise<Page<AuditRecord>>,
    limit: number,
  ): AsyncGenerator<readonly AuditRecord[], void, void> {
    let after: string | null = null
    for (let left = limit; left > 0; ) {
      const { items, next }: Page<AuditRecord> = await read({
        after,
        limit: Math.min(left, readAtOnce),
      })
      yield items
      left -= items.length
      after = next
      if (after === null) return
    }
  }

  /** Yields all events that match a search, the earliest first. Reads the events in batches. */
  async *all(search: ActivitySearch = {}): AsyncGenerator<AuditRecord, void, void> {
    const filter = await this.#filter(search)
    const { audit } = this.#context.store
    yield* itemsOfPages(readAtOnce, (cursor) => audit.list('earliest', filter, cursor))
  }

  /**
   * Yields the numbers of routine events by hour, event, client, user and grant, the earliest hour first. Reads the
   * numbers in batches.
   */
  async *counts(search: ActivitySearch = {}): AsyncGenerator<RoutineCount, void, void> {
    const filter = await this.#filter(search)
    const { auditCounts } = this.#context.store
    yield* itemsOfPages(readAtOnce, (cursor) => auditCounts.list(filter, cursor))
  }

  /** Returns the `limit` greatest numbers of routine events that match a search, by event, client and grant. */
  async totals(search: ActivitySearch, limit: number): Promise<readonly RoutineTotal[]> {
    return this.#context.store.auditCounts.totals(await this.#filter(search), limit)
  }

  /** Finds rows of the audit log that were changed, removed or inserted outside of this server. */
  async verify(options?: AuditVerificationOptions): Promise<AuditVerification> {
    checkVerification(options)
    return verifyAudit(this.#context, options)
  }

  async #filter(search: ActivitySearch): Promise<AuditFilter> {
    checkSearch(search)
    const { user, ...filter } = search
    const { users } = this.#context
    const isEmail = user?.includes('@') && users.canFindByEmail
    const found = user && isEmail ? await users.findByEmail(user, this.#context) : undefined
    // The indexes of tokens and IP addresses do not contain routine events, so omit routine events from these searches.
    const withoutRoutine = filter.tokenId !== undefined || filter.address !== undefined
    // If no user has this e-mail address, use the text as an ID, because user IDs of an application may contain `@`.
    return { ...filter, withoutRoutine, userId: found?.id ?? user }
  }
}
