import { anything, onlyMembers, recordOf, text, whole } from './members.ts'

/**
 * The HTTP status of each error code in a response that is not a redirect. RFC 6749 §4.1.2.1 and §5.2,
 * RFC 6750 §3.1, OpenID Connect Core §3.1.2.6, and the standards of the extensions.
 */
const statusOf = {
  invalid_request: 400,
  invalid_client: 401,
  invalid_grant: 400,
  unauthorized_client: 400,
  unsupported_grant_type: 400,
  unsupported_response_type: 400,
  invalid_scope: 400,
  access_denied: 403,
  login_required: 400,
  consent_required: 400,
  request_not_supported: 400,
  request_uri_not_supported: 400,
  invalid_request_object: 400,
  invalid_request_uri: 400,
  invalid_token: 401,
  insufficient_scope: 403,
  invalid_target: 400,
  invalid_dpop_proof: 400,
  use_dpop_nonce: 400,
  authorization_pending: 400,
  slow_down: 400,
  expired_token: 400,
  unsupported_token_type: 400,
  invalid_redirect_uri: 400,
  invalid_client_metadata: 400,
  unapproved_software_statement: 400,
  server_error: 500,
  temporarily_unavailable: 503,
} as const

declare const brand: unique symbol

/** An error code that an extension has registered. */
export type OwnErrorCode = string & { readonly [brand]: 'OwnErrorCode' }

/** An error code that a built-in standard defines. */
export type BuiltInErrorCode = keyof typeof statusOf

/** The value of the response parameter `error` (RFC 6749 §5.2). */
export type OAuthErrorCode = BuiltInErrorCode | OwnErrorCode

/** Returns whether a built-in standard defines the code. */
export const isBuiltInErrorCode = (code: string): boolean => Object.hasOwn(statusOf, code)

/** The error codes of the built-in standards. */
export const oauthErrorCodes = Object.keys(statusOf) as readonly BuiltInErrorCode[]

/** The options of an `OAuthError`. */
export interface OAuthErrorOptions {
  /** The internal reason, for the log only. */
  readonly cause?: unknown
  /** Replaces the status of the error code, for instance with 413 for a large body. */
  readonly status?: number
  /** Headers of the response, for instance `WWW-Authenticate`. */
  readonly headers?: Readonly<Record<string, string>>
}

const checkOptions = onlyMembers<OAuthErrorOptions>('OAuthError', {
  cause: anything,
  status: whole(400, 599),
  headers: recordOf(text),
})

/** A protocol error. The client receives `message`; `cause` is only logged. */
export class OAuthError extends Error {
  override readonly name = 'OAuthError'
  readonly code: OAuthErrorCode
  readonly status: number
  readonly headers: Readonly<Record<string, string>>

  constructor(code: OAuthErrorCode, description: string, options: OAuthErrorOptions = {}) {
    super(description, 'cause' in options ? { cause: options.cause } : {})
    checkOptions(options)
    this.code = code
    this.status = options.status ?? statusOf[code as keyof typeof statusOf] ?? 400
    this.headers = options.headers ?? {}
  }

  /** Returns the error parameters of a response in JSON, a query or a fragment (RFC 6749 §5.2). */
  toWire(): { error: OAuthErrorCode; error_description: string } {
    return { error: this.code, error_description: this.message }
  }
}

/** An authorization request that has expired or was already used. The user can start again in the application. */
export class ExpiredRequest extends OAuthError {
  constructor(
    description: string,
    code: 'invalid_request' | 'invalid_request_object' = 'invalid_request',
  ) {
    super(code, description)
  }
}

/** A request without the required credentials. The challenge contains no error code (RFC 6750 §3.1). */
export class AuthenticationRequired extends Error {
  override readonly name = 'AuthenticationRequired'
  readonly status = 401
  readonly headers: Readonly<Record<string, string>>

  /** @param challenge the value of `WWW-Authenticate` */
  constructor(challenge: string) {
    super('Authentication is needed.')
    this.headers = { 'www-authenticate': challenge }
  }

  /** Returns the body of the response. */
  toWire(): { status: number; message: string } {
    return { status: this.status, message: this.message }
  }
}
