import { digestOf } from '../../crypto/digest.ts'
import type { UserId } from '../../model/user.ts'
import type { EndedLogin } from '../../store/contract/client-logins.ts'
import type { Logouts, ServerContext } from '../server-context.ts'
import { BackChannel } from './back-channel.ts'

/** Ends stored client logins: revokes access without `offline_access`, and notifies the clients. */
export class ClientLogouts implements Logouts {
  readonly #server: () => ServerContext
  readonly #backChannel: BackChannel

  constructor(server: () => ServerContext) {
    this.#server = server
    this.#backChannel = new BackChannel(server)
  }

  async sessionsEnded(userId: UserId): Promise<void> {
    // An application with its own sessions reports the end of a session by `loggedOut`.
    if (this.#server().sessions.isHosted) return
    await this.#end(await this.#server().store.clientLogins.takeEnded(userId))
  }

  async userEnded(userId: UserId): Promise<void> {
    await this.#tell(await this.#server().store.clientLogins.takeOfUser(userId))
  }

  async loggedOut(userId: UserId, sessionId?: string): Promise<void> {
    const { clientLogins } = this.#server().store
    const ended =
      sessionId === undefined
        ? await clientLogins.takeOfUser(userId)
        : await clientLogins.takeOfSession(digestOf('session', sessionId))
    await this.#end(ended)
  }

  stop(): void {
    this.#backChannel.stop()
  }

  // Access without offline_access ends with the session. OpenID Connect Back-Channel Logout §2.7.
  async #end(ended: readonly EndedLogin[]): Promise<void> {
    const { store, clock } = this.#server()
    for (const { authorizationId, isOffline } of ended) {
      if (!isOffline && authorizationId !== null)
        await store.authorizations.revoke(authorizationId, clock())
    }
    await this.#tell(ended)
  }

  async #tell(ended: readonly EndedLogin[]): Promise<void> {
    // Notify a client once, even if the client has several authorizations in one session.
    const distinct = new Map(ended.map((login) => [`${login.clientKey} ${login.sid}`, login]))
    for (const { clientId, userId, sid } of distinct.values()) {
      const client = clientId === undefined ? undefined : await this.#server().getClient(clientId)
      if (client?.isActive) this.#backChannel.tell({ client, userId, sid })
    }
  }
}
