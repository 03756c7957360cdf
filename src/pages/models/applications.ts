import type { FormProblem } from '../parts/forms.ts'

/**
 * A page of a list, with the URLs of the next and the first page. `next` is null on the last page. `first` is null on
 * the first page.
 */
export interface Listed<T> {
  readonly items: readonly T[]
  readonly next: string | null
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
  /** The number of users, which `get_users` returns in the specification. */
  readonly users: number
}

/** A personal token in the list of its user. Times are milliseconds since the epoch. */
export interface PersonalTokenItem {
  readonly href: string
  readonly name: string
  readonly scopes: readonly string[]
  readonly createdAt: number
  readonly expires: number | null
  readonly isExpired: boolean
  readonly lastUsedAt: number | null
  readonly lastUsedAddress: string | null
}

/** One authorization of an application: a device, a browser or an installation with tokens. */
export interface DeviceItem {
  readonly href: string
  readonly revokeAction: string
  /** The browser, such as `Chrome on Linux`; null if unknown. */
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
  readonly website: string
  /** The e-mail address of the owner; null without an owner. */
  readonly owner: string | null
  readonly isVerified: boolean
  /** The scopes that the user granted. */
  readonly scopes: readonly string[]
  /** The time of the consent; null if the user did not consent on the consent page. */
  readonly grantedAt: number | null
  readonly lastUsedAt: number | null
  readonly devices: readonly DeviceItem[]
  /** The number of devices that are not listed. */
  readonly moreDevices: number
  readonly revokeAction: string
}

/** The view of the page that lists a user's own applications, personal tokens and authorized applications. */
export interface ApplicationsView {
  readonly clients: Listed<ClientItem>
  readonly newClient: string
  readonly personalTokens: Listed<PersonalTokenItem>
  readonly newToken: string
  readonly authorized: Listed<AuthorizedItem>
  /** The URL of the form that revokes every authorized application. */
  readonly revokeAllAction: string
  /** The confirmation of a completed action, such as the deletion of a token. */
  readonly done: string | undefined
  readonly problem: FormProblem | undefined
}
