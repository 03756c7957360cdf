import { Scope } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { at, Person } from '../pages/settings/support.ts'
import { basicOf } from '../support/form.ts'
import { register } from '../support/registration.ts'
import { startServer } from '../support/server.ts'
import { ping } from '../support/user-agent.ts'
import {
  type AttackClient,
  type AttackServer,
  expectBearer,
  expectJson,
  expectRedirect,
  formOf,
  type HttpResponse,
  type Over,
  startAttackServer,
} from './support/attack-server.ts'

const notes = 'https://api.example/notes'
const mail = 'https://mail.example'

let attack: AttackServer
/** A client that may request every scope. */
let free: AttackClient
beforeAll(async () => {
  attack = await startAttackServer({ resources: [{ resource: notes }, { resource: mail }] })
  free = await attack.client({ name: 'Free', defaultScopes: ['r'] })
})
afterAll(() => attack.close())

const person = async (): Promise<Person> =>
  new Person(attack.server, await attack.browser('a'), attack.users.a.user)

/** Sends a form with the credentials of `free` or another confidential client. */
const post = (
  path: string,
  fields: Over,
  { clientId, clientSecret } = free,
): Promise<HttpResponse> =>
  attack.request(path, {
    method: 'POST',
    body: new URLSearchParams(formOf(fields)),
    headers: basicOf({ clientId, clientSecret }),
  })

const pushed = (over: Over, client = free): Promise<HttpResponse> => {
  const { searchParams } = new URL(attack.authorizeUrl(over, { client }))
  return post('/oauth/par', Object.fromEntries(searchParams), client)
}

/** Returns the scopes that a page shows. */
const shown = ({ text }: Pick<HttpResponse, 'text'>): readonly string[] =>
  [
    ...text.matchAll(
      /<li>(?:<label[^>]*>.*?<span>)?(?:<strong>)?[^<]*(?:<\/strong> )?<code>([^<]+)<\/code>/g,
    ),
  ].map(([, id = '']) => id)

/** Values of the parameter `scope` that the server rejects for every client. */
const beyond = {
  'an unknown scope': 'r bogus',
  'an internal scope': 'sys:internal',
  'an internal scope among others': 'r sys:internal',
  'the scope constructor': 'constructor',
  'a scope in another case': 'R',
  'a part of a scope': 'rw:',
} as const

describe('SC-01 Unknown, internal and unavailable scopes [T543]', () => {
  test.each(Object.entries(beyond))('rejects %s at every endpoint', async (_, scope) => {
    const before = await attack.state()
    expectRedirect(await attack.authorize({ scope }), 'invalid_scope')
    expectRedirect(await attack.authorize({ scope }, { method: 'POST' }), 'invalid_scope')
    const machine = { grant_type: 'client_credentials', scope }
    const responses = [
      await pushed({ scope }),
      await post('/oauth/device_authorization', { scope }),
      await attack.token(machine, { client: free }),
      await attack.token(machine, { client: 'm2m' }),
    ]
    for (const response of responses) expectJson(response, 400, 'invalid_scope')
    expect(await attack.state()).toEqual(before)
  })

  test.each(Object.entries(beyond))('does not register %s', async (_, scope) => {
    const { body } = await register(attack.server, {
      redirect_uris: ['https://client.example/cb'],
      scope,
    })
    expect(body.scope).toBe(scope.startsWith('r ') ? 'r' : undefined)
  })

  test.each(['sys:internal', 'bogus', 'constructor'])(
    'rejects the scope %s in the forms of personal tokens and applications',
    async (scope) => {
      const user = await person()
      const { id } = await attack.personalToken('a', ['r'])
      const before = await attack.state()
      const scopes = ['r', scope]
      const uri = 'https://client.example/cb'
      const pages = [
        await user.post(at.newToken, { name: 'Mine', scopes }),
        await user.post(at.token(id), { name: 'Mine', scopes }),
        await user.post(at.newClient, { name: 'Mine', redirect_uris: uri, default_scopes: scopes }),
        await user.post(at.client(free.clientId), { name: 'Free', optional_scopes: scopes }),
      ]
      expect(pages.map(({ status }) => status)).toEqual([400, 400, 400, 400])
      expect(await attack.state()).toEqual(before)
    },
  )

  test('rejects an internal scope even if it is an allowed scope of the client', async () => {
    const listed = await attack.client({
      allowedScopes: ['r', 'sys:internal'],
      defaultScopes: ['r', 'sys:internal'],
    })
    expectRedirect(
      await attack.authorize({ scope: 'sys:internal' }, { client: listed }),
      'invalid_scope',
    )
    expect((await attack.grant({ scope: undefined }, { client: listed })).scope).toBe('r')
    const machine = await attack.token({ grant_type: 'client_credentials' }, { client: listed })
    expect(machine.body.scope).toBe('r')
  })

  test('rejects a scope that the client may not request', async () => {
    const limited = await attack.client({ allowedScopes: ['r'] })
    expectRedirect(await attack.authorize({ scope: 'r w' }, { client: limited }), 'invalid_scope')
    expectJson(await pushed({ scope: 'w' }, limited), 400, 'invalid_scope')
    expectJson(
      await post('/oauth/device_authorization', { scope: 'w' }, limited),
      400,
      'invalid_scope',
    )
    expectJson(
      await attack.token({ grant_type: 'client_credentials', scope: 'w' }, { client: 'm2m' }),
      400,
      'invalid_scope',
    )
  })

  test.each([undefined, ''])('uses and shows the default scopes for scope=%j', async (scope) => {
    const client = await attack.client({ defaultScopes: ['r', 'w'] })
    const page = await attack.authorize({ scope }, { client, submit: null })
    expect(shown(page)).toEqual(['r', 'w'])
    expect((await attack.grant({ scope }, { client })).scope).toBe('r w')
    const bare = await attack.client()
    expect(shown(await attack.authorize({ scope }, { client: bare, submit: null }))).toEqual([])
    expect((await attack.grant({ scope }, { client: bare })).scope).toBe('')
  })

  test('uses the default scopes of the setting if the client has no default scopes', async () => {
    await using other = await startAttackServer({ defaultScopes: ['r'] })
    const client = await other.client()
    const page = await other.authorize({ scope: undefined }, { client, submit: null })
    expect(shown(page)).toEqual(['r'])
    expect((await other.grant({ scope: undefined }, { client })).scope).toBe('r')
    // The default scopes do not include scopes that the client may not request.
    const limited = await other.client({ allowedScopes: ['w'] })
    expect((await other.grant({ scope: undefined }, { client: limited })).scope).toBe('')
  })
})

