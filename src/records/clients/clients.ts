import { randomNumber } from '../../crypto/random.ts'
import { type Client, usesSecret } from '../../model/client.ts'
import { editedMetadata } from '../../model/client-metadata.ts'
import { blankClient, type ClientFields } from '../../model/entities/client.ts'
import { InvalidField } from '../../model/invalid-field.ts'
import { anything, flag, oneOf, onlyMembers, orNull, text, whole } from '../../model/members.ts'
import { checkOverlap } from '../../model/overlap.ts'
import type { UserId } from '../../model/user.ts'
import type { ClientSummary } from '../../store/contract/clients.ts'
import type { Cursor, Page } from '../../store/contract/page.ts'
import { ofClient } from '../audit/audit-trail.ts'
import { changesOf } from '../audit/changes.ts'
import {
  earliestRow,
  type RecordsContext,
  retryOnCollision,
  withinTransaction,
} from '../context.ts'
import { checkedFields, definedOf } from './checked-fields.ts'
import type {
  CheckedFields,
  ClientInput,
  ClientWithSecret,
  ListedClient,
  Registration,
} from './client-input.ts'
import {
  existingClient,
  findClient,
  listedAmong,
  listedClients,
  newClientId,
  newClientSecret,
  ownerOf,
} from './client-rows.ts'
import { insertClient } from './insert-client.ts'
import { losesProof, type Rewrite, rewriteClient } from './rewrite-client.ts'
import { formerSecret, newSecret } from './secret-fields.ts'
import { hasSameIdentity } from './verified-identity.ts'

const checkMost = onlyMembers<{ readonly most?: number }>('clients.create()', { most: whole(0) })
const checkRegistration = onlyMembers<Registration>('clients: the registration', {
  origin: oneOf('owner', 'registration', 'metadata_document'),
  registrationToken: orNull(text),
  metadata: text,
})
const checkMarks = onlyMembers<Marks>('clients.mark()', {
  isVerified: flag,
  isDisabled: flag,
  isPinned: flag,
})
const checkReset = onlyMembers<{ readonly overlap?: number }>('clients.resetClientSecret()', {
  overlap: anything,
})

/** The marks that an administrator sets: whether the client is verified, disabled or pinned. */
export type Marks = Partial<Pick<ClientFields, 'isVerified' | 'isDisabled' | 'isPinned'>>

/** A part of a client that a change removes: the verification, the secret, or all tokens with their authorizations. */
export type ClientLoss = 'verification' | 'secret' | 'tokens'

/**
 * Runs before a change is written, while the client is locked. If the guard throws, nothing is written.
 * @param before the stored client
 */
export type ChangeGuard = (before: Client, losses: readonly ClientLoss[]) => void

/** Registers client applications, finds them and changes them. */
export class Clients {
  readonly #context: RecordsContext

  constructor(context: RecordsContext) {
    this.#context = context
  }

