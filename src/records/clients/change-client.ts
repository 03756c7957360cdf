import { randomNumber } from '../../crypto/random.ts'
import type { Client } from '../../model/client.ts'
import { keptMetadata } from '../../model/client-metadata.ts'
import type { ClientFields } from '../../model/entities/client.ts'
import { InvalidField } from '../../model/invalid-field.ts'
import { UniqueViolation } from '../../store/contract/errors.ts'
import type { Store } from '../../store/store.ts'
import { changedFields, ofClient } from '../audit/audit-trail.ts'
import { changesOf } from '../audit/changes.ts'
import { retryOnCollision } from '../context.ts'
import { checkedFields } from './checked-fields.ts'
import type { CheckedFields, ClientInput, Registration } from './client-input.ts'
import type { ClientRows } from './client-rows.ts'
import { withSecret } from './secret-fields.ts'
import { hasSameIdentity } from './verified-identity.ts'

/** The marks that an administrator sets: whether the client is verified, disabled or pinned. */
export type Marks = Partial<Pick<ClientFields, 'isVerified' | 'isDisabled' | 'isPinned'>>

/** A change of a client. */
export interface ClientChange {
  readonly changes: Partial<ClientInput>
  readonly registration?: Partial<Registration> | undefined
  /** The first secret of a client that becomes confidential. */
  readonly clientSecret?: string
  readonly guard?: ChangeGuard | undefined
}

/** A part of a client that a change removes: the verification, the secret, or all tokens with their authorizations. */
export type ClientLoss = 'verification' | 'secret' | 'tokens'

/**
 * Runs before a change is written, while the client is locked. If the guard throws, nothing is written.
 * @param before the stored client
 */
export type ChangeGuard = (before: Client, losses: readonly ClientLoss[]) => void

/**
 * Changes the given fields of a client, and the secret if `clientSecret` is set.
 * @throws InvalidField, ScopeDoesNotExists, UniqueViolation; the client remains unchanged
 */
export const changeClient = async (
  rows: ClientRows,
  clientId: string,
  { changes, registration, clientSecret, guard }: ClientChange,
): Promise<Client> => {
  const { store, audit, clock } = rows.context
  const [former, updated] = await store.transaction(async (tx) => {
    const before = await rows.existing(clientId, tx)
    const checked = { ...checkedFields(before, changes, rows.context), ...registration }
    // `ownerOf` locks a new owner, so that nobody deletes this user concurrently. An unchanged owner needs no look-up.
    const isSame = before.owner !== null && checked.userId === before.userId
    const owner = isSame ? before.owner : await rows.ownerOf(checked.userId, tx)
    const changed = { ...checked, userId: owner?.id ?? null }
    const isVerified = before.isVerified && hasSameIdentity(before, changed)
    const clientKey = keyAfter(rows, before, changed)
    const losses: readonly ClientLoss[] = [
      ...(before.isVerified && !isVerified ? (['verification'] as const) : []),
      ...(clientKey === before.clientKey ? [] : (['secret', 'tokens'] as const)),
    ]
    guard?.(before, losses)
    const logo = isVerified ? before.logo : null
    const kept = { ...before, ...changed, isVerified, logo, clientKey }
    const after = clientSecret === undefined ? kept : withSecret(kept, clientSecret)
    if (!(await tx.clients.update(clientId, rows.sealed(after), clock())))
      throw new UniqueViolation()
    const was = withEditedMembers(before)
    const is = withEditedMembers({ ...changed, isVerified })
    const fields = changedFields<object>(was, is)
    const details = { fields, changes: changesOf<object>(was, is) }
    const about = { ...ofClient(after, owner), details }
    if (fields.length > 0) await audit.add(tx, 'client.edited', about)
    if (after.clientSecret !== before.clientSecret) {
      const aboutSecret = { ...ofClient(after, owner), details: { overlap: 0 } }
      await audit.add(tx, 'client.secret_reset', aboutSecret)
    }
    return [before, await rows.existing(clientId, tx)]
  })
  await removeFormerKey(rows, former, updated)
  return updated
}

