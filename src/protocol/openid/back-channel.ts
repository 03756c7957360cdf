import { bits256, randomString } from '../../crypto/random.ts'
import { OutboundFailed } from '../../http/outbound/outbound.ts'
import type { Client } from '../../model/client.ts'
import { keptMetadata } from '../../model/client-metadata.ts'
import { sectorOf } from '../../model/sector.ts'
import type { UserId } from '../../model/user.ts'
import type {
  Configuration,
  Environment,
  Identity,
  Keys,
  ServerContext,
} from '../server-context.ts'
import { idTokenAlgorithmOf } from './id-token.ts'

/** Milliseconds before each attempt to reach a client. After the last attempt, the server gives up. */
const delays = [0, 5_000, 60_000]
/** The maximum number of notices that wait for an attempt. */
const maxWaiting = 10_000
/** Seconds for which a logout token is valid (Back-Channel Logout §2.4). */
const lifetime = 120
const eventName = 'http://schemas.openid.net/event/backchannel-logout'

/** A login whose end the server reports to a client. */
export interface LogoutNotice {
  readonly client: Client
  readonly userId: UserId
  readonly sid: string
}

type Needed = Identity & Configuration & Keys & Environment & Pick<ServerContext, 'outbound'>

/** Sends logout tokens to clients in the background. OpenID Connect Back-Channel Logout §2.5. */
export class BackChannel {
  readonly #server: () => Needed
  readonly #timers = new Set<NodeJS.Timeout>()

  constructor(server: () => Needed) {
    this.#server = server
  }

  /** Notifies the client of the logout if the client has registered a URL. Does not wait for the response. */
  tell(notice: LogoutNotice): void {
    const { backchannel_logout_uri: url } = keptMetadata(notice.client)
    if (url !== undefined) this.#attempt(notice, url, 0)
  }

  /** Cancels all waiting attempts. */
  stop(): void {
    for (const timer of this.#timers) clearTimeout(timer)
    this.#timers.clear()
  }

  #attempt(notice: LogoutNotice, url: string, attempt: number): void {
    const delay = delays[attempt]
    if (delay === undefined || this.#timers.size >= maxWaiting) {
      this.#gaveUp(notice, url)
      return
    }
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      this.#send(notice, url).catch((error: unknown) => {
        const mayRetry = !(error instanceof OutboundFailed) || error.isOutage
        if (mayRetry) this.#attempt(notice, url, attempt + 1)
        else this.#gaveUp(notice, url, error)
      })
    }, delay)
    timer.unref()
    this.#timers.add(timer)
  }

  async #send({ client, userId, sid }: LogoutNotice, url: string): Promise<void> {
    const server = this.#server()
    const { issuer, clock, random, signingKeys, outbound } = server
    const now = Math.floor(clock() / 1000)
    const claims = {
      iss: issuer,
      // The row of the login has no seal. A client with pairwise subjects identifies the session by `sid` (§2.4).
      ...(sectorOf(client) === null ? { sub: String(userId) } : {}),
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

  #gaveUp({ client }: LogoutNotice, url: string, error?: unknown): void {
    this.#server().log({
      level: 'warn',
      event: 'logout.not_delivered',
      message:
        'A client could not be notified that a user logged out. The user may remain logged in at the client.',
      clientId: client.clientId,
      host: new URL(url).host,
      ...(error === undefined ? {} : { error }),
    })
  }
}
