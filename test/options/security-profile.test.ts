import {
  describeSettings,
  InvalidSettings,
  type SettingsInput,
  settingsFrom,
} from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseSettings } from '../../src/settings/parse-settings.ts'
import { securityProfiles } from '../../src/settings/security-profile.ts'
import { askToken, type DpopKey, newKey, proofBy, withKey } from '../support/dpop.ts'
import { basicOf, postForm } from '../support/form.ts'
import { push, referenceUrl, requestOf } from '../support/pushed-request.ts'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import {
  assertionOf,
  type ClientKey,
  jwksOf,
  jwtBearer,
  newClientKey,
} from '../support/signing-client.ts'
import { ping, refusal, responseTo, TestClient, UserAgent } from '../support/user-agent.ts'

type Profile = 'specification' | 'oauth2.1' | 'fapi2'

const problemsOf = (input: SettingsInput): readonly string[] => {
  try {
    parseSettings({ ...input })
    return []
  } catch (error) {
    if (error instanceof InvalidSettings) return error.problems
    throw error
  }
}

/** Returns the settings that differ from those of a server without a profile. */
const changedBy = (securityProfile: Profile): Record<string, unknown> => {
  const plain: Record<string, unknown> = { ...parseSettings({}) }
  const found = Object.entries(parseSettings({ securityProfile })).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(plain[name]),
  )
  return Object.fromEntries(found)
}

describe('a profile sets the settings that the application does not give', () => {
  const oauth21 = {
    securityProfile: 'oauth2.1',
    requirePkce: 'always',
    requireRedirectUri: true,
    allowedResponseTypes: ['code'],
    acceptQueryAccessToken: false,
  }

  test('specification is the default, and does not change settings', () => {
    expect(changedBy('specification')).toEqual({})
    expect(parseSettings({}).securityProfile).toBe('specification')
  })

  test('oauth2.1 sets the settings of OAuth 2.1', () => {
    expect(changedBy('oauth2.1')).toEqual(oauth21)
  })

  test('fapi2 sets the settings of OAuth 2.1 and FAPI 2.0', () => {
    expect(changedBy('fapi2')).toEqual({
      ...oauth21,
      securityProfile: 'fapi2',
      idTokenSigningAlgorithm: 'ES256',
      pushedAuthorizationRequests: 'required',
      dpop: 'required',
      clientAuthentication: ['private_key_jwt'],
    })
  })

  test('does not change given settings that comply with the profile', () => {
    const given = {
      allowedGrantTypes: ['authorization_code'],
      authorizationCodeExpiresIn: 30,
      signingAlgorithm: 'EdDSA',
      requireDpopNonce: true,
    } as const
    expect(parseSettings({ securityProfile: 'fapi2', ...given })).toMatchObject(given)
  })

  test('lists only existing settings, with values that meet the requirements of the profile', () => {
    const known = describeSettings().map(({ name }) => name)
    for (const requirements of Object.values(securityProfiles)) {
      for (const [name, requirement] of Object.entries(requirements)) {
        expect(known).toContain(name)
        const { otherwise, isMet } = requirement as {
          otherwise: unknown
          isMet: (v: unknown) => boolean
        }
        expect(isMet(otherwise), name).toBe(true)
      }
    }
  })

  test('returns new values at each call, so that a change of a value does not affect other callers', () => {
    const one = parseSettings({ securityProfile: 'oauth2.1' })
    ;(one.allowedResponseTypes as string[]).push('token')
    expect(parseSettings({ securityProfile: 'oauth2.1' }).allowedResponseTypes).toEqual(['code'])
  })
})

