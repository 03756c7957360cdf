import type { Endpoint } from '../../plug-ins.ts'
import { jsonAnswer } from '../responses/answers.ts'

/** Seconds after which a monitor may ask again. */
const retryAfter = '5'

/** Reports that the process answers, even without its database: a restart would not help then. */
export const liveEndpoint: Endpoint = {
  path: () => '/health/live',
  methods: ['GET'],
  errors: 'json',
  handle: async () => jsonAnswer({ status: 'live' }),
}

/** Reports whether this process should receive requests. The endpoint is public, so the details are in the log. */
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
    if (isReady) return jsonAnswer({ status: 'ready', ...away })
    return jsonAnswer({ status: 'not ready', ...away }, 503, { 'retry-after': retryAfter })
  },
}
