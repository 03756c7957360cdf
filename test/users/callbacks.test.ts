import {
  type AuthorizationServer,
  StoreUnavailable,
  type User,
  type UserId,
} from 'svc-oauth2server'
import { createTestServer } from 'svc-oauth2server/testing'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { storeOf } from '../support/internals.ts'
import { statusOf } from './status.ts'

// The store has no users: the server looks them up through callbacks of the application.

const people = new Map<UserId, User>()
let asked: UserId[]
let server: AuthorizationServer

const add = (id: UserId, changed: Partial<User> = {}): UserId => {
  const user = { email: `${id}@example.org`, emailVerified: true, active: true, isAdmin: false }
  people.set(id, Object.freeze({ id, ...user, ...changed }))
  return id
}

beforeEach(async () => {
  people.clear()
  asked = []
  server = await createTestServer({
    allowedGrantTypes: ['authorization_code', 'client_credentials', 'refresh_token', 'password'],
    users: {
      keyType: 'text',
      async find(id) {
        asked.push(id)
        return people.get(id)
      },
      async withPassword(email, password) {
        const user = [...people.values()].find((person) => person.email === email)
        return password === 'secret' ? user : undefined
      },
    },
  })
})
afterEach(() => server.close())

describe('users through callbacks only', () => {
  test('are looked up for every request, so that a deactivation takes effect immediately', async () => {
    const id = add('ada')
    const { accessToken, userId } = await server.tokens.createPersonal('Laptop', id)
    expect(userId).toBe('ada')
    expect(await statusOf(server, accessToken)).toBe(200)
    add('ada', { active: false })
    expect(await statusOf(server, accessToken)).toBe(401)
    add('ada')
    expect(await statusOf(server, accessToken)).toBe(200)
    people.delete('ada')
    expect(await statusOf(server, accessToken)).toBe(401)
    expect(asked.filter((who) => who === 'ada').length).toBeGreaterThanOrEqual(4)
  })

  test('are also looked up as owners of clients', async () => {
    const { client, clientSecret } = await server.clients.create({
      name: 'C',
      userId: add('owner'),
    })
    const token = async () => {
      const body = new URLSearchParams({ grant_type: 'client_credentials' })
      const headers = { authorization: `Basic ${btoa(`${client.clientId}:${clientSecret}`)}` }
      const request = new Request('http://localhost/oauth/token', { method: 'POST', headers, body })
      const response = await server.fetch(request)
      return { status: response.status, body: (await response.json()) as Record<string, string> }
    }
    const issued = await token()
    expect(issued.status).toBe(200)
    expect((await server.clients.update(client.clientId, { name: 'D' })).isActive).toBe(true)
    add('owner', { active: false })
    expect(await token()).toMatchObject({ status: 401, body: { error: 'invalid_client' } })
    expect(await statusOf(server, issued.body.access_token ?? '')).toBe(401)
    expect((await server.clients.resetClientSecret(client.clientId)).client.isActive).toBe(false)
  })

  test('are looked up by the password grant and the built-in login', async () => {
    add('ada')
    const { client } = await server.clients.create({
      name: 'C',
      userId: add('owner'),
      isConfidential: false,
    })
    const ask = async (password: string) => {
      const fields = {
        grant_type: 'password',
        client_id: client.clientId,
        username: 'ada@example.org',
      }
      const body = new URLSearchParams({ ...fields, password })
      const request = new Request('http://localhost/oauth/token', { method: 'POST', body })
      const response = await server.fetch(request)
      return { status: response.status, body: (await response.json()) as Record<string, string> }
    }
    expect(await ask('wrong')).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
    expect(await ask('secret')).toMatchObject({ status: 200, body: { user: { id: 'ada' } } })
    expect((await server.users.withPassword('ada@example.org', 'secret'))?.id).toBe('ada')
    add('ada', { active: false })
    expect(await ask('secret')).toMatchObject({ status: 400, body: { error: 'invalid_grant' } })
  })

  test('users.checkPassword and the user proxy ask the application for the password [T1064]', async () => {
    add('ada')
    add('eve')
    expect(await server.users.checkPassword('ada', 'secret')).toBe(true)
    expect(await server.users.checkPassword('ada', 'wrong')).toBe(false)
    expect(await server.users.checkPassword('nobody', 'secret')).toBe(false)
    const proxy = await server.users.fromId('ada')
    expect(await proxy?.checkPassword('secret')).toBe(true)
    expect(await proxy?.checkPassword('wrong')).toBe(false)
  })

  test('users.checkPassword returns false if the e-mail address now belongs to another user', async () => {
    add('ada', { email: 'eve@example.org' })
    add('eve')
    people.delete('eve')
    add('eve')
    people.delete('ada')
    add('ada', { email: 'eve@example.org' })
    expect(await server.users.checkPassword('ada', 'secret')).toBe(false)
  })

  test('users.findByEmail reports that the application finds users by ID only', async () => {
    await expect(server.users.findByEmail('ada@example.org')).rejects.toThrow(
      'The application finds its users by ID only: pass an ID, or add findByEmail to the option users.',
    )
    await expect(server.users.all().next()).rejects.toThrow(
      'only the application can list all users',
    )
  })

  test('cannot use a refresh token while they are deactivated, but can use it after reactivation', async () => {
    add('ada')
    const { client, clientSecret } = await server.clients.create({
      name: 'C',
      userId: add('owner'),
    })
    const subject = await server.users.find('ada')
    if (!subject) throw new Error('The user is missing.')
    const { refreshToken } = await server.tokens.issue({
      type: 'user',
      client,
      subject,
      scopes: [],
      refreshable: true,
    })
    const refresh = async () => {
      const body = new URLSearchParams({
        grant_type: 'refresh_token',
        refresh_token: refreshToken ?? '',
        client_id: client.clientId,
        client_secret: clientSecret,
      })
      const request = new Request('http://localhost/oauth/token', { method: 'POST', body })
      return (await server.fetch(request)).status
    }
    add('ada', { active: false })
    expect(await refresh()).toBe(400)
    add('ada')
    expect(await refresh()).toBe(200)
  })

  test('the sweep looks up each user, and keeps the rows of a user who is missing for the first time', async () => {
    for (const id of ['ada', 'bob', 'eve']) await server.tokens.createPersonal('Laptop', add(id))
    people.delete('ada')
    asked = []
    await server.sweep()
    expect(asked).toEqual(['ada', 'bob', 'eve'])
    expect(await storeOf(server).removals.idsInUse(null, 10)).toEqual(['ada', 'bob', 'eve'])
    people.delete('bob')
    await server.users.deleted('bob')
    expect(await storeOf(server).removals.idsInUse(null, 10)).toEqual(['ada', 'eve'])
  })

  test('a directory outage returns 503, and an error in the callback 500; neither counts as a missing user', async () => {
    vi.spyOn(console, 'error').mockReturnValue()
    const { accessToken } = await server.tokens.createPersonal('Laptop', add('ada'))
    const original = people.get.bind(people)
    const found = vi.spyOn(people, 'get')
    found.mockImplementation(() => {
      throw new StoreUnavailable('The directory is out.')
    })
    expect(await statusOf(server, accessToken)).toBe(503)
    found.mockImplementation(() => {
      throw new Error('A mistake of the application.')
    })
    expect(await statusOf(server, accessToken)).toBe(500)
    found.mockImplementation(original)
    expect(await statusOf(server, accessToken)).toBe(200)
    vi.restoreAllMocks()
  })

  test('are not deleted during an outage of the directory', async () => {
    await server.tokens.createPersonal('Laptop', add('ada'))
    const found = vi.spyOn(people, 'get').mockImplementation(() => {
      throw new StoreUnavailable('The directory is out.')
    })
    await expect(server.sweep()).rejects.toThrow('The directory is out.')
    found.mockRestore()
    expect(await storeOf(server).removals.idsInUse(null, 10)).toEqual(['ada'])
  })
})

test('a callback that returns a user without `active` fails with a sentence that names the callback [T4112]', async () => {
  const { active: _, ...incomplete } = { id: 'eve', email: 'eve@example.org', active: true }
  people.set('eve', incomplete as never)
  await expect(server.users.find('eve')).rejects.toThrow(
    'users.find must return users with the property active',
  )
})
