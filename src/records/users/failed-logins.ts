import type { AuditEvent } from '../../model/audit-event.ts'
import type { LogSink } from '../../model/log.ts'
import type { UserId } from '../../model/user.ts'

/** Milliseconds for which the failed logins of a user are combined into one event. */
const hour = 3_600_000
/** The number of failed logins of one user in an hour at which the log reports a possible attack. */
const alarming = 20
/** The maximum number of counted users. */
const maxUsers = 10_000

type FailedLogin = AuditEvent<'login.failed'>

interface Counted {
  readonly total: number
  /** The number of failed logins that are not recorded yet. */
  readonly waiting: number
  readonly latest: FailedLogin
}

/**
 * Combines failed logins, so that guesses do not fill the audit log. The first failed login of a user is recorded
 * immediately. Further failed logins within the hour are combined. Unknown accounts are counted together.
 */
export class FailedLogins {
  readonly #record: (event: FailedLogin) => void
  readonly #log: LogSink
  readonly #counted = new Map<UserId | null, Counted>()
  #since = 0
  #timer: NodeJS.Timeout | undefined

  constructor(record: (event: FailedLogin) => void, log: LogSink) {
    this.#record = record
    this.#log = log
  }

  add(event: FailedLogin): void {
    const { userId, at } = event
    if (at - this.#since >= hour || this.#counted.size >= maxUsers) this.flush()
    const before = this.#counted.get(userId)
    if (!before) {
      if (this.#counted.size === 0) this.#begin(at)
      this.#counted.set(userId, { total: 1, waiting: 0, latest: event })
      this.#record(event)
      return
    }
    const counted = { total: before.total + 1, waiting: before.waiting + 1, latest: event }
    const isAlarming = counted.total === alarming && userId !== null
    this.#counted.set(userId, isAlarming ? this.#recorded(counted) : counted)
    if (isAlarming) this.#warn(userId)
  }

  /** Records the combined events. After that, the next failed login begins a new hour. */
  flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const all = [...this.#counted.values()]
    this.#counted.clear()
    for (const counted of all) this.#recorded(counted)
  }

  #begin(at: number): void {
    this.#since = at
    this.#timer = setTimeout(() => this.flush(), hour).unref()
  }

  #recorded(counted: Counted): Counted {
    const { waiting: count, latest } = counted
    if (count > 0) this.#record({ ...latest, details: { count } })
    return { ...counted, waiting: 0 }
  }

  #warn(userId: UserId): void {
    this.#log({
      level: 'warn',
      event: 'login.guessed',
      message: `${alarming} logins of a user failed within an hour: somebody may be guessing the password.`,
      userId,
    })
  }
}