// The field `metadata` is one text. Add its editable members as separate fields, so that the audit log names the
// members.
const withEditedMembers = (fields: CheckedFields): object => {
  const {
    logo_uri = '',
    post_logout_redirect_uris = [],
    backchannel_logout_uri = '',
  } = keptMetadata(fields)
  return { ...fields, logo_uri, post_logout_redirect_uris, backchannel_logout_uri }
}

/**
 * Returns the key of a client after a change. A client that becomes public gets a new key, which revokes all consents,
 * authorizations and tokens under the former key. This is necessary, because anyone can impersonate a public client.
 */
export const keyAfter = (
  rows: ClientRows,
  before: Client,
  { isConfidential }: Pick<ClientFields, 'isConfidential'>,
): number => {
  const isProofLost = before.isConfidential && !isConfidential
  return isProofLost ? randomNumber(rows.context.random) : before.clientKey
}

/** If the key of a client has changed, deletes the rows of the former key in the background. */
export const removeFormerKey = async (
  rows: ClientRows,
  before: ClientFields,
  { clientKey }: ClientFields,
): Promise<void> => {
  const { clientKey: key } = before
  if (key !== clientKey) await rows.context.removed({ kind: 'client', key })
}

/**
 * Gives the client a new key. The new key revokes all consents, authorizations and tokens of the client in one
 * statement.
 * @throws InvalidField if the client does not exist
 */
export const endTokensOfClient = async (rows: ClientRows, clientId: string): Promise<void> => {
  const { store, audit, clock, random } = rows.context
  const [before, after] = await retryOnCollision(() =>
    store.transaction(async (tx) => {
      const before = await rows.existing(clientId, tx)
      const after: ClientFields = { ...before, clientKey: randomNumber(random) }
      if (!(await tx.clients.update(clientId, rows.sealed(after), clock()))) return undefined
      await audit.add(tx, 'client.tokens_ended', {
        ...ofClient(before, before.owner),
        details: {},
      })
      return [before, after] as const
    }),
  )
  await removeFormerKey(rows, before, after)
}

/** Sets the marks of a client. If the client becomes verified, stores a request to fetch its logo. */
export const markClient = async (
  rows: ClientRows,
  clientId: string,
  marks: Marks,
): Promise<Client> => {
  const { store, audit, clock } = rows.context
  return store.transaction(async (tx) => {
    const before = await rows.existing(clientId, tx)
    if (marks.isPinned && before.origin !== 'metadata_document')
      throw new InvalidField('act', 'Only a client with a metadata document can be pinned.')
    const after = { ...before, ...marks }
    const logo = after.isVerified ? before.logo : null
    await tx.clients.update(clientId, rows.sealed({ ...after, logo }), clock())
    if (marks.isVerified) await requestLogo(before, tx, clock())
    for (const event of marked(marks))
      await audit.add(tx, event, { ...ofClient(before, before.owner), details: {} })
    return rows.existing(clientId, tx)
  })
}

/** Stores a request to fetch the logo of a client. Returns false if the metadata of the client has no logo URL. */
export const requestLogo = async (client: Client, tx: Store, now: number): Promise<boolean> => {
  if (keptMetadata(client).logo_uri === undefined) return false
  await tx.clientLogos.request(client.clientKey, now)
  return true
}

const marked = ({ isVerified, isDisabled, isPinned }: Marks) => [
  ...(isVerified === undefined
    ? []
    : [isVerified ? ('client.verified' as const) : ('client.unverified' as const)]),
  ...(isDisabled === undefined
    ? []
    : [isDisabled ? ('client.disabled' as const) : ('client.enabled' as const)]),
  ...(isPinned === undefined
    ? []
    : [isPinned ? ('client.pinned' as const) : ('client.unpinned' as const)]),
]