describe('rejects a contradicting setting at start-up', () => {
  test.each<[Profile, SettingsInput, string]>([
    ['oauth2.1', { requirePkce: 'public' }, 'requirePkce'],
    ['oauth2.1', { requirePkce: 'never' }, 'requirePkce'],
    ['oauth2.1', { requireRedirectUri: false }, 'requireRedirectUri'],
    ['oauth2.1', { allowedResponseTypes: ['code', 'token'] }, 'allowedResponseTypes'],
    ['oauth2.1', { allowedGrantTypes: ['password'] }, 'allowedGrantTypes'],
    ['oauth2.1', { acceptQueryAccessToken: true }, 'acceptQueryAccessToken'],
    ['oauth2.1', { allowFrontChannelIdTokens: true }, 'allowFrontChannelIdTokens'],
    ['fapi2', { allowFrontChannelIdTokens: true }, 'allowFrontChannelIdTokens'],
    ['fapi2', { requirePkce: 'public' }, 'requirePkce'],
    ['fapi2', { acceptQueryAccessToken: true }, 'acceptQueryAccessToken'],
    ['fapi2', { pushedAuthorizationRequests: 'on' }, 'pushedAuthorizationRequests'],
    ['fapi2', { dpop: 'on' }, 'dpop'],
    ['fapi2', { dpop: 'off' }, 'dpop'],
    ['fapi2', { clientAuthentication: ['private_key_jwt', 'none'] }, 'clientAuthentication'],
    ['fapi2', { authorizationCodeExpiresIn: 61 }, 'authorizationCodeExpiresIn'],
    ['fapi2', { signingAlgorithm: 'RS256' }, 'signingAlgorithm'],
  ])('%s rejects %j [T414]', (securityProfile, given, name) => {
    const [problem = '', ...more] = problemsOf({ securityProfile, ...given })
    expect(more).toEqual([])
    const { env = '' } = describeSettings().find((setting) => setting.name === name) ?? {}
    expect(problem).toMatch(
      new RegExp(
        `^${name} \\(${env}\\) must be .* with securityProfile \\(OAUTH2SERVER_SECURITY_PROFILE\\) ${securityProfile.replace('.', '\\.')}; the given value is `,
      ),
    )
    expect(problemsOf({ ...given })).toEqual([])
  })

  test('reports all contradictions in one message, with other errors', () => {
    const problems = problemsOf({
      securityProfile: 'fapi2',
      dpop: 'off',
      requirePkce: 'never',
      tokenExpiresIn: 0,
    })
    expect(problems.map((problem) => problem.split(' ')[0])).toEqual([
      'tokenExpiresIn',
      'requirePkce',
      'dpop',
    ])
  })

  test('rejects contradicting variables of the environment', () => {
    const env = {
      OAUTH2SERVER_SECURITY_PROFILE: 'oauth2.1',
      OAUTH2SERVER_ALLOWED_RESPONSE_TYPES: 'token',
    }
    expect(problemsOf(settingsFrom(env))).toEqual([
      'allowedResponseTypes (OAUTH2SERVER_ALLOWED_RESPONSE_TYPES) must be limited to code with securityProfile (OAUTH2SERVER_SECURITY_PROFILE) oauth2.1; the given value is ["token"].',
    ])
  })

  test('the server does not start', async () => {
    const start = startServer({ securityProfile: 'fapi2', dpop: 'off' })
    await expect(start).rejects.toThrow(InvalidSettings)
  })
})

const metadataOf = async ({ issuer }: TestServer, about = 'oauth-authorization-server') => {
  const response = await fetch(`${issuer}/.well-known/${about}`)
  return (await response.json()) as Record<string, unknown>
}

