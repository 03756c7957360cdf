import type { ClientInput, User } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { allPages } from '../store/pages.ts'
import { clientKeyOf, count, execute } from '../support/database.ts'
import { recordOperations } from '../support/operations.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { clientOf, statusOf } from '../support/tokens.ts'
import { TestClient, UserAgent } from '../support/user-agent.ts'

const firstPage = { after: null, limit: 50 }

describe('authorized applications', () => {
  let app: TestServer
  let accounts = 0
  beforeAll(async () => {
    app = await startServer()
  })
  afterAll(() => app.close())

  const authorized = () => app.server.authorizedApplications
  /** Creates a user and logs the user in with a browser. */
  const account = async (userAgent = 'Mozilla/5.0 (laptop)') => {
    accounts += 1
    const user = await app.server.users.create({
      email: `user-${accounts}@example.org`,
      password: app.password,
    })
    return { user, agent: new UserAgent({ 'user-agent': userAgent }) }
  }
  /** Registers an application of another user, which the given user can authorize in the browser. */
  const application = (
    { user, agent }: { user: User; agent: UserAgent },
    input: Partial<ClientInput> = {},
  ) => TestClient.register({ ...app, user }, agent, { ...input, userId: app.user.id })
  const of = async (user: User) => (await authorized().listByUser(user.id, firstPage)).items
  /** Issues tokens under a new authorization of the user, without a browser. */
  const issue = async (user: User, clientId: string, scopes = ['notes:read']) => {
    const client = await clientOf(app, clientId)
    const type = 'user' as const
    return app.server.tokens.issue({ type, client, subject: user, scopes, refreshable: true })
  }

  describe('the list', () => {
    test('has one entry for each application, with its scopes, the time of the consent and its devices', async () => {
      const me = await account('Größe/1.0')
      const client = await application(me, { name: 'Reader' })
      const agreedAt = app.now()
      const first = await client.tokens({ scope: 'notes:read notes:write' })
      app.advance(10)
      const second = await client.tokens({ scope: 'notes:read' })
      const [entry, ...more] = await of(me.user)
      expect(more).toEqual([])
      expect(entry).toMatchObject({
        client: { clientId: client.clientId, name: 'Reader', owner: { id: app.user.id } },
        scopes: ['notes:read', 'notes:write'],
        grantedAt: agreedAt,
        deviceCount: 2,
      })
      const idOf = async ({ access_token: accessToken }: typeof first) =>
        (await app.server.tokens.find({ accessToken }))?.token.id
      const device = {
        clientId: client.clientId,
        userAgent: 'Größe/1.0',
        lastUse: null,
      }
      expect(entry?.devices).toEqual([
        {
          ...device,
          tokenId: await idOf(second),
          scopes: ['notes:read'],
          createdAt: app.now(),
          ends: app.now() + 2_592_000_000,
        },
        {
          ...device,
          tokenId: await idOf(first),
          scopes: ['notes:read', 'notes:write'],
          createdAt: agreedAt,
          ends: agreedAt + 2_592_000_000,
        },
      ])
      expect(JSON.stringify(entry)).not.toContain(first.access_token)
      expect(JSON.stringify(entry)).not.toContain(client.clientSecret)
    })

    test('contains the same device with the scopes of its authorization after a refresh', async () => {
      const me = await account()
      const client = await application(me)
      const { refresh_token } = await client.tokens({ scope: 'notes:read notes:write' })
      const [before] = await of(me.user)
      app.advance(100)
      expect((await client.refresh(refresh_token, { scope: 'notes:read' })).status).toBe(200)
      const [after] = await of(me.user)
      expect(after?.devices).toEqual([
        { ...before?.devices[0], ends: Number(before?.devices[0]?.ends) + 100_000 },
      ])
    })

    test('contains a token of the implicit grant as a device until the token expires', async () => {
      const me = await account()
      const client = await application(me)
      const response = await client.ask({ response_type: 'token' })
      expect(response.hash).toContain('access_token=')
      expect((await of(me.user))[0]?.devices).toMatchObject([{ ends: app.now() + 3_600_000 }])
      app.advance(3_600)
      expect(await of(me.user)).toMatchObject([{ deviceCount: 0, devices: [] }])
    })

    test('contains an application without devices if the application received no token', async () => {
      const me = await account()
      const client = await application(me)
      await client.code()
      expect(await of(me.user)).toMatchObject([
        {
          client: { clientId: client.clientId },
          scopes: ['notes:read'],
          devices: [],
          deviceCount: 0,
        },
      ])
    })

    test('contains the scopes of the devices, but no time of consent, if no consent is stored', async () => {
      const { user } = await account()
      const { clientId } = await app.client()
      await issue(user, clientId, ['notes:read'])
      await issue(user, clientId, ['notes:write', 'notes:read'])
      const [entry] = await of(user)
      expect(entry?.grantedAt).toBeNull()
      expect([...(entry?.scopes ?? [])].sort()).toEqual(['notes:read', 'notes:write'])
      expect(entry?.devices.map(({ userAgent }) => userAgent)).toEqual(['', ''])
    })

    test('contains the latest 10 of 23 devices and the number 23, and the devices of other applications', async () => {
      const { user } = await account()
      const [many, one] = [(await app.client()).clientId, (await app.client()).clientId]
      await issue(user, one)
      const ids: number[] = []
      for (let index = 0; index < 23; index += 1) ids.unshift((await issue(user, many)).token.id)
      const entries = await of(user)
      const entry = (clientId: string) =>
        entries.find(({ client }) => client.clientId === clientId) ?? expect.unreachable()
      expect(entry(many).deviceCount).toBe(23)
      expect(entry(many).devices.map(({ tokenId }) => tokenId)).toEqual(ids.slice(0, 10))
      expect(entry(one)).toMatchObject({ deviceCount: 1, devices: [{ clientId: one }] })
      expect(await authorized().revoke(user.id, many)).toBe(true)
      expect((await of(user)).map(({ client }) => client.clientId)).toEqual([one])
      expect(
        count(
          app.database,
          `oauth2server_token where client_key = ${clientKeyOf(app.database, many)}`,
        ),
      ).toBe(0)
    })

    test('is divided into pages, with the newest applications first', async () => {
      const { user } = await account()
      const made: string[] = []
      for (let index = 0; index < 7; index += 1) {
        const { clientId } = await app.client({ name: `A${index}` })
        made.unshift(clientId)
        await app.server.consents.grant(user.id, clientId, ['notes:read'])
        if (index % 2 === 0) app.advance(1)
      }
      for (const limit of [1, 2, 7]) {
        const all = await allPages((cursor) => authorized().listByUser(user.id, cursor), limit)
        const ids = all.map(({ client }) => client.clientId)
        expect(ids.toSorted()).toEqual(made.toSorted())
        const ages = all.map(({ client }) => client.createdAt)
        expect(ages).toEqual(ages.toSorted((a, b) => b - a))
      }
    })

    test('requires a number of store operations that does not depend on the number of rows', async () => {
      const { operations: asked, aroundStore } = recordOperations()
      await using counted = await startServer({ beside: app, aroundStore })
      // Omit the operations of the start.
      asked.length = 0
      const { user } = await account()
      for (let index = 0; index < 6; index += 1) {
        const { clientId } = await app.client()
        await app.server.consents.grant(user.id, clientId, ['notes:read'])
        for (let devices = 0; devices < 3; devices += 1) await issue(user, clientId)
      }
      const { items } = await counted.server.authorizedApplications.listByUser(user.id, firstPage)
      expect(items).toHaveLength(6)
      expect(asked.sort()).toEqual([
        'clients.list authorized',
        'consents.select',
        'tokens.authorizedOf',
      ])
    })

    test('contains the time and the IP address of the last use of a device', async () => {
      const me = await account()
      const client = await application(me)
      const { access_token } = await client.tokens()
      const headers = { authorization: `Bearer ${access_token}`, 'x-forwarded-for': '2001:db8::7' }
      {
        // The server writes the recorded last uses to the store when the server closes.
        await using node = await startServer({ beside: app, trustedProxies: ['127.0.0.1'] })
        expect((await fetch(`${node.issuer}/api/me`, { headers })).status).toBe(200)
      }
      expect((await of(me.user))[0]?.devices[0]?.lastUse).toEqual({
        at: app.now(),
        address: '2001:db8::7',
      })
    })

    test('contains no data of an altered consent, and omits an application whose row was altered', async () => {
      const { user } = await account()
      const { clientId } = await app.client()
      await app.server.consents.grant(user.id, clientId, ['notes:read'])
      await issue(user, clientId, ['notes:read'])
      const widen =
        "update oauth2server_consent set scopes = 'notes:read notes:write' where user_id = ?"
      expect(execute(app.database, widen, Number(user.id))).toBe(1)
      expect(await of(user)).toMatchObject([{ scopes: ['notes:read'], grantedAt: null }])
      const lead =
        "update oauth2server_client set redirect_uris = 'https://x.example' where client_id = ?"
      execute(app.database, lead, clientId)
      expect(await of(user)).toEqual([])
      // The user can still revoke the altered application.
      expect(await authorized().revoke(user.id, clientId)).toBe(true)
      expect(
        count(
          app.database,
          `oauth2server_token where client_key = ${clientKeyOf(app.database, clientId)}`,
        ),
      ).toBe(0)
    })
  })

  describe('a device', () => {
    test('is found by the ID of its token, but not for another user, a personal token or an unknown ID', async () => {
      const [{ user }, other] = [await account(), await account()]
      const { clientId } = await app.client()
      const { token } = await issue(user, clientId)
      const device = await authorized().device(user.id, token.id)
      expect(device).toEqual((await of(user))[0]?.devices[0])
      expect(await authorized().device(other.user.id, token.id)).toBeUndefined()
      const personal = await app.server.personalTokens.create('T', user.id)
      const machine = await app.server.tokens.issue({
        type: 'client',
        client: await clientOf(app, clientId),
        subject: user,
        scopes: [],
      })
      for (const id of [personal.id, machine.token.id, 0, -1, 4711_000, Number.NaN])
        expect(await authorized().device(user.id, id), `${id}`).toBeUndefined()
      await app.server.tokens.revoke(token)
      expect(await authorized().device(user.id, token.id)).toBeUndefined()
    })

    test('can be revoked without revoking the consent or the other devices of the application', async () => {
      const me = await account()
      const client = await application(me)
      const [one, other] = [await client.tokens(), await client.tokens()]
      const [, first] = (await of(me.user))[0]?.devices ?? []
      const token = await app.server.tokens.get(first?.tokenId ?? 0)
      expect(await app.server.tokens.revoke(token ?? expect.unreachable())).toBe(true)
      expect(await statusOf(app, one.access_token)).toBe(401)
      expect(await statusOf(app, other.access_token)).toBe(200)
      expect(await of(me.user)).toMatchObject([{ deviceCount: 1, scopes: ['notes:read'] }])
    })
  })

  describe('revoking an application', () => {
    const furnished = async () => {
      const [me, somebody] = [await account(), await account()]
      const [client, another] = [await application(me), await application(me)]
      const theirs = new TestClient(
        { ...app, user: somebody.user },
        somebody.agent,
        {
          clientId: client.clientId,
          clientSecret: client.clientSecret,
          redirectUri: client.redirectUri,
        },
        'basic',
      )
      const mine = [await client.tokens(), await client.tokens()]
      return {
        me,
        client,
        theirs,
        mine,
        elsewhere: await another.tokens(),
        ofSomebody: await theirs.tokens(),
        personal: (await app.server.personalTokens.create('T', me.user.id)).accessToken,
        machine: (
          await app.server.tokens.issue({
            type: 'client',
            client: await clientOf(app, client.clientId),
            subject: me.user,
            scopes: [],
          })
        ).accessToken,
      }
    }

    test('revokes all access and refresh tokens of the application for the user, and requires a new consent', async () => {
      const { me, client, mine } = await furnished()
      expect(await authorized().revoke(me.user.id, client.clientId)).toBe(true)
      for (const { access_token, refresh_token } of mine) {
        expect(await statusOf(app, access_token)).toBe(401)
        expect((await client.refresh(refresh_token)).body.error).toBe('invalid_grant')
      }
      expect(await app.server.consents.find(me.user.id, client.clientId)).toBeUndefined()
      const page = await me.agent.browse(client.url())
      expect(page.status, 'the consent page is shown').toBe(200)
      expect((await of(me.user)).map((entry) => entry.client.clientId)).not.toContain(
        client.clientId,
      )
      expect(await authorized().revoke(me.user.id, client.clientId)).toBe(false)
    })

    test('invalidates pending codes, even if the user consents again before the client redeems the codes', async () => {
      const { me, client } = await furnished()
      const [one, two] = [await client.code(), await client.code()]
      await authorized().revoke(me.user.id, client.clientId)
      expect((await client.redeem(one)).body.error).toBe('invalid_grant')
      const fresh = await client.code()
      expect((await client.redeem(two)).body.error).toBe('invalid_grant')
      expect((await client.redeem(fresh)).status).toBe(200)
    })

    test('rejects a repeated refresh within the leeway', async () => {
      const { me, client, mine } = await furnished()
      const { refresh_token = '' } = mine[0] ?? {}
      const { body } = await client.refresh(refresh_token)
      await authorized().revoke(me.user.id, client.clientId)
      expect((await client.refresh(refresh_token)).body.error).toBe('invalid_grant')
      expect((await client.refresh(body.refresh_token)).body.error).toBe('invalid_grant')
      expect(await statusOf(app, body.access_token)).toBe(401)
    })

    test('does not affect other applications, other users, personal tokens or tokens of client_credentials', async () => {
      const { me, client, theirs, elsewhere, ofSomebody, personal, machine } = await furnished()
      await authorized().revoke(me.user.id, client.clientId)
      for (const token of [elsewhere.access_token, ofSomebody.access_token, personal, machine])
        expect(await statusOf(app, token)).toBe(200)
      expect((await theirs.refresh(ofSomebody.refresh_token)).status).toBe(200)
      expect(await app.server.consents.find(theirs.app.user.id, client.clientId)).toBeDefined()
    })

    test('revokeAll() revokes every application for the user, and no application for other users', async () => {
      const { me, client, mine, elsewhere, ofSomebody, personal, machine, theirs } =
        await furnished()
      const code = await client.code()
      await authorized().revokeAll(me.user.id)
      for (const { access_token } of [...mine, elsewhere])
        expect(await statusOf(app, access_token)).toBe(401)
      expect((await client.redeem(code)).body.error).toBe('invalid_grant')
      expect(await of(me.user)).toEqual([])
      for (const token of [ofSomebody.access_token, personal, machine])
        expect(await statusOf(app, token)).toBe(200)
      expect(await of(theirs.app.user)).toHaveLength(1)
      await authorized().revokeAll(me.user.id)
    })

    test('returns false and changes nothing if the user has not authorized the application', async () => {
      const { user } = await account()
      expect(await authorized().revoke(user.id, (await app.client()).clientId)).toBe(false)
      expect(await authorized().revoke(user.id, 'nope')).toBe(false)
      expect(await authorized().revoke(4711, '')).toBe(false)
    })

    test('changes nothing if an operation fails', async () => {
      const { me, client, mine } = await furnished()
      let fails = false
      await using failing = await startServer({
        beside: app,
        aroundStore: async ({ name }, run) => {
          const result = await run()
          if (fails && name === 'authorizations.revokeOfUser')
            throw new Error('failed after the last write')
          return result
        },
      })
      fails = true
      const { authorizedApplications } = failing.server
      for (const attempt of [
        () => authorizedApplications.revoke(me.user.id, client.clientId),
        () => authorizedApplications.revokeAll(me.user.id),
      ])
        await expect(attempt()).rejects.toThrow('failed after the last write')
      expect(await app.server.consents.find(me.user.id, client.clientId)).toBeDefined()
      expect(await statusOf(app, mine[0]?.access_token ?? '')).toBe(200)
    })

    test('also revokes the tokens that a concurrent redemption of a code or refresh token issues', async () => {
      const { me, client, mine } = await furnished()
      const codes = [await client.code(), await client.code(), await client.code()]
      const responses = await Promise.all([
        ...codes.slice(0, 2).map((code) => client.redeem(code)),
        ...mine.map(({ refresh_token }) => client.refresh(refresh_token)),
        authorized()
          .revoke(me.user.id, client.clientId)
          .then(() => undefined),
        client.redeem(codes[2] ?? ''),
      ])
      for (const response of responses) {
        if (response?.status === 200)
          expect(await statusOf(app, response.body.access_token)).toBe(401)
        else if (response) expect(response.body.error).toBe('invalid_grant')
      }
      expect(await of(me.user)).toMatchObject([
        { client: { clientId: expect.not.stringMatching(client.clientId) } },
      ])
    })
  })

  test('truncates a user agent of more than 512 characters', async () => {
    const me = await account('x'.repeat(2_000))
    const client = await application(me)
    await client.tokens()
    expect((await of(me.user))[0]?.devices[0]?.userAgent).toBe('x'.repeat(512))
  })
})
