import type { ClientOrigin } from '../../model/entities/client.ts'
import type { Refusal } from '../../model/refusal.ts'
import type { FormProblem } from '../form-problem.ts'
import type { ArrangedList } from '../parts/lists.ts'

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
  /** Whether an administrator pinned the metadata document, so that the server does not fetch the document again. */
  readonly isPinned: boolean
  /** The source of the client's data: its owner, the client itself, or a metadata document. */
  readonly origin: ClientOrigin
  readonly createdAt: number
  /** The number of tokens, counted only up to `countLimit`. */
  readonly users: number
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

/** The view of the page on which administrators find applications. */
export interface AdminApplicationsView {
  /**
   * The list. A POST with `search=client` redirects to a GET that searches for the value of `client`. A POST with
   * `client_id` and `act` (`disable` or `enable`) disables or enables an application. The server then redirects to the
   * list with the query in `back`.
   */
  readonly clients: ArrangedList<AdminClientItem>
  readonly done: string | undefined
  readonly problem: FormProblem | undefined
}

/** The view of the page on which an administrator manages one application. */
export interface AdminApplicationView {
  /**
   * The URL of the forms. A POST accepts `act`: `verify`, `unverify`, `fetch_logo`, `disable`, `enable`, `pin`,
   * `unpin`, `end_tokens`, `set_default_resource` with `default_resource`, or `delete` with `confirm_name`.
   */
  readonly action: string
  /** The URL of the list, with the search and the page from which the administrator came. */
  readonly list: string
  readonly client: AdminClientItem
  /**
   * The value of the field `seen` in the form: a digest of the displayed client. If the client has changed since the
   * page was rendered, the server refuses to verify or pin the client.
   */
  readonly seen: string
  readonly description: string
  readonly website: string
  /** The URL of the terms of use; empty without one. */
  readonly terms: string
  /** The URL of the privacy policy; empty without one. */
  readonly privacy: string
  readonly redirectUris: readonly string[]
  readonly postLogoutRedirectUris: readonly string[]
  /** The resource for token requests without a resource; null to use the setting of the server. */
  readonly defaultResource: string | null
  /** The identifiers of the resources of the server. */
  readonly resources: readonly string[]
  readonly logo: {
    /** The `logo_uri` of the client; null without one. */
    readonly uri: string | null
    /** Whether the server is fetching the image. */
    readonly isRequested: boolean
    /** The error of the last fetch, in English; null if the last fetch did not fail. */
    readonly problem: string | null
  }
  /** The latest refused requests of the client, the latest first. */
  readonly refusals: readonly Refusal[]
  /** The URL of the owner in the administration; null without an owner. */
  readonly ownerHref: string | null
  /** The URL of the list of the application's tokens. */
  readonly tokens: string
  /** The URL of the application's audit log. */
  readonly activity: string
  readonly done: string | undefined
  readonly problem: FormProblem | undefined
  /** Whether the server refused to delete the application because the typed name was wrong. */
  readonly isNotDeleted: boolean
}

/** The view of the page on which administrators find tokens. */
export interface AdminTokensView {
  /**
   * The list. A POST with `search=token` redirects to a GET that searches for the value of `token`. A POST with
   * `token_id` and `act=delete` deletes a token, and redirects to the list with the query in `back`.
   */
  readonly tokens: ArrangedList<AdminTokenItem>
  readonly done: string | undefined
  readonly problem: FormProblem | undefined
}
