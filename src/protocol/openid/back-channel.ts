import { setTimeout as pause } from 'node:timers/promises'
import { bits256, randomString } from '../../crypto/random.ts'
import { OutboundFailed } from '../../http/outbound/outbound.ts'
import type { Client } from '../../model/client.ts'
import { keptMetadata } from '../../model/client-metadata.ts'
import { sectorOf } from '../../model/sector.ts'
import { userIdIn } from '../../model/user-id.ts'
import type { LogoutNotice } from '../../store/contract/logout-notices.ts'
import type { ServerContext } from '../server-context.ts'
import { idTokenAlgorithmOf } from './id-token.ts'

/** Milliseconds after each failed attempt. After one more failed attempt, the server gives up. */
const delays = [5_000, 60_000, 600_000, 3_600_000]
/** Milliseconds after which the sweeper deletes a notice that no process could send. */
export const noticeLifetime = 7_200_000
/** The maximum number of notices of one user. */
export const noticesPerUser = 1_000
/**
 * The maximum number of notices that a process claims at a time, in total and for one user and one client. The outbound
 * requests wait for free places.
 */
const maxClaimed = 100
const maxOfEach = 5
/** Milliseconds after which another process may send a claimed notice. */
const claimLifetime = 120_000
/** Milliseconds for which `stop` waits for running attempts. */
const maxWaitAtStop = 1_000
/** Seconds for which a logout token is valid (Back-Channel Logout §2.4). */
const lifetime = 120
const eventName = 'http://schemas.openid.net/event/backchannel-logout'

/**
 * Sends logout tokens to clients in the background. OpenID Connect Back-Channel Logout §2.5. The store contains the
 * notices until they are delivered, so that a restart loses no notice, and one process sends each notice.
 */
export class BackChannel {
  readonly #server: ServerContext
  readonly #timers = new Set<NodeJS.Timeout>()
  readonly #sending = new Map<string, LogoutNotice>()
  readonly #attempts = new Set<Promise<void>>()
  #claiming: Promise<void> | undefined
  #isRequested = false
  #isStopped = false

  constructor(server: ServerContext) {
    this.#server = server
  }

  /** Begins to send the notices that are due. Does not wait for the clients. */
  async sendDue(): Promise<void> {
    this.#isRequested = true
    this.#claiming ??= this.#claimRequested().finally(() => {
      this.#claiming = undefined
    })
    await this.#claiming
  }

  /**
   * Ends all attempts. Waits shortly for running attempts, and makes the other notices due, so that another process
   * sends them.
   */
  async stop(): Promise<void> {
    this.#isStopped = true
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
    const ended = new AbortController()
    await Promise.race([
      Promise.all(this.#attempts),
      pause(maxWaitAtStop, undefined, { signal: ended.signal }).catch(() => undefined),
    ])
    ended.abort()
    const { store, clock } = this.#server
    const release = (id: string) =>
      store.logoutNotices.update({ id }, { dueAt: clock() }).catch(() => undefined)
    await Promise.all([...this.#sending.keys()].map(release))
  }

  async #claimRequested(): Promise<void> {
    while (this.#isRequested && !this.#isStopped) {
      this.#isRequested = false
      const limit = maxClaimed - this.#sending.size
      if (limit <= 0) return
      const { store, clock } = this.#server
      const sending = [...this.#sending.values()]
      const busyUsers = busy(sending.map(({ userId }) => userId))
      const busyClients = busy(sending.map(({ clientKey }) => clientKey))
      const share = { limit, each: maxOfEach, busyUsers, busyClients }
      const now = clock()
      for (const notice of await store.logoutNotices.claim(now, now + claimLifetime, share)) {
        this.#sending.set(notice.id, notice)
        const attempt = this.#deliver(notice).finally(() => {
          this.#attempts.delete(attempt)
          this.#sending.delete(notice.id)
          this.sendDueInBackground()
        })
        this.#attempts.add(attempt)
      }
    }
  }

  /** Begins to send the notices that are due. If the store is unavailable, the sweeper sends them later. */
  sendDueInBackground(): void {
    if (!this.#isStopped) void this.sendDue().catch(() => undefined)
  }

  /** Makes one attempt, and never rejects. */
  async #deliver(notice: LogoutNotice): Promise<void> {
    try {
      const { getClient, store } = this.#server
      const { clientId, id } = notice
      const client = clientId === undefined ? undefined : await getClient(clientId)
      const { backchannel_logout_uri: url } = client ? keptMetadata(client) : {}
      if (!client?.isActive || url === undefined) {
        await store.logoutNotices.delete({ id })
        return
      }
      const failure = await this.#send(notice, client, url).then(
        () => undefined,
        (error: unknown) => ({ error }),
      )
      const mayRetry =
        failure && (!(failure.error instanceof OutboundFailed) || failure.error.isOutage)
      const delay = mayRetry ? delays[notice.attempts - 1] : undefined
      if (delay !== undefined) return await this.#retry(notice, delay)
      if (failure) this.#gaveUp(client, url, failure.error)
      await store.logoutNotices.delete({ id })
    } catch {
      // The store is unavailable. The notice is due again when the claim ends.
    }
  }

  async #retry({ id }: LogoutNotice, delay: number): Promise<void> {
    const { store, clock } = this.#server
    await store.logoutNotices.update({ id }, { dueAt: clock() + delay })
    if (this.#isStopped || this.#timers.size >= maxClaimed) return
    // The sweeper also sends due notices, so a lost timer only delays them.
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      this.sendDueInBackground()
    }, delay)
    timer.unref()
    this.#timers.add(timer)
  }

  async #send({ userId, sid }: LogoutNotice, client: Client, url: string): Promise<void> {
    const server = this.#server
    const { issuer, clock, random, signingKeys, outbound } = server
    const now = Math.floor(clock() / 1000)
    const claims = {
      iss: issuer,
      ...((await hasPublicSubject(userId, client, server)) && { sub: userId }),
      aud: client.clientId,
      iat: now,
      exp: now + lifetime,
      jti: randomString(bits256, random),
      sid,
      events: { [eventName]: {} },
    }
    const algorithm = idTokenAlgorithmOf(client, server)
    const token = await signingKeys.sign(claims, 'logout+jwt', algorithm)
    await outbound.post({ url, form: `logout_token=${token}` })
  }

  #gaveUp({ clientId }: Client, url: string, error: unknown): void {
    this.#server.log({
      level: 'warn',
      event: 'logout.not_delivered',
      message:
        'A client could not be notified that a user logged out. The user may remain logged in at the client.',
      clientId,
      host: new URL(url).host,
      error,
    })
  }
}

/** Returns the owners that have the maximum number of notices in progress. */
const busy = <Owner>(owners: readonly Owner[]): readonly Owner[] => {
  const counts = new Map<Owner, number>()
  for (const owner of owners) counts.set(owner, (counts.get(owner) ?? 0) + 1)
  return [...counts].filter(([, count]) => count >= maxOfEach).map(([owner]) => owner)
}

// The row of the login has no seal, so the server derives no other subject from it. The client then identifies the
// session by `sid` (§2.4).
const hasPublicSubject = async (
  userId: string,
  client: Client,
  { users, consents }: ServerContext,
): Promise<boolean> => {
  if (sectorOf(client) !== null) return false
  const id = userIdIn(userId, users.keyType)
  const consent = id === undefined ? undefined : await consents.find(id, client.clientId)
  return (consent?.reusedSince ?? null) === null
}
