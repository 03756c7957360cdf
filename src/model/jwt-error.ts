/** The options of a JWT error. */
export interface JwtErrorOptions {
  /** The list of problems for the response. */
  readonly errors?: readonly unknown[]
  readonly cause?: unknown
  readonly [further: string]: unknown
}

/** Base of all JWT errors: an HTTP status, a message, optional `errors` and further arguments. */
export class JWTExtendedException extends Error {
  override readonly name: string = 'JWTExtendedException'
  readonly status: number = 400
  readonly errors: readonly unknown[] | undefined
  /** Other arguments of the constructor. */
  readonly further: Readonly<Record<string, unknown>>

  constructor(
    { errors, cause, ...further }: JwtErrorOptions = {},
    message = 'The JWT token is not valid.',
  ) {
    super(message, cause === undefined ? {} : { cause })
    this.errors = errors
    this.further = further
  }

  /** Returns the body of the response. */
  toWire(): { status: number; message: string; errors?: readonly unknown[] } {
    const { status, message, errors } = this
    return errors === undefined ? { status, message } : { status, message, errors }
  }
}

/** The JWT is malformed, or its signature is not valid. */
export class JWTDecodeError extends JWTExtendedException {
  override readonly name = 'JWTDecodeError'
  constructor(options: JwtErrorOptions = {}) {
    super(options, 'The JWT token has invalid format.')
  }
}

/** The JWT is expired. */
export class JWTExpiredToken extends JWTExtendedException {
  override readonly name = 'JWTExpiredToken'
  override readonly status = 403
  constructor(options: JwtErrorOptions = {}) {
    super(options, 'The JWT token is expired.')
  }
}

/**
 * The header with the JWT is missing, or does not begin with the configured type, such as `Bearer`. `errors` contains
 * the name of the header, and the expected type if a type is configured.
 */
export class JWTInvalidHeaderError extends JWTExtendedException {
  override readonly name = 'JWTInvalidHeaderError'
  constructor(options: JwtErrorOptions = {}) {
    super(options, 'Missing required header argument.')
  }
}

/** The JWT belongs to another user or another session. */
export class JWTInvalidIssuer extends JWTExtendedException {
  override readonly name = 'JWTInvalidIssuer'
  override readonly status = 403
}

/** The JWT has a wrong type, audience or lifetime, or lacks a claim. */
export class JWTNoAuthorizationError extends JWTExtendedException {
  override readonly name = 'JWTNoAuthorizationError'
}
