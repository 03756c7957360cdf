import { about, choice, count, list, object, type Parts, text } from '../schema.ts'

const problem: Parts = {
  error: choice([
    'invalid_request',
    'invalid_client',
    'invalid_grant',
    'unauthorized_client',
    'unsupported_grant_type',
    'unsupported_response_type',
    'invalid_scope',
    'invalid_token',
    'invalid_target',
    'invalid_dpop_proof',
    'use_dpop_nonce',
    'authorization_pending',
    'slow_down',
    'expired_token',
    'invalid_redirect_uri',
    'invalid_client_metadata',
    'unapproved_software_statement',
    'access_denied',
    'temporarily_unavailable',
  ]),
  error_description: about('For developers, in English.', text),
}

/** What refusals look like. */
export const errorSchemas: Parts = {
  Problem: object(problem),
  FieldProblem: object(
    {
      ...problem,
      field: about('The field that was refused, by its name in the request.', text),
      line: about('Of a field with one entry a line, or a list: which, counted from 1.', {
        type: 'integer',
        minimum: 1,
      }),
    },
    { optional: ['field', 'line'] },
  ),
  JwtProblem: about(
    'The JWT of the session is missing, or not valid for this session.',
    object({ status: count, message: text, errors: list({}) }, { optional: ['errors'] }),
  ),
  Unauthenticated: about('Nobody is logged in.', object({ status: count, message: text })),
}
