import { digestOf } from '../../crypto/digest.ts'
import type { UserId } from '../../model/user.ts'
import type { EndedLogin } from '../../store/contract/client-logins.ts'
import type { ServerContext } from '../server-context.ts'
import { BackChannel } from './back-channel.ts'

/** Ends what depends on a login: tells the clients of the session, and revokes access that is not for later use. */
export class Logouts {
  readonly #server: () => ServerContext
  readonly #backChannel: BackChannel

  constructor(server: () => ServerContext) {
    this.#server = server
    this.#backChannel = new BackChannel(server)
  }

  /** Ends the logins of a user whose sessions at this server do not exist any more. */
  async sessionsEnded(userId: UserId): Promise<void> {
    // The application knows when its own sessions end.
    if (this.#server().sessions.isHosted) return
    await this.#end(await this.#server().store.clientLogins.takeEnded(userId))
  }

  /** Ends the logins of a deactivated or deleted user, whose tokens are invalid already. */
  async userEnded(userId: UserId): Promise<void> {
    await this.#tell(await this.#server().store.clientLogins.takeOfUser(userId))
  }

  /**
   * Ends the logins of a user whom the application logged out.
   * @param sessionId the session of the application; undefined for all sessions of the user
   */
  async loggedOut(userId: UserId, sessionId?: string): Promise<void> {
    const { clientLogins } = this.#server().store
    const ended =
      sessionId === undefined
        ? await clientLogins.takeOfUser(userId)
        : await clientLogins.takeOfSession(digestOf('session', sessionId))
    await this.#end(ended)
  }

  /** Ends all attempts to reach clients. */
  stop(): void {
    this.#backChannel.stop()
  }

  // Access without offline_access ends with the session. OpenID Connect Back-Channel Logout §2.7.
  async #end(ended: readonly EndedLogin[]): Promise<void> {
    const { store, clock } = this.#server()
    for (const { authorizationId, isOffline } of ended) {
      if (!isOffline) await store.authorizations.revoke(authorizationId, clock())
    }
    await this.#tell(ended)
  }

  async #tell(ended: readonly EndedLogin[]): Promise<void> {
    // A client may have learned about one session several times.
    const distinct = new Map(ended.map((login) => [`${login.clientKey} ${login.sid}`, login]))
    for (const { clientId, userId, sid } of distinct.values()) {
      const client = clientId === undefined ? undefined : await this.#server().getClient(clientId)
      if (client?.isActive) this.#backChannel.tell({ client, userId, sid })
    }
  }
}
