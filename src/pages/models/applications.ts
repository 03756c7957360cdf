import type { FormProblem } from '../parts/forms.ts'

/** A part of a list: the address of the next part, and of the first where this is not the first. */
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
  /** The specification's `get_users`. */
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

/** One authorization of an application: a device, a browser or an installation that holds tokens. */
export interface DeviceItem {
  readonly href: string
  readonly revokeAction: string
  /** For instance `Chrome on Linux`; null where nothing is known. */
  readonly browser: string | null
  readonly scopes: readonly string[]
  readonly createdAt: number
  readonly lastUsedAt: number | null
  readonly lastUsedAddress: string | null
}

/** An application that the user authorized, with all its authorizations. */
export interface AuthorizedItem {
  readonly clientId: string
  readonly name: string
  readonly website: string
  /** The e-mail address of who registered it; null without an owner. */
  readonly owner: string | null
  readonly isVerified: boolean
  /** What the user agreed to. */
  readonly scopes: readonly string[]
  /** Null where the user agreed otherwise than on the consent page. */
  readonly grantedAt: number | null
  readonly lastUsedAt: number | null
  readonly devices: readonly DeviceItem[]
  /** How many more devices there are than are listed. */
  readonly moreDevices: number
  readonly revokeAction: string
}

/** The settings page of a user: own applications, personal tokens, authorized applications. */
export interface ApplicationsView {
  readonly clients: Listed<ClientItem>
  readonly newClient: string
  readonly personalTokens: Listed<PersonalTokenItem>
  readonly newToken: string
  readonly authorized: Listed<AuthorizedItem>
  /** Revokes every authorized application. */
  readonly revokeAllAction: string
  /** A sentence about what was just done, for instance that a token was deleted. */
  readonly done: string | undefined
  readonly problem: FormProblem | undefined
}
