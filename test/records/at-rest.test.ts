import { existsSync, readFileSync } from 'node:fs'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { digestOf } from '../../src/crypto/digest.ts'
import { PasswordHasher } from '../../src/crypto/passwords/password.ts'
import { clientKeyOf, execute, query } from '../support/database.ts'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { authorizationOf, statusOf } from '../support/tokens.ts'
import { authorizeUrl, formIn, newPkce, tokenRequest, UserAgent } from '../support/user-agent.ts'

type Value = string | number | null

/** Simulates an attacker who can write to the database, but does not have the secret key (decision §6.1). */
describe('a row that was altered, moved or inserted without the key does not authenticate anyone', () => {
  let app: TestServer
  let basic: { clientId: string; clientSecret: string }
  let otherUser: number
  let otherClient: string
  beforeAll(async () => {
    app = await startServer()
    basic = await app.client()
    otherUser = Number(
      (await app.server.users.create({ email: 'user-b@example.org', password: null })).id,
    )
    otherClient = (await app.client({ userId: otherUser })).clientId
  })
  afterAll(() => app.close())
  beforeEach(() => {
    ;(app.log as unknown[]).length = 0
  })

  const logged = () => app.log.filter(({ level }) => level === 'error').map(({ event }) => event)

  /** Sets columns of one row, calls `work`, and restores the row. */
  const altered = async (
    table: string,
    key: Value,
    columns: Record<string, Value>,
    work: () => Promise<void>,
    keyColumn = 'id',
  ) => {
    const names = Object.keys(columns)
    const from = `from oauth2server_${table} where ${keyColumn} = ?`
    const [before] = query<Record<string, Value>>(
      app.database,
      `select ${names.join(', ')} ${from}`,
      key,
    )
    const set = (values: Record<string, Value> = {}, at: Value = key) =>
      execute(
        app.database,
        `update oauth2server_${table} set ${names.map((name) => `${name} = ?`).join(', ')} where ${keyColumn} = ?`,
        ...names.map((name) => values[name] ?? null),
        at,
      )
    expect(before, 'the row to be altered').toBeDefined()
    expect(columns).not.toEqual(before)
    expect(set(columns)).toBe(1)
    try {
      await work()
    } finally {
      set(before, columns[keyColumn] ?? key)
    }
  }

  describe('a token row', () => {
    const alterations = (): [string, Record<string, Value>][] => [
      ['scopes, widened', { scopes: 'notes:read notes:write' }],
      ['scopes, narrowed', { scopes: '' }],
      ['user_id', { user_id: otherUser }],
      ['a missing user_id', { user_id: null }],
      ['expires, later', { expires: app.now() + 10_000_000_000 }],
      ['expires, never', { expires: null }],
      ['client_key', { client_key: clientKeyOf(app.database, otherClient) }],
      ['is_personal', { is_personal: 1 }],
      ['is_internal', { is_internal: 1 }],
      ['authorization_id', { authorization_id: null }],
    ]

    test('does not authenticate if a column that defines the rights of the token was altered', async () => {
      const { accessToken, token } = await authorizationOf(app, basic.clientId)
      for (const [what, columns] of alterations()) {
        ;(app.log as unknown[]).length = 0
        await altered('token', token.id, columns, async () => {
          expect(await statusOf(app, accessToken), what).toBe(401)
          expect(logged(), what).toEqual(['token.tampered'])
        })
        expect(await statusOf(app, accessToken), `${what}, after it was restored`).toBe(200)
      }
    })

    test('does not authenticate if a column that defines the rights of the personal token was altered', async () => {
      const { accessToken, id } = await app.server.tokens.createPersonal('Test', app.user.id, {
        scopes: ['notes:read'],
      })
      for (const columns of [
        { scopes: 'notes:write' },
        { user_id: otherUser },
        { is_personal: 0 },
        { is_internal: 1 },
        { client_key: clientKeyOf(app.database, otherClient) },
      ] as Record<string, Value>[]) {
        await altered('token', id, columns, async () =>
          expect(await statusOf(app, accessToken), JSON.stringify(columns)).toBe(401),
        )
        expect(await statusOf(app, accessToken)).toBe(200)
      }
    })

    test('does not authenticate with a digest that the attacker computed', async () => {
      const { token } = await authorizationOf(app, basic.clientId)
      const mine = 'aValueThatIChoseMyself'
      await altered(
        'token',
        token.id,
        { access_token_digest: digestOf('access_token', mine) },
        async () => {
          expect(await statusOf(app, mine)).toBe(401)
          expect(logged()).toEqual(['token.tampered'])
        },
      )
    })

    test('does not authenticate with a sealed value and a digest from the row of another user', async () => {
      const mine = await authorizationOf(app, basic.clientId)
      const theirs = await app.server.tokens.createPersonal('Theirs', otherUser, {
        scopes: ['notes:write'],
      })
      const [row] = query<Record<string, Value>>(
        app.database,
        'select access_token, access_token_digest from oauth2server_token where id = ?',
        mine.token.id,
      )
      execute(
        app.database,
        "update oauth2server_token set access_token_digest = 'gone' where id = ?",
        mine.token.id,
      )
      await altered('token', theirs.id, row ?? {}, async () => {
        expect(await statusOf(app, mine.accessToken)).toBe(401)
        expect(await statusOf(app, theirs.accessToken)).toBe(401)
      })
      expect(await statusOf(app, theirs.accessToken)).toBe(200)
    })

    test('does not authenticate with a sealed access token in the column of the refresh token', async () => {
      const { accessToken, token } = await authorizationOf(app, basic.clientId)
      const [row] = query<{ access_token: string }>(
        app.database,
        'select access_token from oauth2server_token where id = ?',
        token.id,
      )
      const columns = {
        refresh_token: row?.access_token ?? '',
        refresh_token_digest: digestOf('refresh_token', accessToken),
      }
      await altered('token', token.id, columns, async () => {
        const { status, body } = await refresh(accessToken)
        expect([status, body.error]).toEqual([400, 'invalid_grant'])
        expect(logged()).toEqual(['token.tampered'])
      })
    })

    test('does not authenticate if another key sealed the row', async () => {
      const { accessToken, token } = await authorizationOf(app, basic.clientId)
      for (const sealed of ['', 'x', '00000000.AAAA', `${'A'.repeat(200)}`])
        await altered('token', token.id, { access_token: sealed }, async () =>
          expect(await statusOf(app, accessToken)).toBe(401),
        )
    })
  })

  const refresh = (refreshToken: string) =>
    tokenRequest(
      app.issuer,
      { grant_type: 'refresh_token', refresh_token: refreshToken },
      { basic },
    )

  test('rejects a refresh if the user, the client, the expiry or the scopes were altered', async () => {
    const { refreshToken, token } = await authorizationOf(app, basic.clientId)
    const alterations: [string, 'token' | 'authorization', Record<string, Value>][] = [
      ['the scopes that can be restored', 'authorization', { scopes: 'notes:read notes:write' }],
      ['user_id', 'token', { user_id: otherUser }],
      ['refresh_expires', 'token', { refresh_expires: app.now() + 10_000_000_000 }],
      [
        'refresh_token_digest',
        'token',
        { refresh_token_digest: digestOf('refresh_token', 'mine') },
      ],
    ]
    for (const [what, table, columns] of alterations) {
      ;(app.log as unknown[]).length = 0
      await altered(
        table,
        table === 'token' ? token.id : token.authorizationId,
        columns,
        async () => {
          const { status, body } = await refresh(
            'refresh_token_digest' in columns ? 'mine' : refreshToken,
          )
          expect([status, body.error], what).toEqual([400, 'invalid_grant'])
          expect(logged(), what).toEqual(['token.tampered'])
        },
      )
    }
    const moved = await tokenRequest(
      app.issuer,
      { grant_type: 'refresh_token', refresh_token: refreshToken },
      { basic },
    )
    expect(moved.status, 'the rejected requests consumed nothing').toBe(200)
  })

  test('I3 altering the database cannot undo a revocation', async () => {
    const { accessToken, refreshToken, token } = await authorizationOf(app, basic.clientId)
    await app.server.tokens.revoke(token)
    execute(
      app.database,
      'update oauth2server_authorization set revoked_at = null where id = ?',
      Number(token.authorizationId),
    )
    expect(await statusOf(app, accessToken)).toBe(401)
    expect((await refresh(refreshToken)).body.error).toBe('invalid_grant')
  })

  test('rejects a password hash that was written without the key or moved from another user', async () => {
    const password = 'a password of the intruder'
    const intruder = await app.server.users.create({ email: 'intruder@example.org', password })
    const own = query<{ password_hash: string }>(
      app.database,
      'select password_hash from oauth2server_user where id = ?',
      Number(intruder.id),
    )[0]?.password_hash
    const plain = await new PasswordHasher().hash(password)
    for (const written of [own ?? '', plain]) {
      const columns = { password_hash: written }
      await altered('user', Number(app.user.id), columns, async () => {
        expect(await app.server.users.withPassword(app.user.email, password)).toBeUndefined()
      })
    }
    expect(await app.server.users.withPassword(app.user.email, app.password)).toBeDefined()
  })

  test('a row of a rotated refresh token that the attacker wrote does not return the tokens of its successor', async () => {
    const { clientId } = await app.client({ isConfidential: false })
    const victim = await authorizationOf(app, clientId)
    execute(
      app.database,
      `insert into oauth2server_rotated_refresh_token (digest, authorization_id, successor, parameters, rotated_at, seal)
       values (?, ?, ?, '', ?, ?)`,
      digestOf('refresh_token', 'chosen'),
      victim.token.authorizationId,
      digestOf('refresh_token', victim.refreshToken),
      app.now(),
      'an invalid seal',
    )
    const response = await tokenRequest(app.issuer, {
      grant_type: 'refresh_token',
      refresh_token: 'chosen',
      client_id: clientId,
    })
    expect(response).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await statusOf(app, victim.accessToken)).toBe(200)
  })

  test('rejects a client whose rights or secret were altered', async () => {
    const { clientId, clientSecret } = await app.client({
      redirectUris: ['https://a.example/cb'],
      defaultScopes: ['notes:read'],
      allowedScopes: ['notes:read'],
    })
    const url = authorizeUrl(app.issuer, {
      client_id: clientId,
      redirect_uri: 'https://a.example/cb',
    })
    const alterations: Record<string, Value>[] = [
      { redirect_uris: 'https://evil.example/cb' },
      { redirect_uris: 'https://a.example/cb\nhttps://evil.example/cb' },
      { client_secret: digestOf('client_secret', 'mine') },
      { user_id: otherUser },
      { user_id: null },
      { is_confidential: 0 },
      { is_internal: 1 },
      { is_personal: 1 },
      { default_scopes: 'notes:write' },
      { allowed_scopes: null },
      { allowed_scopes: 'notes:read notes:write' },
      { grant_types: 'password' },
      { response_types: 'token' },
      { response_types: 'code+id_token' },
      { token_endpoint_auth_method: 'client_secret_post' },
      { optional_scopes: 'notes:read' },
      { is_verified: 1 },
      { is_disabled: 1 },
      { previous_client_secret: digestOf('client_secret', 'mine') },
      {
        previous_client_secret: digestOf('client_secret', 'mine'),
        previous_client_secret_expires: app.now() + 10_000_000,
      },
    ]
    const requestToken = (secret: string) =>
      tokenRequest(
        app.issuer,
        { grant_type: 'client_credentials' },
        { basic: { clientId, clientSecret: secret } },
      )
    for (const columns of alterations) {
      const what = JSON.stringify(columns)
      ;(app.log as unknown[]).length = 0
      await altered(
        'client',
        clientId,
        columns,
        async () => {
          expect(await app.server.clients.find(clientId), what).toBeUndefined()
          expect(logged(), what).toEqual(['client.tampered'])
          for (const secret of [clientSecret, 'mine'])
            expect(await requestToken(secret), what).toMatchObject({
              status: 401,
              body: { error: 'invalid_client' },
            })
          const response = await fetch(
            url.replace('a.example', 'redirect_uris' in columns ? 'evil.example' : 'a.example'),
            { redirect: 'manual' },
          )
          expect(response.headers.get('location'), what).toMatch(
            /^\/oauth\/errors\?error=invalid_request/,
          )
        },
        'client_id',
      )
      expect((await requestToken(clientSecret)).status, `${what}, after it was restored`).toBe(200)
    }
  })

  test('rejects a client row that was moved to another ID or inserted without the key', async () => {
    const { clientId, clientSecret } = await app.client()
    execute(
      app.database,
      "insert into oauth2server_client (client_key, client_id, client_secret, name, description, website, user_id, is_confidential, is_internal, is_personal, redirect_uris, default_scopes, allowed_scopes, grant_types, response_types, token_endpoint_auth_method, created_at, seal, state_seal) select client_key + 1, 'copied', 'x' || client_secret, name, description, website, user_id, is_confidential, is_internal, is_personal, redirect_uris, default_scopes, allowed_scopes, grant_types, response_types, token_endpoint_auth_method, created_at, seal, state_seal from oauth2server_client where client_id = ?",
      clientId,
    )
    expect(await app.server.clients.find('copied')).toBeUndefined()
    expect(logged()).toEqual(['client.tampered'])
    expect(
      (
        await tokenRequest(
          app.issuer,
          { grant_type: 'client_credentials' },
          { basic: { clientId: 'copied', clientSecret } },
        )
      ).status,
    ).toBe(401)
  })

  test('ignores a forged consent and shows the consent page', async () => {
    const client = await app.client()
    const url = authorizeUrl(app.issuer, {
      client_id: client.clientId,
      redirect_uri: redirectUri,
      scope: 'notes:read notes:write',
    })
    const agent = new UserAgent()
    await agent.authorize(app, url.replace('+notes%3Awrite', ''))
    const consent = await app.server.consents.find(app.user.id, client.clientId)
    expect(consent?.scopes).toEqual(['notes:read'])
    const isShown = async () => (await agent.browse(url)).status === 200
    expect(await isShown()).toBe(true)
    for (const columns of [
      { scopes: 'notes:read notes:write' },
      { declined_scopes: 'notes:write' },
      { scopes: 'notes:read notes:write', declined_scopes: 'notes:write' },
      { id: 'other' },
      { user_id: otherUser },
    ] as Record<string, Value>[]) {
      ;(app.log as unknown[]).length = 0
      await altered(
        'consent',
        clientKeyOf(app.database, client.clientId),
        columns,
        async () => {
          expect(
            await app.server.consents.find(Number(columns.user_id ?? app.user.id), client.clientId),
          ).toBeUndefined()
          expect(logged(), JSON.stringify(columns)).toEqual(['consent.tampered'])
          expect(await isShown()).toBe(true)
        },
        'client_key',
      )
      expect(await app.server.consents.find(app.user.id, client.clientId)).toEqual(consent)
    }
  })

  test('rejects a session whose user, expiry, machine or browser was altered', async () => {
    const browser = { cookie: null, address: '192.0.2.1', userAgent: 'a browser' }
    const cookie = (await app.server.sessions.signIn(app.user.id, browser)).split(';')[0] ?? ''
    const id = digestOf('session', cookie.replace(/^.*=/, ''))
    const alterations: Record<string, Value>[] = [
      { user_id: otherUser },
      { expires_at: app.now() + 10_000_000_000 },
      { created_at: app.now() - 1 },
      { address: '192.0.2.2' },
      { user_agent: 'another browser' },
      { seal: '' },
    ]
    for (const columns of alterations) {
      ;(app.log as unknown[]).length = 0
      await altered('session', id, columns, async () => {
        const from = {
          ...browser,
          cookie,
          address: String(columns.address ?? browser.address),
          userAgent: String(columns.user_agent ?? browser.userAgent),
        }
        expect(await app.server.sessions.signedIn(from), JSON.stringify(columns)).toBeUndefined()
        expect(await app.server.sessions.isAlive(id)).toBe(false)
        expect(logged(), JSON.stringify(columns)).toEqual(['session.tampered', 'session.tampered'])
      })
      expect((await app.server.sessions.signedIn({ ...browser, cookie }))?.user.id).toBe(
        app.user.id,
      )
    }
    const mine = 'M'.repeat(43)
    await altered('session', id, { id: digestOf('session', mine) }, async () => {
      expect(
        await app.server.sessions.signedIn({
          ...browser,
          cookie: cookie.replace(/=.*/, `=${mine}`),
        }),
      ).toBeUndefined()
    })
  })

  test('rejects a code whose transient value was swapped with another', async () => {
    const { verifier, challenge } = newPkce()
    const agent = new UserAgent()
    const codeFor = async (scope: string) => {
      const url = authorizeUrl(app.issuer, {
        client_id: basic.clientId,
        redirect_uri: redirectUri,
        scope,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      })
      return (await agent.authorize(app, url)).searchParams.get('code') ?? ''
    }
    const [narrow, wide] = [await codeFor('notes:read'), await codeFor('notes:read notes:write')]
    const keyOf = (code: string) => `authorization_code:${digestOf('authorization_code', code)}`
    const [row] = query<Record<string, Value>>(
      app.database,
      'select value from oauth2server_transient where key = ?',
      keyOf(wide),
    )
    const redeem = () =>
      tokenRequest(
        app.issuer,
        {
          grant_type: 'authorization_code',
          code: narrow,
          redirect_uri: redirectUri,
          code_verifier: verifier,
        },
        { basic },
      )
    await altered(
      'transient',
      keyOf(narrow),
      row ?? {},
      async () => expect((await redeem()).body.error).toBe('invalid_grant'),
      'key',
    )
    expect((await redeem()).body.scope).toBe('notes:read')
  })
})

