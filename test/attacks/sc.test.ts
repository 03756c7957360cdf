import { Scope } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { at, Person } from '../pages/settings/support.ts'
import { basicOf } from '../support/form.ts'
import { register } from '../support/registration.ts'
import { startServer } from '../support/server.ts'
import { ping } from '../support/user-agent.ts'
import {
  type Answer,
  type AttackClient,
  type AttackServer,
  expectBearer,
  expectJson,
  expectRedirect,
  formOf,
  type Over,
  startAttackServer,
} from './support/attack-server.ts'

const notes = 'https://api.example/notes'
const mail = 'https://mail.example'

let attack: AttackServer
/** A client without its own limits, a public client, and one with client_credentials. */
let free: AttackClient
beforeAll(async () => {
  attack = await startAttackServer({ resources: [{ resource: notes }, { resource: mail }] })
  free = await attack.client({ name: 'Free', defaultScopes: ['r'] })
})
afterAll(() => attack.close())

const person = async (): Promise<Person> =>
  new Person(attack.server, await attack.browser('a'), attack.users.a.user)

/** A request of `free`, or of another confidential client, to an endpoint that takes forms. */
const post = (path: string, fields: Over, { clientId, clientSecret } = free): Promise<Answer> =>
  attack.request(path, {
    method: 'POST',
    body: new URLSearchParams(formOf(fields)),
    headers: basicOf({ clientId, clientSecret }),
  })

const pushed = (over: Over, client = free): Promise<Answer> => {
  const { searchParams } = new URL(attack.authorizeUrl(over, { client }))
  return post('/oauth/par', Object.fromEntries(searchParams), client)
}

/** The scopes that a page shows. */
const shown = ({ text }: Pick<Answer, 'text'>): readonly string[] =>
  [...text.matchAll(/<li>(?:<label[^>]*>.*?<span>)?[^<]*<code>([^<]+)<\/code>/g)].map(
    ([, id = '']) => id,
  )

/** Scopes that no client may request. */
const beyond = {
  unknown: 'r bogus',
  'an internal one': 'sys:internal',
  'an internal one among others': 'r sys:internal',
  'a member of every object': 'constructor',
  'another case': 'R',
  'a part of one': 'rw:',
} as const

