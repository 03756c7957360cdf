import { answerOf } from '../responses.ts'
import { constant, object, type Part, type Parts } from '../schema.ts'

const operation = (operationId: string, summary: string, responses: Parts): Part => ({
  get: { security: [], operationId, summary, tags: ['metadata'], responses },
})

const state = (status: string): Part => object({ status: constant(status) })

/** For whoever runs the server: balancers, supervisors. */
export const healthPaths = (): Parts => ({
  '/health/live': operation('live', 'Whether the process answers', {
    200: answerOf('It does.', state('live')),
  }),
  '/health/ready': operation('ready', 'Whether requests should be sent to this process', {
    200: answerOf('What it depends on answers.', state('ready')),
    503: answerOf(
      'Something does not answer, or the process is about to stop.',
      state('not ready'),
      {
        'Retry-After': {
          description: 'After how many seconds to ask again.',
          schema: { type: 'integer' },
        },
      },
    ),
  }),
})
