import type { Case } from './case.ts'
import { ofResponse } from './outcomes.ts'
import { type Given, type Peer, type Proof, unknown, verifier } from './peer.ts'

const redeems =
  (given: Given = {}, proof: Proof = {}) =>
  async (peer: Peer): Promise<string> =>
    ofResponse(await peer.redeem(await peer.code(proof.client), given, proof))

const asks =
  (given: Given | string, proof: Proof = {}) =>
  async (peer: Peer): Promise<string> =>
    ofResponse(await peer.token(given, proof))

/** Encodes a form without the client ID, which `post` otherwise adds. */
const formless = (given: Given): string =>
  new URLSearchParams(given as Record<string, string>).toString()

const own = { grant_type: 'client_credentials' } as const

/** Cases of the token endpoint. */
export const tokenCases: readonly Case[] = [
  { id: 'T01', rule: 'RFC 6749 §4.1.3', what: 'a valid redemption of a code', run: redeems() },
  {
    id: 'T02',
    rule: 'RFC 6749 §5.1',
    what: 'the response must not be cached',
    run: async (peer) => {
      const { headers } = await peer.redeem(await peer.code())
      return `cache-control: ${headers.get('cache-control')}, pragma: ${headers.get('pragma')}`
    },
  },
  {
    id: 'T03',
    rule: 'RFC 6749 §5.1',
    what: 'the token type',
    run: async (peer) => String((await peer.redeem(await peer.code())).body.token_type),
  },
  {
    id: 'T04',
    rule: 'RFC 6749 §5.1',
    what: 'the response contains the scope',
    run: async (peer) => String((await peer.redeem(await peer.code())).body.scope),
  },
  {
    id: 'T05',
    rule: 'RFC 6749 §4.1.2',
    what: 'a code that is redeemed twice',
    run: async (peer) => {
      const code = await peer.code()
      await peer.redeem(code)
      return ofResponse(await peer.redeem(code))
    },
  },
  {
    id: 'T06',
    rule: 'RFC 6749 §4.1.2',
    what: 'the refresh token of a code that was redeemed twice',
    run: async (peer) => {
      const code = await peer.code()
      const { body } = await peer.redeem(code)
      await peer.redeem(code)
      return ofResponse(await peer.refresh(String(body.refresh_token)))
    },
  },
  {
    id: 'T07',
    rule: 'RFC 6749 §4.1.3',
    what: 'an unknown code',
    run: (peer) => peer.redeem(unknown()).then(ofResponse),
  },
  {
    id: 'T08',
    rule: 'RFC 6749 §4.1.3',
    what: 'the code of another client',
    run: async (peer) =>
      ofResponse(await peer.redeem(await peer.code('web'), {}, { client: 'two' })),
  },
  {
    id: 'T09',
    rule: 'RFC 6749 §4.1.3',
    what: 'another redirect_uri than in the authorization request',
    run: redeems({ redirect_uri: 'https://client.example/other' }),
  },
  {
    id: 'T10',
    rule: 'RFC 6749 §4.1.3',
    what: 'no redirect_uri although the authorization request had one',
    run: redeems({ redirect_uri: undefined }),
  },
  {
    id: 'T11',
    rule: 'RFC 6749 §4.1.3',
    what: 'no code',
    run: asks({ grant_type: 'authorization_code' }),
  },
  {
    id: 'T12',
    rule: 'RFC 7636 §4.6',
    what: 'a wrong code_verifier',
    run: redeems({ code_verifier: `${verifier}x` }),
  },
  {
    id: 'T13',
    rule: 'RFC 7636 §4.6',
    what: 'no code_verifier',
    run: redeems({ code_verifier: undefined }),
  },
  {
    id: 'T14',
    rule: 'RFC 7636 §4.1',
    what: 'a code_verifier that is too short',
    run: redeems({ code_verifier: 'short' }),
  },
  {
    id: 'T15',
    rule: 'RFC 9700 §4.8.2',
    what: 'a code_verifier although the request had no challenge',
    run: async (peer) =>
      ofResponse(
        await peer.redeem(
          await peer.code('web', { code_challenge: undefined, code_challenge_method: undefined }),
        ),
      ),
  },
  {
    id: 'T16',
    rule: 'RFC 6749 §4.1.2',
    what: 'a code after an attempt with a wrong code_verifier',
    run: async (peer) => {
      const code = await peer.code()
      await peer.redeem(code, { code_verifier: `${verifier}x` })
      return ofResponse(await peer.redeem(code))
    },
  },
  {
    id: 'T17',
    rule: 'RFC 6749 §4.1.3',
    what: 'a public client redeems its code',
    run: redeems({}, { client: 'app' }),
  },
  {
    id: 'T18',
    rule: 'RFC 6749 §2.3.1',
    what: 'client ID and secret in the body',
    run: redeems({}, { by: 'body' }),
  },
  {
    id: 'T19',
    rule: 'RFC 6749 §2.3',
    what: 'credentials in Basic and in the body',
    run: async (peer) =>
      ofResponse(
        await peer.token({
          ...own,
          client_id: peer.idOf('web'),
          client_secret: peer.secretOf('web'),
        }),
      ),
  },
  {
    id: 'T20',
    rule: 'RFC 6749 §5.2',
    what: 'a wrong secret in Basic',
    run: asks(own, { secret: 'wrong' }),
  },
  {
    id: 'T21',
    rule: 'RFC 6749 §5.2',
    what: 'a wrong secret in the body',
    run: asks(own, { by: 'body', secret: 'wrong' }),
  },
  {
    id: 'T22',
    rule: 'RFC 6749 §5.2',
    what: 'the challenge after a wrong secret in Basic',
    run: async (peer) => {
      const { status, headers } = await peer.token(own, { secret: 'wrong' })
      return `${status}, ${headers.has('www-authenticate') ? 'challenge' : 'no challenge'}`
    },
  },
  {
    id: 'T23',
    rule: 'RFC 6749 §5.2',
    what: 'an unknown client',
    run: asks(own, { headers: { authorization: `Basic ${btoa('nobody:x')}` } }),
  },
  {
    id: 'T24',
    rule: 'RFC 6749 §5.2',
    what: 'no client authentication',
    run: asks(formless(own), { by: 'nothing' }),
  },
  {
    id: 'T25',
    rule: 'RFC 7617 §2',
    what: 'Basic with invalid base64',
    run: asks(own, { headers: { authorization: 'Basic ====' } }),
  },
  {
    id: 'T26',
    rule: 'RFC 7617 §2',
    what: 'Basic without a colon',
    run: asks(own, { headers: { authorization: `Basic ${btoa('web')}` } }),
  },
  {
    id: 'T27',
    rule: 'RFC 6749 §2.3',
    what: 'a confidential client with only its client_id',
    run: asks(own, { by: 'nothing' }),
  },
  {
    id: 'T28',
    rule: 'RFC 6749 §2.3',
    what: 'another client_id in the body than in Basic',
    run: async (peer) =>
      ofResponse(await peer.redeem(await peer.code(), { client_id: peer.idOf('two') })),
  },
  {
    id: 'T29',
    rule: 'RFC 6749 §2.3',
    what: 'the same client_id in Basic and in the body',
    run: async (peer) =>
      ofResponse(await peer.redeem(await peer.code(), { client_id: peer.idOf('web') })),
  },
  { id: 'T30', rule: 'RFC 6749 §5.2', what: 'no grant_type', run: asks({}) },
  {
    id: 'T31',
    rule: 'RFC 6749 §5.2',
    what: 'an unknown grant_type',
    run: asks({ grant_type: 'bogus' }),
  },
  {
    id: 'T32',
    rule: 'RFC 6749 §5.2',
    what: 'a grant_type in capitals',
    run: asks({ grant_type: 'CLIENT_CREDENTIALS' }),
  },
  {
    id: 'T33',
    rule: 'RFC 6749 §5.2',
    what: 'a grant that the client may not use',
    run: asks({ grant_type: 'refresh_token', refresh_token: 'x' }, { client: 'machine' }),
  },
  {
    id: 'T34',
    rule: 'RFC 6749 §3.2',
    what: 'a repeated parameter',
    run: asks('grant_type=client_credentials&grant_type=client_credentials'),
  },
  {
    id: 'T35',
    rule: 'RFC 6749 §3.2',
    what: 'an unknown parameter',
    run: asks({ ...own, foo: 'bar' }),
  },
  {
    id: 'T36',
    rule: 'RFC 6749 §3.2',
    what: 'a GET request',
    run: async (peer) => {
      const response = await peer.send(`${peer.at.token}?grant_type=client_credentials`, {
        headers: { accept: 'application/json' },
      })
      return String(response.status)
    },
  },
  {
    id: 'T37',
    rule: 'RFC 6749 §3.2',
    what: 'JSON instead of a form',
    run: (peer) =>
      peer
        .token(JSON.stringify(own), { headers: { 'content-type': 'application/json' } })
        .then(ofResponse),
  },
  {
    id: 'T38',
    rule: 'RFC 6749 §2.3.1',
    what: 'the secret in the query',
    run: async (peer) => {
      const query = new URLSearchParams({
        client_id: peer.idOf('web'),
        client_secret: peer.secretOf('web'),
      })
      return ofResponse(
        await peer.post(`${peer.at.token}?${query}`, formless(own), { by: 'nothing' }),
      )
    },
  },
  { id: 'T39', rule: 'RFC 6749 §4.4', what: 'client_credentials', run: asks(own) },
  {
    id: 'T40',
    rule: 'RFC 6749 §4.4.2',
    what: 'client_credentials of a public client',
    run: asks(own, { client: 'app' }),
  },
  {
    id: 'T41',
    rule: 'RFC 6749 §5.2',
    what: 'client_credentials with an unknown scope',
    run: asks({ ...own, scope: 'no:such' }),
  },
  {
    id: 'T42',
    rule: 'RFC 6749 §6',
    what: 'a refresh',
    run: async (peer) => ofResponse(await peer.refresh((await peer.tokens()).refresh)),
  },
  {
    id: 'T43',
    rule: 'RFC 9700 §4.14.2',
    what: 'the refresh token after a refresh',
    run: async (peer) => {
      const { refresh } = await peer.tokens()
      const { body } = await peer.refresh(refresh)
      return body.refresh_token === refresh ? 'the same' : 'another'
    },
  },
  {
    id: 'T44',
    rule: 'RFC 9700 §4.14.2',
    what: 'a refresh token that is used twice immediately',
    run: async (peer) => {
      const { refresh } = await peer.tokens()
      await peer.refresh(refresh)
      return ofResponse(await peer.refresh(refresh))
    },
  },
  {
    id: 'T45',
    rule: 'RFC 9700 §4.14.2',
    what: 'a refresh token that is used again after its successor; then the successor',
    run: async (peer) => {
      const { refresh } = await peer.tokens()
      const second = String((await peer.refresh(refresh)).body.refresh_token)
      const third = String((await peer.refresh(second)).body.refresh_token)
      const again = ofResponse(await peer.refresh(refresh))
      return `${again}; ${ofResponse(await peer.refresh(third))}`
    },
  },
  {
    id: 'T46',
    rule: 'RFC 6749 §6',
    what: 'the refresh token of another client',
    run: async (peer) =>
      ofResponse(await peer.refresh((await peer.tokens()).refresh, {}, { client: 'two' })),
  },
  {
    id: 'T47',
    rule: 'RFC 6749 §6',
    what: 'a refresh with additional scopes',
    run: async (peer) =>
      ofResponse(
        await peer.refresh((await peer.tokens()).refresh, { scope: 'notes:read notes:write' }),
      ),
  },
  {
    id: 'T48',
    rule: 'RFC 6749 §6',
    what: 'a refresh with fewer scopes',
    run: async (peer) => {
      const { refresh } = await peer.tokens('web', { scope: 'notes:read notes:write' })
      return String((await peer.refresh(refresh, { scope: 'notes:read' })).body.scope)
    },
  },
  {
    id: 'T49',
    rule: 'RFC 6749 §6',
    what: 'an unknown refresh token',
    run: (peer) => peer.refresh(unknown()).then(ofResponse),
  },
  {
    id: 'T50',
    rule: 'RFC 6749 §6',
    what: 'an access token as refresh token',
    run: async (peer) => ofResponse(await peer.refresh((await peer.tokens()).access)),
  },
  {
    id: 'T51',
    rule: 'RFC 6749 §6',
    what: 'no refresh token',
    run: asks({ grant_type: 'refresh_token' }),
  },
  {
    id: 'T52',
    rule: 'RFC 6749 §6',
    what: 'a public client refreshes',
    run: async (peer) =>
      ofResponse(await peer.refresh((await peer.tokens('app')).refresh, {}, { client: 'app' })),
  },
]
