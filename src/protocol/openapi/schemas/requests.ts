import { z } from 'zod'
import { withoutControlCharacters } from '../../../model/parameters.ts'
import { text } from '../../../pages/shapes/shape.ts'
import type { Described } from '../described.ts'

/** A parameter of a protocol endpoint. */
export const parameter = z.string().regex(withoutControlCharacters)

const optional = parameter.optional()

/** Credentials in the body, for a client that does not use the Basic scheme. */
const credentials = { client_id: optional, client_secret: optional }
const secretNeedsId = { dependentRequired: { client_secret: ['client_id'] } }

/** A required parameter. An empty value is treated as missing (RFC 6749 §3.1). */
const required = parameter.min(1)

const codes = {
  code: optional,
  redirect_uri: optional,
  code_verifier: optional.describe('RFC 7636.'),
}

/** The parameters of the token endpoint, for the grants of a server. */
export const tokenRequest = ({ grantTypes, grantParameters }: Described) =>
  z
    .looseObject({
      grant_type: grantTypes.length === 0 ? required : z.enum(grantTypes),
      // A grant may accept control characters in its parameters, for example in a password.
      ...Object.fromEntries(grantParameters.map((name) => [name, text.optional()])),
      ...(grantTypes.includes('authorization_code') && codes),
      ...(grantTypes.includes('refresh_token') && { refresh_token: optional }),
      scope: optional.describe('Scopes, separated by spaces.'),
      ...credentials,
    })
    .meta(secretNeedsId)

/** The form of a revocation or introspection request. */
export const aboutToken = z
  .looseObject({
    token: required,
    token_type_hint: optional,
    ...credentials,
  })
  .meta(secretNeedsId)

export const pushedRequestForm = z
  .looseObject({
    response_type: optional,
    redirect_uri: optional,
    scope: optional,
    state: text.optional(),
    ...credentials,
  })
  .meta(secretNeedsId)

export const deviceRequest = z.looseObject({ scope: optional, ...credentials }).meta(secretNeedsId)

export const leakReportForm = z.array(
  z.looseObject({
    token: text,
    type: text,
    url: text.nullable().optional(),
    source: text.nullable().optional(),
  }),
)

export const leakResponse = z.array(
  z.strictObject({
    token_raw: text,
    token_type: text,
    label: z.enum(['true_positive', 'false_positive']),
  }),
)
