import type { Scope } from '../../model/scope.ts'
import type { FormProblem } from '../parts/forms.ts'

/** The fields of a client's form, as they were typed or are stored. */
export interface ClientFormValues {
  readonly name: string
  readonly description: string
  readonly website: string
  /** One a line. */
  readonly redirectUris: string
  readonly isConfidential: boolean
  readonly defaultScopes: readonly string[]
  /** Those that the user may untick on the consent page. */
  readonly optionalScopes: readonly string[]
}

/** The form of a client that is not registered yet. */
export interface NewClientView {
  readonly action: string
  /** Where to go back to without registering anything. */
  readonly back: string
  readonly values: ClientFormValues
  /** What can be chosen: internal scopes are not among them. */
  readonly scopes: readonly Scope[]
  readonly problem: FormProblem | undefined
}

/** A client application as its owner sees it: to look at, change, and delete. */
export interface ClientView {
  /** Takes the edited fields, or `delete=yes` with the name typed into `confirm_name`. */
  readonly action: string
  readonly back: string
  /** Takes `overlap`, in seconds: so long the old secret stays valid. */
  readonly resetAction: string
  readonly clientId: string
  /** The name as it is stored, which has to be typed to delete. */
  readonly name: string
  readonly isConfidential: boolean
  readonly isVerified: boolean
  readonly isDisabled: boolean
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly users: number
  /** When the secret was ended because others knew it; null: it was not, or there is another since. */
  readonly secretLeakedAt: number | null
  /** Until when the former secret is valid; null: it is not. */
  readonly previousSecretExpires: number | null
  /** Offered for the overlap, in seconds. */
  readonly overlaps: readonly number[]
  readonly values: ClientFormValues
  readonly scopes: readonly Scope[]
  /** The secret, shown this once; null otherwise. */
  readonly clientSecret: string | null
  /** How to try it; null without a redirect URI or where it may not use the code flow. */
  readonly tryIt: {
    /** Starts the flow. */
    readonly href: string
    /** A `curl` command that redeems the code, with `CODE` and perhaps `SECRET` to fill in. */
    readonly curl: string
  } | null
  readonly done: string | undefined
  readonly problem: FormProblem | undefined
}
