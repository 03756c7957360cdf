import { randomNumber } from '../../crypto/random.ts'
import type { AuditDetails, BuiltInEventName } from '../../model/audit-event.ts'
import type { Client, ClientOwner } from '../../model/client.ts'
import type { ClientFields } from '../../model/entities/client.ts'
import { UniqueViolation } from '../../store/contract/errors.ts'
import { ofClient } from '../audit/audit-trail.ts'
import { type RecordsContext, withinTransaction } from '../context.ts'
import { newClient, sealedClient } from './client-rows.ts'

type ClientEvent = Extract<BuiltInEventName, `client.${string}`>

/** The fields of a client that a change sets, and the details of the audit events of the change. */
export interface Rewrite {
  readonly fields: Partial<ClientFields>
  /** The new owner. Default: the former owner. */
  readonly owner?: ClientOwner | null
  readonly events?: { readonly [Name in ClientEvent]?: AuditDetails<Name> }
}

/**
 * Changes a client in one transaction.
 * @param find reads and locks the client
 * @param change returns what to write; undefined to write nothing
 * @returns the client after the change
 * @throws UniqueViolation if another client has the new ID, secret or key; nothing was written
 */
export const rewriteClient = <Found extends Client | undefined>(
  find: (tx: RecordsContext) => Promise<Found>,
  change: (
    before: Found & Client,
    tx: RecordsContext,
  ) => Rewrite | undefined | Promise<Rewrite | undefined>,
  context: RecordsContext,
): Promise<Found | Client> =>
  withinTransaction(context, async (tx) => {
    const before = await find(tx)
    const rewrite = before && (await change(before, tx))
    if (!before || !rewrite) return before
    const { fields, owner = before.owner, events = {} } = rewrite
    const changed: ClientFields = { ...before, ...fields }
    const after: ClientFields = {
      ...changed,
      clientKey: losesProof(before, changed) ? randomNumber(tx.random) : changed.clientKey,
      logo: changed.isVerified ? changed.logo : null,
    }
    const { store, audit } = tx
    if (!(await store.clients.update(before.clientId, sealedClient(after, tx), tx.clock())))
      throw new UniqueViolation()
    for (const [name, details] of Object.entries(events))
      await audit.add(store, name as ClientEvent, { ...ofClient(after, owner), details })
    // The rows of the former key are invalid from now on, and are deleted in the background.
    if (after.clientKey !== before.clientKey)
      await tx.removed({ kind: 'client', key: before.clientKey })
    return newClient(after, owner, context)
  })

/**
 * Returns whether a change makes a client public. The client then gets a new key, which revokes all consents,
 * authorizations and tokens under the former key. This is necessary, because anyone can impersonate a public client.
 */
export const losesProof = (
  before: Pick<ClientFields, 'isConfidential'>,
  after: Pick<ClientFields, 'isConfidential'>,
): boolean => before.isConfidential && !after.isConfidential
