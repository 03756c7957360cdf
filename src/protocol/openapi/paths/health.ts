import { z } from 'zod'
import { responseOf } from '../responses.ts'
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

// A node is ready even without Redis, because most requests do not need Redis.
const ready = schemaOf(z.strictObject({ status: z.literal('ready'), transients }))

/** Describes the health endpoints for load balancers and process managers. */
export const healthPaths = (): Parts => ({
  '/health/live': operation('live', 'Returns 200 while the process is running', {
    200: responseOf('The process is running.', live),
  }),
  '/health/ready': operation('ready', 'Returns whether this process can handle requests', {
    200: responseOf(
      'The database responds. `transients` is present if Redis is unavailable.',
      ready,
    ),
    503: responseOf(
      'The database is unavailable or read-only, the process is about to stop, or the `clock` of the process differs too much from the clock of the database.',
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
