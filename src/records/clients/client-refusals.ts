import type { Client } from '../../model/client.ts'
import type { Refusal } from '../../model/refusal.ts'
import type { RecordsContext } from '../context.ts'
import { LateWriter } from '../late-writer.ts'
import { TransientValues } from '../transient-values.ts'
import { type RefusedClient, refusalsSince, withRefusals } from './refused-clients.ts'

/** The maximum number of stored refusals of a client. */
const maxRefusals = 20
/** The maximum number of clients with refusals in memory. Refusals of further clients are dropped. */
const maxClients = 1_000
/** Milliseconds for which refusals are collected before they are written. */
const flushDelay = 5_000
/** Milliseconds for which a refusal is listed. */
const life = 7 * 86_400_000
/** The maximum number of characters of a stored description or redirect URI. */
const maxText = 300
/** The name under which the overview is stored. The name contains a space, so that it differs from every client ID. */
const overviewName = 'most refused'

/** The refusals of a client that are not written yet. */
interface Pending {
  readonly refusals: readonly Refusal[]
  readonly count: number
}

/**
 * Records the reasons for the latest refused requests of each client that has an owner, for this owner and for
 * administrators. The reasons are collected in memory. Every few seconds, one value for each client is written, so that
 * a flood of wrong requests causes few writes. Refusals of unknown clients are not recorded, because an attacker could
 * invent any number of clients.
 */
export class ClientRefusals extends LateWriter {
  readonly #context: RecordsContext
  readonly #stored: TransientValues<readonly Refusal[]>
  readonly #overview: TransientValues<readonly RefusedClient[]>
  readonly #pending = new Map<string, Pending>()

  constructor(context: RecordsContext) {
    super(flushDelay)
    this.#context = context
    this.#stored = new TransientValues('client_refusals', context)
    this.#overview = new TransientValues('client_refusals', context)
  }

  /** Records a refusal in memory. Ignores clients without an owner. */
  note(
    { clientId, userId }: Pick<Client, 'clientId' | 'userId'>,
    { error, description, redirectUri }: Omit<Refusal, 'at'>,
  ): void {
    if (userId === null) return
    const { refusals, count } = this.#pending.get(clientId) ?? { refusals: [], count: 0 }
    if (count === 0 && this.#pending.size >= maxClients) return
    const refusal = {
      at: this.#context.clock(),
      error,
      description: description.slice(0, maxText),
      ...(redirectUri !== undefined && { redirectUri: redirectUri.slice(0, maxText) }),
    }
    const latest = [refusal, ...refusals].slice(0, maxRefusals)
    this.#pending.set(clientId, { refusals: latest, count: count + 1 })
    this.later()
  }

  /** Lists the stored refusals of the last seven days, the latest first. */
  async list(clientId: string): Promise<readonly Refusal[]> {
    await this.flush()
    return this.#recent((await this.#stored.get(clientId)) ?? [])
  }

  /** Returns the refusals of several clients, in the order of the IDs. */
  async listMany(clientIds: readonly string[]): Promise<readonly (readonly Refusal[])[]> {
    await this.flush()
    const found = await this.#stored.getMany(clientIds)
    return found.map((refusals) => this.#recent(refusals ?? []))
  }

  /**
   * Lists the clients with the most refusals in the last seven days. If several nodes write concurrently, some counts
   * may be lost.
   */
  async mostRefused(
    limit: number,
  ): Promise<
    readonly { readonly clientId: string; readonly at: number; readonly count: number }[]
  > {
    await this.flush()
    const earliest = this.#context.clock() - life
    return ((await this.#overview.get(overviewName)) ?? [])
      .filter(({ at }) => at > earliest)
      .map((client) => ({ ...client, count: refusalsSince(client, earliest) }))
      .sort((a, b) => b.count - a.count)
      .slice(0, limit)
  }

  /** A failure is only logged, because no request depends on the write. */
  protected override async write(): Promise<void> {
    const pending = [...this.#pending]
    this.#pending.clear()
    try {
      for (const [clientId, { refusals }] of pending) {
        const before = (await this.#stored.get(clientId)) ?? []
        const all = this.#recent([...refusals, ...before]).slice(0, maxRefusals)
        await this.#stored.set(clientId, all, this.#context.clock() + life)
      }
      if (pending.length > 0) await this.#writeOverview(pending)
    } catch (error) {
      this.#context.log({
        level: 'warn',
        event: 'client_refusals.lost',
        message: 'The last refusals of clients could not be written.',
        error,
      })
    }
  }

  async #writeOverview(pending: readonly (readonly [string, Pending])[]): Promise<void> {
    const now = this.#context.clock()
    const added = pending.map(([clientId, { refusals, count }]) => ({
      clientId,
      at: refusals[0]?.at ?? now,
      count,
    }))
    const before = (await this.#overview.get(overviewName)) ?? []
    const all = withRefusals(before, added, now - life)
    await this.#overview.set(overviewName, all, now + life)
  }

  #recent(refusals: readonly Refusal[]): readonly Refusal[] {
    return refusals.filter(({ at }) => at > this.#context.clock() - life)
  }
}
