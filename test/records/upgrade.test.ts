import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { SQLInputValue } from 'node:sqlite'
import { sqlite } from 'svc-oauth2server/sqlite'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Digest, digestOf } from '../../src/crypto/digest.ts'
import { type Claims, KeyRing } from '../../src/crypto/sealed.ts'
import { execute, query } from '../support/database.ts'
import { secretKey, startServer } from '../support/server.ts'
import { authorizationOf, statusOf } from '../support/tokens.ts'
import { tokenRequest } from '../support/user-agent.ts'

let folder: string
let path: string
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'oauth2server-upgrade-'))
  path = join(folder, 'test.sqlite')
})
afterEach(() => rm(folder, { recursive: true }))

const start = () => startServer({ store: sqlite(path) })
const migrateTo = async (to: string) => {
  const store = await sqlite(path).open()
  try {
    return await store.migrate({ to })
  } finally {
    await store.close()
  }
}
const insert = (table: string, row: Readonly<Record<string, SQLInputValue>>): void => {
  const names = Object.keys(row)
  const sql = `insert into oauth2server_${table} (${names.join(', ')}) values (${names.map(() => '?').join(', ')})`
  expect(execute(path, sql, ...Object.values(row))).toBe(1)
}
const tampered = (app: { readonly log: readonly { readonly event: string }[] }) =>
  app.log.filter(({ event }) => event.endsWith('.tampered')).map(({ event }) => event)

const now = Date.UTC(2026, 10, 21)
const keys = new KeyRing([secretKey])
const browser = { address: '192.0.2.1', userAgent: 'a browser' }

/**
 * Rows as version 0.1.0 wrote them. What they claim is written out here, for no later version may
 * seal them otherwise: the rows are out there.
 */
const firstVersion = {
  client(clientId: string, secret: string, over: { personal?: boolean; scopes?: string } = {}) {
    const { personal = false, scopes = 'notes:read' } = over
    const digest = digestOf('client_secret', secret)
    const redirects = personal ? '' : 'https://a.example/cb\nhttps://b.example/cb'
    const claims: Claims = [
      'client',
      clientId,
      digest,
      1,
      !personal,
      personal,
      personal,
      redirects,
      scopes,
      null,
      null,
      'code',
      null,
    ]
    insert('client', {
      client_id: clientId,
      client_secret: digest,
      name: 'Größe',
      description: '',
      website: '',
      user_id: 1,
      is_confidential: personal ? 0 : 1,
      is_internal: personal ? 1 : 0,
      is_personal: personal ? 1 : 0,
      redirect_uris: redirects,
      default_scopes: scopes,
      allowed_scopes: null,
      grant_types: null,
      response_types: 'code',
      token_endpoint_auth_method: null,
      created_at: now,
      seal: keys.sealRow(claims),
    })
  },
  token(clientId: string, access: string, refresh: string | null, authorization: number | null) {
    const accessDigest = digestOf('access_token', access)
    const refreshDigest: Digest | null =
      refresh === null ? null : digestOf('refresh_token', refresh)
    const expires = refresh === null ? null : now + 3_600_000
    const refreshExpires = refresh === null ? null : now + 7_200_000
    const personal = refresh === null
    insert('token', {
      client_id: clientId,
      user_id: 1,
      authorization_id: authorization,
      token_type: 'bearer',
      access_token: keys.seal('token', access, [
        'access_token',
        accessDigest,
        clientId,
        1,
        authorization,
        'notes:read',
        expires,
        personal,
        false,
      ]),
      access_token_digest: accessDigest,
      refresh_token:
        refresh === null
          ? null
          : keys.seal('token', refresh, [
              'refresh_token',
              refreshDigest,
              clientId,
              1,
              authorization,
              'notes:read notes:write',
              refreshExpires,
            ]),
      refresh_token_digest: refreshDigest,
      expires,
      refresh_expires: refreshExpires,
      ends_at: refreshExpires,
      scopes: 'notes:read',
      is_personal: personal ? 1 : 0,
      is_internal: 0,
      created_at: now,
    })
  },
  authorization(clientId: string) {
    insert('authorization', {
      id: 1,
      client_id: clientId,
      user_id: 1,
      scopes: 'notes:read notes:write',
      code_digest: null,
      code_binding: null,
      created_at: now,
      expires_at: now + 7_200_000,
      revoked_at: null,
    })
  },
  consent(clientId: string) {
    insert('consent', {
      user_id: 1,
      client_id: clientId,
      id: 'anId',
      scopes: 'notes:read',
      granted_at: now,
      seal: keys.sealRow(['consent', 'anId', 1, clientId, 'notes:read']),
    })
  },
  session(identifier: string) {
    const id = digestOf('session', identifier)
    const expires = now + 1_209_600_000
    insert('session', {
      id,
      user_id: 1,
      address: browser.address,
      user_agent: browser.userAgent,
      created_at: now,
      expires_at: expires,
      last_seen_at: now,
      seal: keys.sealRow(['session', id, 1, browser.address, browser.userAgent, now, expires]),
    })
  },
  user() {
    insert('user', {
      id: 1,
      email: 'owner@example.org',
      password_hash: null,
      active: 1,
      email_verified: 1,
      is_admin: 0,
      created_at: now,
    })
  },
}

