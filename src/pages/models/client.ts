import type { ApplicationKind } from '../../model/application-kind.ts'
import type { Refusal } from '../../model/refusal.ts'
import type { Scope } from '../../model/scope.ts'
import type { EditState } from '../parts/edit-form.ts'
import type { FormProblem } from '../parts/forms.ts'

/** The values of the fields in a client's form: the values that the user submitted, or the stored values. */
export interface ClientFormValues {
  readonly name: string
  readonly description: string
  readonly website: string
  /** The URL of the logo. */
  readonly logoUri: string
  /** One URI per line. */
  readonly redirectUris: string
  readonly isConfidential: boolean
  /**
   * The chosen kind of application in the form of a new client, which determines `isConfidential`. Undefined in the
   * form of a stored client, which contains a choice between confidential and public instead.
   */
  readonly kind?: ApplicationKind | undefined
  /** The URIs for the logout; undefined without OpenID Connect. */
  readonly logout?: LogoutFormValues | undefined
  readonly defaultScopes: readonly string[]
  /** The scopes that a user may untick on the consent page. */
  readonly optionalScopes: readonly string[]
}

/** The values of the fields for the logout of OpenID Connect. */
export interface LogoutFormValues {
  /** The URIs to which users return after a logout, one per line. */
  readonly redirectUris: string
  /** The URI that receives logout tokens; empty without one. */
  readonly backchannelUri: string
}

/** The view of the page on which a user registers a client. */
export interface NewClientView {
  readonly action: string
  /** The URL of the list of clients. */
  readonly back: string
  readonly values: ClientFormValues
  /** The scopes that the user can choose, without internal scopes. */
  readonly scopes: readonly Scope[]
  readonly problem: FormProblem | undefined
}

/** The view of the page on which an owner sees, changes and deletes a client. */
export interface ClientView {
  /** The URL of the form, which accepts the edited fields, or `delete=yes` with the name in `confirm_name`. */
  readonly action: string
  readonly back: string
  /**
   * The URL of the form that resets the secret. The form field `overlap` is the number of seconds for which the former
   * secret remains valid.
   */
  readonly resetAction: string
  readonly clientId: string
  /** The stored name, which the owner types to confirm the deletion. */
  readonly name: string
  /** The URL of the stored logo of a verified client; null without one. */
  readonly logo: string | null
  readonly isConfidential: boolean
  readonly isVerified: boolean
  readonly isDisabled: boolean
  /** Milliseconds since the epoch. */
  readonly createdAt: number
  /** The number of tokens, counted only up to `countLimit`. */
  readonly users: number
  /** The grants that the client may use. */
  readonly grantTypes: readonly string[]
  /** The time at which the secret was revoked because it leaked; null if the current secret did not leak. */
  readonly secretLeakedAt: number | null
  /** The expiry of the former secret; null without a valid former secret. */
  readonly previousSecretExpires: number | null
  /** The values from which the user chooses `overlap`, in seconds. */
  readonly overlaps: readonly number[]
  readonly values: ClientFormValues
  readonly edit: EditState<ClientFormValues>
  readonly scopes: readonly Scope[]
  /** The new secret, which the server shows once; null afterwards. */
  readonly clientSecret: string | null
  /** The issuer, and the URLs of the metadata and the endpoints, each with its name in the metadata (RFC 8414 §2). */
  readonly endpoints: readonly { readonly name: string; readonly url: string }[]
  /**
   * A link and code examples to try the client. Null if the client is inactive, or if a short code example cannot send
   * its token request.
   */
  readonly tryIt: {
    /** The URL that starts the authorization code flow; null if the client uses `client_credentials`. */
    readonly href: string | null
    /** Whether the code examples contain the placeholder `SECRET`, which the developer replaces. */
    readonly needsSecret: boolean
    /**
     * Code examples that send the token request, each with the name of its language. If the request redeems an
     * authorization code, the examples contain the placeholder `CODE`.
     */
    readonly snippets: readonly { readonly name: string; readonly code: string }[]
  } | null
  /** The latest refused requests of the client, the latest first. */
  readonly refusals: readonly Refusal[]
  /** The message about the action that the user has just completed; undefined without one. */
  readonly done: string | undefined
  readonly problem: FormProblem | undefined
}
