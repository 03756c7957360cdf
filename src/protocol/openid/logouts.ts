import { digestOf } from '../../crypto/digest.ts'
import type { UserId } from '../../model/user.ts'
import type { EndedLogin } from '../../store/contract/client-logins.ts'
import type { Store } from '../../store/store.ts'
import type { Logouts, ServerContext } from '../server-context.ts'
import { BackChannel, noticeLifetime, noticesPerUser } from './back-channel.ts'

/** Ends stored client logins: revokes access without `offline_access`, and notifies the clients. */
export class ClientLogouts implements Logouts {
  readonly #server: ServerContext
  readonly #backChannel: BackChannel

  constructor(server: ServerContext) {
    this.#server = server
    this.#backChannel = new BackChannel(server)
  }

  async sessionsEnded(userId: UserId): Promise<void> {
    // An application with its own sessions reports the end of a session by `loggedOut`.
    if (this.#server.sessions.isHosted) return
    await this.#end(
      await this.#take(userId, ({ clientLogins }) => clientLogins.take({ userId, hasEnded: true })),
    )
  }

  async userEnded(userId: UserId, store?: Store): Promise<void> {
    const { length } = await this.#take(
      userId,
      ({ clientLogins }) => clientLogins.take({ userId }),
      store,
    )
    if (length > 0) this.#backChannel.sendDueInBackground()
  }

  async loggedOut(userId: UserId, sessionId?: string): Promise<void> {
    const ended = await this.#take(userId, ({ clientLogins }) =>
      sessionId === undefined
        ? clientLogins.take({ userId })
        : clientLogins.take({ session: digestOf('session', sessionId) }),
    )
    await this.#end(ended)
  }

  sendDue(): Promise<void> {
    return this.#backChannel.sendDue()
  }

  stop(): Promise<void> {
    return this.#backChannel.stop()
  }

  // Access without offline_access ends with the session. OpenID Connect Back-Channel Logout §2.7.
  async #end(ended: readonly EndedLogin[]): Promise<void> {
    const { store, clock } = this.#server
    for (const { authorizationId, isOffline } of ended) {
      if (!isOffline && authorizationId !== null)
        await store.authorizations.revoke(authorizationId, clock())
    }
    if (ended.length > 0) this.#backChannel.sendDueInBackground()
  }

  /** Takes ended logins, and stores a notice for each client and session in the same transaction. */
  async #take(
    userId: UserId,
    take: (tx: Store) => Promise<readonly EndedLogin[]>,
    store = this.#server.store,
  ): Promise<readonly EndedLogin[]> {
    const { clock, log } = this.#server
    const now = clock()
    const times = { now, expiresAt: now + noticeLifetime }
    const { ended, dropped } = await store.transaction(async (tx) => {
      const taken = await take(tx)
      const surplus = await tx.logoutNotices.add(taken, userId, times, noticesPerUser)
      return { ended: taken, dropped: surplus }
    })
    if (dropped > 0)
      log({
        level: 'warn',
        event: 'logout.not_delivered',
        message:
          'A user has too many logouts that wait for delivery, so some clients are not notified.',
        userId,
      })
    return ended
  }
}
