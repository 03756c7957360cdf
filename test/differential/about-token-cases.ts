import type { Case } from './case.ts'
import { ofResponse } from './outcomes.ts'
import { type HttpResponse, type Peer, unknown } from './peer.ts'

const introspected = async (peer: Peer, token: string): Promise<string> =>
  ofResponse(await peer.post(peer.at.introspect, { token }))

/** Cases of the endpoints for revocation, introspection and metadata. */
export const aboutTokenCases: readonly Case[] = [
  {
    id: 'R01',
    rule: 'RFC 7009 §2.1',
    needs: 'revoke',
    what: 'the revocation of an access token',
    run: async (peer) =>
      ofResponse(await peer.post(peer.at.revoke, { token: (await peer.tokens()).access })),
  },
  {
    id: 'R02',
    rule: 'RFC 7009 §2.1',
    needs: 'revoke',
    what: 'a refresh token after its revocation',
    run: async (peer) => {
      const { refresh } = await peer.tokens()
      await peer.post(peer.at.revoke, { token: refresh })
      return ofResponse(await peer.refresh(refresh))
    },
  },
  {
    id: 'R03',
    rule: 'RFC 7009 §2.1',
    needs: 'revoke',
    what: 'the introspection of an access token after the revocation of its refresh token',
    run: async (peer) => {
      const { access, refresh } = await peer.tokens()
      await peer.post(peer.at.revoke, { token: refresh })
      return introspected(peer, access)
    },
  },
  {
    id: 'R04',
    rule: 'RFC 7009 §2.1',
    needs: 'revoke',
    what: 'a refresh token after the revocation of its access token',
    run: async (peer) => {
      const { access, refresh } = await peer.tokens()
      await peer.post(peer.at.revoke, { token: access })
      return ofResponse(await peer.refresh(refresh))
    },
  },
  {
    id: 'R05',
    rule: 'RFC 7009 §2.2',
    needs: 'revoke',
    what: 'an unknown token',
    run: async (peer) => ofResponse(await peer.post(peer.at.revoke, { token: unknown() })),
  },
  {
    id: 'R06',
    rule: 'RFC 7009 §2.1',
    needs: 'revoke',
    what: 'no token',
    run: async (peer) => ofResponse(await peer.post(peer.at.revoke, {})),
  },
  {
    id: 'R07',
    rule: 'RFC 7009 §2.1',
    needs: 'revoke',
    what: 'the token of another client',
    run: async (peer) =>
      ofResponse(
        await peer.post(peer.at.revoke, { token: (await peer.tokens()).access }, { client: 'two' }),
      ),
  },
  {
    id: 'R08',
    rule: 'RFC 7009 §2.1',
    needs: 'revoke',
    what: 'a wrong hint',
    run: async (peer) => {
      const { refresh } = await peer.tokens()
      await peer.post(peer.at.revoke, { token: refresh, token_type_hint: 'access_token' })
      return ofResponse(await peer.refresh(refresh))
    },
  },
  {
    id: 'R09',
    rule: 'RFC 7009 §2.2.1',
    needs: 'revoke',
    what: 'an unknown hint',
    run: async (peer) =>
      ofResponse(await peer.post(peer.at.revoke, { token: unknown(), token_type_hint: 'bogus' })),
  },
  {
    id: 'R10',
    rule: 'RFC 7009 §2.1',
    needs: 'revoke',
    what: 'a wrong secret',
    run: async (peer) =>
      ofResponse(await peer.post(peer.at.revoke, { token: unknown() }, { secret: 'wrong' })),
  },
  {
    id: 'R11',
    rule: 'RFC 7009 §2',
    needs: 'revoke',
    what: 'a GET request',
    run: async (peer) =>
      String(
        (await peer.send(`${peer.at.revoke}?token=x`, { headers: { accept: 'application/json' } }))
          .status,
      ),
  },
  {
    id: 'R12',
    rule: 'RFC 7009 §2.1',
    needs: 'revoke',
    what: 'a repeated token',
    run: async (peer) => ofResponse(await peer.post(peer.at.revoke, 'token=x&token=y')),
  },
  {
    id: 'I01',
    rule: 'RFC 7662 §2.2',
    needs: 'introspect',
    what: 'a valid access token',
    run: async (peer) => introspected(peer, (await peer.tokens()).access),
  },
  {
    id: 'I02',
    rule: 'RFC 7662 §2.2',
    needs: 'introspect',
    what: 'a valid refresh token',
    run: async (peer) => introspected(peer, (await peer.tokens()).refresh),
  },
  {
    id: 'I03',
    rule: 'RFC 7662 §2.2',
    needs: 'introspect',
    what: 'an unknown token',
    run: (peer) => introspected(peer, unknown()),
  },
  {
    id: 'I04',
    rule: 'RFC 7662 §2.1',
    needs: 'introspect',
    what: 'no token',
    run: async (peer) => ofResponse(await peer.post(peer.at.introspect, {})),
  },
  {
    id: 'I05',
    rule: 'RFC 7662 §2.1',
    needs: 'introspect',
    what: 'a wrong secret',
    run: async (peer) =>
      ofResponse(await peer.post(peer.at.introspect, { token: unknown() }, { secret: 'wrong' })),
  },
  {
    id: 'I06',
    rule: 'RFC 7662 §4',
    needs: 'introspect',
    what: 'the token of another client',
    run: async (peer) =>
      ofResponse(
        await peer.post(
          peer.at.introspect,
          { token: (await peer.tokens()).access },
          { client: 'two' },
        ),
      ),
  },
  {
    id: 'I07',
    rule: 'RFC 7662 §2.1',
    needs: 'introspect',
    what: 'a public client introspects its own token',
    run: async (peer) =>
      ofResponse(
        await peer.post(
          peer.at.introspect,
          { token: (await peer.tokens('app')).access },
          { client: 'app' },
        ),
      ),
  },
  {
    id: 'I08',
    rule: 'RFC 7662 §2.2',
    needs: 'introspect',
    what: 'an access token after the refresh',
    run: async (peer) => {
      const { access, refresh } = await peer.tokens()
      await peer.refresh(refresh)
      return introspected(peer, access)
    },
  },
  {
    id: 'I09',
    rule: 'RFC 7662 §2.2',
    needs: 'introspect',
    what: 'the response for an invalid token',
    run: async (peer) =>
      (await peer.post(peer.at.introspect, { token: unknown() })).text.replaceAll(/\s/g, ''),
  },
  {
    id: 'M01',
    rule: 'RFC 8414 §3.3',
    needs: 'metadata',
    what: 'the issuer in the metadata',
    run: async (peer) => ((await metadata(peer)).issuer === peer.origin ? 'the same' : 'another'),
  },
  {
    id: 'M02',
    rule: 'RFC 8414 §2',
    needs: 'metadata',
    what: 'the code challenge methods',
    run: async (peer) => String((await metadata(peer)).code_challenge_methods_supported),
  },
  {
    id: 'M03',
    rule: 'RFC 9207 §3',
    needs: 'metadata',
    what: 'authorization_response_iss_parameter_supported',
    run: async (peer) =>
      String((await metadata(peer)).authorization_response_iss_parameter_supported),
  },
  {
    id: 'M04',
    rule: 'RFC 8414 §3.1',
    needs: 'metadata',
    what: 'the metadata at the OAuth path (not the OpenID path)',
    run: async (peer) =>
      String((await peer.send('/.well-known/oauth-authorization-server')).status),
  },
]

const metadata = async (peer: Peer): Promise<HttpResponse['body']> =>
  (await peer.send(peer.at.metadata ?? '')).body
