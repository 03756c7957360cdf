import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RemoteSite, remoteSite } from '../support/remote-site.ts'
import { startServer, type TestServer } from '../support/server.ts'

// OpenID Connect Registration 1.0. Titles begin with the section.

describe('Registration', () => {
  let site: RemoteSite
  let app: TestServer
  beforeAll(async () => {
    site = await remoteSite()
    app = await startServer({
      openidConnect: true,
      dynamicRegistration: 'open',
      outbound: site.outbound,
      dangerouslyAllowPrivateAddresses: true,
    })
  })
  afterAll(async () => {
    await app.close()
    await site.close()
  })

  const register = async (metadata: object, at = app) => {
    const answer = await fetch(`${at.issuer}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ redirect_uris: ['https://a.example/cb'], ...metadata }),
    })
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> }
  }

  const members = {
    application_type: 'web',
    subject_type: 'pairwise',
    id_token_signed_response_alg: 'ES256',
    userinfo_signed_response_alg: 'EdDSA',
    default_max_age: 3600,
    require_auth_time: true,
    post_logout_redirect_uris: ['https://a.example/out'],
    backchannel_logout_uri: 'https://a.example/logged-out',
    backchannel_logout_session_required: true,
    initiate_login_uri: 'https://a.example/login',
  }

  test('§2, §3.2 the members are stored and returned [T1580]', async () => {
    const { status, body } = await register(members)
    expect(status).toBe(201)
    expect(body).toMatchObject(members)
    const headers = { authorization: `Bearer ${body.registration_access_token}` }
    const read = await fetch(String(body.registration_client_uri), { headers })
    expect(await read.json()).toMatchObject(members)
  })

  test.each([
    { subject_type: 'private' },
    { id_token_signed_response_alg: 'none' },
    { id_token_signed_response_alg: 'HS256' },
    { userinfo_signed_response_alg: 'none' },
    { default_max_age: -1 },
    { default_max_age: '10' },
    { require_auth_time: 'true' },
    { post_logout_redirect_uris: ['javascript:alert(1)'] },
    { post_logout_redirect_uris: ['https://a.example/#x'] },
    { post_logout_redirect_uris: Array(51).fill('https://a.example/') },
    { backchannel_logout_uri: 'ftp://a.example/' },
    { backchannel_logout_uri: 'https://a.example:22/' },
    { initiate_login_uri: 'http://a.example/' },
    { sector_identifier_uri: 'http://a.example/' },
    {
      subject_type: 'pairwise',
      redirect_uris: ['https://a.example/cb', 'https://b.example/cb'],
    },
  ])('§2 refuses %j [T1581]', async (metadata) => {
    const { status, body } = await register(metadata)
    expect([status, body.error]).toEqual([400, 'invalid_client_metadata'])
  })

  test('§5 the sector identifier must list every redirect URI [T1582]', async () => {
    const uris = ['https://a.example/cb', 'https://b.example/cb']
    const metadata = {
      subject_type: 'pairwise',
      redirect_uris: uris,
      sector_identifier_uri: site.url('/sector.json'),
    }
    site.serve('/sector.json', [...uris, 'https://c.example/cb'])
    expect((await register(metadata)).status).toBe(201)
    for (const [path, document] of [
      ['/other.json', uris.slice(1)],
      ['/object.json', { uris }],
      ['/text.json', 'no JSON'],
    ] as const) {
      site.serve(path, document)
      const { status, body } = await register({
        ...metadata,
        sector_identifier_uri: site.url(path),
      })
      expect([status, body.error]).toEqual([400, 'invalid_client_metadata'])
    }
  })

  describe('§2 response types with an ID token', () => {
    let open: TestServer
    beforeAll(async () => {
      open = await startServer({
        openidConnect: true,
        allowFrontChannelIdTokens: true,
        dynamicRegistration: 'open',
      })
    })
    afterAll(() => open.close())

    const outcome = async (metadata: object, at = open) => {
      const { status, body } = await register(metadata, at)
      return status === 201 ? [body.grant_types, body.response_types] : body.error
    }

    test.each([
      [['implicit'], ['id_token']],
      [['implicit'], ['id_token token']],
      [['authorization_code', 'implicit'], ['code id_token']],
      [
        ['authorization_code', 'implicit'],
        ['code', 'id_token'],
      ],
      [
        ['authorization_code', 'implicit'],
        ['code', 'code id_token', 'id_token token'],
      ],
    ])(
      'the grant types %j fit the response types %j [T3125]',
      async (grant_types, response_types) => {
        const expected = [grant_types, response_types]
        expect(await outcome({ grant_types, response_types })).toEqual(expected)
        expect(await outcome({ response_types })).toEqual(expected)
      },
    )

    test.each([
      [['authorization_code'], ['id_token']],
      [['authorization_code'], ['code id_token']],
      [['implicit'], ['code id_token']],
      [['authorization_code', 'implicit'], ['id_token']],
      [['authorization_code', 'implicit'], ['code']],
      [['implicit'], ['code token']],
      [['authorization_code', 'implicit'], ['code id_token token']],
      [['implicit'], ['id_token', 'x']],
    ])(
      'the grant types %j do not fit the response types %j [T3126]',
      async (grant_types, response_types) => {
        expect(await outcome({ grant_types, response_types })).toBe('invalid_client_metadata')
      },
    )

    test('stores response types that differ only in the order of values once [T3127]', async () => {
      expect(await outcome({ response_types: ['id_token code', 'code id_token'] })).toEqual([
        ['authorization_code', 'implicit'],
        ['code id_token'],
      ])
    })

    test('the grant type implicit alone registers the response type token only [T3128]', async () => {
      expect(await outcome({ grant_types: ['implicit'] })).toEqual([['implicit'], ['token']])
    })

    test('an update can replace the response types, and RFC 7592 returns them [T3129]', async () => {
      const { body } = await register({ response_types: ['id_token'] }, open)
      const url = String(body.registration_client_uri)
      const authorization = `Bearer ${body.registration_access_token}`
      const changed = await fetch(url, {
        method: 'PUT',
        headers: { authorization, 'content-type': 'application/json' },
        body: JSON.stringify({
          client_id: body.client_id,
          redirect_uris: ['https://a.example/cb'],
          response_types: ['code id_token'],
        }),
      })
      expect(changed.status).toBe(200)
      const read = await fetch(url, { headers: { authorization } })
      expect(await read.json()).toMatchObject({
        grant_types: ['authorization_code', 'implicit'],
        response_types: ['code id_token'],
      })
    })

    test('rejects response types with an ID token if the setting does not enable them [T3130]', async () => {
      for (const response_types of [['id_token'], ['code id_token'], ['code', 'id_token token']])
        expect(await outcome({ response_types }, app)).toBe('invalid_client_metadata')
    })
  })

  test('without OpenID Connect, ignores the members like unknown members [T1583]', async () => {
    await using plain = await startServer({ dynamicRegistration: 'open' })
    const { status, body } = await register(members, plain)
    expect(status).toBe(201)
    for (const name of Object.keys(members)) expect(body).not.toHaveProperty(name)
  })
})
