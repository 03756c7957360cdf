import type { Case } from './case.ts'
import { ofAuthorization } from './outcomes.ts'
import { type ClientName, challenge, type Given, type Peer } from './peer.ts'

const other = 'https://evil.example/cb'

const asks =
  (given: Given = {}, client: ClientName = 'web', more = '') =>
  async (peer: Peer): Promise<string> =>
    ofAuthorization(await peer.authorize(`${peer.request(client, given)}${more}`))

const stateOf =
  (given: Given) =>
  async (peer: Peer): Promise<string> => {
    const end = await peer.authorize(peer.request('web', given))
    if (!(end instanceof URL)) return ofAuthorization(end)
    const state = end.searchParams.get('state')
    return `${ofAuthorization(end)}, state ${state === null ? 'absent' : state === given.state ? 'as sent' : 'changed'}`
  }

/** Cases of the authorization endpoint. The user is logged in, and consents. */
export const authorizationCases: readonly Case[] = [
  { id: 'A01', rule: 'RFC 6749 §4.1.1', what: 'a valid request', run: asks() },
  {
    id: 'A02',
    rule: 'RFC 6749 §4.1.2.1',
    what: 'an unknown client',
    run: asks({ client_id: 'nobody' }),
  },
  {
    id: 'A03',
    rule: 'RFC 6749 §4.1.2.1',
    what: 'no client_id',
    run: asks({ client_id: undefined }),
  },
  {
    id: 'A04',
    rule: 'RFC 6749 §3.1.2.4',
    what: 'a redirect URI that is not registered',
    run: asks({ redirect_uri: other }),
  },
  {
    id: 'A05',
    rule: 'RFC 9700 §4.1.3',
    what: 'the registered redirect URI with an additional slash',
    run: asks({ redirect_uri: 'https://client.example/cb/' }),
  },
  {
    id: 'A06',
    rule: 'RFC 9700 §4.1.3',
    what: 'the registered redirect URI with its default port',
    run: asks({ redirect_uri: 'https://client.example:443/cb' }),
  },
  {
    id: 'A07',
    rule: 'RFC 9700 §4.1.3',
    what: 'the registered redirect URI with a query',
    run: asks({ redirect_uri: 'https://client.example/cb?x=1' }),
  },
  {
    id: 'A08',
    rule: 'RFC 9700 §4.1.3',
    what: 'the redirect URI with its host in capitals',
    run: asks({ redirect_uri: 'https://CLIENT.example/cb' }),
  },
  {
    id: 'A09',
    rule: 'RFC 6749 §3.1.2',
    what: 'the redirect URI with a fragment',
    run: asks({ redirect_uri: 'https://client.example/cb#f' }),
  },
  {
    id: 'A10',
    rule: 'RFC 9700 §4.1.1',
    what: 'a path below the redirect URI with a dot segment',
    run: asks({ redirect_uri: 'https://client.example/cb/../cb' }),
  },
  {
    id: 'A11',
    rule: 'RFC 6749 §3.1.2.3',
    what: 'no redirect URI from a client with one URI',
    run: asks({ redirect_uri: undefined }),
  },
  {
    id: 'A12',
    rule: 'RFC 6749 §3.1.2.3',
    what: 'no redirect URI from a client with two URIs',
    run: asks({ redirect_uri: undefined }, 'two'),
  },
  {
    id: 'A13',
    rule: 'RFC 8252 §7.3',
    what: 'another port of a loopback redirect URI',
    run: asks({ redirect_uri: 'http://127.0.0.1:49152/cb' }, 'native'),
  },
  {
    id: 'A14',
    rule: 'RFC 8252 §7.3',
    what: 'another path of a loopback redirect URI',
    run: asks({ redirect_uri: 'http://127.0.0.1:49152/other' }, 'native'),
  },
  {
    id: 'A15',
    rule: 'RFC 8252 §8.3',
    what: 'localhost instead of the loopback address',
    run: asks({ redirect_uri: 'http://localhost:49152/cb' }, 'native'),
  },
  {
    id: 'A16',
    rule: 'RFC 6749 §4.1.2.1',
    what: 'no response_type',
    run: asks({ response_type: undefined }),
  },
  {
    id: 'A17',
    rule: 'RFC 6749 §4.1.2.1',
    what: 'an unknown response_type',
    run: asks({ response_type: 'bogus' }),
  },
  {
    id: 'A18',
    rule: 'RFC 6749 §3.1.1',
    what: 'response_type code token',
    run: asks({ response_type: 'code token' }),
  },
  {
    id: 'A19',
    rule: 'RFC 6749 §4.2',
    what: 'response_type token',
    run: asks({
      response_type: 'token',
      code_challenge: undefined,
      code_challenge_method: undefined,
    }),
  },
  {
    id: 'A20',
    rule: 'RFC 6749 §4.1.2.1',
    what: 'an unknown scope',
    run: asks({ scope: 'no:such' }),
  },
  { id: 'A21', rule: 'RFC 6749 §3.3', what: 'no scope', run: asks({ scope: undefined }) },
  {
    id: 'A22',
    rule: 'RFC 6749 §3.3',
    what: 'a scope with a quote',
    run: asks({ scope: 'notes:read"' }),
  },
  { id: 'A23', rule: 'RFC 6749 §3.1', what: 'an unknown parameter', run: asks({ foo: 'bar' }) },
  { id: 'A24', rule: 'RFC 6749 §3.1', what: 'state without a value', run: asks({ state: '' }) },
  {
    id: 'A25',
    rule: 'RFC 6749 §3.1',
    what: 'a repeated client_id',
    run: asks({}, 'web', '&client_id=evil'),
  },
  {
    id: 'A26',
    rule: 'RFC 6749 §3.1',
    what: 'a repeated redirect_uri',
    run: asks({}, 'web', `&redirect_uri=${encodeURIComponent(other)}`),
  },
  {
    id: 'A27',
    rule: 'RFC 6749 §3.1',
    what: 'a repeated scope',
    run: asks({}, 'web', '&scope=notes:write'),
  },
  {
    id: 'A28',
    rule: 'RFC 6749 §3.1',
    what: 'a repeated state',
    run: asks({}, 'web', '&state=other'),
  },
  {
    id: 'A29',
    rule: 'RFC 6749 §3.1',
    what: 'client_id[] instead of client_id',
    run: asks({ client_id: undefined }, 'web', '&client_id[]=web'),
  },
  {
    id: 'A30',
    rule: 'RFC 7636 §4.4.1',
    what: 'a public client without a code challenge',
    run: asks({ code_challenge: undefined, code_challenge_method: undefined }, 'app'),
  },
  {
    id: 'A31',
    rule: 'RFC 7636 §4.3',
    what: 'a confidential client without a code challenge',
    run: asks({ code_challenge: undefined, code_challenge_method: undefined }),
  },
  {
    id: 'A32',
    rule: 'RFC 9700 §2.1.1',
    what: 'code_challenge_method plain',
    run: asks({ code_challenge_method: 'plain' }),
  },
  {
    id: 'A33',
    rule: 'RFC 7636 §4.3',
    what: 'no code_challenge_method, which means plain',
    run: asks({ code_challenge_method: undefined }),
  },
  {
    id: 'A34',
    rule: 'RFC 7636 §4.4.1',
    what: 'an unknown code_challenge_method',
    run: asks({ code_challenge_method: 'S512' }),
  },
  {
    id: 'A35',
    rule: 'RFC 7636 §4.2',
    what: 'a code challenge that is too short',
    run: asks({ code_challenge: challenge.slice(0, 20) }),
  },
  {
    id: 'A36',
    rule: 'RFC 7636 §4.3',
    what: 'a code_challenge_method without a challenge',
    run: asks({ code_challenge: undefined }),
  },
  {
    id: 'A37',
    rule: 'RFC 9101 §6',
    what: 'a request object, which no server here supports',
    run: asks({ request: 'eyJhbGciOiJub25lIn0.e30.' }),
  },
  {
    id: 'A38',
    rule: 'RFC 9101 §6',
    what: 'the URL of a request object',
    run: asks({ request_uri: 'https://client.example/request' }),
  },
  {
    id: 'A39',
    rule: 'OAuth 2.0 Multiple Response Types §2.1',
    what: 'an unknown response_mode',
    run: asks({ response_mode: 'bogus' }),
  },
  {
    id: 'A40',
    rule: 'OpenID Connect Core §3.1.2.1',
    what: 'prompt=none after an earlier consent',
    run: asks({ prompt: 'none' }),
  },
  {
    id: 'A41',
    rule: 'RFC 6749 §4.1.2',
    what: 'a state of special characters is returned unchanged',
    run: stateOf({ state: 'a+b&c=d#f %0d%0aé\u{1F600}' }),
  },
  {
    id: 'A42',
    rule: 'RFC 6749 §4.1.2',
    what: 'no state is returned if none was sent',
    run: stateOf({ state: undefined }),
  },
  {
    id: 'A43',
    rule: 'RFC 9207 §2',
    what: 'the response contains the issuer',
    run: async (peer) => {
      const end = await peer.authorize(peer.request('web'))
      return end instanceof URL && end.searchParams.get('iss') ? 'iss' : 'no iss'
    },
  },
  {
    id: 'A44',
    rule: 'RFC 9207 §2',
    what: 'an error response contains the issuer',
    run: async (peer) => {
      const end = await peer.authorize(peer.request('web', { scope: 'no:such' }))
      return end instanceof URL && end.searchParams.get('iss') ? 'iss' : 'no iss'
    },
  },
  {
    id: 'A45',
    rule: 'RFC 6749 §3.1',
    what: 'a POST request',
    run: async (peer) =>
      ofAuthorization(await peer.authorize(peer.request('web'), { method: 'POST' })),
  },
]
