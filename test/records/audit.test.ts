import { randomUUID } from 'node:crypto'
import type { AuditEvent, Client, LogEntry, UserId } from 'svc-oauth2server'
import { StoreUnavailable } from 'svc-oauth2server'
import { createTestServer } from 'svc-oauth2server/testing'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { digestOf } from '../../src/crypto/digest.ts'
import {
  auditEvents,
  type BuiltInEventName,
  type SealedAuditEvent,
} from '../../src/model/audit-event.ts'
import { builtInGrants } from '../../src/protocol/grants/built-in.ts'
import { AuditQueue } from '../../src/records/audit/audit-queue.ts'
import {
  endLeakedSecret,
  endRegistrationToken,
} from '../../src/records/clients/leaked-credentials.ts'
import { FailedLogins } from '../../src/records/users/failed-logins.ts'
import { at, Page, Person } from '../pages/settings/support.ts'
import { auditRow } from '../store/rows.ts'
import { execute } from '../support/database.ts'
import { Device, decideOn } from '../support/device.ts'
import { images } from '../support/images.ts'
import { contextOf, keepDescribed, storeOf } from '../support/internals.ts'
import { recordOperations } from '../support/operations.ts'
import { manage, registered } from '../support/registration.ts'
import { type RemoteSite, remoteSite } from '../support/remote-site.ts'
import { secretKey, startServer, type TestServer } from '../support/server.ts'
import { browser } from '../support/session.ts'
import { authorizationOf } from '../support/tokens.ts'
import { TestClient, tokenRequest, UserAgent } from '../support/user-agent.ts'

type Row = Record<string, unknown>

let site: RemoteSite
let app: TestServer
let admin: Person
let failing: string | undefined
/** Secrets that no row may contain. */
const secrets = new Set<string>()

const secret = <T extends string | undefined>(value: T): T => {
  if (value) secrets.add(value)
  return value
}

beforeAll(async () => {
  site = await remoteSite()
  app = await startServer({
    dangerouslyAllowPrivateAddresses: true,
    outbound: site.outbound,
    openidConnect: true,
    allowFrontChannelIdTokens: true,
    revocation: true,
    deviceAuthorization: true,
    tokenExchange: true,
    dynamicRegistration: 'open',
    allowedGrantTypes: ['authorization_code', 'client_credentials', 'refresh_token', 'password'],
    allowedResponseTypes: ['code', 'token'],
    refreshTokenLeeway: 0,
    auditRoutine: true,
    async aroundStore({ name }, run) {
      const result = await run()
      if (name === failing) throw new StoreUnavailable(name)
      return result
    },
  })
  secret(app.password)
  admin = await Person.stranger(app, { isAdmin: true })
})
afterAll(async () => {
  await app.close()
  await site.close()
})

const read = async (event: string, from = app): Promise<Row[]> =>
  (await from.query('select * from oauth2server_audit order by id')).filter(
    (row) => row.event === event,
  )

const countsOf = async (from: TestServer) =>
  (
    await from.query(
      'select event, grant_type, client_id, user_id, count from oauth2server_audit_count order by at, event, grant_type, count',
    )
  ).map((row) => Object.values(row))

/** Waits for an event that is written shortly after the response. */
const recorded = (event: string, about: Row): Promise<Row> =>
  vi.waitFor(
    async () => {
      const rows = await read(event)
      const found = rows.findLast((row) =>
        Object.entries(about).every(([name, value]) => String(row[name]) === String(value)),
      )
      expect(found, `${event} of ${JSON.stringify(about)} in ${JSON.stringify(rows)}`).toBeDefined()
      return found as Row
    },
    { timeout: 60_000, interval: 100 },
  )

const person = async (): Promise<Person> => {
  const somebody = await Person.stranger(app)
  secret(somebody.session.identifier)
  secret(somebody.session.jwt)
  return somebody
}

/** Registers a client of the user, and logs a new user in with another browser. */
const clientOf = async (input = {}) => {
  const somebody = await person()
  const client = await TestClient.register(app, somebody.session.agent, {
    name: 'Größe',
    userId: somebody.user.id,
    ...input,
  })
  secret(client.clientSecret)
  return { somebody, client, mine: own(somebody) }
}

const tokensOf = async (client: TestClient) => {
  const code = secret(await client.code())
  const { body } = await client.redeem(code)
  secret(body.access_token)
  secret(body.refresh_token)
  return { code, ...body }
}

/** Returns the fields of an event that a user causes on the pages of the account. */
const own = ({ user }: Person): Row => ({
  actor: 'user',
  actor_id: user.id,
  actor_email: user.email,
  user_id: user.id,
  user_email: user.email,
})

const byClient = (somebody: Person, { clientId }: { clientId: string }): Row => ({
  actor: 'client',
  actor_id: null,
  actor_email: '',
  user_id: somebody.user.id,
  client_id: clientId,
  subject: 'Größe',
})

const byServer: Row = { actor: 'system', actor_id: null, address: '', request_id: null }

const ofAdmin = (): Row => ({
  actor: 'user',
  actor_id: admin.user.id,
  actor_email: admin.user.email,
})

const tokenIdOf = async (accessToken: string): Promise<number> =>
  (await app.server.tokens.find({ accessToken }))?.token.id ?? 0

const personalToken = async (somebody: Person, name = 'Laptop') => {
  const token = await app.server.tokens.createPersonal(name, somebody.user.id)
  secret(token.accessToken)
  return token
}

const pinnedClient = async (...acts: readonly string[]) => {
  const client_id = `https://client.example/${randomUUID()}.json`
  const input = { name: 'Größe', isConfidential: false }
  const registration = {
    origin: 'metadata_document',
    registrationToken: null,
    metadata: '{}',
  } as const
  await keepDescribed(app.server, client_id, input, registration)
  for (const act of acts) await admin.post(at.admin, { client_id, act })
  return { ...ofAdmin(), client_id, subject: 'Größe' }
}

