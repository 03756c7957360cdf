import { stranger } from './cross-origin.ts'
import { type Examination, endpointOf } from './examination.ts'
import { type Finding, unless } from './finding.ts'

/** Returns the URL of the ping endpoint, which is next to the token endpoint. */
export const pingOf = (examination: Examination): string | undefined =>
  endpointOf(examination, 'token_endpoint')?.replace(/\/token$/, '/ping')

/** Checks the responses to requests without a token and with an invalid token. RFC 6750 §3, RFC 9728 §5.1. */
export const challenges = async (examination: Examination): Promise<readonly Finding[]> => {
  const { ask, issuer } = examination
  const url = pingOf(examination)
  if (url === undefined) return []
  const bare = await ask(url, { headers: { origin: stranger } })
  const challenge = bare.headers.get('www-authenticate') ?? ''
  const address = /resource_metadata="([^"]*)"/.exec(challenge)?.[1]
  const led = address?.startsWith(`${new URL(issuer).origin}/`) ? await ask(address) : undefined
  const wrong = await ask(url, { headers: { authorization: 'Bearer wrong' } })
  const exposed = bare.headers.get('access-control-expose-headers') ?? ''
  return [
    unless(
      'challenge',
      [
        bare.status !== 401 && `${url} without a token returns ${bare.status} instead of 401`,
        !/\b(?:Bearer|DPoP) /.test(challenge) &&
          'The response has no WWW-Authenticate header with the scheme Bearer or DPoP',
        bare.status === 401 &&
          !led &&
          `resource_metadata is ${address ?? 'missing'}; expected a URL at ${new URL(issuer).origin}`,
        led && led.json?.resource !== issuer && `${address} does not describe ${issuer}`,
      ],
      'Clients of the API cannot discover the authorization server: let 401 responses pass the proxy unchanged, and set BASE_URL to the public URL.',
    ),
    unless(
      'challenge-invalid',
      [
        wrong.status !== 401 &&
          `${url} with an invalid token returns ${wrong.status} instead of 401`,
        !/error="invalid_token"/.test(wrong.headers.get('www-authenticate') ?? '') &&
          `The response of ${url} to an invalid token lacks error="invalid_token" in WWW-Authenticate`,
      ],
      'Clients do not learn that they need a new token: let the Authorization header and 401 responses pass the proxy.',
    ),
    unless(
      'cors-challenge',
      [
        !bare.headers.has('access-control-allow-origin') &&
          'The response has no Access-Control-Allow-Origin',
        !/www-authenticate/i.test(exposed) && 'The response does not expose WWW-Authenticate',
      ],
      'Applications in a browser cannot read the challenge: let the proxy forward the headers Access-Control-* unchanged.',
    ),
  ]
}
