import { StoreUnavailable } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { digestOf } from '../../../src/crypto/digest.ts'
import { endLeakedSecret } from '../../../src/records/clients/leaked-credentials.ts'
import { images } from '../../support/images.ts'
import { contextOf } from '../../support/internals.ts'
import { type RemoteSite, remoteSite } from '../../support/remote-site.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { browser } from '../../support/session.ts'
import { authorizationOf } from '../../support/tokens.ts'
import { Contract, type PlacedOperation } from './contract.ts'
import { admin, applications, type Fields, type HttpResponse, Script, sessions } from './script.ts'

const leaked = '/account/settings/leaked/'

// Each operation of the settings returns every response that the OpenAPI document defines for it.

let failing = false
let app: TestServer
let site: RemoteSite
let contract: Contract
let user: Script
let administrator: Script
let withPassword: Script
beforeAll(async () => {
  site = await remoteSite()
  app = await startServer({
    sendUserLink: () => undefined,
    dangerouslyAllowPrivateAddresses: true,
    outbound: site.outbound,
    aroundStore: ({ name }, operation) => {
      if (failing && name === 'sessions.find') throw new StoreUnavailable('The store is away.')
      return operation()
    },
  })
  contract = await Contract.of(app)
  user = await Script.logIn(app)
  administrator = await newUser({ isAdmin: true })
  withPassword = await newUser()
  await fillLists()
})
afterAll(async () => {
  await app.close()
  await site.close()
})

let users = 0
const newUser = async (input: { readonly isAdmin?: boolean } = {}): Promise<Script> => {
  users += 1
  const email = `user-${users}@example.org`
  return Script.logIn(app, await app.newUser({ email, ...input }))
}

const newClient = async (): Promise<string> => (await app.client()).clientId
const newToken = async (): Promise<number> =>
  (await app.server.tokens.createPersonal('Laptop', app.user.id, { scopes: ['notes:read'] })).id
const newValue = async (): Promise<string> =>
  (await app.server.tokens.createPersonal('Leaked', app.user.id)).accessToken
const newDevice = async (): Promise<{ readonly clientId: string; readonly id: number }> => {
  const clientId = await newClient()
  const { token } = await authorizationOf(app, clientId)
  return { clientId, id: token.id }
}

/** Creates used and unused objects of each type, so that every list has an item and every member has a value. */
const fillLists = async (): Promise<void> => {
  await app.server.clients.update(await newClient(), { defaultResource: app.issuer })
  const { clientId } = await newDevice()
  await app.server.consents.grant(app.user.id, clientId, ['notes:read'])
  await app.server.clients.resetClientSecret(clientId, { overlap: 600 })
  await storeLogo(clientId)
  const { clientSecret } = await app.client()
  await endLeakedSecret(digestOf('client_secret', clientSecret), contextOf(app.server))
  await app.server.clients.create({ name: 'Nobody’s', redirectUris: [] })
  const { id, accessToken } = await app.server.tokens.createPersonal('Used', app.user.id, {
    expiresIn: 600,
  })
  await fetch(`${app.issuer}/api/me`, { headers: { authorization: `Bearer ${accessToken}` } })
  await app.server.personalTokens.rotate(id, { overlap: 60 })
  await newToken()
  await administrator.post(admin, { token_id: await newToken(), act: 'delete' })
}

/** Lets the server fetch the logo of a client, which an administrator verifies. */
const storeLogo = async (clientId: string): Promise<void> => {
  site.respond('/logo', (_request, response) =>
    response.writeHead(200, { 'content-type': 'image/png' }).end(images['image/png']),
  )
  await app.server.clients.update(clientId, { logoUri: site.url('/logo') })
  await administrator.post(admin, { client_id: clientId, act: 'verify' })
  const logo = async () => (await app.server.clients.find(clientId))?.logo
  await vi.waitFor(async () => expect(await logo()).not.toBeNull(), { timeout: 60_000 })
}

