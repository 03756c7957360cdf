import * as oauth from 'oauth4webapi'
import * as oidc from 'openid-client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { decideOn } from '../support/device.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { type LoggedIn, logIn } from '../support/session.ts'
import { ping } from '../support/user-agent.ts'

describe.each(['', '/app'])(
  'RFC 8628, driven by discovery, an issuer with the path "%s"',
  (basePath) => {
    let app: TestServer
    let person: LoggedIn
    beforeAll(async () => {
      app = await startServer({ basePath, deviceAuthorization: true })
      person = await logIn(app)
    })
    afterAll(() => app.close())

    test.each([
      { kind: 'client_secret_basic', isConfidential: true },
      { kind: 'client_secret_post', isConfidential: true },
      { kind: 'none', isConfidential: false },
    ] as const)('oauth4webapi, by $kind', async ({ kind, isConfidential }) => {
      const insecure = { [oauth.allowInsecureRequests]: true }
      const { clientId, clientSecret } = await app.client({ isConfidential })
      const client: oauth.Client = { client_id: clientId }
      const authentication = {
        client_secret_basic: oauth.ClientSecretBasic(clientSecret),
        client_secret_post: oauth.ClientSecretPost(clientSecret),
        none: oauth.None(),
      }[kind]
      const issuer = new URL(app.issuer)
      const as = await oauth.processDiscoveryResponse(
        issuer,
        await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure }),
      )
      const scope = { scope: 'notes:read user:email' }
      const codes = await oauth.processDeviceAuthorizationResponse(
        as,
        client,
        await oauth.deviceAuthorizationRequest(as, client, authentication, scope, insecure),
      )
      expect(codes.verification_uri).toBe(`${app.issuer}/oauth/device`)
      const poll = async () => {
        const { device_code } = codes
        return oauth.processDeviceCodeResponse(
          as,
          client,
          await oauth.deviceCodeGrantRequest(as, client, authentication, device_code, insecure),
        )
      }
      const errorOf = (work: Promise<unknown>): Promise<string> =>
        work.then(
          () => 'none',
          (error: unknown) => {
            if (error instanceof oauth.ResponseBodyError) return error.error
            throw error
          },
        )
      expect(await errorOf(poll())).toBe('authorization_pending')
      expect(await errorOf(poll())).toBe('slow_down')
      await decideOn(app, person, codes)
      const tokens = await poll()
      expect(tokens.scope).toBe('notes:read user:email')
      expect(await ping(app, tokens.access_token)).toBe(200)
      const refreshed = await oauth.processRefreshTokenResponse(
        as,
        client,
        await oauth.refreshTokenGrantRequest(
          as,
          client,
          authentication,
          tokens.refresh_token ?? '',
          insecure,
        ),
      )
      expect(await ping(app, refreshed.access_token)).toBe(200)
    })

    test('openid-client, which polls by itself', async () => {
      const { clientId } = await app.client({ isConfidential: false })
      const config = await oidc.discovery(new URL(app.issuer), clientId, undefined, oidc.None(), {
        algorithm: 'oauth2',
        execute: [oidc.allowInsecureRequests],
      })
      const codes = await oidc.initiateDeviceAuthorization(config, { scope: 'notes:read' })
      // It waits five seconds before it asks.
      const polling = oidc.pollDeviceAuthorizationGrant(config, codes)
      await decideOn(app, person, codes)
      const tokens = await polling
      expect(tokens.scope).toBe('notes:read')
      expect(await ping(app, tokens.access_token)).toBe(200)

      const refused = await oidc.initiateDeviceAuthorization(config, {})
      const refusal = oidc.pollDeviceAuthorizationGrant(config, refused).catch((error) => error)
      await decideOn(app, person, refused, 'no')
      expect(await refusal).toMatchObject({ error: 'access_denied', status: 400 })
    })
  },
)
