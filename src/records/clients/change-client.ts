import { randomNumber } from '../../crypto/random.ts'
import type { Client } from '../../model/client.ts'
import { keptMetadata } from '../../model/client-metadata.ts'
import type { ClientFields } from '../../model/entities/client.ts'
import { InvalidField } from '../../model/invalid-field.ts'
import { ReferenceNotFound, UniqueViolation } from '../../store/contract/errors.ts'
import type { Store } from '../../store/store.ts'
import { changedFields, ofClient } from '../audit/audit-trail.ts'
import { changesOf } from '../audit/changes.ts'
import { type RecordsContext, retryOnCollision } from '../context.ts'
import { checkedFields, definedOf } from './checked-fields.ts'
import type { CheckedFields, ClientInput, Registration } from './client-input.ts'
import { existingClient, findClient, ownerOf, sealedClient } from './client-rows.ts'
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
  clientId: string,
  { changes, registration, clientSecret, guard }: ClientChange,
  context: RecordsContext,
): Promise<Client> => {
  const { store, audit, clock } = context
  const [former, updated] = await store.transaction(async (tx) => {
    const before = await existingClient(clientId, context, tx)
    const checked = { ...checkedFields(before, changes, context), ...registration }
    // `ownerOf` locks a new owner, so that nobody deletes this user concurrently. An unchanged owner needs no look-up.
    const isSame = before.owner !== null && checked.userId === before.userId
    const owner = isSame ? before.owner : await ownerOf(checked.userId, context, tx)
    const changed = { ...checked, userId: owner?.id ?? null }
    const isVerified = before.isVerified && hasSameIdentity(before, changed)
    const clientKey = keyAfter(before, changed, context)
    const losses: readonly ClientLoss[] = [
      ...(before.isVerified && !isVerified ? (['verification'] as const) : []),
      ...(clientKey === before.clientKey ? [] : (['secret', 'tokens'] as const)),
    ]
    guard?.(before, losses)
    const logo = isVerified ? before.logo : null
    const kept = { ...before, ...changed, isVerified, logo, clientKey }
    const after = clientSecret === undefined ? kept : withSecret(kept, clientSecret)
    if (!(await tx.clients.update(clientId, sealedClient(after, context), clock())))
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
    return [before, await existingClient(clientId, context, tx)]
  })
  await removeFormerKey(former, updated, context)
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
  before: Client,
  { isConfidential }: Pick<ClientFields, 'isConfidential'>,
  { random }: RecordsContext,
): number => {
  const isProofLost = before.isConfidential && !isConfidential
  return isProofLost ? randomNumber(random) : before.clientKey
}

/** If the key of a client has changed, deletes the rows of the former key in the background. */
export const removeFormerKey = async (
  { clientKey: key }: ClientFields,
  { clientKey }: ClientFields,
  { removed }: RecordsContext,
): Promise<void> => {
  if (key !== clientKey) await removed({ kind: 'client', key })
}

/**
 * Gives the client a new key. The new key revokes all consents, authorizations and tokens of the client in one
 * statement.
 * @throws InvalidField if the client does not exist
 */
export const endTokensOfClient = async (
  clientId: string,
  context: RecordsContext,
): Promise<void> => {
  const { store, audit, clock, random } = context
  const [before, after] = await retryOnCollision(() =>
    store.transaction(async (tx) => {
      const before = await existingClient(clientId, context, tx)
      const after: ClientFields = { ...before, clientKey: randomNumber(random) }
      if (!(await tx.clients.update(clientId, sealedClient(after, context), clock())))
        return undefined
      await audit.add(tx, 'client.tokens_ended', {
        ...ofClient(before, before.owner),
        details: {},
      })
      return [before, after] as const
    }),
  )
  await removeFormerKey(before, after, context)
}

/** Does the same as `Clients.mark`. */
export const markClient = async (
  clientId: string,
  marks: Marks,
  context: RecordsContext,
): Promise<Client> => {
  const { store, audit, clock, fetchLogo } = context
  const marked = await store.transaction(async (tx) => {
    const before = await existingClient(clientId, context, tx)
    if (marks.isPinned && before.origin !== 'metadata_document')
      throw new InvalidField('act', 'Only a client with a metadata document can be pinned.')
    const after = { ...before, ...marks }
    const logo = after.isVerified ? before.logo : null
    await tx.clients.update(clientId, sealedClient({ ...after, logo }, context), clock())
    if (marks.isVerified) await requestLogo(before, tx, clock())
    for (const event of eventsOf(marks))
      await audit.add(tx, event, { ...ofClient(before, before.owner), details: {} })
    return existingClient(clientId, context, tx)
  })
  if (marks.isVerified) fetchLogo(clientId)
  return marked
}

/** Does the same as `Clients.fetchLogo`. */
export const fetchLogoAgain = async (clientId: string, context: RecordsContext): Promise<void> => {
  const { store, clock, fetchLogo } = context
  await store.transaction(async (tx) => {
    const client = await existingClient(clientId, context, tx)
    if (!client.isVerified || !(await requestLogo(client, tx, clock())))
      throw new InvalidField('act', 'The client is not verified, or has no logo URL.')
  })
  fetchLogo(clientId)
}

/** Stores a request to fetch the logo of a client. Returns false if the metadata of the client has no logo URL. */
const requestLogo = async (client: Client, tx: Store, now: number): Promise<boolean> => {
  if (keptMetadata(client).logo_uri === undefined) return false
  await tx.clientLogos.request(client.clientKey, now)
  return true
}

const eventsOf = ({ isVerified, isDisabled, isPinned }: Marks) => [
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

/** Changes validated fields of the client of a personal token. */
export const rewritePersonalClient = async (
  clientId: string,
  changed: {
    readonly name?: string | undefined
    readonly defaultScopes?: readonly string[] | undefined
  },
  context: RecordsContext,
): Promise<void> => {
  const { store, clock } = context
  const before = await findClient(clientId, context)
  if (!before) throw new ReferenceNotFound('The client of the personal token was deleted.')
  const after = { ...before, ...definedOf(changed) } as ClientFields
  await store.clients.update(clientId, sealedClient(after, context), clock())
}

/** Does the same as `Clients.delete`. */
export const deleteClient = async (
  clientId: string,
  { store, audit, clock, removed }: RecordsContext,
): Promise<boolean> => {
  const before = await store.clients.find(clientId)
  if (!before) return false
  const isDeleted = await store.transaction(async (tx) => {
    if (!(await tx.clients.delete(clientId, clock()))) return false
    const { fields, owner } = before
    const about = ofClient(fields, owner)
    if (fields.isPersonal)
      await audit.add(tx, 'personal_token.deleted', { ...about, details: { ending: null } })
    else await audit.add(tx, 'client.deleted', { ...about, details: {} })
    return true
  })
  if (isDeleted) await removed({ kind: 'client', key: before.fields.clientKey })
  return isDeleted
}