describe('oauth2.1', () => {
  let app: TestServer
  let agent: UserAgent
  let conf: TestClient
  beforeAll(async () => {
    app = await startServer({ securityProfile: 'oauth2.1' })
    agent = new UserAgent()
    await agent.logIn(app)
    conf = await TestClient.register(app, agent)
  })
  afterAll(() => app.close())

  test('publishes the enabled features in the metadata', async () => {
    const metadata = await metadataOf(app)
    expect(metadata.response_types_supported).toEqual(['code'])
    expect(metadata.response_modes_supported).toEqual(['query', 'form_post'])
    expect(metadata.grant_types_supported).not.toContain('implicit')
    expect(metadata.grant_types_supported).not.toContain('password')
    expect(metadata).not.toHaveProperty('require_pushed_authorization_requests')
    const resource = await metadataOf(app, 'oauth-protected-resource')
    expect(resource.bearer_methods_supported).toEqual(['header'])
  })

  test('requires PKCE from confidential clients [T482]', async () => {
    const without = { code_challenge: undefined, code_challenge_method: undefined }
    expect(responseTo(conf, await conf.ask(without)).error).toBe('invalid_request')
    expect((await conf.tokens()).token_type).toBe('Bearer')
  })

  test('disables the implicit grant [T483]', async () => {
    const answer = responseTo(conf, await conf.ask({ response_type: 'token' }))
    expect(answer.error).toBe('unsupported_response_type')
  })

  test('disables the password grant [T532]', async () => {
    const { email: username } = app.user
    const asked = await conf.token({ grant_type: 'password', username, password: app.password })
    expect(refusal(asked)).toBe('400 unsupported_grant_type')
  })

  test('ignores a token in the query [T484]', async () => {
    const { access_token: token } = await conf.tokens()
    expect(await ping(app, token)).toBe(200)
    expect((await fetch(`${app.issuer}/oauth/ping?access_token=${token}`)).status).toBe(401)
  })

  test('AZ-10 requires the redirect URI, even if only one is registered [T516]', async () => {
    for (const redirect_uri of [undefined, '']) {
      const response = await agent.browse(conf.url({ redirect_uri }))
      expect(response.address).toContain('/oauth/errors?error=invalid_request')
    }
  })

  test('§10.2 does not require the redirect URI in a token request, but compares it if it is present', async () => {
    const redirect_uri = 'https://client.example/other'
    const code = await conf.code()
    expect(refusal(await conf.redeem(code, { redirect_uri }))).toBe('400 invalid_grant')
    expect((await conf.redeem(code, { redirect_uri: undefined })).status).toBe(200)
    expect((await conf.redeem(await conf.code())).status).toBe(200)
  })

  test('without the profile, the redirect URI is optional, but must be the same in both requests', async () => {
    await using plain = await startServer()
    const client = await TestClient.register(plain, new UserAgent())
    const code = await client.code({ redirect_uri: undefined })
    expect((await client.redeem(code, { redirect_uri: undefined })).status).toBe(200)
    const again = await client.redeem(await client.code(), { redirect_uri: undefined })
    expect(refusal(again)).toBe('400 invalid_grant')
  })
})

