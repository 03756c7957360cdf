import { StoreUnavailable } from 'svc-oauth2server'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Actor, ClientAct } from '../../src/records/administration.ts'
import type { Cursor } from '../../src/store/contract/page.ts'
import { allPages } from '../store/pages.ts'
import { count, execute, query } from '../support/database.ts'
import { recordOperations } from '../support/operations.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { authorizationOf, clientOf, statusOf } from '../support/tokens.ts'

describe('administration', () => {
  let app: TestServer
  let actor: Actor
  /** The name of the store operation after which the store throws an error. */
  let failing: string | undefined
  beforeAll(async () => {
    app = await startServer({
      async aroundStore({ name }, run) {
        const result = await run()
        if (name === failing) throw new StoreUnavailable(name)
        return result
      },
    })
    const user = await app.server.users.create({
      email: 'admin@example.org',
      password: null,
      isAdmin: true,
    })
    actor = { user, address: '192.0.2.1' }
  })
  afterAll(() => app.close())
  beforeEach(() => {
    failing = undefined
    execute(app.database, 'delete from oauth2server_audit')
  })

  const administration = () => app.server.administration
  /** Returns the events of administrators in the audit log, without the events of the set-up. */
  const recorded = () =>
    query(
      app.database,
      `select id, at, event, actor, actor_id, actor_email, user_id, client_id, token_id, subject, address
      from oauth2server_audit where actor = 'user' order by id`,
    )
  const acts = async (limit: number) => {
    const { items } = await app.server.activity.search({}, { after: null, limit: 100 })
    return items.filter(({ actor }) => actor === 'user').slice(0, limit)
  }
  const state = async (clientId: string) => {
    const client = await app.server.clients.find(clientId)
    return client && { isVerified: client.isVerified, isDisabled: client.isDisabled }
  }

  describe('operations on a client', () => {
    test.each<[ClientAct, string, { isVerified: boolean; isDisabled: boolean } | undefined]>([
      ['verify', 'client.verified', { isVerified: true, isDisabled: false }],
      ['unverify', 'client.unverified', { isVerified: false, isDisabled: false }],
      ['disable', 'client.disabled', { isVerified: false, isDisabled: true }],
      ['enable', 'client.enabled', { isVerified: false, isDisabled: false }],
      ['delete', 'client.deleted', undefined],
    ])(
      '%s takes effect, and records %s with the actor, the client, the time and the IP address',
      async (act, event, after) => {
        const { clientId } = await app.client({ name: 'Größe' })
        if (act === 'unverify') await app.server.clients.mark(clientId, { isVerified: true })
        if (act === 'enable') await app.server.clients.mark(clientId, { isDisabled: true })
        await administration().actOnClient(clientId, act, actor)
        expect(await state(clientId)).toEqual(after)
        expect(recorded()).toEqual([
          {
            id: expect.any(Number),
            at: app.now(),
            event,
            actor: 'user',
            actor_id: String(actor.user.id),
            actor_email: 'admin@example.org',
            user_id: String(app.user.id),
            client_id: clientId,
            token_id: null,
            subject: 'Größe',
            address: '192.0.2.1',
          },
        ])
      },
    )

    test.each<ClientAct>(['verify', 'unverify', 'disable', 'enable', 'delete'])(
      '%s changes nothing if the event cannot be recorded',
      async (act) => {
        const { clientId } = await app.client()
        const isVerified = act === 'unverify'
        const isDisabled = act === 'enable'
        await app.server.clients.mark(clientId, { isVerified, isDisabled })
        const { accessToken } = await authorizationOf(app, clientId)
        const status = await statusOf(app, accessToken)
        failing = 'audit.add'
        await expect(administration().actOnClient(clientId, act, actor)).rejects.toThrow(
          StoreUnavailable,
        )
        failing = undefined
        expect(await state(clientId)).toEqual({ isVerified, isDisabled })
        expect(await statusOf(app, accessToken)).toBe(status)
        expect(recorded()).toEqual([])
      },
    )

    test.each<[ClientAct, string]>([
      ['verify', 'clients.update'],
      ['disable', 'clients.update'],
      ['delete', 'clients.delete'],
    ])('%s records nothing if the operation fails', async (act, operation) => {
      const { clientId } = await app.client()
      failing = operation
      await expect(administration().actOnClient(clientId, act, actor)).rejects.toThrow(
        StoreUnavailable,
      )
      failing = undefined
      expect(recorded()).toEqual([])
      expect(await state(clientId)).toEqual({ isVerified: false, isDisabled: false })
    })

    test.each<ClientAct>(['verify', 'unverify', 'disable', 'enable', 'delete'])(
      '%s rejects an unknown client, an altered client and the client of a personal token, and records nothing',
      async (act) => {
        const personal = await app.server.personalTokens.create('T', app.user.id)
        const { clientId: altered } = await app.client()
        execute(
          app.database,
          "update oauth2server_client set redirect_uris = 'https://x.example' where client_id = ?",
          altered,
        )
        for (const clientId of ['nope', '', altered, personal.clientId])
          await expect(administration().actOnClient(clientId, act, actor)).rejects.toThrow(
            expect.objectContaining({ name: 'InvalidField', field: 'client_id' }),
          )
        expect(recorded()).toEqual([])
        expect(await statusOf(app, personal.accessToken)).toBe(200)
        const left = `oauth2server_client where client_id in ('${altered}', '${personal.clientId}')`
        expect(count(app.database, left)).toBe(2)
      },
    )

    test('pin refuses a client that no document describes, and records nothing [T2913]', async () => {
      const { clientId } = await app.client()
      await expect(administration().actOnClient(clientId, 'pin', actor)).rejects.toThrow(
        expect.objectContaining({ name: 'InvalidField', field: 'act' }),
      )
      expect(recorded()).toEqual([])
      expect((await app.server.clients.find(clientId))?.isPinned).toBe(false)
    })

    test('delete removes all rows of the client, but not its events in the audit log', async () => {
      const { clientId } = await app.client({ name: 'Gone' })
      const { accessToken } = await authorizationOf(app, clientId)
      await administration().actOnClient(clientId, 'disable', actor)
      await administration().actOnClient(clientId, 'delete', actor)
      expect(await statusOf(app, accessToken)).toBe(401)
      expect(await acts(10)).toMatchObject([
        { event: 'client.deleted', subject: 'Gone', clientId },
        { event: 'client.disabled', subject: 'Gone', clientId },
      ])
    })

    test('concurrent operations of two administrators are all recorded, and the last operation applies', async () => {
      const { clientId } = await app.client()
      const done = ['disable', 'enable', 'verify', 'disable'] as const
      await Promise.all(done.map((act) => administration().actOnClient(clientId, act, actor)))
      const [last] = await acts(10)
      expect(recorded()).toHaveLength(4)
      const marks = (await acts(10)).filter(({ event }) => !event.endsWith('verified'))
      expect(await state(clientId)).toEqual({
        isVerified: true,
        isDisabled: marks[0]?.event === 'client.disabled',
      })
      expect(last?.clientId).toBe(clientId)
    })
  })

  describe('deleteToken()', () => {
    const recordOf = (
      id: number,
      clientId: string,
      subject: string,
      userId: string | null = String(app.user.id),
    ) => ({
      id: expect.any(Number),
      at: app.now(),
      event: 'token.deleted',
      actor: 'user',
      user_id: userId,
      actor_id: String(actor.user.id),
      actor_email: 'admin@example.org',
      client_id: clientId,
      token_id: id,
      subject,
      address: '192.0.2.1',
    })

    test('deletes a personal token with its hidden client and its former value', async () => {
      const old = await app.server.personalTokens.create('Laptop', app.user.id)
      const { id, clientId, accessToken } = await app.server.personalTokens.rotate(old.id, {
        overlap: 60,
      })
      await administration().deleteToken(id, actor)
      for (const value of [old.accessToken, accessToken])
        expect(await statusOf(app, value)).toBe(401)
      expect(await app.server.clients.find(clientId)).toBeUndefined()
      expect(recorded()).toEqual([recordOf(id, clientId, 'Laptop')])
    })

    test('revokes the authorization of any other token, but no other authorization of the user and client', async () => {
      const { clientId } = await app.client({ name: 'Reader' })
      const [one, other] = [
        await authorizationOf(app, clientId),
        await authorizationOf(app, clientId),
      ]
      await administration().deleteToken(one.token.id, actor)
      expect(await statusOf(app, one.accessToken)).toBe(401)
      expect(await app.server.tokens.find({ refreshToken: one.refreshToken })).toBeUndefined()
      expect(await statusOf(app, other.accessToken)).toBe(200)
      expect(recorded()).toEqual([recordOf(one.token.id, clientId, 'Reader')])
    })

    test('deletes only the token if the token has no user or its client was altered', async () => {
      const { clientId } = await app.client()
      const client = await clientOf(app, clientId)
      const issue = () =>
        app.server.tokens.issue({ type: 'client', client, subject: null, scopes: [] })
      const [one, other] = [await issue(), await issue()]
      await administration().deleteToken(one.token.id, actor)
      expect(await statusOf(app, one.accessToken)).toBe(401)
      expect(await statusOf(app, other.accessToken)).toBe(200)
      const alter = "update oauth2server_client set redirect_uris = 'x' where client_id = ?"
      execute(app.database, alter, clientId)
      await administration().deleteToken(other.token.id, actor)
      expect(recorded()[1]).toEqual(recordOf(other.token.id, clientId, 'Client', null))
    })

    test('deletes nothing if the event cannot be recorded', async () => {
      const { clientId } = await app.client()
      const [granted, personal] = [
        await authorizationOf(app, clientId),
        await app.server.personalTokens.create('T', app.user.id),
      ]
      failing = 'audit.add'
      for (const id of [granted.token.id, personal.id])
        await expect(administration().deleteToken(id, actor)).rejects.toThrow(StoreUnavailable)
      failing = undefined
      for (const { accessToken } of [granted, personal])
        expect(await statusOf(app, accessToken)).toBe(200)
      expect(await app.server.tokens.find({ refreshToken: granted.refreshToken })).toBeDefined()
      expect(recorded()).toEqual([])
    })

    test('rejects an unknown token, and records nothing', async () => {
      const { id } = await app.server.personalTokens.create('T', app.user.id)
      await administration().deleteToken(id, actor)
      for (const gone of [id, 0, -1, 1.5, 4711_000])
        await expect(administration().deleteToken(gone, actor)).rejects.toThrow(
          expect.objectContaining({ name: 'InvalidField', field: 'token_id' }),
        )
      expect(recorded()).toHaveLength(1)
    })
  })

  describe('the audit log', () => {
    test('returns the latest events first, up to the limit', async () => {
      const { clientId } = await app.client()
      for (const act of ['verify', 'disable', 'enable'] as const) {
        app.advance(1)
        await administration().actOnClient(clientId, act, actor)
      }
      expect(await acts(2)).toEqual([
        {
          id: expect.any(Number),
          at: app.now(),
          event: 'client.enabled',
          actor: 'user',
          actorId: String(actor.user.id),
          actorEmail: 'admin@example.org',
          userId: String(app.user.id),
          userEmail: app.user.email,
          clientId,
          tokenId: null,
          authorizationId: null,
          subject: 'Client',
          address: '192.0.2.1',
          userAgent: '',
          requestId: null,
          isRoutine: false,
          details: {},
        },
        expect.objectContaining({ event: 'client.disabled', at: app.now() - 1_000 }),
      ])
    })

    test('does not delete events when their actor is deleted', async () => {
      const user = await app.server.users.create({
        email: 'former@example.org',
        password: null,
        isAdmin: true,
      })
      const { clientId } = await app.client()
      await administration().actOnClient(clientId, 'disable', { user, address: '::1' })
      await app.server.users.delete(user.id)
      expect(await acts(1)).toMatchObject([
        { actorId: String(user.id), actorEmail: 'former@example.org', address: '::1' },
      ])
    })
  })

  describe('the lists of administrators', () => {
    const whole = { after: null, limit: 100 }

    test('contain the clients of all users with their numbers of users, but no client of a personal token', async () => {
      const other = await app.server.users.create({ email: 'lister@example.org', password: null })
      const [mine, theirs, nobodys] = [
        await app.client({ name: 'ListedMine' }),
        await app.client({ name: 'ListedTheirs', userId: other.id }),
        await app.client({ name: 'ListedNobodys', userId: null }),
      ]
      await authorizationOf(app, theirs.clientId)
      await authorizationOf(app, theirs.clientId)
      await app.server.personalTokens.create('ListedPersonal', other.id)
      const { items } = await administration().clients('listed', whole)
      const seen = items.map(({ client, users }) => [client.clientId, client.owner?.email, users])
      expect(seen).toHaveLength(3)
      expect(seen).toEqual(
        expect.arrayContaining([
          [mine.clientId, app.user.email, 0],
          [theirs.clientId, 'lister@example.org', 2],
          [nobodys.clientId, undefined, 0],
        ]),
      )
      const byOwner = (await administration().clients('lister@', whole)).items
      expect(byOwner.map(({ client }) => client.name)).toEqual(['ListedTheirs'])
      const all = await allPages((cursor) => administration().clients('', cursor), 3, {
        isFiltered: true,
      })
      expect(new Set(all.map(({ client }) => client.clientId)).size).toBe(all.length)
      expect(all.every(({ client }) => !client.isPersonal)).toBe(true)
    })

    test('are searched for a name in any Unicode normalization form', async () => {
      const { clientId } = await app.client({ name: 'Gr\u00f6\u00dfe' })
      const ids = (await administration().clients('gro\u0308\u00dfe', whole)).items.map(
        ({ client }) => client.clientId,
      )
      expect(ids).toContain(clientId)
    })

    test('omit an altered client row, and continue with the next rows', async () => {
      const names = ['Part0', 'Part1', 'Part2', 'Part3', 'Part4']
      for (const name of names) await app.client({ name })
      const alter = "update oauth2server_client set redirect_uris = 'x' where name = ?"
      for (const name of ['Part1', 'Part3']) execute(app.database, alter, name)
      for (const limit of [1, 2, 5]) {
        const read = (cursor: Cursor) => administration().clients('Part', cursor)
        const seen = await allPages(read, limit, { isFiltered: true })
        expect(seen.map(({ client }) => client.name).sort()).toEqual(['Part0', 'Part2', 'Part4'])
      }
    })

    test('contain the tokens of all users, including internal tokens, without the values of the tokens', async () => {
      const other = await app.server.users.create({ email: 'holder@example.org', password: null })
      const internal = await app.server.personalTokens.create('Internal', other.id, {
        isInternal: true,
      })
      const { clientId } = await app.client({ name: 'Holder' })
      const client = await clientOf(app, clientId)
      const granted = await app.server.tokens.issue({
        type: 'user',
        client,
        subject: other,
        scopes: ['notes:read'],
        refreshable: true,
      })
      const { items } = await administration().tokens('Holder@example.org', whole)
      expect(items.map(({ fields, clientName }) => [fields.id, clientName])).toEqual([
        [granted.token.id, 'Holder'],
        [internal.id, 'Internal'],
      ])
      expect(JSON.stringify(items)).not.toContain(granted.accessToken)
      expect((await administration().tokens(clientId, whole)).items).toHaveLength(1)
      expect((await administration().tokens(String(internal.id), whole)).items).toHaveLength(1)
      const all = await allPages((cursor) => administration().tokens('', cursor), 3)
      expect(all).toHaveLength(count(app.database, 'oauth2server_token'))
    })

    test('require a number of store operations that does not depend on the number of rows', async () => {
      const { operations: asked, aroundStore } = recordOperations()
      await using counted = await startServer({ beside: app, aroundStore })
      // Omit the operations of the start.
      asked.length = 0
      await counted.server.administration.clients('', whole)
      await counted.server.administration.tokens('', whole)
      await counted.server.clients.ofOwner(app.user.id, whole)
      await counted.server.personalTokens.listByUser(app.user.id, whole)
      expect(asked).toEqual([
        'clients.list matching',
        'clients.countTokens',
        'tokens.list matching',
        'clients.list owned',
        'clients.countTokens',
        'tokens.list personal',
      ])
    })
  })
})