describe('SC-02 Additional scopes in the consent form', () => {
  /** Opens the consent page for `r`, and submits the form with changes. */
  const decided = async (
    changes: string,
    { inQuery = '', type = 'application/x-www-form-urlencoded' } = {},
  ): Promise<HttpResponse> => {
    const { agent } = await attack.browser('a')
    const asked = { scope: 'r', prompt: 'consent' }
    const page = await attack.authorize(asked, { client: free, submit: null })
    const hidden = [...page.text.matchAll(/<input type="hidden" name="(\w+)" value="([^"]+)">/g)]
    const fields = Object.fromEntries(hidden.map(([, name = '', value = '']) => [name, value]))
    const form = `${formOf({ ...fields, confirm: 'yes' })}${changes}`
    const body =
      type === 'application/json'
        ? JSON.stringify({ ...fields, confirm: 'yes', scope: 'r w' })
        : form
    return attack.request(`/oauth/authorize${inQuery}`, {
      agent,
      method: 'POST',
      body,
      headers: { 'content-type': type },
    })
  }

  test.each([
    ['a scope in the body', '&scope=r+w', ''],
    ['only another scope in the body', '&scope=rw:all', ''],
    ['the field scopes[]', '&scopes[]=w&scope[]=w&scopes=w', ''],
    ['the field optional_scope', '&optional_scope=w&optional_scope=rw:all', ''],
    ['the field default_scopes', '&default_scopes=w', ''],
    ['a scope in the query', '', '?scope=r+w'],
    ['a whole request in the query', '', '?response_type=code&scope=rw:all&prompt=none'],
  ])('grants only the displayed scopes despite %s', async (_, changes, inQuery) => {
    const { query } = await decided(changes, { inQuery })
    const response = await attack.token({ code: query.code }, { client: free })
    expect([response.status, response.body.scope]).toEqual([200, 'r'])
    const [{ scopes = '' } = {}] = await attack.server.query(
      `select scopes from oauth2server_consent join oauth2server_client using (client_key) where client_id = '${free.clientId}'`,
    )
    expect(String(scopes)).not.toContain('w')
  })

  test('rejects a decision as JSON', async () => {
    const response = await decided('', { type: 'application/json' })
    expect([response.status, response.location]).toEqual([400, undefined])
  })
})

