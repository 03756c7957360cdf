import type { IssuedToken, User } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { call, type Outcome, post } from '../../support/load.ts'
import { lacks } from '../../support/needs.ts'
import { type NodeClient, password, registerClient } from '../../support/nodes.ts'
import { sharedRedis } from '../../support/redis.ts'
import { browser } from '../../support/session.ts'
import { type Site, startSite } from '../../support/site.ts'
import { UserAgent } from '../../support/user-agent.ts'

const isLacking = (await lacks('postgres')) || (await lacks('redis'))

/** A user with a session, a personal token, and an authorization of another user's client. */
interface Subject {
  readonly user: User
  readonly client: NodeClient
  readonly issued: IssuedToken
  readonly personal: {
    readonly id: number
    readonly accessToken: string
    readonly clientId: string
  }
  readonly headers: Readonly<Record<string, string>>
}

describe.skipIf(isLacking)(
  'a change at one node applies to the first requests to all nodes',
  () => {
    let site: Site
    beforeAll(async () => {
      site = await startSite({ redisUrl: sharedRedis })
    })
    afterAll(() => site?.[Symbol.asyncDispose]())

    let made = 0
    const newSubject = async (): Promise<Subject> => {
      const { records } = site
      made += 1
      const user = await records.users.create({ email: `someone-${made}@example.org`, password })
      const client = await registerClient(records, site.user)
      const found = await records.clients.find(client.clientId)
      if (!found) throw new Error('There is no client.')
      const issued = await records.tokens.issue({
        type: 'user',
        client: found,
        subject: user,
        scopes: ['notes:read'],
        refreshable: true,
      })
      const personal = await records.tokens.createPersonal('Laptop', user.id)
      const agent = new UserAgent({ 'user-agent': browser })
      await agent.logIn({ issuer: site.node(0).url, user, password })
      const cookie = await agent.jar.getCookieString('http://localhost')
      return { user, client, issued, personal, headers: { cookie, 'user-agent': browser } }
    }

    const outcomeText = ({ status, error }: Outcome): string =>
      `${status}${error ? ` ${error}` : ''}`

    /** Sends a request to every node concurrently, and returns the response. Expects that all responses are equal. */
    const everywhere = async (
      ask: (url: string, turn: number) => Promise<string>,
    ): Promise<string> => {
      const responses = await Promise.all(site.nodes.map(({ url }, turn) => ask(url, turn)))
      expect(new Set(responses).size, responses.join(', ')).toBe(1)
      return responses[0] ?? ''
    }
    const look = (token: string) =>
      everywhere(async (url) =>
        outcomeText(
          await call({ url: `${url}/oauth/ping`, headers: { authorization: `Bearer ${token}` } }),
        ),
      )
    const refresh = ({ client, issued }: Subject) =>
      everywhere(async (_, turn) =>
        outcomeText(await post(client.refreshForm(site.node(turn), issued.refreshToken))),
      )
    const machine = ({ client }: Subject) =>
      everywhere(async (_, turn) =>
        outcomeText(await post(client.form(site.node(turn), { grant_type: 'client_credentials' }))),
      )
    const session = ({ user, headers }: Subject) =>
      everywhere(async (url) => {
        const page = await fetch(`${url}/`, { headers })
        return (await page.text()).includes(user.email) ? 'logged in' : 'nobody'
      })
    const state = async (one: Subject) => ({
      access: await look(one.issued.accessToken),
      personal: await look(one.personal.accessToken),
      session: await session(one),
      machine: await machine(one),
    })
    const well = { access: '200', personal: '200', session: 'logged in', machine: '200' }

    const actor = () => ({ user: site.user, address: '127.0.0.1' })
    const acts: Record<
      string,
      { act: (one: Subject) => Promise<unknown>; leaves: Partial<typeof well>; refresh: string }
    > = {
      'a token is revoked': {
        act: ({ issued }) => site.records.tokens.revoke(issued.token),
        leaves: { access: '401 invalid_token' },
        refresh: '400 invalid_grant',
      },
      'a client revokes its token at one node (RFC 7009 §2.1)': {
        act: async ({ client, issued }) => {
          const form = client.form(site.node(0), { token: issued.accessToken })
          const { status } = await post({ ...form, url: `${site.node(0).url}/oauth/revoke` })
          expect(status).toBe(200)
        },
        leaves: { access: '401 invalid_token' },
        refresh: '400 invalid_grant',
      },
      'an application is revoked': {
        act: ({ user, client }) =>
          site.records.authorizedApplications.revoke(user.id, client.clientId),
        leaves: { access: '401 invalid_token' },
        refresh: '400 invalid_grant',
      },
      'a personal token is deleted': {
        act: ({ personal }) => site.records.administration.deleteToken(personal.id, actor()),
        leaves: { personal: '401 invalid_token' },
        refresh: '200',
      },
      'a personal token is rotated': {
        act: ({ personal }) => site.records.personalTokens.rotate(personal.id),
        leaves: { personal: '401 invalid_token' },
        refresh: '200',
      },
      'a user is deactivated': {
        act: ({ user }) => site.records.users.setActive(user.id, false),
        leaves: { access: '401 invalid_token', personal: '401 invalid_token', session: 'nobody' },
        refresh: '400 invalid_grant',
      },
      'a user is deleted': {
        act: ({ user }) => site.records.users.delete(user.id),
        leaves: { access: '401 invalid_token', personal: '401 invalid_token', session: 'nobody' },
        refresh: '400 invalid_grant',
      },
      'a password is changed': {
        act: ({ user }) => site.records.users.setPassword(user.id, `${password}!`),
        leaves: { session: 'nobody' },
        refresh: '200',
      },
      'a client is disabled': {
        act: ({ client }) =>
          site.records.administration.actOnClient(client.clientId, 'disable', actor()),
        leaves: { access: '401 invalid_token', machine: '401 invalid_client' },
        refresh: '401 invalid_client',
      },
      'a client is deleted': {
        act: ({ client }) => site.records.clients.delete(client.clientId),
        leaves: { access: '401 invalid_token', machine: '401 invalid_client' },
        refresh: '401 invalid_client',
      },
      'a secret is reset': {
        act: ({ client }) => site.records.clients.resetClientSecret(client.clientId),
        leaves: { machine: '401 invalid_client' },
        refresh: '401 invalid_client',
      },
    }

    test.each(Object.keys(acts))('when %s', async (name) => {
      const {
        act,
        leaves,
        refresh: refreshed,
      } = acts[name] ?? acts['a token is revoked'] ?? never()
      const one = await newSubject()
      // Every node has looked up the valid credentials, so its caches contain them.
      expect(await state(one)).toEqual(well)
      await act(one)
      expect(await state(one)).toEqual({ ...well, ...leaves })
      expect(await refresh(one)).toBe(refreshed)
    })

    test('reactivating a user and enabling a client apply to the first requests to all nodes', async () => {
      const one = await newSubject()
      await site.records.users.setActive(one.user.id, false)
      await site.records.administration.actOnClient(one.client.clientId, 'disable', actor())
      expect(await look(one.issued.accessToken)).toBe('401 invalid_token')
      await site.records.users.setActive(one.user.id, true)
      await site.records.administration.actOnClient(one.client.clientId, 'enable', actor())
      expect(await state(one)).toEqual(well)
    })

    test('a second refresh at one node invalidates the first access token at all nodes', async () => {
      const one = await newSubject()
      expect(await look(one.issued.accessToken)).toBe('200')
      const { status, body } = await post(
        one.client.refreshForm(site.node(0), one.issued.refreshToken),
      )
      expect(status).toBe(200)
      expect(await look(one.issued.accessToken)).toBe('200')
      const second = await post(one.client.refreshForm(site.node(0), String(body.refresh_token)))
      expect(await look(one.issued.accessToken)).toBe('401 invalid_token')
      expect(await look(String(second.body.access_token))).toBe('200')
    })

    test('a logout at one node ends the session at all nodes', async () => {
      const one = await newSubject()
      expect(await session(one)).toBe('logged in')
      const { url } = site.node(0)
      const home = await (await fetch(`${url}/`, { headers: one.headers })).text()
      const token = /name="csrf_token" value="([^"]+)"/.exec(home)?.[1] ?? ''
      const left = await fetch(`${url}/logout`, {
        method: 'POST',
        redirect: 'manual',
        headers: one.headers,
        body: new URLSearchParams({ csrf_token: token }),
      })
      expect(left.status).toBe(303)
      expect(await session(one)).toBe('nobody')
    })
  },
)

const never = (): never => {
  throw new Error('There is no such act.')
}
