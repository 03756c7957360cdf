import type { Scope } from '../../model/scope.ts'
import type { FormProblem } from '../form-problem.ts'
import type { EditState } from '../parts/edit-form.ts'

/** The values of the fields in a personal token's form: the values that the user submitted, or the stored values. */
export interface PersonalTokenFormValues {
  readonly name: string
  readonly scopes: readonly string[]
  /**
   * The chosen expiry: a number of days such as `90`, `day` for the day in `expires`, `never`, or `keep` for the
   * current expiry.
   */
  readonly expiry: string
  /** The chosen day of expiry, such as `2027-01-31`; empty without one. */
  readonly expires: string
}

/** The values of a personal token that its form edits. */
export interface EditedToken {
  readonly name: string
  readonly scopes: readonly string[]
  /** Milliseconds since the epoch; null if the token does not expire. */
  readonly expires: number | null
}

/** The choices for the expiry of a personal token. */
export interface ExpiryChoices {
  /** The offered numbers of days, each with the resulting expiry in milliseconds since the epoch. */
  readonly presets: readonly { readonly days: number; readonly at: number }[]
  /** Whether the token may be valid forever. */
  readonly mayNeverExpire: boolean
  /** The first day that can be chosen: the `min` of the date field. */
  readonly firstDay: string
  /** The last day that can be chosen: the `max` of the date field. Null if tokens may be valid forever. */
  readonly lastDay: string | null
}

/** The view of the page on which a user creates a personal token. */
export interface NewPersonalTokenView {
  readonly action: string
  readonly back: string
  readonly values: PersonalTokenFormValues
  readonly scopes: readonly Scope[]
  readonly choices: ExpiryChoices
  /** Whether the query of the URL filled in the form. */
  readonly isPrefilled: boolean
  readonly problem: FormProblem | undefined
}

/** The view of the page on which a user sees, changes and deletes a personal token. */
export interface PersonalTokenView {
  /**
   * The URL of the forms. A POST with the fields of `PersonalTokenFormValues` saves these values. A POST with
   * `end_former=yes` deletes the former value, `reduce=yes` removes the unused scopes, and `delete=yes` deletes the
   * token.
   */
  readonly action: string
  readonly back: string
  /**
   * The URL of the form that rotates the token. The form field `overlap` is the number of seconds for which the former
   * value remains valid.
   */
  readonly rotateAction: string
  readonly name: string
  /** The last four characters of the value. */
  readonly lastFour: string
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  readonly expires: number | null
  readonly isExpired: boolean
  readonly lastUsedAt: number | null
  readonly lastUsedAddress: string | null
  /** The expiry of the former value; null without a valid former value. */
  readonly previousExpires: number | null
  /**
   * The scopes of the token that the guards of the host have required so far. Null if the guards have required all
   * scopes of the token, or no scope yet.
   */
  readonly usedScopes: readonly string[] | null
  /** The choices for a new expiry; null for an expired token, whose expiry cannot be changed. */
  readonly choices: ExpiryChoices | null
  readonly values: PersonalTokenFormValues
  readonly edit: EditState<EditedToken>
  /** After a conflict with a change in another tab, the values that the user submitted; otherwise the stored values. */
  readonly typed: EditedToken
  readonly scopes: readonly Scope[]
  /** The new value, and a `curl` command with this value. The server shows them once; null afterwards. */
  readonly fresh: { readonly accessToken: string; readonly curl: string } | null
  /** The message about the action that the user has just completed; undefined without one. */
  readonly done: string | undefined
  readonly problem: FormProblem | undefined
}
