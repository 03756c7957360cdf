import * as oidc from 'openid-client'
import { redirectUri } from '../../support/redirect-uris.ts'
import type { Credentials, Library, LibraryClient, Method } from './library.ts'

const options = { algorithm: 'oauth2' as const, execute: [oidc.allowInsecureRequests] }

/** Returns the authentication method. The secret may be missing: the library stores the secret of a registration. */
const authenticationOf = ({
  method,
  secret,
  key,
}: Omit<Credentials, 'clientId'>): oidc.ClientAuth => {
  if (key) return oidc.PrivateKeyJwt({ key: key.privateKey, kid: key.jwk.kid ?? '' })
  if (method === 'none') return oidc.None()
  return method === 'client_secret_post'
    ? oidc.ClientSecretPost(secret)
    : oidc.ClientSecretBasic(secret)
}

const clientOf = async (
  config: oidc.Configuration,
  DPoP?: oidc.DPoPHandle,
): Promise<LibraryClient> => {
  const bound = DPoP ? { DPoP } : {}
  const keyThumbprint = await DPoP?.calculateThumbprint()
  return {
    server: { ...config.serverMetadata() },
    self: config.clientMetadata(),
    keyThumbprint,
    async begin(asked, { isPushed = false } = {}) {
      const pkceCodeVerifier = oidc.randomPKCECodeVerifier()
      const expectedState = oidc.randomState()
      const parameters = new URLSearchParams({
        redirect_uri: redirectUri,
        state: expectedState,
        code_challenge: await oidc.calculatePKCECodeChallenge(pkceCodeVerifier),
        code_challenge_method: 'S256',
        ...(keyThumbprint && { dpop_jkt: keyThumbprint }),
      })
      const given = new URLSearchParams(asked)
      for (const name of given.keys()) parameters.delete(name)
      for (const [name, value] of given) parameters.append(name, value)
      return {
        url: isPushed
          ? await oidc.buildAuthorizationUrlWithPAR(config, parameters, bound)
          : oidc.buildAuthorizationUrl(config, parameters),
        finish: (callback, more = {}) =>
          oidc.authorizationCodeGrant(
            config,
            callback,
            { pkceCodeVerifier, expectedState },
            more,
            bound,
          ),
      }
    },
    refresh: (refreshToken, asked = {}) =>
      oidc.refreshTokenGrant(config, refreshToken, asked, bound),
    clientCredentials: (asked = {}) => oidc.clientCredentialsGrant(config, asked, bound),
    grant: (grantType, asked) => oidc.genericGrantRequest(config, grantType, asked, bound),
    async device(asked) {
      const codes = await oidc.initiateDeviceAuthorization(config, asked)
      return {
        codes,
        tokens: () => oidc.pollDeviceAuthorizationGrant(config, codes, {}, bound),
      }
    },
    revoke: (token, hint) =>
      oidc.tokenRevocation(config, token, hint ? { token_type_hint: hint } : {}),
    introspect: (token) => oidc.tokenIntrospection(config, token),
    request: (token, url, { method = 'GET', body } = {}) =>
      oidc.fetchProtectedResource(
        config,
        token,
        new URL(url),
        method,
        body,
        new Headers(body === undefined ? {} : { 'content-type': 'application/json' }),
        bound,
      ),
  }
}

export const openidClient: Library = {
  name: 'openid-client',
  async discover(issuer, { clientId, ...proof }, { dpop = false } = {}) {
    const authentication = authenticationOf(proof)
    const config = await oidc.discovery(
      new URL(issuer),
      clientId,
      undefined,
      authentication,
      options,
    )
    return clientOf(
      config,
      dpop ? oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair('ES256')) : undefined,
    )
  },
  async register(issuer, metadata, { initialAccessToken, key } = {}) {
    const method = metadata.token_endpoint_auth_method as Method | undefined
    const config = await oidc.dynamicClientRegistration(
      new URL(issuer),
      metadata,
      method && authenticationOf({ method, ...(key && { key }) }),
      { ...options, ...(initialAccessToken !== undefined && { initialAccessToken }) },
    )
    return clientOf(config)
  },
}
