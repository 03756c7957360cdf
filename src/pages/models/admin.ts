import type { ClientOrigin } from '../../model/client.ts'
import type { Refusal } from '../../model/refusal.ts'
import type { FormProblem } from '../parts/forms.ts'
import type { ArrangedList } from './list.ts'

/** A client application in the list of administrators. Times are milliseconds since the epoch. */
export interface AdminClientItem {
  /** The URL of the page of the application in the administration. */
  readonly href: string
  readonly clientId: string
  readonly name: string
  /** The URL of the stored logo; null without one. */
  readonly logo: string | null
  /** The e-mail address of the owner; null without an owner. */
  readonly owner: string | null
  readonly isConfidential: boolean
  readonly isVerified: boolean
  readonly isDisabled: boolean
  /** Whether the server keeps the stored document of the client. */
  readonly isPinned: boolean
  /**
   * Whether the owner registered the client, the client registered itself, or a document at a URL describes the client.
   */
  readonly origin: ClientOrigin
  readonly createdAt: number
  readonly users: number
}

/** A client whose requests were refused in the last seven days. */
export interface RefusedClientItem {
  readonly clientId: string
  readonly name: string
  /** The URL of the page of the application in the administration. */
  readonly href: string
  readonly count: number
  /** The time of the latest refusal, in milliseconds since the epoch. */
  readonly at: number
  /** The most frequent reasons of the latest refusals, in the words of the protocol. */
  readonly reasons: readonly { readonly description: string; readonly count: number }[]
}

/** A token in the list of administrators. Times are milliseconds since the epoch. */
export interface AdminTokenItem {
  readonly id: number
  /** The name of the client, or of the personal token. */
  readonly name: string
  /** The URL of the application in the administration; null for a personal token. */
  readonly applicationHref: string | null
  readonly isPersonal: boolean
  /** The e-mail address or the ID of the user; null without a user. */
  readonly user: string | null
  /** The URL of the user in the administration; null without a user. */
  readonly userHref: string | null
  readonly scopes: readonly string[]
  readonly createdAt: number
  readonly expires: number | null
  readonly lastUsedAt: number | null
}

/** The view of the overview of the administration. */
export interface AdminView {
  /** The clients with the most refusals. */
  readonly mostRefused: readonly RefusedClientItem[]
}

/** The view of the page on which administrators find applications. */
export interface AdminApplicationsView {
  /**
   * The list. A POST with `search=client` searches for the field `client`, and redirects to a GET with this field. A POST
   * with `client_id` and an `act` (`disable` or `enable`) acts on an application, and returns to the query in `back`.
   */
  readonly clients: ArrangedList<AdminClientItem>
  readonly done: string | undefined
  readonly problem: FormProblem | undefined
}

/** The view of the page on which an administrator manages one application. */
export interface AdminApplicationView {
  /**
   * The URL of the forms. A POST accepts `act`: `verify`, `unverify`, `fetch_logo`, `disable`, `enable`, `pin`, `unpin`,
   * `end_tokens`, `set_default_resource` with `default_resource`, or `delete` with `confirm_name`.
   */
  readonly action: string
  /** The URL of the list, with the search and the page from which the administrator came. */
  readonly list: string
  readonly client: AdminClientItem
  /**
   * The value of the field `seen` in the form: a digest of the displayed client. The server refuses to verify or pin the
   * client if it has changed since then.
   */
  readonly seen: string
  readonly description: string
  readonly website: string
  readonly redirectUris: readonly string[]
  /** The resource of tokens whose request names none; null: the setting of the server. */
  readonly defaultResource: string | null
  /** The identifiers of the resources of the server. */
  readonly resources: readonly string[]
  readonly logo: {
    /** The URL of the image that the client names; null if it names none. */
    readonly uri: string | null
    /** Whether the server is fetching the image. */
    readonly isRequested: boolean
    /** Why the image could not be fetched, in English; null if the last fetch did not fail. */
    readonly problem: string | null
  }
  /** Why the latest requests of the client were refused, the latest first. */
  readonly refusals: readonly Refusal[]
  /** The URL of the owner in the administration; null without an owner. */
  readonly ownerHref: string | null
  /** The URLs of the tokens and of the audit log of the application. */
  readonly tokens: string
  readonly activity: string
  readonly done: string | undefined
  readonly problem: FormProblem | undefined
  /** Whether the application was not deleted, because the typed name was wrong. */
  readonly isNotDeleted: boolean
}

/** The view of the page on which administrators find tokens. */
export interface AdminTokensView {
  /**
   * The list. A POST with `search=token` searches for the field `token`, and redirects to a GET with this field. A POST
   * with `token_id` and `act=delete` deletes a token, and returns to the query in `back`.
   */
  readonly tokens: ArrangedList<AdminTokenItem>
  readonly done: string | undefined
  readonly problem: FormProblem | undefined
}
