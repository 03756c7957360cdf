import type { FormProblem } from '../form-problem.ts'
import type { ArrangedList } from './list.ts'

/** A page of a list. */
export interface Listed<T> {
  readonly items: readonly T[]
  /** The URL of the next page; null on the last page. */
  readonly next: string | null
  /** The URL of the first page; null on the first page. */
  readonly first: string | null
}

/** A client application in the list of its owner. */
export interface ClientItem {
  readonly href: string
  readonly clientId: string
  readonly name: string
  readonly isConfidential: boolean
  readonly isVerified: boolean
  readonly isDisabled: boolean
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** The number of tokens, counted only up to `countLimit`. The specification calls this number `get_users`. */
  readonly users: number
}

/** A personal token in the list of its user. Times are milliseconds since the epoch. */
export interface PersonalTokenItem {
  readonly id: number
  readonly href: string
  readonly name: string
  /** The last four characters of the value. */
  readonly lastFour: string
  readonly scopes: readonly string[]
  readonly createdAt: number
  readonly expires: number | null
  readonly isExpired: boolean
  readonly lastUsedAt: number | null
  readonly lastUsedAddress: string | null
}

/** One authorization of an application: for a browser, an installed program or a device. */
export interface DeviceItem {
  readonly href: string
  readonly revokeAction: string
  /** The browser and the operating system, such as `Chrome, Linux`; null if both are unknown. */
  readonly browser: string | null
  readonly scopes: readonly string[]
  readonly createdAt: number
  readonly lastUsedAt: number | null
  readonly lastUsedAddress: string | null
}

/** An application that the user authorized. */
export interface AuthorizedItem {
  readonly clientId: string
  readonly name: string
  /** The URL of the stored logo of a verified client; null without one. */
  readonly logo: string | null
  /** The beginning of the description; empty without a description. */
  readonly description: string
  readonly website: string
  /**
   * The e-mail address of the owner, or the host of the client's metadata document; null if the client has neither.
   */
  readonly owner: string | null
  readonly isVerified: boolean
  /** The scopes of the consent and of the listed devices. */
  readonly scopes: readonly string[]
  /** The time of the stored consent; null without one. */
  readonly grantedAt: number | null
  readonly lastUsedAt: number | null
  readonly devices: readonly DeviceItem[]
  /** The number of devices that are not listed. */
  readonly moreDevices: number
  readonly revokeAction: string
}

/** The view of the page with the first entries of each list of a user. */
export interface ApplicationsView {
  readonly clients: Listed<ClientItem>
  readonly newClient: string
  readonly personalTokens: Listed<PersonalTokenItem>
  readonly newToken: string
  readonly authorized: Listed<AuthorizedItem>
}

/** The view of the page that lists a user's personal tokens. */
export interface PersonalTokensView {
  readonly tokens: ArrangedList<PersonalTokenItem>
  readonly newToken: string
  /** The URL of the page that asks for confirmation before the tokens with the IDs in `id` are deleted. */
  readonly deleteSelected: string
}

/** The view of the page that lists the applications that a user registered. */
export interface ClientsView {
  readonly clients: ArrangedList<ClientItem>
  readonly newClient: string
}

/** The view of the page that lists the applications that a user authorized. */
export interface AuthorizedView {
  readonly authorized: ArrangedList<AuthorizedItem>
  /** The URL of the page that asks for confirmation before the applications with the client IDs in `id` are revoked. */
  readonly revokeSelected: string
  /** The URL of the form that revokes every authorized application. */
  readonly revokeAllAction: string
}

/** The view of the page that asks for confirmation before several tokens are deleted or applications are revoked. */
export interface EndSelectedView {
  readonly kind: 'tokens' | 'applications'
  /** The URL of the form, which accepts the IDs in `id`, and the query of the list in `back`. */
  readonly action: string
  /** The URL of the list. */
  readonly cancel: string
  readonly back: string
  readonly entries: readonly {
    readonly id: string
    readonly name: string
    readonly detail: string
  }[]
  readonly problem: FormProblem | undefined
}