const markedClient = async (act: string, before: 'verify' | 'disable' | undefined = undefined) => {
  const { somebody, client } = await clientOf()
  const { clientId } = client
  if (before) await admin.post(at.admin, { client_id: clientId, act: before })
  await admin.post(at.admin, { client_id: clientId, act, confirm_name: 'Größe' })
  return { ...ofAdmin(), user_id: somebody.user.id, client_id: clientId, subject: 'Größe' }
}

interface Expected {
  readonly about: Row
  readonly details?: Record<string, unknown>
  /** Whether the event records no IP address, request ID and browser, for instance an event of the sweeper. */
  readonly isElsewhere?: boolean
}

const aboutUser = async (change: (id: string | number) => Promise<unknown>): Promise<Expected> => {
  const { user } = await person()
  await change(user.id)
  const about = { ...byServer, user_id: user.id, user_email: user.email }
  return { about, isElsewhere: true }
}

/** Triggers each event, by real requests where possible, and lists the expected records. */
const flows: Readonly<Record<BuiltInEventName, () => Promise<Expected>>> = {
  'login.succeeded': async () => ({ about: own(await person()) }),
  async 'login.failed'() {
    const { user } = await person()
    const agent = new UserAgent({ 'user-agent': browser })
    const typed = { user: { ...user }, issuer: app.issuer, password: secret('my wrong password') }
    expect((await agent.logIn(typed)).status).toBe(403)
    return {
      about: { actor: 'unknown', actor_email: '', user_id: user.id, user_email: user.email },
      details: { count: 1 },
    }
  },
  async 'session.ended'() {
    const somebody = await person()
    const action = { csrf_token: somebody.session.csrfToken }
    expect(
      (await somebody.request('/logout', { method: 'POST', body: new URLSearchParams(action) }))
        .status,
    ).toBe(303)
    return { about: own(somebody), details: { reason: 'logout', count: 1 } }
  },
  async 'consent.given'() {
    const { client, mine } = await clientOf({ optionalScopes: ['notes:write'] })
    secret(await client.code({ scope: 'notes:read notes:write' }))
    return {
      about: { ...mine, client_id: client.clientId, subject: 'Größe' },
      details: { scopes: ['notes:read'], declined: ['notes:write'] },
    }
  },
  async 'consent.withdrawn'() {
    const { client, somebody, mine } = await clientOf()
    await tokensOf(client)
    await tokensOf(client)
    await somebody.post(at.revokeApplication(client.clientId))
    return {
      about: { ...mine, client_id: client.clientId, subject: 'Größe' },
      details: { count: 2 },
    }
  },
  async 'token.issued'() {
    const { client, somebody } = await clientOf()
    const { access_token } = await tokensOf(client)
    const found = await app.server.tokens.find({ accessToken: access_token })
    const { id, authorizationId } = found?.token ?? {}
    return {
      about: {
        ...byClient(somebody, client),
        user_email: somebody.user.email,
        token_id: id,
        authorization_id: authorizationId,
        is_routine: 0,
      },
      details: { grant: 'authorization_code', scopes: ['notes:read'] },
    }
  },
  async 'id_token.issued'() {
    const { client, mine } = await clientOf({ responseTypes: ['id_token'] })
    const asked = { response_type: 'id_token', scope: 'openid', nonce: 'n-1' }
    const { hash } = await client.ask(asked)
    secret(new URLSearchParams(hash.slice(1)).get('id_token') ?? '')
    return {
      about: { ...mine, client_id: client.clientId, subject: 'Größe', authorization_id: null },
      details: { scopes: ['openid'] },
    }
  },
  async 'token.refreshed'() {
    const { client, somebody } = await clientOf()
    const { refresh_token } = await tokensOf(client)
    const { body } = await client.refresh(refresh_token)
    secret(body.access_token)
    secret(body.refresh_token)
    const token_id = await tokenIdOf(body.access_token)
    return {
      about: { ...byClient(somebody, client), token_id, is_routine: 1 },
      details: { scopes: ['notes:read'] },
    }
  },
  async 'token.revoked'() {
    const { client, somebody } = await clientOf()
    const { access_token } = await tokensOf(client)
    const token_id = await tokenIdOf(access_token)
    const { clientId: client_id, clientSecret: client_secret } = client
    await fetch(`${app.issuer}/oauth/revoke`, {
      method: 'POST',
      body: new URLSearchParams({ client_id, client_secret, token: access_token }),
    })
    return {
      about: { ...byClient(somebody, client), token_id },
      details: { ending: access_token.slice(-4) },
    }
  },
  async 'token.deleted'() {
    const { client, somebody } = await clientOf()
    const { access_token } = await tokensOf(client)
    const token_id = await tokenIdOf(access_token)
    await admin.post(at.admin, { token_id: `${token_id}`, act: 'delete' })
    return {
      about: { ...ofAdmin(), user_id: somebody.user.id, token_id, subject: 'Größe' },
      details: { ending: access_token.slice(-4) },
    }
  },
  async 'refresh_token.reused'() {
    const { client, somebody } = await clientOf()
    const { refresh_token } = await tokensOf(client)
    await client.refresh(refresh_token)
    expect((await client.refresh(refresh_token)).status).toBe(400)
    return { about: byClient(somebody, client) }
  },
  async 'authorization_code.reused'() {
    const { client, somebody } = await clientOf()
    const { code } = await tokensOf(client)
    expect((await client.redeem(code)).status).toBe(400)
    return { about: byClient(somebody, client) }
  },
  async 'device_code.reused'() {
    const somebody = await person()
    const device = await Device.register(app, { name: 'Größe' })
    const codes = await device.codes()
    secret(codes.device_code)
    secret(codes.user_code)
    await decideOn(app, somebody.session, codes)
    expect((await device.poll(codes)).status).toBe(200)
    expect((await device.poll(codes)).status).toBe(400)
    return { about: byClient(somebody, device.client) }
  },
  async 'personal_token.created'() {
    const somebody = await person()
    const { location } = await somebody.post(at.newToken, { name: 'Backup', scopes: 'notes:read' })
    const token_id = /tokens\/(\d+)\//.exec(location ?? '')?.[1]
    return {
      about: { ...own(somebody), token_id, subject: 'Backup' },
      details: {
        scopes: ['notes:read'],
        expires: app.now() + 7_776_000_000,
        ending: expect.stringMatching(/^\w{4}$/),
      },
    }
  },
  async 'personal_token.edited'() {
    const somebody = await person()
    const { id } = await personalToken(somebody)
    await somebody.post(at.token(id), { name: 'Desktop', scopes: 'notes:read' })
    return {
      about: { ...own(somebody), token_id: id, subject: 'Desktop' },
      details: {
        fields: ['name', 'scopes'],
        changes: { name: ['Laptop', 'Desktop'], scopes: ['', 'notes:read'] },
      },
    }
  },
  async 'personal_token.rotated'() {
    const somebody = await person()
    const { id } = await personalToken(somebody)
    await somebody.post(at.rotate(id), { overlap: '3600' })
    return {
      about: { ...own(somebody), token_id: id, subject: 'Laptop' },
      details: { overlap: 3600, ending: expect.stringMatching(/^\w{4}$/) },
    }
  },
  async 'personal_token.deleted'() {
    const somebody = await person()
    const { id, accessToken } = await personalToken(somebody)
    await somebody.post(at.token(id), { delete: 'yes' })
    return {
      about: { ...own(somebody), token_id: id, subject: 'Laptop' },
      details: { ending: accessToken.slice(-4) },
    }
  },
  async 'personal_token.restored'() {
    const somebody = await person()
    const { id } = await personalToken(somebody)
    const sent = await somebody.post(at.token(id), { delete: 'yes', back: '' })
    await somebody.send((await somebody.follow(sent)).form(at.undo))
    const found = await app.server.personalTokens.find(somebody.user.id, id)
    const client_id = found?.token.clientId
    return { about: { ...own(somebody), client_id, token_id: id, subject: 'Laptop' } }
  },
  async 'client.created'() {
    const somebody = await person()
    const fields = { name: 'Printer', redirect_uris: 'https://printer.example/cb' }
    const { location } = await somebody.post(at.newClient, fields)
    const client_id = /clients\/(\w+)\//.exec(location ?? '')?.[1]
    return {
      about: { ...own(somebody), client_id, subject: 'Printer' },
      details: { origin: 'owner' },
    }
  },
  async 'client.edited'() {
    const { client, somebody, mine } = await clientOf()
    const { clientId } = client
    await somebody.fill(at.client(clientId), { name: 'Renamed', website: 'https://x.example' })
    return {
      about: { ...mine, client_id: clientId, subject: 'Renamed' },
      details: {
        fields: ['name', 'website'],
        changes: { name: ['Größe', 'Renamed'], website: ['', 'https://x.example'] },
      },
    }
  },
  async 'client.deleted'() {
    const { client, somebody, mine } = await clientOf()
    const { clientId } = client
    await somebody.post(at.client(clientId), { delete: 'yes', confirm_name: 'Größe' })
    return { about: { ...mine, client_id: clientId, subject: 'Größe' } }
  },
  async 'client.secret_reset'() {
    const { client, somebody, mine } = await clientOf()
    await somebody.post(at.reset(client.clientId), { overlap: '86400' })
    return { about: { ...mine, client_id: client.clientId }, details: { overlap: 86_400 } }
  },
  async 'client.registration_token_leaked'() {
    const token = secret('a registration token of a client')
    const { client } = await app.server.clients.create(
      { name: 'Client', redirectUris: ['https://client.example/callback'] },
      {
        origin: 'registration',
        registrationToken: digestOf('registration_token', token),
        metadata: '{}',
      },
    )
    await endRegistrationToken(digestOf('registration_token', token), contextOf(app.server))
    return { about: { ...byServer, client_id: client.clientId }, isElsewhere: true }
  },
  async 'client.secret_leaked'() {
    const { client, somebody } = await clientOf()
    const { clientSecret } = await app.server.clients.resetClientSecret(client.clientId)
    await endLeakedSecret(digestOf('client_secret', clientSecret), contextOf(app.server))
    return {
      about: { ...byServer, user_id: somebody.user.id, client_id: client.clientId },
      isElsewhere: true,
    }
  },
  async 'client.tokens_ended'() {
    const { client, somebody } = await clientOf()
    const { clientSecret } = await app.server.clients.resetClientSecret(client.clientId)
    secret(clientSecret)
    const { location } = await admin.post(at.leaked, { credential: clientSecret })
    const found = location?.split('found=')[1] ?? ''
    await admin.post(at.leaked, { found, act: 'end_application' })
    return {
      about: { ...ofAdmin(), user_id: somebody.user.id, client_id: client.clientId },
    }
  },
  async 'client.id_reset'() {
    const { client, somebody } = await clientOf()
    const { clientId } = await app.server.clients.resetClientId(client.clientId)
    return {
      about: { ...byServer, user_id: somebody.user.id, client_id: clientId },
      details: { former: client.clientId },
      isElsewhere: true,
    }
  },
  'client.verified': async () => ({ about: await markedClient('verify') }),
  'client.unverified': async () => ({ about: await markedClient('unverify', 'verify') }),
  async 'client.logo_changed'() {
    site.respond('/logo.png', (_request, response) =>
      response.writeHead(200, { 'content-type': 'image/png' }).end(images['image/png']),
    )
    const { client_id } = await registered(app, { logo_uri: site.url('/logo.png') })
    await admin.post(at.admin, { client_id, act: 'verify' })
    const isFetched = async () => (await app.server.clients.find(client_id))?.logo !== null
    await expect.poll(isFetched).toBe(true)
    return { about: { ...ofAdmin(), client_id } }
  },
  'client.disabled': async () => ({ about: await markedClient('disable') }),
  'client.enabled': async () => ({ about: await markedClient('enable', 'disable') }),
  'client.pinned': async () => ({ about: await pinnedClient('pin') }),
  'client.unpinned': async () => ({ about: await pinnedClient('pin', 'unpin') }),
  'user.created': () => aboutUser(async () => undefined),
  'user.deactivated': () => aboutUser((id) => app.server.users.setActive(id, false)),
  'user.activated': () => aboutUser((id) => app.server.users.setActive(id, true)),
  async 'user.tokens_ended'() {
    const { user } = await person()
    await app.server.tokens.createPersonal('Laptop', user.id)
    await app.server.administration.endAllAccess(user)
    const about = { ...byServer, user_id: user.id, user_email: user.email }
    return { about, isElsewhere: true, details: { count: 1 } }
  },
  'user.admin_granted': () => aboutUser((id) => app.server.users.setAdmin(id, true)),
  'user.admin_withdrawn': () => aboutUser((id) => app.server.users.setAdmin(id, false)),
  'user.email_verified': () => aboutUser((id) => app.server.users.verifyEmail(id)),
  async 'user.email_changed'() {
    const { user } = await person()
    const email = `new-${user.email}`
    await app.server.users.setEmail(user.id, email)
    const about = { ...byServer, user_id: user.id, user_email: email }
    return { about, isElsewhere: true, details: { former: user.email } }
  },
  'user.password_changed': () =>
    aboutUser((id) => app.server.users.setPassword(id, secret('another long password'))),
  'user.deleted': () => aboutUser((id) => app.server.users.delete(id)),
  async 'user.vanished'() {
    const { user } = await person()
    await app.server.tokens.createPersonal('Laptop', user.id)
    const since = app.now() - 86_400_000
    const find = async (id: UserId) => (id === user.id ? undefined : app.server.users.find(id))
    for (const clock of [() => since, app.now]) {
      await using beside = await startServer({
        beside: app,
        users: { find, withPassword: async () => undefined },
        clock,
      })
      await beside.server.sweep()
    }
    return { about: { ...byServer, user_id: user.id }, isElsewhere: true, details: { since } }
  },
  async 'users.missing'() {
    const { server, newUser } = app
    for (let n = 0; n < 11; n += 1) {
      const { id } = await newUser({ email: `missing-${n}@example.org` })
      await server.tokens.createPersonal('Laptop', id)
    }
    const nobody = async () => undefined
    const users = { find: nobody, withPassword: nobody }
    await using beside = await startServer({ beside: app, users })
    await beside.server.sweep()
    const details = { count: expect.any(Number), checked: expect.any(Number) }
    return { about: byServer, isElsewhere: true, details }
  },
  async 'secret_key.rotated'() {
    const secretKeys = ['another secret key, of more than 32 bytes', secretKey]
    await using beside = await startServer({ beside: app, secretKeys })
    const { resealed } = await beside.server.rotateSecretKeys()
    // Restore the original keys, because the other servers do not have the new key.
    const former = [secretKey, ...secretKeys]
    await using back = await startServer({ beside: app, secretKeys: former })
    await back.server.rotateSecretKeys()
    expect(resealed).toBeGreaterThan(1)
    return { about: byServer, isElsewhere: true, details: { count: expect.any(Number) } }
  },
  async 'signing_key.created'() {
    await using beside = await startServer({
      beside: app,
      accessTokenFormat: 'jwt',
    })
    const { keys } = (await (await fetch(`${beside.issuer}/oauth/jwks`)).json()) as {
      readonly keys: readonly { readonly kid: string }[]
    }
    return { about: { subject: keys[0]?.kid } }
  },
}

