import type { HttpResponse } from './ask.ts'
import { stranger } from './cross-origin.ts'
import { type Examination, endpointOf } from './examination.ts'
import { type Finding, unless } from './finding.ts'

/** Checks how the authorization and token endpoints refuse invalid requests. RFC 6749 §4.1.2.1, §5.2. */
export const refusals = async (examination: Examination): Promise<readonly Finding[]> => {
  const { ask } = examination
  const findings: Finding[] = []
  const authorize = endpointOf(examination, 'authorization_endpoint')
  if (authorize) {
    const request = new URLSearchParams({
      response_type: 'code',
      client_id: 'nobody',
      redirect_uri: `${stranger}/callback`,
    })
    const { status, headers } = await ask(`${authorize}?${request}`)
    const isSent = headers.get('location')?.startsWith(stranger) ?? false
    findings.push(
      unless(
        'unknown-client',
        [
          isSent && 'The browser is redirected to a URI that no client has registered',
          status >= 500 && `The endpoint returns ${status}`,
        ],
        'This is an open redirector (RFC 9700 §4.11.2): check whether another server answers here.',
      ),
    )
  }
  const token = endpointOf(examination, 'token_endpoint')
  if (token) {
    const body = (fields: Record<string, string>) => ({
      method: 'POST',
      body: new URLSearchParams(fields),
    })
    const empty = await ask(token, body({}))
    const nobody = await ask(
      token,
      body({ grant_type: 'refresh_token', client_id: 'nobody', refresh_token: 'x' }),
    )
    const get = await ask(token)
    findings.push(
      unless(
        'token-errors',
        [
          ...errorProblems(empty, 'a request without parameters', 400, [
            'invalid_request',
            'invalid_client',
          ]),
          // A server may report a missing proof or an unknown grant type before it authenticates the client.
          ...errorProblems(nobody, 'a request of an unknown client', 400, [
            'invalid_client',
            'invalid_dpop_proof',
            'unsupported_grant_type',
            'invalid_request',
          ]),
          get.status !== 405 && `GET returns ${get.status} instead of 405`,
        ],
        'Clients do not learn what is wrong (RFC 6749 §5.2): let error responses pass the proxy unchanged.',
      ),
    )
  }
  return findings
}

const errorProblems = (
  { status, headers, json }: HttpResponse,
  who: string,
  expected: number,
  codes: readonly string[],
): readonly (string | false)[] => [
  !(status === expected || status === 401) &&
    `The response to ${who} is ${status} instead of ${expected}`,
  !codes.includes(String(json?.error)) && `The response to ${who} lacks the error ${codes[0]}`,
  !/\bno-store\b/.test(headers.get('cache-control') ?? '') &&
    `The response to ${who} lacks Cache-Control: no-store`,
]
