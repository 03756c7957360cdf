import type { Client } from '../../model/client.ts'
import { blankClient } from '../../model/entities/client.ts'
import { InvalidField } from '../../model/invalid-field.ts'
import { anything, flag, oneOf, onlyMembers, orNull, text, whole } from '../../model/members.ts'
import type { UserId } from '../../model/user.ts'
import type { ClientSummary } from '../../store/contract/clients.ts'
import type { Cursor, Page } from '../../store/contract/page.ts'
import { earliestRow, type RecordsContext, retryOnCollision } from '../context.ts'
import {
  type ChangeGuard,
  changeClient,
  deleteClient,
  endTokensOfClient,
  fetchLogoAgain,
  type Marks,
  markClient,
} from './change-client.ts'
import { checkedFields } from './checked-fields.ts'
import type { ClientInput, ClientWithSecret, ListedClient, Registration } from './client-input.ts'
import {
  findClient,
  listedAmong,
  listedClients,
  newClientSecret,
  ownerOf,
  searchClients,
} from './client-rows.ts'
import { insertClient } from './insert-client.ts'
import { resetClientId, resetClientSecret, resetCredentials } from './reset-credentials.ts'

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
      // Lock the user, so that concurrent requests cannot exceed the maximum.
      await ownerOf(userId, this.#context, tx)
      if ((await tx.clients.count('owned', { userId }, most)) >= most) throw tooMany(most)
      return insertClient(fields, { ...this.#context, store: tx })
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
    return searchClients(text, cursor, this.#context)
  }

  /**
   * Sets the marks of an administrator: whether the client is verified, disabled, or pinned. For a pinned client, the
   * server uses the stored copy of the metadata document and does not fetch the document again. For a client that
   * becomes verified, the server fetches the logo in the background.
   * @throws InvalidField if the client does not exist, or if a client to pin has no metadata document
   */
  async mark(clientId: string, marks: Marks): Promise<Client> {
    checkMarks(marks)
    return markClient(clientId, marks, this.#context)
  }

  /**
   * Fetches the logo of a verified client again, in the background.
   * @throws InvalidField if the client does not exist, is not verified, or has no logo URL
   */
  fetchLogo(clientId: string): Promise<void> {
    return fetchLogoAgain(clientId, this.#context)
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
    checkRegistration(registration)
    return changeClient(clientId, { changes, registration, guard }, this.#context)
  }

  /** Updates a client that becomes confidential, and creates its first secret in the same transaction. */
  async updateWithSecret(
    clientId: string,
    changes: Partial<ClientInput>,
    registration?: Partial<Registration>,
    guard?: ChangeGuard,
  ): Promise<ClientWithSecret> {
    checkRegistration(registration)
    return retryOnCollision(async () => {
      const clientSecret = newClientSecret(this.#context)
      const change = { changes, registration, clientSecret, guard }
      const client = await changeClient(clientId, change, this.#context)
      return { client, clientSecret }
    })
  }

  /** Replaces the ID of the client. Its tokens remain valid, and its pending codes become invalid. */
  resetClientId(clientId: string): Promise<Client> {
    return resetClientId(clientId, this.#context)
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
    return resetClientSecret(clientId, overlap, this.#context)
  }

  /** Replaces the ID of the client, and the secret if the client has one, in one transaction. */
  resetCredentials(clientId: string): Promise<ClientWithSecret> {
    return resetCredentials(clientId, this.#context)
  }

  /**
   * Revokes all tokens and authorizations of the client, and the consents of its users. The secret of the client
   * remains valid.
   * @throws InvalidField if the client does not exist
   */
  endTokens(clientId: string): Promise<void> {
    return endTokensOfClient(clientId, this.#context)
  }

  /**
   * Deletes the client. Its tokens, authorizations and consents are invalid from the next request on, and are removed
   * in the background. Returns false if the client does not exist.
   */
  delete(clientId: string): Promise<boolean> {
    return deleteClient(clientId, this.#context)
  }
}

const tooMany = (most: number): InvalidField =>
  new InvalidField('user_id', `The user has ${most} applications already, which is the maximum.`, {
    problem: 'tooManyClients',
    value: most,
  })
