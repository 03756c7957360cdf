import { z } from 'zod'
import { oauthErrorCodes } from '../../model/oauth-error.ts'
import { component, count, text } from '../../pages/shapes/shape.ts'

/** An error response. */
export const problem = component(
  'Problem',
  z.strictObject({
    error: z.enum(oauthErrorCodes),
    error_description: text.describe('A description for developers, in English.'),
  }),
)

/** An error response that identifies the invalid form field. */
export const fieldProblem = component(
  'FieldProblem',
  problem.extend({
    field: text.optional().describe('The name of the refused field in the request.'),
    line: z
      .int()
      .positive()
      .optional()
      .describe('The number of the refused list entry or line, starting at 1.'),
    errors: z
      .array(
        z.strictObject({
          error_description: text,
          field: text,
          line: z.int().positive().optional(),
        }),
      )
      .optional()
      .describe('All refused fields, including `field`. Only if several fields were refused.'),
  }),
)

export const jwtProblem = component(
  'JwtProblem',
  z
    .strictObject({ status: count, message: text, errors: z.array(z.unknown()).optional() })
    .describe('The JWT is missing or is not valid for this session.'),
)

export const unauthenticated = component(
  'Unauthenticated',
  z.strictObject({ status: count, message: text }).describe('No user is logged in.'),
)
