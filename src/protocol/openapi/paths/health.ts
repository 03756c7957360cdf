import { z } from 'zod'
import { answerOf } from '../responses.ts'
import type { Part, Parts } from '../schema.ts'
import { schemaOf } from '../shape.ts'

const operation = (operationId: string, summary: string, responses: Parts): Part => ({
  get: { security: [], operationId, summary, tags: ['metadata'], responses },
})

const live = schemaOf(z.strictObject({ status: z.literal('live') }))

const transients = z.literal('away').optional()

const notReady = schemaOf(
  z.strictObject({
    status: z.literal('not ready'),
    transients,
    clock: z.literal('wrong').optional(),
  }),
)

// A node without Redis is ready: most requests do not need it.
const ready = schemaOf(z.strictObject({ status: z.literal('ready'), transients }))

/** Describes the endpoints for load balancers and process managers. */
export const healthPaths = (): Parts => ({
  '/health/live': operation('live', 'Whether the process answers', {
    200: answerOf('It does.', live),
  }),
  '/health/ready': operation('ready', 'Whether requests should be sent to this process', {
    200: answerOf('The database answers. `transients` is present if Redis does not.', ready),
    503: answerOf(
      'The database does not answer or takes no writes, the process is about to stop, or its `clock` differs too much from that of the database.',
      notReady,
      {
        'Retry-After': {
          description: 'Seconds to wait.',
          required: true,
          schema: { type: 'integer' },
        },
      },
    ),
  }),
})
