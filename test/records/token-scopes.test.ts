import { type Grant, OAuthError, Scope, ScopeDoesNotExists } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { basicOf, postForm } from '../support/form.ts'
import { startServer, type TestServer } from '../support/server.ts'

// The scopes of a token: the records refuse them, whichever code asks for the token.

const grantTypes = ['client', 'user'] as const
const extensionGrant = 'urn:example:any-scopes'

/** A grant of the application that issues whatever scopes the parameter `wanted` lists. */
const anyScopes: Grant = {
  type: extensionGrant,
  actsForClient: true,
  parameters: ['wanted'],
  async redeem({ client, params }) {
    const scopes = params.required('wanted').split(' ')
    return { type: 'client', client, subject: client.owner, scopes }
  },
}

describe('the scopes of a new token', () => {
  let app: TestServer
  beforeAll(async () => {
    app = await startServer({ extensions: [{ name: 'example', grants: [anyScopes] }] })
  })
  afterAll(() => app.close())

  const issue = async (type: (typeof grantTypes)[number], scopes: readonly string[]) => {
    const { client } = await app.server.clients.create({ name: 'Issuer', userId: app.user.id })
    const basic = { client, subject: app.user, scopes }
    return app.server.tokens.issue(
      type === 'client' ? { ...basic, type } : { ...basic, type, refreshable: true },
    )
  }
  const rows = () => app.query('select id from oauth2server_token').then(({ length }) => length)

  test.each(grantTypes)('token-rule-1 must be registered: %s [T4100]', async (type) => {
    const before = await rows()
    await expect(issue(type, ['notes:read', 'never:registered'])).rejects.toThrow(
      ScopeDoesNotExists,
    )
    expect(await rows()).toBe(before)
  })

  test.each(grantTypes)('token-rule-1 have no duplicates: %s [T4101]', async (type) => {
    const { token } = await issue(type, ['notes:read', 'notes:write', 'notes:read'])
    expect(token.scopes).toEqual(['notes:read', 'notes:write'])
    expect((await app.server.tokens.get(token.id))?.scopes).toEqual(['notes:read', 'notes:write'])
  })

  test.each(grantTypes)('scope-rule-3 are not internal: %s [T4102]', async (type) => {
    const before = await rows()
    const refused = issue(type, ['notes:read', 'test:scope'])
    await expect(refused).rejects.toMatchObject({ code: 'invalid_scope' })
    await expect(refused).rejects.toThrow(OAuthError)
    expect(await rows()).toBe(before)
  })

  test.each(['never:registered', 'test:scope'])(
    'a grant of the application that returns %s is answered with invalid_scope [T4103]',
    async (scope) => {
      const client = await app.client()
      const fields = { grant_type: extensionGrant, wanted: `notes:read ${scope}` }
      const response = await postForm(`${app.issuer}/oauth/token`, fields, basicOf(client))
      expect([response.status, response.body.error]).toEqual([400, 'invalid_scope'])
      const doubled = { ...fields, wanted: 'notes:read notes:read' }
      const issued = await postForm(`${app.issuer}/oauth/token`, doubled, basicOf(client))
      expect([issued.status, issued.body.scope]).toEqual([200, 'notes:read'])
    },
  )

  test('have no duplicates if saveToken doubles them [T4104]', async () => {
    await using other = await startServer({
      saveToken: (data, _request, next) =>
        next({ ...data, fields: { ...data.fields, scopes: ['notes:read', 'notes:read'] } }),
    })
    const { client } = await other.server.clients.create({ name: 'C', userId: other.user.id })
    const { token } = await other.server.tokens.issue({
      type: 'client',
      client,
      subject: other.user,
      scopes: ['notes:read', 'notes:write'],
    })
    expect(token.scopes).toEqual(['notes:read'])
  })

  test('a refresh and an exchange omit a scope that is no longer registered [T4105]', async () => {
    const scopes = ['notes:read', 'notes:write'].map((id) => new Scope(id))
    await using first = await startServer({ scopes, tokenExchange: true })
    const client = await first.client()
    const found = await first.server.clients.find(client.clientId)
    if (!found) throw new Error('The client is missing.')
    const { refreshToken, accessToken } = await first.server.tokens.issue({
      type: 'user',
      client: found,
      subject: first.user,
      scopes: ['notes:read', 'notes:write'],
      refreshable: true,
    })
    await using second = await startServer({
      beside: first,
      scopes: scopes.slice(0, 1),
      tokenExchange: true,
    })
    const send = (fields: Record<string, string>) =>
      postForm(`${second.issuer}/oauth/token`, fields, basicOf(client))
    const exchanged = await send({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: accessToken,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    })
    expect([exchanged.status, exchanged.body.scope]).toEqual([200, 'notes:read'])
    const refreshed = await send({
      grant_type: 'refresh_token',
      refresh_token: String(refreshToken),
    })
    expect([refreshed.status, refreshed.body.scope]).toEqual([200, 'notes:read'])
  })
})

test('token-rule-3 create_personal(name, user_id, scopes=None, is_internal) accepts null and undefined [T4106]', async () => {
  await using app = await startServer()
  const { tokens } = app.server
  for (const none of [undefined, null]) {
    const internal = await tokens.createPersonal('Internal', app.user.id, none, true)
    expect([internal.isInternal, internal.scopes]).toEqual([true, []])
    const ordinary = await tokens.createPersonal('Ordinary', app.user.id, none)
    expect([ordinary.isInternal, ordinary.scopes]).toEqual([false, []])
  }
})