interface Case {
  /** Creates an object, and returns its path. */
  readonly at: () => Promise<string>
  readonly who?: () => Script
  /** The bodies of requests that succeed. Undefined means a request without a body. */
  readonly bodies?: readonly (Fields | ((at: string) => Promise<Fields>) | undefined)[]
  /** The body of a request that is rejected because of a field, and the name of the field. */
  readonly refused?: readonly [Fields, field: string]
  /** The path of a missing object, or a body that refers to a missing object. */
  readonly missing?: string | Fields
}

const password = '/account/settings/password/'
const always = (path: string) => async (): Promise<string> => path
const byAdministrator = { at: always(admin), who: () => administrator }
const allFields: Fields = {
  name: 'Printer',
  description: 'Prints\nreports.',
  website: 'https://printer.example',
  redirect_uris: ['https://printer.example/cb', 'http://localhost/cb'],
  is_confidential: true,
  default_scopes: ['notes:read'],
  optional_scopes: ['notes:read', 'notes:write'],
}

const cases: Readonly<Record<string, Case>> = {
  listApplications: { at: always(`${applications}/`) },
  listPersonalTokens: { at: always(`${applications}/tokens/?q=u&sort=name&filter=never_used`) },
  listClients: { at: always(`${applications}/clients/?q=c`) },
  listAuthorizedApplications: { at: always(`${applications}/authorized/`) },
  getSelectedPersonalTokens: {
    at: async () => `${applications}/tokens/selected/?id=${await newToken()}&id=999999`,
  },
  deletePersonalTokens: {
    at: always(`${applications}/tokens/selected/`),
    bodies: [async () => ({ id: [String(await newToken()), '999999'] }), { id: '999999' }],
    refused: [{ id: [] }, 'id'],
  },
  restorePersonalTokens: {
    at: always(`${applications}/tokens/undo/`),
    bodies: [
      async () => {
        const id = [String(await newToken())]
        return (await user.post(`${applications}/tokens/selected/`, { id })).body as Fields
      },
    ],
    refused: [{ undo: 'x' }, 'undo'],
  },
  getSelectedApplications: {
    at: async () => `${applications}/authorized/selected/?id=${(await newDevice()).clientId}`,
  },
  revokeSelectedApplications: {
    at: always(`${applications}/authorized/selected/`),
    bodies: [async () => ({ id: [(await newDevice()).clientId] })],
    refused: [{ id: [] }, 'id'],
  },
  getClientChoices: { at: always(`${applications}/clients/new/`) },
  createClient: {
    at: always(`${applications}/clients/new/`),
    bodies: [
      { name: 'Printer' },
      allFields,
      {
        name: 'Public',
        is_confidential: false,
        redirect_uris: 'https://a.example\nhttps://b.example',
      },
    ],
    refused: [
      { name: 'Printer', redirect_uris: ['https://a.example', 'ftp://b'] },
      'redirect_uris',
    ],
  },
  getClient: {
    at: async () => `${applications}/clients/${await newClient()}/`,
    missing: `${applications}/clients/nothing/`,
  },
  changeClient: {
    at: async () => `${applications}/clients/${await newClient()}/`,
    bodies: [
      {},
      { description: 'Other' },
      allFields,
      { is_confidential: false, redirect_uris: [], default_scopes: [] },
      { delete: 'yes', confirm_name: 'Client' },
    ],
    refused: [{ delete: 'yes', confirm_name: 'Other' }, 'confirm_name'],
    missing: `${applications}/clients/nothing/`,
  },
  resetClientSecret: {
    at: async () => `${applications}/clients/${await newClient()}/reset/`,
    bodies: [undefined, {}, { overlap: 3600 }],
    refused: [{ overlap: 2_592_001 }, 'overlap'],
    missing: `${applications}/clients/nothing/reset/`,
  },
  revokeApplication: {
    at: async () => `${applications}/authorized/${(await newDevice()).clientId}/revoke/`,
    bodies: [undefined],
    missing: `${applications}/authorized/nothing/revoke/`,
  },
  revokeAllApplications: { at: always(`${applications}/authorized/revoke/`), bodies: [undefined] },
  getPersonalTokenChoices: { at: always(`${applications}/tokens/new/`) },
  createPersonalToken: {
    at: always(`${applications}/tokens/new/`),
    bodies: [
      { name: 'Laptop' },
      { name: 'Laptop', scopes: ['notes:read', 'notes:write'], expires: '2027-01-31' },
      { name: 'Laptop', scopes: [], expires: '2027-01-31T12:00:00Z' },
      { name: 'Laptop', expires: null },
      { name: 'Laptop', expiry: '30' },
      { name: 'Laptop', expiry: 'never' },
    ],
    refused: [{ name: 'Laptop', scopes: ['test:scope'] }, 'scopes'],
  },
  getPersonalToken: {
    at: async () => `${applications}/tokens/${await newToken()}/`,
    missing: `${applications}/tokens/999999/`,
  },
  changePersonalToken: {
    at: async () => `${applications}/tokens/${await newToken()}/`,
    bodies: [
      {},
      { name: 'Phone' },
      { scopes: ['notes:write'] },
      { expires: '2027-01-31', time_zone: 'Europe/Berlin' },
      { expiry: '7' },
      { expires: null },
      { end_former: 'yes' },
      { reduce: 'yes' },
      { delete: 'yes' },
    ],
    refused: [{ name: 'x'.repeat(41) }, 'name'],
    missing: `${applications}/tokens/999999/`,
  },
  rotatePersonalToken: {
    at: async () => `${applications}/tokens/${await newToken()}/rotate/`,
    bodies: [undefined, {}, { overlap: 60 }],
    refused: [{ overlap: 1.5 }, 'overlap'],
    missing: `${applications}/tokens/999999/rotate/`,
  },
  getAuthorization: {
    at: async () => `${applications}/tokens/${(await newDevice()).id}/view/`,
    missing: `${applications}/tokens/999999/view/`,
  },
  revokeAuthorization: {
    at: async () => `${applications}/tokens/${(await newDevice()).id}/revoke/`,
    bodies: [undefined],
    missing: `${applications}/tokens/999999/revoke/`,
  },
  listSessions: { at: always(sessions) },
  endSessions: {
    at: always(sessions),
    bodies: [
      async () => {
        await Script.logIn(app)
        const { body } = await user.get(sessions)
        const [other] = (body as SessionList).sessions.filter(({ is_current }) => !is_current)
        return { session_id: other?.id }
      },
      { others: 'yes' },
    ],
    refused: [{}, 'session_id'],
    missing: { session_id: 'nothing' },
  },
  getPasswordRules: { at: always(password) },
  changePassword: {
    at: always(password),
    // The change ends the other sessions of the user, so use a user whom no other test needs.
    who: () => withPassword,
    bodies: [async () => ({ current_password: app.password, new_password: app.password })],
    refused: [{ current_password: 'wrong', new_password: 'a new password' }, 'current_password'],
  },
  requestEmailVerification: { at: always('/account/settings/verify-email/') },
  listActivity: { at: always('/account/settings/activity/') },
  showLeaked: { at: always(leaked) },
  handleLeaked: {
    at: always(leaked),
    bodies: [
      async () => ({ credential: await newValue() }),
      async () => {
        const { body } = await user.post(leaked, { credential: await newValue() })
        return { found: (body as { found: string }).found, at: 0, act: 'end' }
      },
    ],
    refused: [{ credential: 'x'.repeat(43) }, 'credential'],
    missing: { found: 'nothing', act: 'end' },
  },
  listEvents: { ...byAdministrator, at: always('/admin/activity/'), missing: '/admin/activity/' },
  searchEvents: {
    ...byAdministrator,
    at: always('/admin/activity/'),
    bodies: [{ event: 'login.failed' }],
    missing: '/admin/activity/',
  },
  exportActivity: { at: always('/account/settings/activity/export/') },
  exportEvents: {
    ...byAdministrator,
    at: always('/admin/activity/export/'),
    missing: '/admin/activity/export/',
  },
  listUsers: { ...byAdministrator, at: always('/admin/users/'), missing: '/admin/users/' },
  searchUsers: {
    ...byAdministrator,
    at: always('/admin/users/'),
    bodies: [{ user: 'x' }],
    missing: '/admin/users/',
  },
  getUser: {
    ...byAdministrator,
    at: async () => `/admin/users/${app.user.id}/`,
    missing: '/admin/users/1/',
  },
  administerUser: {
    ...byAdministrator,
    at: async () => {
      users += 1
      return `/admin/users/${(await app.newUser({ email: `user-${users}@example.org` })).id}/`
    },
    bodies: ['end_tokens', 'log_out', 'deactivate', 'activate'].map((act) => ({ act })),
    refused: [{ act: 'praise' }, 'act'],
    missing: { act: 'delete_token', token_id: 999_999 },
  },
  getAdministration: {
    ...byAdministrator,
    at: always('/admin/overview/'),
    missing: '/admin/overview/',
  },
  getApplication: {
    ...byAdministrator,
    at: async () => `${admin}${await newClient()}/`,
    missing: `${admin}nothing/`,
  },
  administerApplication: {
    ...byAdministrator,
    at: async () => `${admin}${await newClient()}/`,
    bodies: [
      ...['verify', 'unverify', 'disable', 'enable', 'end_tokens'].map((act) => ({ act })),
      { act: 'set_default_resource', default_resource: '' },
      { act: 'delete', confirm_name: 'Client' },
    ],
    refused: [{ act: 'praise' }, 'act'],
    missing: `${admin}nothing/`,
  },
  listTokens: {
    ...byAdministrator,
    at: always('/admin/tokens/?kind=personal&filter=never_used&sort=name'),
    missing: '/admin/tokens/',
  },
  administerToken: {
    ...byAdministrator,
    at: always('/admin/tokens/'),
    bodies: [async () => ({ token_id: await newToken(), act: 'delete' })],
    refused: [{ token_id: 1, act: 'praise' }, 'act'],
    missing: { token_id: 999_999, act: 'delete' },
  },
  listEverything: { ...byAdministrator, missing: admin },
  administer: {
    ...byAdministrator,
    bodies: [
      ...['verify', 'unverify', 'disable', 'enable'].map((act) => async () => ({
        client_id: await newClient(),
        act,
      })),
      async () => ({
        client_id: await newClient(),
        act: 'set_default_resource',
        default_resource: app.issuer,
      }),
      async () => ({ client_id: await newClient(), act: 'delete', confirm_name: 'Client' }),
      async () => ({ token_id: await newToken(), act: 'delete' }),
    ],
    refused: [{ client_id: 'nothing', act: 'praise' }, 'act'],
    missing: { client_id: 'nothing', act: 'verify' },
  },
}

