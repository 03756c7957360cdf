import { sha256 } from '../../crypto/digest.ts'
import type { Client } from '../../model/client.ts'
import { keptMetadata } from '../../model/client-metadata.ts'
import { typeOfImage } from '../../model/raster/raster-image.ts'
import { StoreUnavailable } from '../../store/contract/errors.ts'
import type { RecordsContext } from '../context.ts'
import { findClient } from './client-rows.ts'
import { rewriteClient } from './rewrite-client.ts'

/** Milliseconds after which another process fetches a requested logo. A fetch in progress has ended by then. */
const overdueAfter = 60_000
/** The maximum number of overdue logos that one run of the sweeper fetches. */
const maxOverdue = 10

/** A logo as the server sends it to browsers. */
export interface ClientLogo {
  readonly bytes: Buffer
  readonly type: string
}

/** The state of the fetch of a client's logo, for administrators. */
export interface LogoState {
  readonly isRequested: boolean
  /** The reason why the last fetch failed; null after a success or a new request. */
  readonly problem: string | null
}

/** The failure of a fetch. */
interface Failure {
  /** The reason, for administrators. */
  readonly problem: string
  readonly cause: unknown
}

/** An accepted image, or a failure. */
type Downloaded = { readonly bytes: Buffer } | Failure

/** Downloads an image, and checks its content. */
export type DownloadLogo = (url: string) => Promise<Downloaded>

/** Returns the URL of the image that a client names as its logo. */
export const logoUriOf = (client: Pick<Client, 'metadata'>): string | undefined =>
  keptMetadata(client).logo_uri

/** Fetches the logos of verified clients in the background, and finds the stored images. */
export class ClientLogos {
  readonly #context: RecordsContext
  readonly #download: DownloadLogo
  readonly #running = new Set<Promise<void>>()
  #isStopped = false

  constructor(context: RecordsContext, download: DownloadLogo) {
    this.#context = context
    this.#download = download
  }

  /** Begins to fetch the requested logo of a client, and returns immediately. */
  fetchSoon(clientId: string): void {
    const fetching = this.#fetch(clientId).finally(() => this.#running.delete(fetching))
    this.#running.add(fetching)
  }

  /**
   * Fetches the requested logos that no process has fetched, for instance because the process ended after the request.
   */
  async fetchOverdue(): Promise<void> {
    const { store, clock } = this.#context
    for (let count = 0; count < maxOverdue && !this.#isStopped; count += 1) {
      const clientId = await store.clientLogos.claim(clock() - overdueAfter, clock())
      if (clientId === undefined) return
      await this.#fetch(clientId)
    }
  }

  /** Finds an image by its digest. Returns undefined if no verified client currently has this logo. */
  async find(digest: string): Promise<ClientLogo | undefined> {
    const stored = await this.#context.store.clientLogos.find(digest)
    const client = stored && (await findClient(stored.clientId, this.#context))
    if (!client?.isVerified || client.logo !== digest) return undefined
    // The seal of the client covers the digest, so an image that was changed in the database is not sent.
    if (sha256(stored?.image ?? '') !== digest) return undefined
    const bytes = Buffer.from(stored?.image ?? '', 'base64')
    return { bytes, type: typeOfImage(bytes) }
  }

  /** Returns the states of the logos by client ID. Omits clients that are not verified, or have no state. */
  async states(clients: readonly Client[]): Promise<ReadonlyMap<string, LogoState>> {
    const keys = clients.filter(({ isVerified }) => isVerified).map(({ clientKey }) => clientKey)
    const found = await this.#context.store.clientLogos.select({ clientKey: keys })
    const idOf = new Map(clients.map(({ clientKey, clientId }) => [clientKey, clientId]))
    return new Map(found.map(({ clientKey, ...state }) => [idOf.get(clientKey) ?? '', state]))
  }

  /** Prevents further fetches, and waits until the running fetches have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#running)
  }

  async #fetch(clientId: string): Promise<void> {
    if (this.#isStopped) return
    try {
      const client = await findClient(clientId, this.#context)
      const url = client?.isVerified ? logoUriOf(client) : undefined
      if (url === undefined) return
      const fetched = await this.#download(url)
      if ('problem' in fetched) this.#log(clientId, 'warn', fetched)
      await this.#store(clientId, url, fetched)
    } catch (error) {
      // The stored request remains, so the sweeper fetches the logo later.
      const level = error instanceof StoreUnavailable ? 'warn' : 'error'
      this.#log(clientId, level, {
        problem: 'An error occurred. The server retries later.',
        cause: error,
      })
    }
  }

  /** Stores the result if the client is still verified and still has the same logo URL. */
  async #store(clientId: string, url: string, fetched: Downloaded): Promise<void> {
    await rewriteClient(
      (tx) => findClient(clientId, tx),
      async (client, { store: { clientLogos } }) => {
        if (!client.isVerified || logoUriOf(client) !== url) return undefined
        const { clientKey } = client
        const done = { requestedAt: null }
        if ('problem' in fetched) {
          await clientLogos.update({ clientKey }, { ...done, problem: fetched.problem })
          return undefined
        }
        const image = fetched.bytes.toString('base64')
        const logo = sha256(image)
        await clientLogos.update({ clientKey }, { ...done, problem: null, digest: logo, image })
        if (client.logo === logo) return undefined
        return { fields: { logo }, events: { 'client.logo_changed': {} } }
      },
      this.#context,
    )
  }

  #log(clientId: string, level: 'warn' | 'error', { problem, cause }: Failure): void {
    const message = `The logo of a verified client could not be fetched: ${problem}`
    this.#context.log({ level, event: 'client_logo.failed', message, clientId, error: cause })
  }
}
