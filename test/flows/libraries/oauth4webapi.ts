import { setTimeout as wait } from 'node:timers/promises'
import * as oauth from 'oauth4webapi'
import { redirectUri } from '../../support/redirect-uris.ts'
import type { Credentials, Library, LibraryClient, Method } from './library.ts'

export const insecure = { [oauth.allowInsecureRequests]: true }

export const serverAt = async (issuer: string): Promise<oauth.AuthorizationServer> => {
  const url = new URL(issuer)
  const response = await oauth.discoveryRequest(url, { algorithm: 'oauth2', ...insecure })
  return oauth.processDiscoveryResponse(url, response)
}

const authenticationOf = ({
  method,
  secret = '',
  key,
}: Omit<Credentials, 'clientId'>): oauth.ClientAuth => {
  if (key) return oauth.PrivateKeyJwt({ key: key.privateKey, kid: key.jwk.kid ?? '' })
  if (method === 'none') return oauth.None()
  return method === 'client_secret_post'
    ? oauth.ClientSecretPost(secret)
    : oauth.ClientSecretBasic(secret)
}

/** Runs a request. If the server requires a DPoP nonce, retries with the nonce, which the library has stored. */
const again = async <T>(work: () => Promise<T>): Promise<T> =>
  work().catch((error: unknown) => {
    if (!oauth.isDPoPNonceError(error)) throw error
    return work()
  })

const clientOf = async (
  as: oauth.AuthorizationServer,
  self: oauth.Client,
  authentication: oauth.ClientAuth,
  DPoP?: oauth.DPoPHandle,
): Promise<LibraryClient> => {
  const options = { ...insecure, ...(DPoP && { DPoP }) }
  const keyThumbprint = await DPoP?.calculateThumbprint()
  return {
    server: as,
    self,
    keyThumbprint,
    async begin(asked, { isPushed = false } = {}) {
      const verifier = oauth.generateRandomCodeVerifier()
      const state = oauth.generateRandomState()
      const parameters = new URLSearchParams({
        response_type: 'code',
        client_id: self.client_id,
        redirect_uri: redirectUri,
        state,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: 'S256',
        ...(keyThumbprint && { dpop_jkt: keyThumbprint }),
      })
      const given = new URLSearchParams(asked)
      for (const name of given.keys()) parameters.delete(name)
      for (const [name, value] of given) parameters.append(name, value)
      const url = new URL(as.authorization_endpoint ?? '')
      url.search = parameters.toString()
      if (isPushed) {
        const { request_uri } = await again(async () =>
          oauth.processPushedAuthorizationResponse(
            as,
            self,
            await oauth.pushedAuthorizationRequest(as, self, authentication, parameters, options),
          ),
        )
        url.search = new URLSearchParams({ client_id: self.client_id, request_uri }).toString()
      }
      return {
        url,
        async finish(callback, additionalParameters = {}) {
          const answer = oauth.validateAuthResponse(as, self, callback, state)
          return again(async () =>
            oauth.processAuthorizationCodeResponse(
              as,
              self,
              await oauth.authorizationCodeGrantRequest(
                as,
                self,
                authentication,
                answer,
                parameters.get('redirect_uri') ?? '',
                verifier,
                { ...options, additionalParameters },
              ),
            ),
          )
        },
      }
    },
    refresh: (refreshToken, additionalParameters = {}) =>
      again(async () =>
        oauth.processRefreshTokenResponse(
          as,
          self,
          await oauth.refreshTokenGrantRequest(as, self, authentication, refreshToken, {
            ...options,
            additionalParameters,
          }),
        ),
      ),
    clientCredentials: (asked = {}) =>
      again(async () =>
        oauth.processClientCredentialsResponse(
          as,
          self,
          await oauth.clientCredentialsGrantRequest(as, self, authentication, asked, options),
        ),
      ),
    grant: (grantType, asked) =>
      again(async () =>
        oauth.processGenericTokenEndpointResponse(
          as,
          self,
          await oauth.genericTokenEndpointRequest(
            as,
            self,
            authentication,
            grantType,
            asked,
            options,
          ),
        ),
      ),
    async device(asked) {
      const codes = await oauth.processDeviceAuthorizationResponse(
        as,
        self,
        await oauth.deviceAuthorizationRequest(as, self, authentication, asked, insecure),
      )
      const poll = () =>
        again(async () =>
          oauth.processDeviceCodeResponse(
            as,
            self,
            await oauth.deviceCodeGrantRequest(
              as,
              self,
              authentication,
              codes.device_code,
              options,
            ),
          ),
        )
      return {
        codes,
        async tokens() {
          for (;;) {
            try {
              return await poll()
            } catch (error) {
              const isPending =
                error instanceof oauth.ResponseBodyError && error.error === 'authorization_pending'
              if (!isPending) throw error
            }
            // Fixed time: the interval that the server asks for.
            await wait((codes.interval ?? 5) * 1000)
          }
        },
      }
    },
    async revoke(token, hint) {
      const additionalParameters: Record<string, string> = hint ? { token_type_hint: hint } : {}
      await oauth.processRevocationResponse(
        await oauth.revocationRequest(as, self, authentication, token, {
          ...insecure,
          additionalParameters,
        }),
      )
    },
    introspect: async (token) =>
      oauth.processIntrospectionResponse(
        as,
        self,
        await oauth.introspectionRequest(as, self, authentication, token, insecure),
      ),
    request: (token, url, { method = 'GET', body } = {}) =>
      again(() =>
        oauth.protectedResourceRequest(
          token,
          method,
          new URL(url),
          new Headers(body === undefined ? {} : { 'content-type': 'application/json' }),
          body,
          options,
        ),
      ),
  }
}

export const oauth4webapi: Library = {
  name: 'oauth4webapi',
  async discover(issuer, { clientId, ...proof }, { dpop = false } = {}) {
    const self: oauth.Client = { client_id: clientId }
    const DPoP = dpop ? oauth.DPoP(self, await oauth.generateKeyPair('ES256')) : undefined
    return clientOf(await serverAt(issuer), self, authenticationOf(proof), DPoP)
  },
  async register(issuer, metadata, { initialAccessToken, key } = {}) {
    const as = await serverAt(issuer)
    const self = await oauth.processDynamicClientRegistrationResponse(
      await oauth.dynamicClientRegistrationRequest(as, metadata, {
        ...insecure,
        ...(initialAccessToken !== undefined && { initialAccessToken }),
      }),
    )
    const method = self.token_endpoint_auth_method as Method
    const secret = String(self.client_secret)
    return clientOf(as, self, authenticationOf({ method, secret, ...(key && { key }) }))
  },
}