interface SessionList {
  readonly sessions: readonly { readonly id: string; readonly is_current: boolean }[]
}

const seen = new Map<string, Set<number>>()

/** Returns the response after comparing it with the document. */
const checked = (operation: PlacedOperation, response: HttpResponse): HttpResponse => {
  const { operationId } = operation
  const breaches = contract.differences(operation, response)
  expect(breaches, `${operationId}: ${response.status} ${response.text}`).toEqual([])
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(response.headers.get('set-cookie')).toBeNull()
  seen.set(operationId, (seen.get(operationId) ?? new Set()).add(response.status))
  return response
}

const ask = async (
  { method }: PlacedOperation,
  script: Script,
  path: string,
  init: RequestInit = {},
): Promise<HttpResponse> => script.send(path, { method, ...init })

test('fillLists() creates an item for every list, and a value for every member', async () => {
  const lists = [await user.get(`${applications}/`), await administrator.get(admin)]
  for (const { body } of lists) {
    const { next: _, ...parts } = body as Record<string, readonly Record<string, unknown>[]>
    for (const [name, items] of Object.entries(parts)) {
      const members = Object.keys(items[0] ?? {})
      expect(members.length, name).toBeGreaterThan(0)
      const empty = members.filter((member) => items.every((item) => item[member] === null))
      expect([name, empty]).toEqual([name, []])
    }
  }
})

