import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { unescaped } from '../support/html.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { browser } from '../support/session.ts'
import { formIn, responseTo, TestClient, UserAgent } from '../support/user-agent.ts'

let app: TestServer
let agent: UserAgent
beforeAll(async () => {
  app = await startServer()
  agent = new UserAgent({ 'user-agent': browser })
  await agent.logIn(app)
})
afterAll(() => app.close())

const scope = 'notes:read notes:write user:email'

/** Registers a client with the optional scopes `notes:write` and `user:email`. */
const register = (input = {}): Promise<TestClient> =>
  TestClient.register(app, agent, { optionalScopes: ['notes:write', 'user:email'], ...input })

/** Opens the consent page. Returns its hidden fields, and for each checkbox whether it is ticked. */
const open = async (client: TestClient, given: Record<string, string | undefined> = {}) => {
  const page = await agent.fetch(client.url({ scope, ...given }))
  expect(page.status).toBe(200)
  return read(await page.text())
}

const read = (html: string) => {
  const boxes = [...html.matchAll(/<input type="checkbox"[^>]*>/g)].map(([box]) => {
    expect(box).toContain('name="optional_scope"')
    const value = unescaped(/ value="([^"]*)"/.exec(box)?.[1] ?? '')
    return [value, / checked/.test(box)] as const
  })
  return { ...formIn(html), boxes: Object.fromEntries(boxes), html }
}

type Fields = readonly (readonly [string, string])[]

const post = (hidden: Record<string, string>, fields: Fields, query = ''): Promise<Response> =>
  agent.fetch(`${app.issuer}/oauth/authorize${query}`, {
    method: 'POST',
    body: new URLSearchParams([...Object.entries(hidden), ...fields] as [string, string][]),
  })

/** Consents with the given checkboxes ticked. Returns the scopes of the issued token. */
const allow = async (
  client: TestClient,
  ticked: readonly string[],
  {
    given = {},
    further = [],
    query = '',
  }: { given?: Record<string, string>; further?: Fields; query?: string } = {},
): Promise<string> => {
  const { hidden } = await open(client, given)
  const boxes = ticked.map((id) => ['optional_scope', id] as const)
  return granted(client, await post(hidden, [...boxes, ...further, ['confirm', 'yes']], query))
}

const granted = async (client: TestClient, response: Response): Promise<string> => {
  expect(response.status).toBe(303)
  const { code = '' } = responseTo(client, new URL(response.headers.get('location') ?? ''))
  const { status, body } = await client.redeem(code)
  expect(status).toBe(200)
  return body.scope
}

describe('optional scopes on the consent page', () => {
  test('shows ticked checkboxes for optional scopes only', async () => {
    const { boxes, html } = await open(await register())
    expect(boxes).toEqual({ 'notes:write': true, 'user:email': true })
    expect(html).toContain('<code>notes:read</code>')
  })

  test('shows no checkboxes if the request contains no optional scopes', async () => {
    expect((await open(await register({ optionalScopes: [] }))).boxes).toEqual({})
    expect((await open(await register(), { scope: 'notes:read' })).boxes).toEqual({})
  })

  test('issues a token with the required scopes and the ticked scopes [T043]', async () => {
    const client = await register()
    expect(await allow(client, ['notes:write', 'user:email'])).toBe(scope)
    const other = await register()
    expect(await allow(other, ['user:email'])).toBe('notes:read user:email')
    expect(await allow(await register(), [])).toBe('notes:read')
  })

  test('limits implicit and refreshed tokens to the granted scopes', async () => {
    const client = await register()
    const { hidden } = await open(client, { response_type: 'token' })
    const response = await post(hidden, [['confirm', 'yes']])
    const target = new URL(response.headers.get('location') ?? '')
    expect(responseTo(client, target, 'fragment').scope).toBe('notes:read')
    const code = await open(client, { prompt: 'consent' })
    const redirect = await post(code.hidden, [['confirm', 'yes']])
    const { body } = await client.redeem(
      responseTo(client, new URL(redirect.headers.get('location') ?? '')).code ?? '',
    )
    const wider = await client.refresh(body.refresh_token, { scope })
    expect([wider.status, wider.body.error]).toEqual([400, 'invalid_scope'])
    expect((await client.refresh(body.refresh_token)).body.scope).toBe('notes:read')
  })

  test('issues a token without scopes if the user unticks all scopes', async () => {
    const client = await register()
    expect(await allow(client, [], { given: { scope: 'notes:write user:email' } })).toBe('')
  })

  test('does not remember the ticked scopes after a denial', async () => {
    const client = await register()
    const { hidden } = await open(client)
    const response = await post(hidden, [
      ['optional_scope', 'notes:write'],
      ['confirm', 'no'],
    ])
    expect(responseTo(client, new URL(response.headers.get('location') ?? '')).error).toBe(
      'access_denied',
    )
    expect(await app.server.consents.find(app.user.id, client.clientId)).toBeUndefined()
    expect((await open(client)).boxes).toEqual({ 'notes:write': true, 'user:email': true })
  })
})