describe('records each event', () => {
  test.each(Object.keys(auditEvents) as BuiltInEventName[])('%s', async (event) => {
    const { about, details = {}, isElsewhere = false } = await flows[event]()
    const row = await recorded(event, about)
    expect(JSON.parse(String(row.details))).toEqual(details)
    expect(Object.keys(details).toSorted()).toEqual([...auditEvents[event].details].toSorted())
    expect(row.at).toBe(app.now())
    if (!isElsewhere) {
      expect(row.address).toBe('127.0.0.1')
      expect(row.request_id).toMatch(/^[0-9a-f-]{36}$/)
      expect(row.user_agent).not.toBe('')
    }
  })

  // The rows of all flows above exist at this point.
  test('stores no secret in any row', async () => {
    // The name of a public key may look like a token.
    const events = `select * from oauth2server_audit where event <> 'signing_key.created'`
    const rows = JSON.stringify(await app.query(events))
    expect(secrets.size).toBeGreaterThan(50)
    for (const value of secrets) expect(rows).not.toContain(value)
    expect(rows).not.toMatch(/Basic |Bearer |[A-Za-z0-9]{43}=?"/)
  })
})

describe('distinguishes the grant through which a token was issued', () => {
  const issuing = [
    ['implicit', { actor: 'user', is_routine: 0 }],
    ['password', { actor: 'client', is_routine: 0 }],
    ['client_credentials', { actor: 'client', is_routine: 1 }],
    ['urn:ietf:params:oauth:grant-type:token-exchange', { actor: 'client', is_routine: 1 }],
    ['urn:ietf:params:oauth:grant-type:device_code', { actor: 'client', is_routine: 0 }],
  ] as const

  // `token.issued` and `token.refreshed` above
  const ofOtherTests = ['authorization_code', 'refresh_token']

  test('the tests below cover every other grant [T3036]', () => {
    const covered: readonly string[] = [...issuing.map(([type]) => type), ...ofOtherTests]
    const types = builtInGrants.map(({ type }) => type)
    expect(types.filter((type) => !covered.includes(type))).toEqual([])
  })

  test.each(issuing)('%s', async (grant, about) => {
    const { client, somebody } = await clientOf({ defaultScopes: ['notes:read'] })
    const { clientId, clientSecret } = client
    const by = { basic: { clientId, clientSecret } }
    let client_id = clientId
    if (grant === 'implicit') await client.ask({ response_type: 'token' })
    else if (grant === 'password') {
      const { email: username } = somebody.user
      await tokenRequest(app.issuer, { grant_type: grant, username, password: app.password }, by)
    } else if (grant === 'client_credentials')
      await tokenRequest(app.issuer, { grant_type: grant }, by)
    else if (grant.endsWith('device_code')) {
      const device = await Device.register(app, { name: 'Größe' })
      const codes = await device.codes()
      await decideOn(app, somebody.session, codes)
      await device.poll(codes)
      client_id = device.client.clientId
    } else {
      const { access_token } = await tokensOf(client)
      const subject = {
        subject_token: access_token,
        subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      }
      const { status } = await tokenRequest(app.issuer, { grant_type: grant, ...subject }, by)
      expect(status).toBe(200)
    }
    const details = JSON.stringify({ grant, scopes: ['notes:read'] })
    await recorded('token.issued', { ...about, client_id, user_id: somebody.user.id, details })
  })

  test('records no grant for a token that the application issued in code', async () => {
    const { client } = await clientOf()
    const { token } = await authorizationOf(app, client.clientId)
    const row = await recorded('token.issued', { token_id: token.id })
    expect(row).toMatchObject({ actor: 'system', details: '{"scopes":["notes:read"]}' })
  })
})

describe('records a self-registered client as its own actor', () => {
  test('RFC 7591, RFC 7592: records registration, change and deletion', async () => {
    const made = await registered(app, { client_name: 'Dynamic' })
    secret(made.registration_access_token)
    secret(made.client_secret)
    const about = { actor: 'client', client_id: made.client_id, address: '127.0.0.1' }
    const { details } = await recorded('client.created', about)
    expect(details).toBe('{"origin":"registration"}')
    const { client_id, client_secret, redirect_uris } = made
    const changed = { client_id, client_secret, redirect_uris, client_name: 'Renamed' }
    expect((await manage('PUT', made, changed)).status).toBe(200)
    const edited = await recorded('client.edited', { ...about, subject: 'Renamed' })
    expect(JSON.parse(String(edited.details)).fields).toContain('name')
    expect((await manage('DELETE', made)).status).toBe(204)
    await recorded('client.deleted', { ...about, subject: 'Renamed' })
  })
})

describe('failed logins', () => {
  test('do not record an unknown e-mail address, because people may type a password into the field', async () => {
    const typed = secret('hunter2.is.my@password.example')
    const before = (await read('login.failed')).length
    const agent = new UserAgent({ 'user-agent': browser })
    const user = { ...app.user, email: typed }
    await agent.logIn({ issuer: app.issuer, user, password: 'whatever it is' })
    await vi.waitFor(
      async () => expect((await read('login.failed')).length).toBe(before + 1),
      15_000,
    )
    expect((await read('login.failed')).at(-1)).toMatchObject({
      user_id: null,
      user_email: null,
      actor: 'unknown',
      actor_email: '',
      subject: '',
      details: '{"count":1}',
      address: '127.0.0.1',
    })
    expect(JSON.stringify(await app.query('select * from oauth2server_audit'))).not.toContain(
      'hunter2',
    )
  })

  test('record the first failure immediately and further failures of that hour as one event, with a warning after many [T596]', async () => {
    const [heard, log] = [[] as AuditEvent[], [] as LogEntry[]]
    const failed = new FailedLogins(
      (event) => heard.push(event),
      (entry) => log.push(entry),
    )
    const fail = (userId: number | null, at: number) =>
      failed.add({
        ...auditRow({ event: 'login.failed', at, userId, details: { count: 1 } }),
      } as AuditEvent<'login.failed'>)
    const counts = () =>
      heard.map(({ userId, details }) => [userId, 'count' in details ? details.count : 0])
    for (let tries = 0; tries < 19; tries += 1) fail(1, tries)
    for (let tries = 0; tries < 30; tries += 1) fail(null, tries)
    expect(counts()).toEqual([
      [1, 1],
      [null, 1],
    ])
    expect(log).toEqual([])
    fail(1, 50)
    expect(counts().slice(2)).toEqual([[1, 19]])
    expect(log).toEqual([
      expect.objectContaining({ level: 'warn', event: 'login.guessed', userId: 1 }),
    ])
    for (let tries = 0; tries < 500; tries += 1) fail(1, 60)
    expect(heard).toHaveLength(3)
    fail(1, 3_600_000)
    expect(counts().slice(3)).toEqual([
      [1, 500],
      [null, 29],
      [1, 1],
    ])
    fail(1, 3_600_001)
    failed.flush()
    expect(counts().slice(6)).toEqual([[1, 1]])
    expect(log).toHaveLength(1)
  })
})

describe('records only completed actions, and completes no action that it cannot record', () => {
  test.each<[BuiltInEventName, (somebody: Person) => Promise<unknown>]>([
    ['client.created', () => app.client({ name: 'Never' })],
    ['user.created', () => app.server.users.create({ email: 'never@example.org', password: null })],
    ['personal_token.created', () => app.server.tokens.createPersonal('Never', app.user.id)],
    ['session.ended', (somebody) => somebody.post('/logout')],
  ])('%s', async (event, work) => {
    const somebody = await person()
    failing = 'audit.add'
    const before = await app.query('select id from oauth2server_audit')
    const response = await work(somebody).catch((error: unknown) => error)
    failing = undefined
    const failure = response instanceof Page ? response.status : (response as Error).name
    expect([503, 'StoreUnavailable'], event).toContain(failure)
    expect(await app.query('select id from oauth2server_audit')).toEqual(before)
    expect((await somebody.get(at.list)).status).toBe(200)
    expect(await app.server.users.findByEmail('never@example.org')).toBeUndefined()
    const left = "select 1 from oauth2server_client where name = 'Never'"
    expect(await app.query(left)).toEqual([])
  })

  test('writes no row and calls no hook if the transaction of the application fails', async () => {
    const heard: AuditEvent[] = []
    const stop = app.server.on('*', (event) => heard.push(event))
    const before = await app.query('select id from oauth2server_audit')
    const { clientId } = await app.client({ name: 'Before' })
    const client = await app.server.clients.find(clientId)
    await expect(
      app.server.transaction(async (tx) => {
        await tx.clients.create({ name: 'Taken back' })
        await tx.transaction((inner) => inner.clients.create({ name: 'Taken back, too' }))
        if (client) await tx.tokens.issue({ type: 'client', client, subject: null, scopes: [] })
        throw new Error('changed my mind')
      }),
    ).rejects.toThrow('changed my mind')
    await app.server.transaction(async (tx) => {
      await tx.clients.create({ name: 'Kept' })
      await tx
        .transaction(async (inner) => {
          await inner.clients.create({ name: 'Savepoint taken back' })
          throw new Error('only this')
        })
        .catch(() => undefined)
    })
    await vi.waitFor(() => expect(heard.map(({ subject }) => subject)).toEqual(['Before', 'Kept']))
    stop()
    expect(await app.query('select id from oauth2server_audit')).toHaveLength(before.length + 2)
  })
})

describe('hooks', () => {
  test('receive their events after the commit, with types and without secrets', async () => {
    const { client, somebody } = await clientOf()
    const heard: AuditEvent<'token.issued'>[] = []
    const stop = app.server.on('token.issued', async (event) => {
      // A second connection sees the row.
      const rows = await app.query(`select 1 from oauth2server_token where id = ${event.tokenId}`)
      if (rows.length === 1) heard.push(event)
    })
    const { access_token } = await tokensOf(client)
    await vi.waitFor(() => expect(heard).toHaveLength(1))
    stop()
    expect(heard[0]).toMatchObject({
      event: 'token.issued',
      userId: somebody.user.id,
      clientId: client.clientId,
      tokenId: await tokenIdOf(access_token),
      details: { grant: 'authorization_code', scopes: ['notes:read'] },
    })
    await tokensOf(client)
    expect(heard).toHaveLength(1)
    expect(JSON.stringify(heard)).not.toContain(access_token)
  })

  test('do not affect the request if they throw, reject, hang or modify the event', async () => {
    const { client } = await clientOf()
    const heard: string[] = []
    const { server } = app
    const stops = [
      server.on('token.issued', () => {
        throw new Error('thrown')
      }),
      server.on('token.issued', () => Promise.reject(new Error('rejected'))),
      server.on('token.issued', () => new Promise(() => undefined)),
      server.on('token.issued', (event) => {
        Object.assign(event, { clientId: 'changed' })
      }),
      server.on('*', ({ event, clientId }) => heard.push(`${event} ${clientId}`)),
    ]
    const { status } = await client.redeem(await client.code())
    expect(status).toBe(200)
    await vi.waitFor(() => expect(heard).toContain(`token.issued ${client.clientId}`))
    await vi.waitFor(() =>
      expect(app.log.filter(({ event }) => event === 'hook.failed')).toHaveLength(2),
    )
    for (const stop of stops) stop()
    expect(app.log.find(({ event }) => event === 'hook.failed')).toMatchObject({
      level: 'error',
      of: 'token.issued',
      error: expect.objectContaining({ message: 'thrown' }),
    })
  })

  test('are rejected for an unknown event', () => {
    expect(() => app.server.on('token.stolen' as never, () => undefined)).toThrow(TypeError)
    expect(() => app.server.on('constructor' as never, () => undefined)).toThrow(TypeError)
  })

  test('run twice if they are registered twice, and are removed separately', async () => {
    let heard = 0
    const count = () => {
      heard += 1
    }
    const [one, two] = [app.server.on('user.created', count), app.server.on('user.created', count)]
    await person()
    await vi.waitFor(() => expect(heard).toBe(2))
    one()
    one()
    await person()
    await vi.waitFor(() => expect(heard).toBe(3))
    two()
  })
})

describe('routine events of clients', () => {
  const counted = async (options: { readonly auditRoutine?: boolean } = {}) => {
    const { operations: asked, aroundStore } = recordOperations()
    return { server: await startServer({ ...options, aroundStore }), asked }
  }

  test('cause no statement during the request, and are written before the server closes', async () => {
    const { server, asked } = await counted({ auditRoutine: true })
    const client = await TestClient.register(server, new UserAgent())
    await client.token({ grant_type: 'client_credentials' })
    asked.length = 0
    expect((await client.token({ grant_type: 'client_credentials' })).status).toBe(200)
    expect(asked.filter((name) => name.startsWith('audit') || name === 'transaction')).toEqual([])
    const refreshed = await client.tokens()
    asked.length = 0
    expect((await client.refresh(refreshed.refresh_token)).status).toBe(200)
    expect(asked.filter((name) => name.startsWith('audit') || name === 'transaction')).toEqual([])
    await server.server.close()
    expect(await read('token.issued', server)).toHaveLength(3)
    expect(await read('token.refreshed', server)).toHaveLength(1)
    await server.close().catch(() => undefined)
  })

  test('have no rows by default, but hooks still receive them [T1700]', async () => {
    const { server } = await counted()
    const heard: string[] = []
    server.server.on('*', ({ event }) => heard.push(event))
    const client = await TestClient.register(server, new UserAgent())
    await client.token({ grant_type: 'client_credentials' })
    await vi.waitFor(() => expect(heard).toEqual(['client.created', 'token.issued']))
    const found = (await server.server.clients.find(client.clientId)) as Client
    const issuing = { type: 'client', client: found, subject: null, scopes: [] } as const
    await server.server.transaction((tx) => tx.tokens.issue(issuing))
    await server.server.transaction((tx) => tx.transaction((inner) => inner.tokens.issue(issuing)))
    await vi.waitFor(() => expect(heard.slice(2)).toEqual(['token.issued', 'token.issued']))
    await server.server.close()
    expect(await read('token.issued', server)).toEqual([])
    // Two of the tokens were issued inside transactions.
    expect(await countsOf(server)).toEqual([
      ['token.issued', '', client.clientId, '', 2],
      ['token.issued', 'client_credentials', client.clientId, String(found.userId), 1],
    ])
    await server.close().catch(() => undefined)
  })

  test('are counted by hour, client, user and grant, by several processes [T1701]', async () => {
    const server = await startServer()
    const beside = await startServer({ beside: server })
    const client = await TestClient.register(server, new UserAgent())
    const { refresh_token } = await client.tokens()
    const refreshed = await client.refresh(refresh_token)
    await client.refresh(refreshed.body.refresh_token)
    await client.token({ grant_type: 'client_credentials' })
    await beside.server.close()
    server.advance(3_600)
    await client.token({ grant_type: 'client_credentials' })
    await client.token({ grant_type: 'client_credentials' })
    await server.server.close()
    const { clientId } = client
    const userId = String((await server.query('select id from oauth2server_user'))[0]?.id)
    expect(await countsOf(server)).toEqual([
      ['token.issued', 'client_credentials', clientId, userId, 1],
      ['token.refreshed', 'refresh_token', clientId, userId, 2],
      ['token.issued', 'client_credentials', clientId, userId, 2],
    ])
    await beside.close().catch(() => undefined)
    await server.close().catch(() => undefined)
  })

  test('of a transaction that is rolled back are not counted [T1702]', async () => {
    const server = await startServer()
    const client = await TestClient.register(server, new UserAgent())
    const found = (await server.server.clients.find(client.clientId)) as Client
    const issuing = { type: 'client', client: found, subject: null, scopes: [] } as const
    await expect(
      server.server.transaction(async (tx) => {
        await tx.tokens.issue(issuing)
        throw new Error('rolled back')
      }),
    ).rejects.toThrow('rolled back')
    await server.server.close()
    expect(await countsOf(server)).toEqual([])
    await server.close().catch(() => undefined)
  })

  test('are counted once, even if the store was unavailable or the response was lost [T1703]', async () => {
    let isAway = true
    const server = await startServer({
      async aroundStore({ name }, run) {
        const result = await run()
        if (isAway && name === 'auditCounts.put') throw new StoreUnavailable(name)
        return result
      },
    })
    const client = await TestClient.register(server, new UserAgent())
    await client.token({ grant_type: 'client_credentials' })
    await vi.waitFor(
      () => expect(server.log).toContainEqual(expect.objectContaining({ event: 'audit.late' })),
      15_000,
    )
    await client.token({ grant_type: 'client_credentials' })
    isAway = false
    await server.server.close()
    expect((await countsOf(server)).map((row) => row.at(-1))).toEqual([2])
    await server.close().catch(() => undefined)
  })

  test('of internal personal tokens keep their rows [T1704]', async () => {
    const server = await startServer()
    const { id } = await server.server.users.create({ email: 'x@example.org', password: null })
    await server.server.tokens.createPersonal('Hidden', id, { isInternal: true })
    expect(await read('personal_token.created', server)).toHaveLength(1)
    await server.close()
  })

  test('expire with the audit log [T1705]', async () => {
    const server = await startServer({ auditExpiresIn: 7_200, sweepInterval: 0 })
    const put = (at: number) =>
      storeOf(server.server).auditCounts.put([
        { at, event: 'token.issued', grantType: '', clientId: 'c', userId: 1, writer: 1, count: 1 },
      ])
    const hour = 3_600_000
    const now = server.now()
    for (const hours of [4, 3, 1]) await put(now - (now % hour) - hours * hour)
    await server.server.sweep()
    expect(await countsOf(server)).toHaveLength(1)
    await server.close()
  })

  test('are lost while the store is unavailable, and the log contains their number', async () => {
    let isAway = false
    await using server = await startServer({
      auditRoutine: true,
      async aroundStore({ name }, run) {
        if (isAway && name === 'audit.addMany') throw new StoreUnavailable(name)
        return run()
      },
    })
    const client = await TestClient.register(server, new UserAgent())
    isAway = true
    await client.token({ grant_type: 'client_credentials' })
    await vi.waitFor(
      () =>
        expect(server.log).toContainEqual(
          expect.objectContaining({ level: 'warn', event: 'audit.lost', lost: 1 }),
        ),
      15_000,
    )
  })
})

test('a failing log does not prevent the queue from writing later events', async () => {
  let isAway = true
  const { audit } = storeOf(app.server)
  const store = {
    audit: {
      ...audit,
      addMany: (events: readonly SealedAuditEvent[]) =>
        isAway ? Promise.reject(new StoreUnavailable('away')) : audit.addMany(events),
    },
  }
  const queue = new AuditQueue(store, () => {
    throw new Error('The disk is full.')
  })
  const clientId = 'behind-a-failing-log'
  queue.add(auditRow({ clientId }))
  await queue.flush()
  isAway = false
  queue.add(auditRow({ clientId }))
  await queue.flush()
  const { items } = await app.server.activity.search({ clientId }, { after: null, limit: 9 })
  expect(items).toHaveLength(1)
})

test('scopes in another order are no change of a client [T4813]', async () => {
  const { clients, activity } = app.server
  const { client } = await clients.create({
    name: 'Client',
    redirectUris: ['https://client.example/callback'],
    defaultScopes: ['notes:write', 'notes:read'],
  })
  const { clientId } = client
  await clients.update(clientId, { defaultScopes: ['notes:read', 'notes:write'] })
  await clients.update(clientId, { name: 'Renamed', defaultScopes: ['notes:write', 'notes:read'] })
  const search = { clientId, event: 'client.edited' }
  const { items } = await activity.search(search, { after: null, limit: 9 })
  const changes = { name: ['Client', 'Renamed'] }
  expect(items.map(({ details }) => details)).toEqual([{ fields: ['name'], changes }])
})

test('the queue writes waiting events after the store is available again, and close() attempts only one batch', async () => {
  const tries: number[] = []
  let isAway = true
  const { audit } = storeOf(app.server)
  const store = {
    audit: {
      ...audit,
      addMany: (events: readonly SealedAuditEvent[]) => {
        tries.push(events.length)
        return isAway ? Promise.reject(new StoreUnavailable('away')) : audit.addMany(events)
      },
    },
  }
  const log: LogEntry[] = []
  const queue = new AuditQueue(store, (entry) => log.push(entry))
  const clientId = 'behind-a-write-that-failed'
  const add = (count: number) => {
    for (let one = 0; one < count; one += 1) queue.add(auditRow({ clientId }))
  }
  add(500)
  await queue.flush()
  expect(tries).toEqual([200])
  isAway = false
  await queue.flush()
  expect(tries).toEqual([200, 200, 100])
  const { items } = await app.server.activity.search({ clientId }, { after: null, limit: 400 })
  expect(items).toHaveLength(300)

  isAway = true
  add(1_000)
  await queue.close()
  expect(tries).toHaveLength(4)
  expect(log.map(({ lost }) => lost)).toEqual([200, 200, 800])
})

test('finds events about a user whose key looks like an e-mail address', async () => {
  const id = 'Anna@example.org'
  const anna = { id, email: 'a@example.org', emailVerified: true, active: true, isAdmin: false }
  const server = await createTestServer({
    users: {
      keyType: 'text',
      find: async (asked) => (asked === id ? anna : undefined),
      withPassword: async () => undefined,
    },
  })
  await server.tokens.createPersonal('Laptop', id)
  const { items } = await server.activity.search({ user: id }, { after: null, limit: 9 })
  expect(items.map(({ event }) => event)).toEqual(['personal_token.created'])
  await server.close()
})

describe('actingAs', () => {
  test('records the user for whom the application acts', async () => {
    const { user } = await person()
    const who = { user, address: '192.0.2.9', userAgent: 'a host', requestId: 'of-the-host' }
    const { clientId } = await app.server.actingAs(who, () => app.client({ userId: user.id }))
    await recorded('client.created', {
      client_id: clientId,
      actor: 'user',
      actor_id: user.id,
      actor_email: user.email,
      address: '192.0.2.9',
      user_agent: 'a host',
      request_id: 'of-the-host',
    })
  })
})

describe('retention', () => {
  test('removes only events older than auditExpiresIn, in small batches', async () => {
    const removed: unknown[] = []
    await using server = await startServer({
      auditExpiresIn: 60,
      async aroundStore({ name }, run) {
        const result = await run()
        if (name === 'audit.deleteExpired') removed.push(result)
        return result
      },
    })
    for (let index = 0; index < 60; index += 1) await server.client({ name: `Old ${index}` })
    server.advance(60)
    await server.client({ name: 'Young' })
    await server.server.sweep()
    expect(await read('client.created', server)).toHaveLength(61)
    server.advance(1)
    await server.server.sweep()
    const left = await read('client.created', server)
    expect(left.map(({ subject }) => subject)).toEqual(['Young'])
    expect(removed.slice(0, 1)).toEqual([20])
    expect(removed.at(-1)).toBe(0)
    expect(removed.reduce<number>((sum, rows) => sum + Number(rows), 0)).toBe(61)
  })

  test('removes nothing if auditExpiresIn is 0', async () => {
    await using server = await startServer({ auditExpiresIn: 0 })
    await server.client()
    server.advance(400_000_000)
    await server.server.sweep()
    expect(await read('client.created', server)).toHaveLength(1)
  })
})

test('two nodes write their events to one log', async () => {
  await using other = await startServer({ beside: app })
  const { clientId } = await app.client({ name: 'Of two' })
  await other.server.clients.update(clientId, { description: 'by the other' })
  const client = new TestClient(
    other,
    new UserAgent(),
    { clientId, clientSecret: '', redirectUri: '' },
    'none',
  )
  expect((await client.token({ grant_type: 'client_credentials' })).status).toBe(401)
  await app.server.clients.delete(clientId)
  const { items } = await other.server.activity.search({ clientId }, { after: null, limit: 9 })
  expect(items.map(({ event }) => event)).toEqual([
    'client.deleted',
    'client.edited',
    'client.created',
  ])
})

test('shows rows that were inserted without the server as text, without an error', async () => {
  const { clientId } = await app.client({ name: 'Odd' })
  execute(
    app.database,
    "update oauth2server_audit set event = 'never.heard', actor = 'x' where client_id = ?",
    clientId,
  )
  const page = await admin.get(`/admin/activity/?client=${clientId}`)
  expect(page.status).toBe(200)
  expect(page.text).toContain('never.heard')
})
