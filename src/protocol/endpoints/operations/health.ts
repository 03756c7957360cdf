import { z } from 'zod'
import { metadataOperation } from '../../openapi/operations.ts'
import { responseOf, retryAfter as retryHeader } from '../../openapi/responses.ts'
import type { Endpoint } from '../../plug-ins.ts'
import { jsonResponse } from '../responses/responses.ts'

/** The time after which a monitor should retry, in seconds. */
const retryAfter = '5'

/** Reports that the process is running. Does not check the database, because a restart would not repair the database. */
export const liveEndpoint: Endpoint = {
  path: () => '/health/live',
  methods: ['GET'],
  errors: 'json',
  handle: async () => jsonResponse({ status: 'live' }),
  describe: () =>
    metadataOperation(
      { operationId: 'live', summary: 'Returns 200 while the process is running' },
      {
        200: responseOf('The process is running.', z.strictObject({ status: z.literal('live') })),
      },
    ),
}

/** Reports whether this process should receive requests. The response is public, so it contains no error messages. */
export const readyEndpoint: Endpoint = {
  path: () => '/health/ready',
  methods: ['GET'],
  errors: 'json',
  async handle(_request, { operations }) {
    const { isReady, areTransientsAway, isClockWrong } = await operations.health()
    const away = {
      ...(areTransientsAway && { transients: 'away' }),
      ...(isClockWrong && { clock: 'wrong' }),
    }
    if (isReady) return jsonResponse({ status: 'ready', ...away })
    return jsonResponse({ status: 'not ready', ...away }, 503, { 'retry-after': retryAfter })
  },
  describe() {
    const transients = z.literal('away').optional()
    const clock = z.literal('wrong').optional()
    return metadataOperation(
      { operationId: 'ready', summary: 'Returns whether this process can handle requests' },
      {
        // A node is ready even without Redis, because most requests do not need Redis.
        200: responseOf(
          'The database responds. `transients` is present if Redis is unavailable.',
          z.strictObject({ status: z.literal('ready'), transients }),
        ),
        503: responseOf(
          'The database is unavailable or read-only, the process is about to stop, or the `clock` of the process differs too much from the clock of the database.',
          z.strictObject({ status: z.literal('not ready'), transients, clock }),
          retryHeader,
        ),
      },
    )
  },
}