  /** Returns the client, or undefined if it does not exist or its row was tampered with. */
  async find(clientId: string): Promise<Client | undefined> {
    return findClient(clientId, this.#context)
  }

  /**
   * Registers a client with a generated ID, and with a generated secret if it authenticates with a secret.
   * @param registration the fields of a client that registers itself
   * @param most the maximum number of applications of the owner. Default: unlimited
   * @throws InvalidField, ScopeDoesNotExists: nothing was written
   */
  async create(
    input: ClientInput,
    registration?: Registration,
    options: { readonly most?: number } = {},
  ): Promise<ClientWithSecret> {
    checkMost(options)
    checkRegistration(registration)
    const { most = Number.POSITIVE_INFINITY } = options
    const fields = { ...checkedFields(blankClient, input, this.#context), ...registration }
    const { userId } = fields
    if (userId === null || most === Number.POSITIVE_INFINITY)
      return insertClient(fields, this.#context)
    const { store, turns } = this.#context
    return turns.transaction(store, `user ${userId}`, async (tx) => {
      const within = { ...this.#context, store: tx }
      // Lock the user, so that concurrent requests cannot exceed the maximum.
      await ownerOf(userId, within)
      if ((await tx.clients.count('owned', { userId }, most)) >= most) throw tooMany(most)
      return insertClient(fields, within)
    })
  }

  /** Lists the applications that a user registered, without internal clients. */
  ofOwner(userId: UserId, cursor: Cursor): Promise<Page<ListedClient>> {
    return listedClients(
      this.#context.store.clients.list('owned', { userId }, cursor),
      this.#context,
    )
  }

  /**
   * Lists the summaries of the applications that a user registered. An HTML page searches and sorts the summaries, and
   * then calls `ownAmong` for the applications on the page.
   */
  async summariesOfOwner(userId: UserId, cursor: Cursor): Promise<Page<ClientSummary>> {
    const { clients } = this.#context.store
    const { items, next } = await clients.summaries('owned', { userId }, cursor)
    // Omit applications that a former user with the same ID registered.
    const earliest = await earliestRow(userId, this.#context)
    return { items: items.filter(({ createdAt }) => createdAt >= earliest), next }
  }

  /** Returns the user's applications that have these client IDs, in the order of the IDs. Omits other IDs. */
  async ownAmong(userId: UserId, clientIds: readonly string[]): Promise<readonly ListedClient[]> {
    const found = await listedAmong(clientIds, this.#context)
    return found.filter(({ client }) => client.userId === userId && !client.isInternal)
  }

  /**
   * Lists applications whose name, ID or owner's e-mail address contains the text; all applications for an empty text.
   */
  search(text: string, cursor: Cursor): Promise<Page<ListedClient>> {
    const where = { text: text.normalize('NFC') }
    return listedClients(this.#context.store.clients.list('matching', where, cursor), this.#context)
  }

  /**
   * Sets the marks of an administrator: whether the client is verified, disabled, or pinned. For a pinned client, the
   * server uses the stored copy of the metadata document and does not fetch the document again. For a client that
   * becomes verified, the server fetches the logo in the background.
   * @throws InvalidField if the client does not exist, or if a client to pin has no metadata document
   */
  async mark(clientId: string, marks: Marks): Promise<Client> {
    checkMarks(marks)
    return this.#rewrite(clientId, async (before, tx) => {
      if (marks.isPinned && before.origin !== 'metadata_document')
        throw new InvalidField('act', 'Only a client with a metadata document can be pinned.')
      if (marks.isVerified) await requestLogo(before, tx)
      const given = definedOf(marks)
      return { fields: given, events: eventsOf(given) }
    })
  }

  /**
   * Fetches the logo of a verified client again, in the background.
   * @throws InvalidField if the client does not exist, is not verified, or has no logo URL
   */
  async fetchLogo(clientId: string): Promise<void> {
    await withinTransaction(this.#context, async (tx) => {
      const client = await existingClient(clientId, tx)
      if (!client.isVerified || !(await requestLogo(client, tx)))
        throw new InvalidField('act', 'The client is not verified, or has no logo URL.')
    })
  }

  /**
   * Changes the given fields of a client. If a confidential client becomes public, all its authorizations are revoked.
   * @throws InvalidField, ScopeDoesNotExists, UniqueViolation; the client remains unchanged
   */
  async update(
    clientId: string,
    changes: Partial<ClientInput>,
    registration?: Partial<Registration>,
    guard?: ChangeGuard,
  ): Promise<Client> {
    return this.#change(clientId, changes, registration, guard)
  }

  /** Updates a client that becomes confidential, and creates its first secret in the same transaction. */
  async updateWithSecret(
    clientId: string,
    changes: Partial<ClientInput>,
    registration?: Partial<Registration>,
    guard?: ChangeGuard,
  ): Promise<ClientWithSecret> {
    return this.#withNewSecret((secret) =>
      this.#change(clientId, changes, registration, guard, secret),
    )
  }

  #change(
    clientId: string,
    changes: Partial<ClientInput>,
    registration: Partial<Registration> | undefined,
    guard: ChangeGuard | undefined,
    clientSecret?: string,
  ): Promise<Client> {
    checkRegistration(registration)
    return this.#rewrite(clientId, async (before, tx) => {
      const checked = { ...checkedFields(before, changes, tx), ...registration }
      // `ownerOf` locks a new owner, so that nobody deletes this user concurrently. An unchanged owner needs no look-up.
      const isSame = before.owner !== null && checked.userId === before.userId
      const owner = isSame ? before.owner : await ownerOf(checked.userId, tx)
      const changed = { ...checked, userId: owner?.id ?? null }
      const isVerified = before.isVerified && hasSameIdentity(before, changed)
      const losses: readonly ClientLoss[] = [
        ...(before.isVerified && !isVerified ? (['verification'] as const) : []),
        ...(losesProof(before, changed) ? (['secret', 'tokens'] as const) : []),
      ]
      guard?.(before, losses)
      const was = withEditedMembers(before)
      const is = withEditedMembers({ ...changed, isVerified })
      const edited = changesOf<object>(was, is)
      return {
        fields: { ...changed, isVerified, ...(clientSecret && newSecret(changed, clientSecret)) },
        owner,
        events: {
          ...(edited.fields.length > 0 && { 'client.edited': edited }),
          ...(clientSecret !== undefined && { 'client.secret_reset': { overlap: 0 } }),
        },
      }
    })
  }

  /** Replaces the ID of the client. Its tokens remain valid, and its pending codes become invalid. */
  resetClientId(clientId: string): Promise<Client> {
    return retryOnCollision(() => this.#rewrite(clientId, () => this.#newId(clientId)))
  }

  /**
   * Replaces the secret of the client.
   * @param overlap seconds for which the former secret remains valid, at most 30 days. Default: 0
   * @throws InvalidField for an unknown client, a client without a secret, or an invalid overlap
   */
  async resetClientSecret(
    clientId: string,
    options: { readonly overlap?: number } = {},
  ): Promise<ClientWithSecret> {
    checkReset(options)
    const { overlap = 0 } = options
    checkOverlap(overlap)
    return this.#withNewSecret((secret) =>
      this.#rewrite(clientId, (before, { clock }) => {
        if (!usesSecret(before))
          throw new InvalidField('client_secret', withoutSecretReason(before))
        const until = clock() + overlap * 1000
        return {
          fields: {
            ...newSecret(before, secret),
            ...(overlap > 0 && formerSecret(before.clientSecret, until)),
          },
          events: { 'client.secret_reset': { overlap } },
        }
      }),
    )
  }

  /** Replaces the ID of the client, and the secret if the client has one, in one transaction. */
  resetCredentials(clientId: string): Promise<ClientWithSecret> {
    return this.#withNewSecret((secret) =>
      this.#rewrite(clientId, (before) => {
        const { fields, events } = this.#newId(clientId)
        if (!usesSecret(before)) return { fields, events }
        return {
          fields: { ...fields, ...newSecret(before, secret) },
          events: { ...events, 'client.secret_reset': { overlap: 0 } },
        }
      }),
    )
  }

  /**
   * Revokes all tokens and authorizations of the client, and the consents of its users. The secret of the client
   * remains valid.
   * @throws InvalidField if the client does not exist
   */
  async endTokens(clientId: string): Promise<void> {
    // A new key revokes everything under the former key in one statement.
    await retryOnCollision(() =>
      this.#rewrite(clientId, (_before, { random }) => ({
        fields: { clientKey: randomNumber(random) },
        events: { 'client.tokens_ended': {} },
      })),
    )
  }

  /**
   * Deletes the client. Its tokens, authorizations and consents are invalid from the next request on, and are removed
   * in the background. Returns false if the client does not exist.
   */
  async delete(clientId: string): Promise<boolean> {
    const before = await this.#context.store.clients.find(clientId)
    if (!before) return false
    return withinTransaction(this.#context, async ({ store, audit, clock, removed }) => {
      if (!(await store.clients.delete(clientId, clock()))) return false
      const { fields, owner } = before
      const about = ofClient(fields, owner)
      if (fields.isPersonal)
        await audit.add(store, 'personal_token.deleted', { ...about, details: { ending: null } })
      else await audit.add(store, 'client.deleted', { ...about, details: {} })
      await removed({ kind: 'client', key: fields.clientKey })
      return true
    })
  }

  #rewrite(
    clientId: string,
    change: (before: Client, tx: RecordsContext) => Rewrite | Promise<Rewrite>,
  ): Promise<Client> {
    return rewriteClient((tx) => existingClient(clientId, tx), change, this.#context)
  }

  #newId(former: string) {
    const clientId = newClientId(this.#context)
    return { fields: { clientId }, events: { 'client.id_reset': { former } } }
  }

  /** Runs a change with a new secret; again with another secret if the ID or the secret is taken. */
  #withNewSecret(change: (clientSecret: string) => Promise<Client>): Promise<ClientWithSecret> {
    return retryOnCollision(async () => {
      const clientSecret = newClientSecret(this.#context)
      const client = await change(clientSecret)
      return { client, clientSecret: usesSecret(client) ? clientSecret : '' }
    })
  }
}

