import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Client } from '../model/client.ts'
import { countLimit } from '../model/count-limit.ts'
import { consentClaims } from '../model/entities/consent.ts'
import type { UserId } from '../model/user.ts'
import type { AuthorizedSummary } from '../store/contract/clients.ts'
import type { Cursor, Page } from '../store/contract/page.ts'
import type { AuthorizedTokenRow, TokenUse } from '../store/contract/tokens.ts'
import { nameOfClient } from './audit/audit-trail.ts'
import { clientsAmong, intactClients } from './clients/client-rows.ts'
import { earliestRow, type RecordsContext } from './context.ts'

/** An application on one device: an active authorization with its token. */
export interface Device {
  readonly tokenId: number
  readonly clientId: string
  readonly scopes: readonly string[]
  /**
   * The `User-Agent` of the browser in which the user consented, or of the device that redeemed a device code. Empty if
   * unknown.
   */
  readonly userAgent: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /**
   * The latest expiry of the current tokens, in milliseconds since the epoch; null if the access token never expires.
   */
  readonly ends: number | null
  readonly lastUse: TokenUse | null
}

/** An application that a user authorized. */
export interface AuthorizedApplication {
  readonly client: Client
  /** The scopes of the consent and of the listed devices. */
  readonly scopes: readonly string[]
  /** The time of the consent, in milliseconds since the epoch; null if no consent is stored. */
  readonly grantedAt: number | null
  /** The devices, latest first. */
  readonly devices: readonly Device[]
  /** The number of devices, which may exceed the number of listed devices. Counted up to `countLimit`. */
  readonly deviceCount: number
}

/** The maximum number of authorizations that one statement revokes. */
const revocationBatch = 100
/** The maximum number of listed devices of one application. */
const maxDevices = 10

/** Lists and revokes the applications that users authorized. */
export class AuthorizedApplications {
  readonly #context: RecordsContext

  constructor(context: RecordsContext) {
    this.#context = context
  }

  /** Lists the applications that a user authorized, the latest registered application first. */
  async listByUser(userId: UserId, cursor: Cursor): Promise<Page<AuthorizedApplication>> {
    const { store, clock } = this.#context
    const { items, next } = await store.clients.list('authorized', { userId, now: clock() }, cursor)
    const clients = await intactClients(items, this.#context)
    return { items: await this.#withDevices(userId, clients), next }
  }

  /**
   * Lists the summaries of the applications that a user authorized. An HTML page searches and sorts the summaries, and
   * then calls `among` for the applications on the page.
   */
  summariesOf(userId: UserId, cursor: Cursor): Promise<Page<AuthorizedSummary>> {
    const { store, clock } = this.#context
    return store.clients.summaries('authorized', { userId, now: clock() }, cursor)
  }

  /** Returns the applications with these IDs that the user authorized, in the order of the IDs. */
  async among(
    userId: UserId,
    clientIds: readonly string[],
  ): Promise<readonly AuthorizedApplication[]> {
    const clients = await clientsAmong(clientIds, this.#context)
    const listed = await this.#withDevices(userId, clients)
    return listed.filter(({ grantedAt, devices }) => grantedAt !== null || devices.length > 0)
  }

  async #withDevices(
    userId: UserId,
    items: readonly Client[],
  ): Promise<readonly AuthorizedApplication[]> {
    const { store, keys, clock } = this.#context
    const ids = items.map(({ clientId }) => clientId)
    const [consents, rows] = await Promise.all([
      store.consents.select({ userId, clientId: ids }),
      store.tokens.authorizedOf(userId, ids, clock(), { limit: maxDevices, countLimit }),
    ])
    const earliest = await earliestRow(userId, this.#context)
    const intact = consents.filter(
      ({ consent, seal }) =>
        consent.grantedAt >= earliest && keys.isIntact(seal, consentClaims(consent)),
    )
    const listed = items.map((client): AuthorizedApplication => {
      const found = intact.find(({ consent }) => consent.clientId === client.clientId)?.consent
      const own = rows.filter(
        ({ fields, authorization }) =>
          fields.clientId === client.clientId && authorization.createdAt >= earliest,
      )
      const devices = own.map(deviceOf)
      return {
        client,
        // A device may still have scopes that a later consent does not include.
        scopes: [
          ...new Set([...(found?.scopes ?? []), ...devices.flatMap(({ scopes }) => scopes)]),
        ],
        grantedAt: found?.grantedAt ?? null,
        devices,
        deviceCount: own[0]?.count ?? 0,
      }
    })
    // Omit an application that only a former user with the same ID authorized.
    const isOwn = ({ grantedAt, devices }: AuthorizedApplication) =>
      earliest <= 0 || grantedAt !== null || devices.length > 0
    return listed.filter(isOwn)
  }

  /** Returns the device with this active token; undefined for an unknown token or a token of another user. */
  async device(userId: UserId, tokenId: number): Promise<Device | undefined> {
    const { store, clock } = this.#context
    const row = await store.tokens.authorized(tokenId, clock())
    const isOwn =
      row?.fields.userId === userId &&
      row.authorization.createdAt >= (await earliestRow(userId, this.#context))
    return isOwn ? deviceOf(row) : undefined
  }

  /**
   * Deletes the consent of a user for an application, and revokes the authorizations of the application with their
   * tokens. Codes that were not redeemed become invalid, because their redemption requires the consent.
   * @returns false if the user had neither a consent nor a token for the application
   */
  async revoke(userId: UserId, clientId: string): Promise<boolean> {
    const { store, clock, audit } = this.#context
    const subject = await nameOfClient(clientId, store)
    return store.transaction(async (tx) => {
      const hadConsent = await tx.consents.delete(userId, clientId)
      let count = 0
      // The setting `authorizationsPerApplication` limits the number of batches, so one transaction is short enough.
      for (let part = revocationBatch; part === revocationBatch; count += part)
        part = await tx.authorizations.revokeOfUser(userId, clientId, clock(), revocationBatch)
      if (!hadConsent && count === 0) return false
      const about = { userId, clientId, subject, details: { count } }
      await audit.add(tx, 'consent.withdrawn', about)
      return true
    })
  }

  /** Deletes all consents of a user and revokes all authorizations, in batches. */
  async revokeAll(userId: UserId): Promise<void> {
    const { store, clock, audit } = this.#context
    for (let count = 0, part = revocationBatch; part === revocationBatch; await nextTurn()) {
      const before = count
      part = await store.transaction(async (tx) => {
        await tx.consents.delete(userId, null)
        const revoked = await tx.authorizations.revokeOfUser(userId, null, clock(), revocationBatch)
        const details = { count: before + revoked }
        if (revoked < revocationBatch) await audit.add(tx, 'consent.withdrawn', { userId, details })
        return revoked
      })
      count += part
    }
  }
}

const deviceOf = ({ fields, authorization, lastUse }: AuthorizedTokenRow): Device => ({
  tokenId: fields.id,
  clientId: fields.clientId,
  scopes: authorization.scopes,
  userAgent: authorization.userAgent,
  createdAt: authorization.createdAt,
  ends: fields.expires === null ? null : Math.max(fields.expires, fields.refreshExpires ?? 0),
  lastUse,
})
