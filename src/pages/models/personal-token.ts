import type { Scope } from '../../model/scope.ts'
import type { EditState } from '../parts/edit-form.ts'
import type { FormProblem } from '../parts/forms.ts'

/** The values of the fields in a personal token's form: the values that the user submitted, or the stored values. */
export interface PersonalTokenFormValues {
  readonly name: string
  readonly scopes: readonly string[]
  /** The day of expiry, such as `2027-01-31`; empty if the token never expires. Only new tokens have this field. */
  readonly expires: string
}

/** The form of a new personal token. */
export interface NewPersonalTokenView {
  readonly action: string
  readonly back: string
  readonly values: PersonalTokenFormValues
  readonly scopes: readonly Scope[]
  /** The first day that can be chosen: the `min` of the date field. */
  readonly firstDay: string
  /** The last day that can be chosen: the `max` of the date field. Null if tokens may be valid forever. */
  readonly lastDay: string | null
  readonly problem: FormProblem | undefined
}

/** A personal token as its user sees it. */
export interface PersonalTokenView {
  /** The URL of the form, which accepts `name` and `scopes`, or `delete=yes`. */
  readonly action: string
  readonly back: string
  /**
   * The URL of the form that rotates the token. `overlap` is the number of seconds for which the old value remains valid.
   */
  readonly rotateAction: string
  readonly name: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly expires: number | null
  readonly isExpired: boolean
  readonly lastUsedAt: number | null
  readonly lastUsedAddress: string | null
  /** The expiry of the former value; null if it is no longer valid. */
  readonly previousExpires: number | null
  readonly overlaps: readonly number[]
  readonly values: Omit<PersonalTokenFormValues, 'expires'>
  readonly edit: EditState<Omit<PersonalTokenFormValues, 'expires'>>
  readonly scopes: readonly Scope[]
  /** The new value and a complete `curl` command if this page shows them, which happens once; otherwise null. */
  readonly fresh: { readonly accessToken: string; readonly curl: string } | null
  readonly done: string | undefined
  readonly problem: FormProblem | undefined
}