describe('decision §4.7 remembered decisions on optional scopes', () => {
  const silently = async (client: TestClient, given = {}): Promise<string> =>
    granted(client, await agent.fetch(client.url({ scope, ...given })))

  test('does not ask again for a declined scope', async () => {
    const client = await register()
    await allow(client, ['user:email'])
    expect(await silently(client)).toBe('notes:read user:email')
    expect(await silently(client, { scope: 'notes:write' })).toBe('')
    expect(await silently(client, { scope: 'notes:read' })).toBe('notes:read')
  })

  test('shows the earlier decisions in the checkboxes if a later request contains more scopes', async () => {
    const client = await register()
    await allow(client, [], { given: { scope: 'notes:read notes:write' } })
    const { boxes } = await open(client)
    expect(boxes).toEqual({ 'notes:write': false, 'user:email': true })
    expect(await allow(client, ['notes:write'])).toBe('notes:read notes:write')
    expect(await silently(client)).toBe('notes:read notes:write')
  })

  test('no longer grants a scope that the user unticks later', async () => {
    const client = await register()
    await allow(client, ['notes:write', 'user:email'])
    expect(await allow(client, ['user:email'], { given: { prompt: 'consent' } })).toBe(
      'notes:read user:email',
    )
    expect(await silently(client)).toBe('notes:read user:email')
  })

  test('asks again for a declined scope that is no longer optional', async () => {
    const client = await register()
    await allow(client, ['user:email'])
    await app.server.clients.update(client.clientId, { optionalScopes: ['user:email'] })
    const { boxes } = await open(client)
    expect(boxes).toEqual({ 'user:email': true })
    const none = await agent.fetch(client.url({ scope, prompt: 'none' }))
    expect(none.headers.get('location')).toContain('error=consent_required')
  })

  test('for a public client, asks each time and shows the earlier decisions in the checkboxes', async () => {
    const client = await register({ isConfidential: false })
    await allow(client, ['notes:write'])
    expect((await open(client)).boxes).toEqual({ 'notes:write': true, 'user:email': false })
  })
})

describe('SC-02 manipulated consent forms', () => {
  test.each<[string, Fields]>([
    ['scope', [['scope', 'notes:read notes:write user:email']]],
    [
      'scopes[]',
      [
        ['scopes[]', 'notes:write'],
        ['scopes', 'notes:write'],
      ],
    ],
    ['optional_scope with a scope that was not requested', [['optional_scope', 'notes:write']]],
    ['optional_scope with an internal scope', [['optional_scope', 'test:scope']]],
    ['optional_scope with an unknown scope', [['optional_scope', 'rw:all']]],
    ['optional_scope with two scopes in one value', [['optional_scope', 'notes:write user:email']]],
    [
      'optional_scope[]',
      [
        ['optional_scope[]', 'notes:write'],
        ['optional_scope[0]', 'notes:write'],
      ],
    ],
    [
      'client_id and redirect_uri',
      [
        ['client_id', 'x'],
        ['redirect_uri', 'https://evil.example'],
      ],
    ],
  ])('grants no additional scopes for the form field %s', async (_, further) => {
    const client = await register({ optionalScopes: ['notes:write'] })
    for (const query of ['', '?scope=notes:write&optional_scope=notes:write'])
      expect(
        await allow(client, [], {
          given: { scope: 'notes:read', prompt: 'consent' },
          further,
          query,
        }),
      ).toBe('notes:read')
  })

  test('grants required scopes even if the form does not contain them', async () => {
    const client = await register({ optionalScopes: ['user:email'] })
    expect(await allow(client, ['notes:read'])).toBe('notes:read notes:write')
  })

  test('rejects the form if the optional scopes changed after the page was shown', async () => {
    for (const optionalScopes of [
      [],
      ['notes:write'],
      ['notes:read', 'notes:write', 'user:email'],
    ]) {
      const client = await register()
      const { hidden } = await open(client)
      await app.server.clients.update(client.clientId, { optionalScopes })
      const response = await post(hidden, [['confirm', 'yes']])
      expect(response.status).toBe(400)
      expect(await response.text()).toContain('The application was changed or deleted')
      expect(await app.server.consents.find(app.user.id, client.clientId)).toBeUndefined()
    }
  })

  test('shows the submitted checkboxes again if the CSRF token is wrong', async () => {
    const { hidden } = await open(await register())
    const again = await post({ ...hidden, csrf_token: 'x' }, [
      ['optional_scope', 'user:email'],
      ['confirm', 'yes'],
    ])
    expect(again.status).toBe(403)
    expect(read(await again.text()).boxes).toEqual({ 'notes:write': false, 'user:email': true })
  })
})

describe('information about the client on the consent page', () => {
  const unverified = 'has not verified this application'

  test('warns about an unverified client until an administrator verifies it', async () => {
    const client = await register()
    expect((await open(client)).html).toContain(unverified)
    await app.server.clients.mark(client.clientId, { isVerified: true })
    expect((await open(client)).html).not.toContain(unverified)
  })

  test('does not warn about an internal application', async () => {
    expect((await open(await register({ isInternal: true }))).html).not.toContain(unverified)
  })

  test('warns about a name with mixed alphabets', async () => {
    const warning = 'The name contains letters that look like letters of another alphabet'
    expect((await open(await register({ name: 'Paypаl' }))).html).toContain(warning)
    expect((await open(await register({ name: 'Paypal' }))).html).not.toContain(warning)
  })

  test('stores the browser in which the user consented', async () => {
    const client = await register()
    await allow(client, [])
    const found = await app.server.authorizedApplications.listByUser(app.user.id, {
      after: null,
      limit: 100,
    })
    expect(JSON.stringify(found)).toContain(browser)
  })
})
