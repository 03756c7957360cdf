import { setImmediate as nextTurn } from 'node:timers/promises'
import { itemsOfPages } from '../model/batches.ts'
import { InvalidField } from '../model/invalid-field.ts'
import { flag, onlyMembers, text } from '../model/members.ts'
import type { User, UserId } from '../model/user.ts'
import type { AnyClientSummary } from '../store/contract/clients.ts'
import type { Cursor, Page } from '../store/contract/page.ts'
import type { TokenSummary, TokenWithNames } from '../store/contract/tokens.ts'
import { byUser, ofUser } from './audit/audit-trail.ts'
import { AuthorizedApplications } from './authorized-applications.ts'
import type { ListedClient } from './clients/client-input.ts'
import { existingClient, listedAmong } from './clients/client-rows.ts'
import { Clients } from './clients/clients.ts'
import { identityDigest } from './clients/verified-identity.ts'
import { type RecordsContext, withinTransaction } from './context.ts'
import { revokeToken } from './tokens/end-tokens.ts'

/** The maximum number of rows that one transaction or query processes. */
const batchSize = 100

/** The acting administrator and the origin of the request. */
export interface Actor {
  readonly user: Pick<User, 'id' | 'email'>
  readonly address: string
}

/** An action of an administrator on a client. */
export type ClientAct =
  | 'verify'
  | 'unverify'
  | 'fetch_logo'
  | 'disable'
  | 'enable'
  | 'pin'
  | 'unpin'
  | 'end_tokens'
  | 'delete'

const marks = {
  verify: { isVerified: true },
  unverify: { isVerified: false },
  disable: { isDisabled: true },
  enable: { isDisabled: false },
  pin: { isPinned: true },
  unpin: { isPinned: false },
} as const

const checkSearch = onlyMembers<{ readonly text: string; readonly isPersonal: boolean }>(
  'administration.tokenSummaries()',
  { text: text, isPersonal: flag },
)

/** The lists and actions of the administration pages. */
export class Administration {
  readonly #context: RecordsContext

  constructor(context: RecordsContext) {
    this.#context = context
  }

