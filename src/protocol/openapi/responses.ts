import { either, named, type Part, type Parts, text } from './schema.ts'

/** What is answered in JSON. */
export const answerOf = (description: string, schema: Part, headers?: Parts): Part => ({
  description,
  ...(headers && { headers }),
  content: { 'application/json': { schema } },
})

/** A response of the components, by its name. */
export const namedAnswer = (name: string): Part => ({ $ref: `#/components/responses/${name}` })

const challenge: Parts = {
  'WWW-Authenticate': { description: 'A challenge of RFC 6750.', schema: text },
}

/** Refusals that several endpoints have. */
export const sharedResponses: Parts = {
  BadRequest: answerOf(
    'A field, the body or the JWT is not valid. Nothing was written.',
    either(named('FieldProblem'), named('JwtProblem')),
  ),
  Unauthenticated: answerOf('Nobody is logged in.', named('Unauthenticated'), challenge),
  Forbidden: answerOf(
    'The JWT is expired, or was made for another session. Load the page again.',
    named('JwtProblem'),
  ),
  NotFound: answerOf('There is no such thing, or it is another user’s.', named('Problem')),
  TooLarge: answerOf('The body is larger than 64 KiB.', named('Problem')),
  Unavailable: answerOf('Try again later.', named('Problem'), {
    'Retry-After': { description: 'After how many seconds.', schema: { type: 'integer' } },
  }),
  BadTokenRequest: answerOf(
    'Not one credential, or a session where a token is needed.',
    either(named('Problem'), named('JwtProblem')),
  ),
  InvalidToken: answerOf(
    'There is no token, or it is not valid.',
    either(named('Problem'), named('Unauthenticated')),
    challenge,
  ),
}
