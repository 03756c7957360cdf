import type { AuditRecord } from '../../model/audit-event.ts'
import type { UserId } from '../../model/user.ts'
import type { AuditFilter } from '../../store/contract/audit.ts'
import type { Cursor, Page } from '../../store/contract/page.ts'
import type { RecordsContext } from '../context.ts'
import { Users } from '../users/users.ts'
import {
  type AuditVerification,
  type AuditVerificationOptions,
  verifyAudit,
} from './audit-verification.ts'

/** Events that are read at once, where all are read. */
const readAtOnce = 500

/** Which events are looked for. */
export interface ActivitySearch extends Omit<AuditFilter, 'userId' | 'withoutRoutine'> {
  /** An id, or an e-mail address. */
  readonly user?: string | undefined
}

/** What changed who may do what, as it was recorded. */
export class Activity {
  readonly #context: RecordsContext

  constructor(context: RecordsContext) {
    this.#context = context
  }

  /** What people did with a user's account, the latest first; not what programs do for them all the time. */
  listByUser(userId: UserId, cursor: Cursor): Promise<Page<AuditRecord>> {
    return this.#context.store.audit.latest({ userId, withoutRoutine: true }, cursor)
  }

  /** The latest first. */
  async search(search: ActivitySearch, cursor: Cursor): Promise<Page<AuditRecord>> {
    return this.#context.store.audit.latest(await this.#filter(search), cursor)
  }

  /** All of them, the earliest first, read in parts. */
  async *all(search: ActivitySearch = {}): AsyncGenerator<AuditRecord, void, void> {
    const filter = await this.#filter(search)
    let after: string | null = null
    do {
      const { items, next }: Page<AuditRecord> = await this.#context.store.audit.earliest(filter, {
        after,
        limit: readAtOnce,
      })
      yield* items
      after = next
    } while (after !== null)
  }

  /** Finds what was changed, removed or inserted past this server, and says what was checked. */
  verify(options?: AuditVerificationOptions): Promise<AuditVerification> {
    return verifyAudit(this.#context, options)
  }

  async #filter({ user, ...filter }: ActivitySearch): Promise<AuditFilter> {
    const found = user?.includes('@') ? await new Users(this.#context).findByEmail(user) : undefined
    // An application may have addresses for its keys.
    return { ...filter, userId: found?.id ?? user }
  }
}
