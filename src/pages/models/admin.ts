import type { ClientOrigin } from '../../model/client.ts'
import type { Refusal } from '../../model/refusal.ts'
import type { FormProblem } from '../parts/forms.ts'
import type { Listed } from './applications.ts'

/** A client application as an administrator sees it. Times are milliseconds since the epoch. */
export interface AdminClientItem {
  /**
   * The value of the field `seen` in the form: a digest of the displayed client. The server refuses to verify or pin the
   * client if it has changed since then.
   */
  readonly seen: string
  readonly clientId: string
  readonly name: string
  readonly owner: string | null
  readonly website: string
  readonly redirectUris: readonly string[]
  readonly isConfidential: boolean
  readonly isVerified: boolean
  readonly isDisabled: boolean
  /** Whether the server keeps the stored document of the client. */
  readonly isPinned: boolean
  /** The resource of tokens whose request names none; null: the setting of the server. */
  readonly defaultResource: string | null
  /**
   * Whether the owner registered the client, the client registered itself, or a document at a URL describes the client.
   */
  readonly origin: ClientOrigin
  readonly createdAt: number
  readonly users: number
  /** Why the latest requests of the client were refused, the latest first. */
  readonly refusals: readonly Refusal[]
  readonly logo: {
    /** The URL of the image that the client names; null if it names none. */
    readonly uri: string | null
    /** The URL of the stored image; null without one. */
    readonly src: string | null
    /** Whether the server is fetching the image. */
    readonly isRequested: boolean
    /** Why the image could not be fetched, in English; null if the last fetch did not fail. */
    readonly problem: string | null
  }
}

/** A client whose requests were refused in the last seven days. */
export interface RefusedClientItem {
  readonly name: string
  /** The URL of the page with this client only. */
  readonly href: string
  readonly count: number
  /** The time of the latest refusal, in milliseconds since the epoch. */
  readonly at: number
  /** The most frequent reasons of the latest refusals, in the words of the protocol. */
  readonly reasons: readonly { readonly description: string; readonly count: number }[]
}

/** A token as an administrator sees it. */
export interface AdminTokenItem {
  readonly id: number
  /** The name of the client, or of the personal token. */
  readonly name: string
  readonly clientId: string
  readonly isPersonal: boolean
  readonly user: string | null
  readonly scopes: readonly string[]
  readonly createdAt: number
  readonly expires: number | null
  readonly lastUsedAt: number | null
}

/** The view of the page that lists all applications and tokens. */
export interface AdminView {
  /**
   * The URL of the page. A POST with `search` (`client` or `token`) searches for the fields `client` and `token`, and
   * redirects to a GET with these fields. A POST accepts also `client_id` with an `act` (`verify`, `unverify`,
   * `fetch_logo`, `disable`, `enable`, `pin`, `unpin`, `set_default_resource` with `default_resource`, or `delete` with `confirm_name`), or
   * `token_id` with `act=delete`.
   */
  readonly action: string
  /** The URL of the forms that act, which return to the same search and page. */
  readonly actAction: string
  readonly search: { readonly client: string; readonly token: string }
  /** The identifiers of the resources of the server. */
  readonly resources: readonly string[]
  /** The clients with the most refusals; empty on a page that shows a search or a later part of a list. */
  readonly mostRefused: readonly RefusedClientItem[]
  readonly clients: Listed<AdminClientItem>
  readonly tokens: Listed<AdminTokenItem>
  readonly done: string | undefined
  /** The list that shows `done`. */
  readonly actedOn: 'clients' | 'tokens'
  readonly problem: FormProblem | undefined
  /** The client ID of the application that was not deleted, because the typed name was wrong. */
  readonly notDeleted: string | undefined
}