const fill = () => {
  firstVersion.user()
  firstVersion.client('machine', 'aSecret')
  firstVersion.client('behind', 'another', { personal: true })
  firstVersion.authorization('machine')
  firstVersion.token('machine', 'anAccessToken', 'aRefreshToken', 1)
  firstVersion.token('behind', 'aPersonalToken', null, null)
  firstVersion.consent('machine')
  firstVersion.session('S'.repeat(43))
}

describe('the second migration', () => {
  const authenticateAll = async () => {
    await using app = await start()
    const basic = { clientId: 'machine', clientSecret: 'aSecret' }
    const grant = { grant_type: 'client_credentials' }
    expect(await tokenRequest(app.issuer, grant, { basic })).toMatchObject({ status: 200 })
    expect(await statusOf(app, 'anAccessToken')).toBe(200)
    expect(await statusOf(app, 'aPersonalToken')).toBe(200)
    expect(await app.server.consents.find(1, 'machine')).toMatchObject({
      scopes: ['notes:read'],
      declinedScopes: [],
    })
    const cookie = `oauth2server_session=${'S'.repeat(43)}`
    const signedIn = await app.server.sessions.signedIn({ ...browser, cookie })
    expect(signedIn?.user.id).toBe(1)
    const refreshed = await tokenRequest(
      app.issuer,
      { grant_type: 'refresh_token', refresh_token: 'aRefreshToken' },
      { basic },
    )
    expect(refreshed).toMatchObject({ status: 200, body: { scope: 'notes:read notes:write' } })
    expect(tampered(app)).toEqual([])
    return app.server
  }

  test('every row of the first version authenticates as before', async () => {
    await migrateTo('0001-initial')
    fill()
    expect(query(path, 'pragma table_info(oauth2server_client)')).toHaveLength(17)
    await authenticateAll()
  })

  test('what the first version writes beside it counts as well', async () => {
    await migrateTo('0002-settings-pages')
    fill()
    await authenticateAll()
  })

  test('such rows are listed and managed like new ones, and are as they were where nothing changed', async () => {
    await migrateTo('0001-initial')
    fill()
    await using app = await start()
    const { clients, personalTokens, authorizedApplications } = app.server
    const part = { after: null, limit: 10 }
    const [listed] = (await clients.ofOwner(1, part)).items
    expect(listed?.client).toMatchObject({
      clientId: 'machine',
      name: 'Größe',
      optionalScopes: [],
      isVerified: false,
      isDisabled: false,
      previousClientSecret: null,
      previousClientSecretExpires: null,
    })
    const [token] = (await personalTokens.of(1, part)).items
    expect(token).toMatchObject({ name: 'Größe', lastUse: null, previousExpires: null })
    const [authorized] = (await authorizedApplications.of(1, part)).items
    expect(authorized).toMatchObject({
      scopes: ['notes:read', 'notes:write'],
      grantedAt: now,
      devices: [{ userAgent: '', scopes: ['notes:read', 'notes:write'], createdAt: now }],
    })
    const seal = () =>
      query(path, "select seal from oauth2server_client where client_id = 'machine'")[0]?.seal
    const before = seal()
    await clients.mark('machine', { isVerified: true })
    await clients.mark('machine', { isVerified: false })
    expect(seal()).not.toBe(before)
    // Without its marks the row claims what it claimed, so the version before still reads it.
    const [row] = query<{ client_secret: string }>(
      path,
      "select * from oauth2server_client where client_id = 'machine'",
    )
    const claims: Claims = [
      'client',
      'machine',
      row?.client_secret ?? '',
      1,
      true,
      false,
      false,
      'https://a.example/cb\nhttps://b.example/cb',
      'notes:read',
      null,
      null,
      'code',
      null,
    ]
    expect(keys.isIntact(String(seal()), claims)).toBe(true)
    const id = token?.token.id ?? 0
    const { accessToken } = await personalTokens.rotate(id, { overlap: 60 })
    expect(await statusOf(app, 'aPersonalToken')).toBe(200)
    expect(await statusOf(app, accessToken)).toBe(200)
    app.advance(60)
    expect(await statusOf(app, 'aPersonalToken')).toBe(401)
  })

  test('down it leaves the tables and indexes of the first one, and up again it leaves its own', async () => {
    const schemaOf = () => {
      const tables = query<{ name: string }>(
        path,
        "select name from sqlite_master where type = 'table' and name like 'oauth2server%' order by name",
      )
      return tables.map(({ name }) => [
        name,
        query(
          path,
          `select name, type, "notnull", dflt_value, pk from pragma_table_info('${name}')`,
        ),
        query<{ name: string }>(
          path,
          `select name, "unique" from pragma_index_list('${name}') order by name`,
        ).map((index) => [
          index,
          query(path, `select name from pragma_index_info('${index.name}')`),
        ]),
      ])
    }
    expect(await migrateTo('0001-initial')).toEqual([{ name: '0001-initial', direction: 'up' }])
    const first = schemaOf()
    expect(await migrateTo('0002-settings-pages')).toEqual([
      { name: '0002-settings-pages', direction: 'up' },
    ])
    const second = schemaOf()
    expect(second).not.toEqual(first)
    fill()
    expect(await migrateTo('0001-initial')).toEqual([
      { name: '0002-settings-pages', direction: 'down' },
    ])
    expect(schemaOf()).toEqual(first)
    await migrateTo('0002-settings-pages')
    expect(schemaOf()).toEqual(second)
    expect(await migrateTo('0003-todays-clients')).toEqual([
      { name: '0003-todays-clients', direction: 'up' },
    ])
    const third = schemaOf()
    expect(third).not.toEqual(second)
    expect(await migrateTo('0002-settings-pages')).toEqual([
      { name: '0003-todays-clients', direction: 'down' },
    ])
    expect(schemaOf()).toEqual(second)
    await migrateTo('0003-todays-clients')
    expect(schemaOf()).toEqual(third)
    expect(await migrateTo('0004-audit')).toEqual([{ name: '0004-audit', direction: 'up' }])
    const fourth = schemaOf()
    expect(fourth).not.toEqual(third)
    expect(await migrateTo('0003-todays-clients')).toEqual([
      { name: '0004-audit', direction: 'down' },
    ])
    expect(schemaOf()).toEqual(third)
    await migrateTo('0004-audit')
    expect(schemaOf()).toEqual(fourth)
    expect(await migrateTo('0005-leaked-secrets')).toEqual([
      { name: '0005-leaked-secrets', direction: 'up' },
    ])
    expect(schemaOf()).not.toEqual(fourth)
    expect(await migrateTo('0004-audit')).toEqual([
      { name: '0005-leaked-secrets', direction: 'down' },
    ])
    expect(schemaOf()).toEqual(fourth)
    await authenticateAll()
  })

  test('down and up again: plain rows work; one that said more than the first version can is refused', async () => {
    const app = await start()
    const { clients, consents } = app.server
    const [plain, verified, optional] = [await app.client(), await app.client(), await app.client()]
    await clients.mark(verified.clientId, { isVerified: true })
    await clients.update(optional.clientId, { optionalScopes: ['notes:read'] })
    await consents.grant(app.user.id, plain.clientId, ['notes:read'])
    await consents.grant(app.user.id, optional.clientId, ['notes:read'], {
      declined: ['notes:write'],
    })
    const { accessToken } = await authorizationOf(app, plain.clientId)
    const personal = await app.server.personalTokens.create('T', app.user.id)
    const rotated = await app.server.personalTokens.rotate(personal.id, { overlap: 60 })
    await app.server.close()
    await migrateTo('0001-initial')

    await using later = await startServer({
      store: sqlite(path),
      clock: app.now,
      beside: app,
    })
    const found = async ({ clientId }: { clientId: string }) =>
      (await later.server.clients.find(clientId)) !== undefined
    expect([await found(plain), await found(verified), await found(optional)]).toEqual([
      true,
      false,
      false,
    ])
    expect(await later.server.consents.find(app.user.id, plain.clientId)).toBeDefined()
    expect(await later.server.consents.find(app.user.id, optional.clientId)).toBeUndefined()
    for (const token of [accessToken, personal.accessToken, rotated.accessToken])
      expect(await statusOf(later, token)).toBe(200)
    app.advance(60)
    expect(await statusOf(later, personal.accessToken), 'its end stands').toBe(401)
    expect(await statusOf(later, rotated.accessToken)).toBe(200)
    await app.close()
  })
})