const tooMany = (most: number): InvalidField =>
  new InvalidField('user_id', `The user has ${most} applications already, which is the maximum.`, {
    problem: 'tooManyClients',
    value: most,
  })

const withoutSecretReason = ({ isConfidential }: Client): string =>
  isConfidential
    ? 'This client authenticates with keys and has no secret.'
    : 'A public client has no secret.'

// The field `metadata` is one text. Add its editable members as separate fields, so that the audit log names the
// members.
const withEditedMembers = (fields: CheckedFields): object => ({
  ...fields,
  ...editedMetadata(fields),
})

/**
 * Stores a request to fetch the logo of a client, which begins after the commit. Returns false if the metadata of the
 * client has no logo URL.
 */
const requestLogo = async (
  client: Client,
  { store, clock, fetchLogo }: RecordsContext,
): Promise<boolean> => {
  if (editedMetadata(client).logo_uri === '') return false
  const { clientKey } = client
  const requested = { requestedAt: clock(), problem: null }
  // An image that is already stored remains.
  if ((await store.clientLogos.update({ clientKey }, requested)) === 0)
    await store.clientLogos.insert({ clientKey, digest: null, image: null, ...requested })
  fetchLogo(client.clientId)
  return true
}

const markEvents = {
  isVerified: { true: 'client.verified', false: 'client.unverified' },
  isDisabled: { true: 'client.disabled', false: 'client.enabled' },
  isPinned: { true: 'client.pinned', false: 'client.unpinned' },
} as const

const eventsOf = (marks: Marks): NonNullable<Rewrite['events']> =>
  Object.fromEntries(
    Object.entries(marks).map(([mark, value]) => [markEvents[mark as keyof Marks][`${value}`], {}]),
  )