describe('fapi2', () => {
  let app: TestServer
  let agent: UserAgent
  let client: TestClient
  let signing: ClientKey
  let key: DpopKey
  beforeAll(async () => {
    app = await startServer({ securityProfile: 'fapi2', clock: () => Date.now() })
    agent = new UserAgent()
    await agent.logIn(app)
    signing = await newClientKey()
    key = await newKey()
    client = await TestClient.register(app, agent, {
      tokenEndpointAuthMethod: 'private_key_jwt',
      jwks: jwksOf(signing),
      defaultScopes: ['notes:read'],
    })
  })
  afterAll(() => app.close())

  const now = { now: () => Date.now() }
  const at = () => ({ issuer: app.issuer, ...now })
  const assertion = async (...more: [claims?: object, header?: object]) => ({
    client_assertion_type: jwtBearer,
    client_assertion: await assertionOf(at(), client.clientId, signing, ...(more as [])),
  })
  const par = async (given: Record<string, string | undefined> = {}) =>
    postForm(`${app.issuer}/oauth/par`, { ...requestOf(client, given), ...(await assertion()) })
  const code = async (): Promise<string> => {
    const { body } = await par()
    const url = referenceUrl(client, String(body.request_uri))
    return responseTo(client, await agent.authorize(app, url)).code ?? ''
  }
  const ask = async (given: Record<string, string | undefined>, by: DpopKey | undefined = key) =>
    askToken(
      client,
      { ...given, ...(await assertion()) },
      {
        isPublic: true,
        ...(by ? { dpop: await proofBy(by, { app: at() }) } : {}),
      },
    )
  const redeemed = async (value: string, by?: DpopKey) =>
    ask(
      {
        grant_type: 'authorization_code',
        code: value,
        redirect_uri: redirectUri,
        code_verifier: client.pkce.verifier,
      },
      by,
    )

  test('§5.3.2.1 publishes the enabled features in the metadata', async () => {
    expect(await metadataOf(app)).toMatchObject({
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['private_key_jwt'],
      token_endpoint_auth_signing_alg_values_supported: ['ES256', 'EdDSA', 'Ed25519', 'PS256'],
      dpop_signing_alg_values_supported: ['ES256', 'EdDSA', 'Ed25519', 'PS256'],
      require_pushed_authorization_requests: true,
      authorization_response_iss_parameter_supported: true,
    })
    expect(await metadataOf(app, 'oauth-protected-resource')).toMatchObject({
      bearer_methods_supported: ['header'],
      dpop_bound_access_tokens_required: true,
    })
  })

  test('§5.3.2.1 accepts only private_key_jwt for client authentication [T500]', async () => {
    const secret = await TestClient.register(app, agent)
    const open = await TestClient.register(app, agent, { isConfidential: false })
    expect((await push(secret)).body.error).toBe('invalid_client')
    expect((await push(open, {}, { isPublic: true })).body.error).toBe('invalid_client')
    const machine = { grant_type: 'client_credentials' }
    for (const [given, headers] of [
      [machine, basicOf(secret)],
      [{ ...machine, client_id: secret.clientId, client_secret: secret.clientSecret }, {}],
      [{ ...machine, client_id: open.clientId }, {}],
    ] as const) {
      const dpop = await proofBy(key, { app: at() })
      const { status, body } = await postForm(`${app.issuer}/oauth/token`, given, {
        ...(headers as Record<string, string>),
        dpop,
      })
      expect([status, body.error]).toEqual([401, 'invalid_client'])
    }
  })

  test('§5.3.2.1 rejects a request without a DPoP proof before it authenticates the client [T1418]', async () => {
    const machine = { grant_type: 'client_credentials' }
    for (const given of [
      machine,
      { ...machine, client_id: client.clientId },
      { ...machine, ...(await assertion()) },
      { ...machine, ...(await assertion({ exp: 1 })) },
    ]) {
      const { status, body } = await postForm(`${app.issuer}/oauth/token`, given)
      expect([status, body.error]).toEqual([400, 'invalid_dpop_proof'])
    }
  })

  test('§5.3.2.1 accepts only the issuer as a string for the audience of an assertion [T501]', async () => {
    for (const aud of [[app.issuer], `${app.issuer}/oauth/par`, `${app.issuer}/oauth/token`]) {
      const fields = { ...requestOf(client), ...(await assertion({ aud })) }
      expect((await postForm(`${app.issuer}/oauth/par`, fields)).body.error).toBe('invalid_client')
    }
  })

  test('§5.3.2.2 requires a pushed authorization request [T505]', async () => {
    const answer = responseTo(client, await client.ask())
    expect([answer.error, answer.code]).toEqual(['invalid_request', undefined])
  })

  test.each([
    ['redirect_uri', { redirect_uri: undefined }],
    ['code_challenge', { code_challenge: undefined, code_challenge_method: undefined }],
    ['S256', { code_challenge_method: 'plain' }],
  ])('§5.3.2.2 requires %s in a pushed request [T507]', async (_what, given) => {
    expect((await par(given)).body.error).toBe('invalid_request')
  })

  test('§5.3.2.2 accepts only the response type code [T504]', async () => {
    expect((await par({ response_type: 'token' })).body.error).toBe('unsupported_response_type')
  })

  test('§5.3.2.2 limits the lifetime of a request URI to less than 600 seconds [T509]', async () => {
    expect((await par()).body.expires_in).toBeLessThan(600)
  })

  test('§5.3.2.1 issues only key-bound tokens [T510]', async () => {
    const value = await code()
    const without = await askToken(
      client,
      {
        grant_type: 'authorization_code',
        code: value,
        redirect_uri: redirectUri,
        code_verifier: client.pkce.verifier,
        ...(await assertion()),
      },
      { isPublic: true },
    )
    expect(without.body.error).toBe('invalid_dpop_proof')
    const { status, body } = await redeemed(value)
    expect([status, body.token_type]).toEqual([200, 'DPoP'])
    expect((await withKey(key, body.access_token, { app: at() })).status).toBe(200)
    expect(await ping(app, body.access_token)).toBe(401)
    const query = await fetch(`${app.issuer}/oauth/ping?access_token=${body.access_token}`)
    expect(query.status).toBe(401)
  })

  test('§5.3.2.1 rejects a used code [T508]', async () => {
    const value = await code()
    expect((await redeemed(value)).status).toBe(200)
    expect(refusal(await redeemed(value))).toBe('400 invalid_grant')
  })

  test('§5.3.2.1 does not rotate refresh tokens, and issues a new access token each time [T502]', async () => {
    const { body } = await redeemed(await code())
    const { refresh_token } = body
    const again = (by?: DpopKey) => ask({ grant_type: 'refresh_token', refresh_token }, by)
    const seen = new Set([body.access_token])
    for (let times = 0; times < 3; times += 1) {
      const answer = await again()
      expect([answer.status, answer.body.refresh_token]).toEqual([200, refresh_token])
      seen.add(answer.body.access_token)
    }
    expect(seen.size).toBe(4)
    const rows = await app.query('select * from oauth2server_rotated_refresh_token')
    expect(rows).toEqual([])
  })

  test('§5.3.2.1 RFC 9449 §5 binds the new access token to the key of the refresh request [T1419]', async () => {
    const { body } = await redeemed(await code())
    const { refresh_token } = body
    const other = await newKey()
    const answer = await ask({ grant_type: 'refresh_token', refresh_token }, other)
    expect([answer.status, answer.body.refresh_token]).toEqual([200, refresh_token])
    const used = async (by: DpopKey) =>
      (await withKey(by, answer.body.access_token, { app: at() })).status
    expect([await used(other), await used(key)]).toEqual([200, 401])
  })

  test('§5.3.2.1 issues a token to each of several concurrent refreshes, and none after a revocation [T1420]', async () => {
    const { body } = await redeemed(await code())
    const { refresh_token } = body
    const again = () => ask({ grant_type: 'refresh_token', refresh_token })
    const answers = await Promise.all([again(), again(), again(), again()])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const revocation = { token: refresh_token, ...(await assertion()) }
    const revoked = await postForm(`${app.issuer}/oauth/revoke`, revocation)
    expect(revoked.status).toBe(200)
    expect(refusal(await again())).toBe('400 invalid_grant')
  })

  test.each([
    ['accepts', 10, 200],
    ['rejects', 61, 400],
  ])(
    '§5.3.2.1 %s a proof whose iat is %i seconds in the future [T503]',
    async (_what, ahead, expected) => {
      const iat = Math.floor(Date.now() / 1000) + ahead + (ahead > 60 ? 5 : 0)
      const dpop = await proofBy(key, { app: at() }, { claims: { iat } })
      const given = { grant_type: 'client_credentials', ...(await assertion()) }
      expect((await askToken(client, given, { isPublic: true, dpop })).status).toBe(expected)
    },
  )

  test('§5.4.1 rejects RS256 in proofs and assertions [T512]', async () => {
    const rsa = await newKey('RS256')
    const machine = { grant_type: 'client_credentials' }
    expect((await ask(machine, rsa)).body.error).toBe('invalid_dpop_proof')
    expect((await ask(machine, await newKey('PS256'))).status).toBe(200)
    const other = await newClientKey('RS256')
    const legacy = await TestClient.register(app, agent, {
      tokenEndpointAuthMethod: 'private_key_jwt',
      jwks: jwksOf(other),
    })
    const answer = await askToken(
      legacy,
      {
        ...machine,
        client_assertion_type: jwtBearer,
        client_assertion: await assertionOf(at(), legacy.clientId, other),
      },
      { isPublic: true, dpop: await proofBy(key, { app: at() }) },
    )
    expect(answer.body.error).toBe('invalid_client')
  })
})
