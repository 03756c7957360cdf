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
}
