import type { AuthorizationCode } from '../model/authorization.ts'
import type { AuthorizationRequest } from '../model/authorization-request.ts'
import type { Credential } from '../model/credential.ts'
import type { User } from '../model/user.ts'
import type { TransientValues } from '../records/transient-values.ts'

/** An authorization request that waits for the user's decision, bound to the session that opened the consent page. */
export interface PendingAuthorization {
  readonly request: AuthorizationRequest
  /** The values of the client that the consent page showed, as one text, to detect later changes. */
  readonly terms: string
  readonly userId: User['id']
  readonly sessionId: string
  /** The URL of the request, which the browser opens to show the request again. */
  readonly again: string
  /** The end of the time for the decision, in milliseconds since the epoch. */
  readonly decideUntil: number
}

/**
 * A notice that a settings page of a session displays until the browser has received the page: a confirmation and
 * possibly a new secret.
 */
export interface Notice {
  /** A random ID, which the browser returns after it has received the page. */
  readonly id?: string
  /** Whether a page has displayed the notice. */
  readonly isShown?: boolean
  readonly done?: string
  /** The problem that the page explains. */
  readonly problem?: 'looksLikeSecret'
  /** The list that shows the confirmation, on a page with several lists. */
  readonly list?: 'clients' | 'tokens'
  /** A new client secret or token, which is displayed once and not stored elsewhere. */
  readonly secret?: string
  /** The ID with which the user can undo the action for a few seconds. */
  readonly undo?: string
}

/** The response to a form. */
export interface FormAnswer {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: string | null
}

/** A submitted form. */
export interface SubmittedForm {
  /** Null while the form is being processed. */
  readonly answer: FormAnswer | null
}

/** The text that a user typed into a form before the session ended, bound to the user and the page. */
export interface Draft {
  readonly userId: User['id']
  readonly path: string
  /** The typed fields, encoded as a form. */
  readonly text: string
  /** The time at which the page with the form was rendered, in milliseconds since the epoch. */
  readonly renderedAt: number
  readonly expiresAt: number
}

/** A redirect URI that was refused, bound to the user who may see it. */
export interface StoredRedirect {
  readonly userId: User['id']
  readonly clientId: string
  /** Undefined if the request contains no redirect URI. */
  readonly redirectUri?: string | undefined
}

/** The credentials in a text that a user pasted, without their values, bound to the session of the user. */
export interface LookedUp {
  readonly sessionId: string
  readonly credentials: readonly Credential[]
}

/** The short-lived values of the built-in endpoints. */
export interface ShortLived {
  readonly codes: TransientValues<AuthorizationCode>
  readonly pending: TransientValues<PendingAuthorization>
  /** Notices, by session and by the URL of the page that shows them. */
  readonly notices: TransientValues<Notice>
  /** The credentials that a user looked up, by a random name. */
  readonly lookedUp: TransientValues<LookedUp>
  /** Forms that were sent after their session had ended, by a random name. */
  readonly drafts: TransientValues<Draft>
  /** Refused redirect URIs for the owners of the clients, by a random name. */
  readonly refusedRedirects: TransientValues<StoredRedirect>
  /** The responses to submitted forms, by the browser and by the content of the form. */
  readonly forms: TransientValues<SubmittedForm>
}