test('ST-01 the database, the write-ahead log and the log contain no usable credential in plain text', async () => {
  await using app = await startServer({
    allowedGrantTypes: ['authorization_code', 'refresh_token', 'client_credentials', 'password'],
  })
  const basic = await app.client()
  const secrets: Record<string, string> = {
    'client secret': basic.clientSecret,
    password: app.password,
  }
  secrets['personal token'] = await app.personalToken(['notes:read'])
  const agent = new UserAgent()
  const { verifier, challenge } = newPkce()
  secrets['code verifier'] = verifier
  const url = authorizeUrl(app.issuer, {
    client_id: basic.clientId,
    redirect_uri: redirectUri,
    scope: 'notes:read',
    client_secret: basic.clientSecret,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  })
  await agent.logIn(app)
  for (const { key, value } of await agent.jar.getCookies(app.issuer))
    secrets[key === 'oauth2server_session' ? 'session identifier' : key] = value
  const page = await (await agent.browse(url)).text()
  secrets['stored request'] = formIn(page).hidden.authorization_request ?? ''
  secrets['form token'] = formIn(page).hidden.csrf_token ?? ''
  const code = (await agent.authorize(app, url)).searchParams.get('code') ?? ''
  secrets.code = code
  const grants = [
    { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier },
    { grant_type: 'client_credentials' },
    { grant_type: 'password', username: app.user.email, password: app.password },
  ]
  for (const fields of grants) {
    const { status, body } = await tokenRequest(app.issuer, fields, { basic })
    expect(status, fields.grant_type).toBe(200)
    secrets[`access token of ${fields.grant_type}`] = String(body.access_token)
    if (typeof body.refresh_token !== 'string') continue
    secrets[`refresh token of ${fields.grant_type}`] = body.refresh_token
    const { body: next } = await tokenRequest(
      app.issuer,
      { grant_type: 'refresh_token', refresh_token: body.refresh_token },
      { basic },
    )
    secrets[`refreshed access token of ${fields.grant_type}`] = String(next.access_token)
    secrets[`refreshed refresh token of ${fields.grant_type}`] = String(next.refresh_token)
  }
  // Cause failures, which the server also logs.
  await tokenRequest(
    app.issuer,
    { grant_type: 'authorization_code', code, redirect_uri: redirectUri, code_verifier: verifier },
    { basic },
  )

  expect(Object.keys(secrets)).toHaveLength(18)
  const files = [app.database, `${app.database}-wal`].filter((file) => existsSync(file))
  expect(files).toHaveLength(2)
  const kept = [...files.map((file) => readFileSync(file, 'latin1')), JSON.stringify(app.log)]
  expect(kept.join('')).toContain('oauth2server_token')
  expect(JSON.stringify(app.log)).toContain('authorization_code.reused')
  for (const [what, secret] of Object.entries(secrets)) {
    expect(secret.length, what).toBeGreaterThan(20)
    for (const text of kept) {
      expect(text.includes(secret), what).toBe(false)
      expect(text.includes(Buffer.from(secret).toString('base64').slice(0, -2)), what).toBe(false)
    }
  }
})