describe('SC-05 Scope syntax', () => {
  test.each([
    ['two spaces', 'r  w'],
    ['surrounding spaces', ' r w '],
    ['duplicate scopes', 'r r w r r'],
    ['200 duplicate scopes', Array(200).fill('r w').join(' ')],
  ])('normalizes %s', async (_, scope) => {
    expect((await attack.grant({ scope })).scope).toBe('r w')
  })

  test.each([
    ['a tab', 'r\tw'],
    ['a line break', 'r\nw'],
    ['a header after a line break', 'r\r\nSet-Cookie: x=1'],
    ['a plus sign', 'r+w'],
    ['a quote', 'r"x'],
    ['a backslash', 'r\\'],
    ['a NUL character', 'r\0'],
    ['a comma', 'r,w'],
    ['a character outside ASCII', 'r\u00E9'],
    ['a no-break space', 'r\u00A0w'],
    ['a full-width letter', '\uFF52'],
    ['a lone surrogate', 'r\uD83D'],
    ['a DEL character', 'r\u007F'],
    ['200 unknown scopes', Array.from({ length: 200 }, (_, n) => `s${n}`).join(' ')],
    ['a scope of 3 kB', 'x'.repeat(3_000)],
  ])('rejects %s with invalid_scope, without returning it in a header', async (_, scope) => {
    const before = await attack.state()
    const asked = await attack.authorize({ scope })
    expectRedirect(asked, 'invalid_scope')
    expect(asked.query.error_description).toMatch(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/)
    const machine = { grant_type: 'client_credentials', scope }
    const responses = [await pushed({ scope }), await attack.token(machine, { client: free })]
    for (const response of responses) {
      expectJson(response, 400, 'invalid_scope')
      expect([...response.headers.values()].join()).not.toMatch(/x=1|\\/)
    }
    expect(await attack.state()).toEqual(before)
  })

  test.each(['r"x', 'r\\', 'r w', '', 'r\n', 'r\u00E9', 'r\u007F', 'x'.repeat(256)])(
    'refuses to register the scope %j',
    (id) => {
      expect(() => new Scope(id)).toThrow(TypeError)
    },
  )

  test('rejects an invalid scope at a refresh without consuming the refresh token', async () => {
    const { refreshToken } = await attack.grant({ scope: 'r w' })
    for (const scope of ['r\tw', 'r"', 'r,w', 'r bogus'])
      expectJson(await attack.refresh(refreshToken, { scope }), 400, 'invalid_scope')
    expect((await attack.refresh(refreshToken, { scope: 'r  r' })).body.scope).toBe('r')
  })
})

describe('SC-06 Resources of tokens [T554]', () => {
  const unusable = {
    'an unknown resource': 'https://other.example',
    'a resource with a fragment': `${notes}#part`,
    'a resource with an empty fragment': `${notes}#`,
    'a relative URL': '/notes',
    'a text that is not a URL': 'notes',
    'a resource in another case': 'https://api.example/Notes',
    'a resource with a query': `${notes}?`,
    'a part of a resource': 'https://api.example',
    'a path below a resource': `${notes}/1`,
    'a resource with another scheme': 'http://api.example/notes',
    'two resources in one value': `${notes} ${mail}`,
    'the resource __proto__': '__proto__',
  }

  test.each(Object.entries(unusable))('returns invalid_target for %s', async (_, resource) => {
    const code = await attack.code()
    const before = await attack.state()
    expectRedirect(await attack.authorize({ resource }), 'invalid_target')
    // The server also rejects the request if it contains an additional valid resource.
    expectRedirect(await attack.authorize({ resource: [notes, resource] }), 'invalid_target')
    expectJson(await pushed({ resource }), 400, 'invalid_target')
    const machine = { grant_type: 'client_credentials', resource }
    expectJson(await attack.token(machine, { client: 'm2m' }), 400, 'invalid_target')
    expectJson(await attack.token({ code, resource }), 400, 'invalid_target')
    expect(await attack.state()).toEqual(before)
    expect((await attack.token({ code })).status).toBe(200)
  })

  test('issues a token that is valid for exactly the two requested resources', async () => {
    const both = await attack.grant({ resource: [notes, mail] })
    expectBearer(await attack.ping(both.accessToken), 'invalid_token')
    const [{ resources = '' } = {}] = await attack.server.query(
      'select resources from oauth2server_token order by id desc limit 1',
    )
    expect(String(resources)).toContain(notes)
    expect(String(resources)).toContain(mail)
    expect(String(resources)).not.toContain(attack.issuer)
    // A refresh cannot add a resource that was not granted.
    const here = { resource: attack.issuer }
    expectJson(await attack.refresh(both.refreshToken, here), 400, 'invalid_target')
    const narrowed = await attack.refresh(both.refreshToken, { resource: mail })
    expectBearer(await attack.ping(String(narrowed.body.access_token)), 'invalid_token')
  })

  test('ignores the parameter resource if RFC 8707 is disabled', async () => {
    await using off = await startAttackServer({ resourceIndicators: false })
    for (const resource of [notes, '/relative', [notes, mail]] as const) {
      const { accessToken } = await off.grant({ resource })
      expect((await off.ping(accessToken)).status).toBe(200)
    }
  })

  test('rejects a token of another issuer on the same database', async () => {
    await using other = await startAttackServer({ resources: [{ resource: notes }] })
    const token = async (resource: string): Promise<string> => {
      const given = { grant_type: 'client_credentials', resource }
      return String((await other.token(given, { client: 'm2m' })).body.access_token)
    }
    const [restricted, elsewhere] = [await token(other.issuer), await token(notes)]
    expect((await other.ping(restricted)).status).toBe(200)
    expectBearer(await other.ping(elsewhere), 'invalid_token')
    const beside = { beside: other.server, scopes: [new Scope('r'), new Scope('w')] }
    await using twin = await startServer({ ...beside, basePath: '/twin' })
    for (const value of [restricted, elsewhere]) expect(await ping(twin, value)).toBe(401)
    // A server with another secret key does not start on the same database.
    const secretKeys = ['another secret key of more than 32 bytes']
    await expect(startServer({ ...beside, secretKeys })).rejects.toThrow(/key/)
  })
})
