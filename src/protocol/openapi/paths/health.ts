import { answerOf } from '../responses.ts'
import { constant, object, type Part, type Parts } from '../schema.ts'

const operation = (operationId: string, summary: string, responses: Parts): Part => ({
  get: { security: [], operationId, summary, tags: ['metadata'], responses },
})

const state = (status: string): Part => object({ status: constant(status) })

/** Of the clock, only a node that is not ready says anything. */
const notReady = object(
  {
    status: constant('not ready'),
    transients: constant('away'),
    clock: constant('wrong'),
  },
  { optional: ['transients', 'clock'] },
)

/** Redis alone: most requests do without it, so it decides nothing. */
const readyWithTransients = object(
  { status: constant('ready'), transients: constant('away') },
  { optional: ['transients'] },
)

/** For whoever runs the server: balancers, supervisors. */
export const healthPaths = (): Parts => ({
  '/health/live': operation('live', 'Whether the process answers', {
    200: answerOf('It does.', state('live')),
  }),
  '/health/ready': operation('ready', 'Whether requests should be sent to this process', {
    200: answerOf(
      'The database answers. `transients` is there where Redis does not.',
      readyWithTransients,
    ),
    503: answerOf(
      'The database does not answer or takes no writes, the process is about to stop, or its `clock` differs too much from that of the database.',
      notReady,
      {
        'Retry-After': {
          description: 'After how many seconds to ask again.',
          schema: { type: 'integer' },
        },
      },
    ),
  }),
})
