import type { Endpoint } from '../extension.ts'
import { jsonAnswer } from './answers.ts'

/** Seconds after which somebody who watches may ask again. */
const retryAfter = '5'

/** Says that the process answers, whatever it depends on: a restart would not help where that is away. */
export const liveEndpoint: Endpoint = {
  path: () => '/health/live',
  methods: ['GET'],
  errors: 'json',
  handle: async () => jsonAnswer({ status: 'live' }),
}

/** Says whether requests should be sent here. Why not is in the log, since everybody may ask. */
export const readyEndpoint: Endpoint = {
  path: () => '/health/ready',
  methods: ['GET'],
  errors: 'json',
  async handle(_request, { isReady }) {
    if (await isReady()) return jsonAnswer({ status: 'ready' })
    return jsonAnswer({ status: 'not ready' }, 503, { 'retry-after': retryAfter })
  },
}