  /** Lists the clients whose name, ID or owner's e-mail address contains the text; all clients for an empty text. */
  clients(text: string, cursor: Cursor): Promise<Page<ListedClient>> {
    return new Clients(this.#context).search(text, cursor)
  }

  /** Lists the tokens whose user's e-mail address, client ID or ID equals the text; all tokens for an empty text. */
  async tokens(text: string, cursor: Cursor): Promise<Page<TokenWithNames>> {
    const { items, next } = await this.#context.store.tokens.list('matching', { text }, cursor)
    return { items: await this.#named(items, ({ fields }) => fields.userId), next }
  }

  /** Lists the summaries of the clients that `clients` lists. An HTML page sorts the summaries and shows some. */
  clientSummaries(text: string, cursor: Cursor): Promise<Page<AnyClientSummary>> {
    return this.#context.store.clients.summaries(
      'matching',
      { text: text.normalize('NFC') },
      cursor,
    )
  }

  /** Returns the clients with these IDs, in the order of the IDs. Omits unknown IDs. */
  clientsAmong(clientIds: readonly string[]): Promise<readonly ListedClient[]> {
    return listedAmong(clientIds, this.#context)
  }

  /** Lists the summaries of the tokens that `tokens` lists, or only the summaries of personal tokens. */
  tokenSummaries(
    search: { readonly text: string; readonly isPersonal: boolean },
    cursor: Cursor,
  ): Promise<Page<TokenSummary>> {
    checkSearch(search)
    return this.#context.store.tokens.summaries('matching', search, cursor)
  }

  /** Adds the e-mail addresses of the users to the tokens, if the store cannot read the users of the application. */
  withEmails<T extends { readonly userId: UserId | null; readonly userEmail: string | null }>(
    tokens: readonly T[],
  ): Promise<readonly T[]> {
    return this.#named(tokens, ({ userId }) => userId)
  }

  async #named<T extends { readonly userEmail: string | null }>(
    tokens: readonly T[],
    userIdOf: (token: T) => UserId | null,
  ): Promise<readonly T[]> {
    const { users } = this.#context
    if (users.areInStore) return tokens
    // Look up each user of the application once.
    const emails = new Map<UserId | null, string | null>([[null, null]])
    for (const id of new Set(tokens.map(userIdOf)))
      if (id !== null) emails.set(id, (await users.find(id, this.#context))?.email ?? null)
    return tokens.map((token) => ({ ...token, userEmail: emails.get(userIdOf(token)) ?? null }))
  }

  /**
   * Performs an action on a client.
   * @throws InvalidField if the client does not exist or does not allow the action
   */
  async actOnClient(clientId: string, act: ClientAct, actor: Actor, seen?: string): Promise<void> {
    await this.#inNameOf(actor, async (tx) => {
      const client = await existingClient(clientId, tx)
      const isReviewed = act === 'verify' || act === 'pin'
      if (isReviewed && seen !== undefined && seen !== identityDigest(client))
        throw new InvalidField('act', 'The application has changed since the page was loaded.', {
          problem: 'changedMeanwhile',
        })
      const clients = new Clients(tx)
      if (act === 'delete') await clients.delete(clientId)
      else if (act === 'end_tokens') await clients.endTokens(clientId)
      else if (act === 'fetch_logo') await clients.fetchLogo(clientId)
      else await clients.mark(clientId, marks[act])
    })
  }

  /**
   * Sets the resource to which the tokens of a client are restricted if the client requests no resource. Null restores
   * the setting `defaultResource`.
   * @throws InvalidField if the client or the resource does not exist
   */
  async setDefaultResource(
    clientId: string,
    defaultResource: string | null,
    actor: Actor,
  ): Promise<void> {
    await this.#inNameOf(actor, (tx) => new Clients(tx).update(clientId, { defaultResource }))
  }

  /**
   * Revokes a token like `Tokens.revoke`.
   * @throws InvalidField for an unknown token
   */
  deleteToken(id: number, actor: Actor): Promise<void> {
    return this.#inNameOf(actor, async (tx) => {
      const row = await tx.store.tokens.find(id)
      if (!row) throw new InvalidField('token_id', 'There is no such token.')
      await revokeToken(row, tx, 'token.deleted')
    })
  }

  /**
   * Revokes the personal tokens of a user, all authorizations that the user granted, and the tokens that the user's own
   * clients requested for themselves.
   */
  async endAllAccess(user: Pick<User, 'id' | 'email'>): Promise<void> {
    const { store, clock, audit } = this.#context
    await new AuthorizedApplications(this.#context).revokeAll(user.id)
    const owned = itemsOfPages(batchSize, (cursor) =>
      store.clients.list('owned', { userId: user.id }, cursor),
    )
    for await (const { fields } of owned) await store.clients.endOwnTokens(fields.clientId)
    for (let count = 0, part = batchSize; part === batchSize; await nextTurn()) {
      const before = count
      part = await store.transaction(async (tx) => {
        // Lock the user, so that the user cannot restore a deleted token concurrently.
        await this.#context.users.find(user.id, { ...this.#context, store: tx })
        const deleted = await tx.clients.deletePersonalOf(user.id, clock(), batchSize)
        const about = { ...ofUser(user), details: { count: before + deleted } }
        if (deleted < batchSize) await audit.add(tx, 'user.tokens_ended', about)
        return deleted
      })
      count += part
    }
  }

  #inNameOf<T>({ user, address }: Actor, work: (tx: RecordsContext) => Promise<T>): Promise<T> {
    const audit = this.#context.audit.by({ ...byUser(user), address })
    return withinTransaction(this.#context, (tx) => work({ ...tx, audit }))
  }
}
