import type { Endpoint } from '../../plug-ins.ts'
import { jsonAnswer } from '../responses/answers.ts'

/** Seconds after which somebody who watches may ask again. */
const retryAfter = '5'

/** Says that the process answers, whatever it depends on: a restart would not help where that is away. */
export const liveEndpoint: Endpoint = {
  path: () => '/health/live',
  methods: ['GET'],
  errors: 'json',
  handle: async () => jsonAnswer({ status: 'live' }),
}

/** Says whether requests should be sent here. The log has the details, since everybody may ask. */
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
