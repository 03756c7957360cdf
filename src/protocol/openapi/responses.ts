import { either, named, type Part, type Parts, type Schema, text } from './schema.ts'

/** Describes a JSON response. */
export const responseOf = (description: string, schema: Schema, headers?: Parts): Part => ({
  description,
  ...(headers && { headers }),
  content: { 'application/json': { schema } },
})

/** Describes a response that is JSON for scripts and a page for people. */
export const responseOrPage = (description: string, schema: Schema, headers?: Parts): Part => ({
  description,
  ...(headers && { headers }),
  content: { 'application/json': { schema }, 'text/html': { schema: text } },
})

/** Refers to a shared response by its name. */
export const namedResponse = (name: string): Part => ({ $ref: `#/components/responses/${name}` })

export const location: Parts = {
  Location: { description: 'The target of the redirect.', required: true, schema: text },
}

export const challenge: Parts = {
  'WWW-Authenticate': { description: 'A challenge (RFC 6750 §3).', required: true, schema: text },
}

export const retryAfter: Parts = {
  'Retry-After': {
    description: 'Seconds to wait.',
    required: true,
    schema: { type: 'integer' },
  },
}

/** Responses that several endpoints share. */
export const sharedResponses: Parts = {
  BadRequest: responseOrPage(
    'A field, the body or the JWT is not valid. Nothing was changed.',
    either(named('FieldProblem'), named('JwtProblem')),
  ),
  SeeOther: {
    description:
      'For pages only: a redirect to the login if no user is logged in, or to the result page after a change.',
    headers: location,
  },
  Unauthenticated: responseOf('No user is logged in.', named('Unauthenticated'), challenge),
  Forbidden: responseOf(
    'The JWT has expired or belongs to another session. Load the page again.',
    named('JwtProblem'),
  ),
  PageForbidden: responseOrPage(
    'The JWT has expired or belongs to another session, or another site sent the form, or the CSRF token is missing. Load the page again.',
    named('JwtProblem'),
  ),
  NotFound: responseOrPage('The ID is unknown or belongs to another user.', named('Problem')),
  Conflict: {
    description: 'For pages only: the same form is still being processed.',
    content: { 'text/html': { schema: text } },
  },
  TooLarge: responseOf('The body is larger than 64 KiB.', named('Problem')),
  PageTooLarge: responseOrPage('The body is larger than 64 KiB.', named('Problem')),
  Unavailable: responseOf('Try again later.', named('Problem'), retryAfter),
  PageUnavailable: responseOrPage('Try again later.', named('Problem'), retryAfter),
  BadTokenRequest: responseOf(
    'The request contains more than one credential, or a session instead of a token.',
    either(named('Problem'), named('JwtProblem')),
  ),
  InvalidToken: responseOf(
    'The token is missing or not valid.',
    either(named('Problem'), named('Unauthenticated')),
    challenge,
  ),
  PageTooMany: responseOrPage(
    'Too many wrong passwords or unknown credentials were sent, or too many links were requested.',
    named('Problem'),
    retryAfter,
  ),
}
