import { z } from 'zod'
import { count, flag, text, userId } from '../../../pages/shapes/shape.ts'

/** The user of a token, with the e-mail address if the scope `user:email` was granted. */
const user = z.strictObject({ id: userId, email: text.optional(), email_verified: flag.optional() })

/** The response of the token endpoint: RFC 6749 §5.1, and the user. */
export const tokenResponse = z.strictObject({
  access_token: text,
  token_type: z.enum(['Bearer', 'DPoP']),
  expires_in: count.optional().describe('Seconds.'),
  scope: text.describe('The granted scopes, separated by spaces.'),
  refresh_token: text.optional(),
  id_token: text
    .optional()
    .describe('Only if the scope `openid` was granted (OpenID Connect Core §3.1.3.3).'),
  issued_token_type: text
    .optional()
    .describe('Only in the response to a token exchange (RFC 8693).'),
  user: user.optional(),
})

export const pong = z.strictObject({ ping: z.literal('pong') })

export const tokenHolder = z.strictObject({
  user: user.nullable(),
  client: z
    .strictObject({ client_id: text, name: text })
    .nullable()
    .describe('Null for a personal token.'),
  scopes: z.array(text),
})

/** The response of dynamic client registration. */
export const registeredClient = z
  .looseObject({
    client_id: text,
    client_id_issued_at: count,
    registration_access_token: text,
    registration_client_uri: text,
    client_secret: text.optional(),
    client_secret_expires_at: count.optional(),
  })
  .describe('RFC 7591 §3.2.1, with the registered metadata.')

export const introspection = z.strictObject({
  active: flag,
  scope: text.optional(),
  client_id: text.optional(),
  sub: text.optional(),
  iss: text.optional(),
  aud: z.union([text, z.array(text)]).optional(),
  iat: count.optional(),
  exp: count.optional(),
  jti: text.optional(),
  token_type: text.optional(),
  cnf: z.strictObject({ jkt: text }).optional(),
})

export const pushedRequest = z.strictObject({
  request_uri: text,
  expires_in: count.describe('Seconds.'),
})

export const deviceCodes = z.strictObject({
  device_code: text,
  user_code: text,
  verification_uri: text,
  verification_uri_complete: text,
  expires_in: count.describe('Seconds.'),
  interval: count.describe('Seconds between two token requests.'),
})