describe('SC-01 Unknown, internal and un-granted scopes [T543]', () => {
  test.each(Object.entries(beyond))('rejects %s at every endpoint', async (_, scope) => {
    const before = await attack.state()
    expectRedirect(await attack.authorize({ scope }), 'invalid_scope')
    expectRedirect(await attack.authorize({ scope }, { method: 'POST' }), 'invalid_scope')
    const machine = { grant_type: 'client_credentials', scope }
    const answers = [
      await pushed({ scope }),
      await post('/oauth/device_authorization', { scope }),
      await attack.token(machine, { client: free }),
      await attack.token(machine, { client: 'm2m' }),
    ]
    for (const answer of answers) expectJson(answer, 400, 'invalid_scope')
    const { status, body } = await register(attack.server, {
      redirect_uris: ['https://client.example/cb'],
      scope,
    })
    expect([status, body.error]).toEqual([400, 'invalid_client_metadata'])
    expect(await attack.state()).toEqual(before)
  })

  test.each(['sys:internal', 'bogus', 'constructor'])(
    'rejects %s in the forms of personal tokens and applications',
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

  test('rejects an internal scope in an authorization request, even if code listed it for the client', async () => {
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

  test('rejects w for a client that is limited to r', async () => {
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

  test('uses the scopes of the setting if the client has none, and never all', async () => {
    await using other = await startAttackServer({ defaultScopes: ['r'] })
    const client = await other.client()
    const page = await other.authorize({ scope: undefined }, { client, submit: null })
    expect(shown(page)).toEqual(['r'])
    expect((await other.grant({ scope: undefined }, { client })).scope).toBe('r')
    // The setting does not extend the limit of a client.
    const limited = await other.client({ allowedScopes: ['w'] })
    expect((await other.grant({ scope: undefined }, { client: limited })).scope).toBe('')
  })
})

describe('SC-02 Consent POST cannot add scope', () => {
  /** Shows the page for `r` of a client that may request more, and submits a changed form. */
  const decided = async (
    changes: string,
    { inQuery = '', type = 'application/x-www-form-urlencoded' } = {},
  ): Promise<Answer> => {
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
    ['scope in the body', '&scope=r+w', ''],
    ['another scope in the body', '&scope=rw:all', ''],
    ['scopes[]', '&scopes[]=w&scope[]=w&scopes=w', ''],
    ['optional_scope', '&optional_scope=w&optional_scope=rw:all', ''],
    ['default_scopes', '&default_scopes=w', ''],
    ['scope in the query', '', '?scope=r+w'],
    ['a whole request in the query', '', '?response_type=code&scope=rw:all&prompt=none'],
  ])('%s: grants only the shown scopes', async (_, changes, inQuery) => {
    const { query } = await decided(changes, { inQuery })
    const answer = await attack.token({ code: query.code }, { client: free })
    expect([answer.status, answer.body.scope]).toEqual([200, 'r'])
    const [{ scopes = '' } = {}] = await attack.server.query(
      `select scopes from oauth2server_consent join oauth2server_client using (client_key) where client_id = '${free.clientId}'`,
    )
    expect(String(scopes)).not.toContain('w')
  })

  test('rejects a decision as JSON', async () => {
    const answer = await decided('', { type: 'application/json' })
    expect([answer.status, answer.location]).toEqual([400, undefined])
  })
})

describe('SC-05 Scope syntax', () => {
  test.each([
    ['two spaces', 'r  w'],
    ['spaces around', ' r w '],
    ['duplicates', 'r r w r r'],
    ['200 duplicates', Array(200).fill('r w').join(' ')],
  ])('collapses %s', async (_, scope) => {
    expect((await attack.grant({ scope })).scope).toBe('r w')
  })

  test.each([
    ['a tab', 'r\tw'],
    ['a line break', 'r\nw'],
    ['a carriage return and what could be a header', 'r\r\nSet-Cookie: x=1'],
    ['a plus sign', 'r+w'],
    ['a quote', 'r"x'],
    ['a backslash', 'r\\'],
    ['NUL', 'r\0'],
    ['a comma', 'r,w'],
    ['beyond ASCII', 'r\u00E9'],
    ['a no-break space', 'r\u00A0w'],
    ['a full-width letter', '\uFF52'],
    ['a lone half of a surrogate pair', 'r\uD83D'],
    ['DEL', 'r\u007F'],
    ['200 scopes', Array.from({ length: 200 }, (_, n) => `s${n}`).join(' ')],
    ['3 kB', 'x'.repeat(3_000)],
  ])('%s: invalid_scope, and nothing of it in a header', async (_, scope) => {
    const before = await attack.state()
    const asked = await attack.authorize({ scope })
    expectRedirect(asked, 'invalid_scope')
    expect(asked.query.error_description).toMatch(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/)
    const machine = { grant_type: 'client_credentials', scope }
    const answers = [await pushed({ scope }), await attack.token(machine, { client: free })]
    for (const answer of answers) {
      expectJson(answer, 400, 'invalid_scope')
      expect([...answer.headers.values()].join()).not.toMatch(/x=1|\\/)
    }
    expect(await attack.state()).toEqual(before)
  })

  test.each(['r"x', 'r\\', 'r w', '', 'r\n', 'r\u00E9', 'r\u007F', 'x'.repeat(256)])(
    'rejects the registration of %j, so that no challenge contains it',
    (id) => {
      expect(() => new Scope(id)).toThrow(TypeError)
    },
  )

  test('applies the same syntax to a refresh, which consumes nothing', async () => {
    const { refreshToken } = await attack.grant({ scope: 'r w' })
    for (const scope of ['r\tw', 'r"', 'r,w', 'r bogus'])
      expectJson(await attack.refresh(refreshToken, { scope }), 400, 'invalid_scope')
    expect((await attack.refresh(refreshToken, { scope: 'r  r' })).body.scope).toBe('r')
  })
})

describe('SC-06 Audience / resource [T554]', () => {
  const unusable = {
    unknown: 'https://other.example',
    'with a fragment': `${notes}#part`,
    'with an empty fragment': `${notes}#`,
    relative: '/notes',
    'no address': 'notes',
    'of another case': 'https://api.example/Notes',
    'with a query': `${notes}?`,
    'a part of one': 'https://api.example',
    'beyond one': `${notes}/1`,
    'by another scheme': 'http://api.example/notes',
    'two in one': `${notes} ${mail}`,
    'a member of every object': '__proto__',
  }

  test.each(Object.entries(unusable))('returns invalid_target for %s', async (_, resource) => {
    const code = await attack.code()
    const before = await attack.state()
    expectRedirect(await attack.authorize({ resource }), 'invalid_target')
    // A known resource beside it makes no difference.
    expectRedirect(await attack.authorize({ resource: [notes, resource] }), 'invalid_target')
    expectJson(await pushed({ resource }), 400, 'invalid_target')
    const machine = { grant_type: 'client_credentials', resource }
    expectJson(await attack.token(machine, { client: 'm2m' }), 400, 'invalid_target')
    expectJson(await attack.token({ code, resource }), 400, 'invalid_target')
    expect(await attack.state()).toEqual(before)
    expect((await attack.token({ code })).status).toBe(200)
  })

  test('issues a token for both of two resources, and for no other', async () => {
    const both = await attack.grant({ resource: [notes, mail] })
    expectBearer(await attack.ping(both.accessToken), 'invalid_token')
    const [{ resources = '' } = {}] = await attack.server.query(
      'select resources from oauth2server_token order by id desc limit 1',
    )
    expect(String(resources)).toContain(notes)
    expect(String(resources)).toContain(mail)
    expect(String(resources)).not.toContain(attack.issuer)
    // A refresh cannot get a resource that was not granted.
    const here = { resource: attack.issuer }
    expectJson(await attack.refresh(both.refreshToken, here), 400, 'invalid_target')
    const narrowed = await attack.refresh(both.refreshToken, { resource: mail })
    expectBearer(await attack.ping(String(narrowed.body.access_token)), 'invalid_token')
  })

  test('ignores the parameter if RFC 8707 is disabled', async () => {
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
    // With another secret key, the token is unknown.
    const secretKeys = ['another secret key of more than 32 bytes']
    await expect(startServer({ ...beside, secretKeys })).rejects.toThrow(/key/)
  })
})
