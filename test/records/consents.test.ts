import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { clientKeyOf, execute } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'

describe('a stored consent', () => {
  let app: TestServer
  beforeAll(async () => {
    app = await startServer()
  })
  afterAll(() => app.close())

  /** Applies decisions in order for a new client, and returns the stored consent. */
  const consentAfter = async (
    ...decisions: readonly [granted: string[], declined?: string[]][]
  ) => {
    const { clientId } = await app.client()
    for (const [granted, declined] of decisions) {
      const options = declined === undefined ? {} : { declined }
      const given = await app.server.consents.grant(app.user.id, clientId, granted, options)
      expect(await app.server.consents.find(app.user.id, clientId)).toEqual(given)
    }
    const { scopes, declinedScopes } =
      (await app.server.consents.find(app.user.id, clientId)) ?? expect.unreachable()
    return [[...scopes].sort(), [...declinedScopes].sort()]
  }

  test('contains granted and refused scopes', async () => {
    expect(await consentAfter([['a', 'b'], ['c']])).toEqual([['a', 'b'], ['c']])
    expect(await consentAfter([['a']])).toEqual([['a'], []])
    expect(await consentAfter([[], ['c', 'd', 'c']])).toEqual([[], ['c', 'd']])
    expect(await consentAfter([[]])).toEqual([[], []])
  })

  test('moves a refused scope to the granted scopes when the user grants the scope later', async () => {
    expect(await consentAfter([['a'], ['b', 'c']], [['a', 'b']])).toEqual([['a', 'b'], ['c']])
    expect(await consentAfter([['a'], ['b']], [['b'], []])).toEqual([['a', 'b'], []])
  })

  test('moves a granted scope to the refused scopes when the user refuses the scope later', async () => {
    expect(await consentAfter([['a', 'b']], [['c'], ['b']])).toEqual([['a', 'c'], ['b']])
    expect(await consentAfter([['a', 'b']], [[], ['a', 'b']])).toEqual([[], ['a', 'b']])
  })

  test('contains the last decision on each scope after several changes', async () => {
    expect(await consentAfter([['a']], [[], ['a']], [['a']], [[], ['a']])).toEqual([[], ['a']])
    expect(await consentAfter([[], ['a']], [['a']], [['b'], ['a']], [['a']])).toEqual([
      ['a', 'b'],
      [],
    ])
  })

  test('has the same ID, but the time of the last decision, after each decision', async () => {
    const { clientId } = await app.client()
    const first = await app.server.consents.grant(app.user.id, clientId, ['a'])
    app.advance(5)
    const second = await app.server.consents.grant(app.user.id, clientId, ['b'], {
      declined: ['a'],
    })
    expect(second.id).toBe(first.id)
    expect(second.grantedAt).toBe(app.now())
  })

  test.each([
    ['removed refused scopes', "declined_scopes = ''"],
    ['additional refused scopes', "declined_scopes = 'b c d'"],
    ['a refused scope as a granted scope', "scopes = 'a b', declined_scopes = 'c'"],
    ['exchanged columns', "scopes = 'b c', declined_scopes = 'a'"],
  ])('is ignored after it was altered without the key to contain %s', async (_, set) => {
    const { clientId } = await app.client()
    await app.server.consents.grant(app.user.id, clientId, ['a'], { declined: ['b', 'c'] })
    execute(
      app.database,
      `update oauth2server_consent set ${set} where client_key = ?`,
      clientKeyOf(app.database, clientId),
    )
    expect(await app.server.consents.find(app.user.id, clientId)).toBeUndefined()
    // The next decision ignores the altered row.
    const next = await app.server.consents.grant(app.user.id, clientId, ['e'])
    expect([next.scopes, next.declinedScopes]).toEqual([['e'], []])
  })

  test('contains the refused scopes after the client ID changes', async () => {
    const { clientId } = await app.client()
    await app.server.consents.grant(app.user.id, clientId, ['a'], { declined: ['b'] })
    const renewed = await app.server.clients.resetClientId(clientId)
    expect(await app.server.consents.find(app.user.id, renewed.clientId)).toMatchObject({
      scopes: ['a'],
      declinedScopes: ['b'],
    })
  })

  test('contains all scopes of several concurrent decisions', async () => {
    const { clientId } = await app.client()
    const scopes = Array.from({ length: 10 }, (_, index) => `s${index}`)
    await Promise.all(
      scopes.map((scope, index) =>
        index % 2 === 0
          ? app.server.consents.grant(app.user.id, clientId, [scope])
          : app.server.consents.grant(app.user.id, clientId, [], { declined: [scope] }),
      ),
    )
    const consent = await app.server.consents.find(app.user.id, clientId)
    expect([...(consent?.scopes ?? [])].sort()).toEqual(['s0', 's2', 's4', 's6', 's8'])
    expect([...(consent?.declinedScopes ?? [])].sort()).toEqual(['s1', 's3', 's5', 's7', 's9'])
  })
})