describe.each(Object.entries(cases))('%s', (id, { at, who = () => user, ...given }) => {
  const { bodies = [undefined], missing } = given

  test('returns the documented success, with JSON and with a form [T739]', async () => {
    const operation = contract.operation(id)
    const [success = ''] = Object.keys(operation.responses)
    for (const body of bodies) {
      for (const as of ['post', 'postForm'] as const) {
        const path = await at()
        const fields = typeof body === 'function' ? await body(path) : body
        if (fields) expect(contract.wrongBody(operation, fields)).toEqual([])
        else expect(operation.requestBody?.required ?? false).toBe(false)
        const response =
          fields && operation.method === 'POST'
            ? await who()[as](path, fields)
            : await ask(operation, who(), path)
        expect([fields, checked(operation, response).status]).toEqual([fields, Number(success)])
      }
    }
  })

  test('returns the documented errors', async () => {
    const operation = contract.operation(id)
    const path = await at()
    const script = who()
    const { cookie, authorization: _, ...nobody } = { ...script.headers }
    const withHeaders = (headers: Readonly<Record<string, string>>) =>
      ask(operation, new Stranger(app, script, headers), path)

    const stranger = checked(operation, await withHeaders(nobody))
    expect(stranger.status).toBe(401)
    expect(stranger.headers.get('www-authenticate')).toMatch(/^Bearer realm="(?!.*error=)/)
    expect(checked(operation, await withHeaders({ ...nobody, cookie: cookie ?? '' })).status).toBe(
      400,
    )
    const other = { ...script.headers, authorization: `Bearer ${(await newUser()).session.jwt}` }
    expect(checked(operation, await withHeaders(other)).status).toBe(403)

    const person = await withHeaders({ 'user-agent': browser, accept: 'text/html' })
    expect(checked(operation, person).status).toBe(303)
    expect(person.headers.get('location')).toMatch(/^\/login\?next=/)

    failing = true
    const outage = await ask(operation, script, path).finally(() => {
      failing = false
    })
    expect(checked(operation, outage).status).toBe(503)
    expect(outage.headers.get('retry-after')).toBe('5')

    if (operation.method === 'POST') {
      const response = await script.postText(path, `{"name":"${'x'.repeat(70_000)}"}`)
      expect(checked(operation, response).status).toBe(413)
    }
    if (typeof missing === 'object')
      expect(checked(operation, await script.post(path, missing)).status).toBe(404)
    if (typeof missing === 'string') {
      const asker = missing?.toString().startsWith('/admin/') ? user : script
      expect(checked(operation, await ask(operation, asker, missing)).status).toBe(404)
    }
  })

  test('has returned each documented status except 409 and 429, and no other status', () => {
    // double-submit.test.ts covers 409, the response while the first request with a form is in progress, and
    // password.test.ts covers 429.
    const documented = Object.keys(contract.operation(id).responses)
      .map(Number)
      .filter((status) => status !== 409 && status !== 429)
    expect([...(seen.get(id) ?? [])].toSorted()).toEqual(documented.toSorted())
  })
})

/** A script of the same session that sends the given headers. */
class Stranger extends Script {
  readonly #headers: Readonly<Record<string, string>>

  constructor(app: TestServer, { session }: Script, headers: Readonly<Record<string, string>>) {
    super(app, session)
    this.#headers = headers
  }

  override get headers(): Readonly<Record<string, string>> {
    return this.#headers
  }
}

test.each(
  Object.entries(cases).flatMap(([id, { at, who = () => user, refused }]) =>
    refused ? [{ id, at, who, refused }] : [],
  ),
)(
  '$id reports the name of the rejected field',
  async ({ id, at, who, refused: [fields, field] }) => {
    const operation = contract.operation(id)
    for (const as of ['post', 'postForm'] as const) {
      const { status, body } = checked(operation, await who()[as](await at(), fields))
      expect([status, (body as { readonly field: string }).field]).toEqual([400, field])
    }
  },
)

test('the tests cover every documented operation of the settings', () => {
  const documented = contract.operations.filter(({ tags }) => tags.includes('settings'))
  expect(Object.keys(cases).toSorted()).toEqual(
    documented.map(({ operationId }) => operationId).toSorted(),
  )
})
