import { constantTimeEqual, sha256 } from '../../../crypto/digest.ts'
import { AuthenticationRequired } from '../../../model/oauth-error.ts'
import type { Endpoint } from '../../plug-ins.ts'
import { textResponse } from '../responses/responses.ts'

/** The metrics for Prometheus. Requires the setting `metricsToken` as the bearer token. */
export const metricsEndpoint = (scrape: () => Promise<string>): Endpoint => ({
  path: () => '/metrics',
  methods: ['GET'],
  errors: 'challenge',
  async handle(request, { settings: { metricsToken } }) {
    const [, given] = /^bearer +([^ ].*)$/is.exec(request.header('authorization') ?? '') ?? []
    // Compare digests, so that the duration of the comparison does not reveal the length of the token.
    const isRight =
      metricsToken !== null &&
      given !== undefined &&
      constantTimeEqual(sha256(given), sha256(metricsToken))
    if (!isRight) throw new AuthenticationRequired('Bearer realm="metrics"')
    return textResponse(await scrape(), 'text/plain; version=0.0.4; charset=utf-8')
  },
})
