import { createAuthorizationServer } from 'svc-oauth2server'
import { sqlite } from 'svc-oauth2server/sqlite'
import { expect, test } from 'vitest'
import { secretKey } from '../support/server.ts'

test('a client_credentials request on SQLite looks up its client once, and each header at most twice [T4751]', async () => {
  const operations: string[] = []
  const server = await createAuthorizationServer({
    issuer: 'http://localhost:3000',
    secretKeys: [secretKey],
    store: sqlite(':memory:'),
    sweepInterval: 0,
    log: () => undefined,
    aroundStore({ name }, run) {
      operations.push(name)
      return run()
    },
  })
  const { id: userId } = await server.users.create({ email: 'ada@example.org', password: null })
  const { client, clientSecret } = await server.clients.create({
    name: 'Machine',
    userId,
    grantTypes: ['client_credentials'],
  })
  const headers = new Headers({
    authorization: `Basic ${btoa(`${client.clientId}:${clientSecret}`)}`,
    'content-type': 'application/x-www-form-urlencoded',
  })
  const read: string[] = []
  const source = {
    method: 'POST',
    target: '/oauth/token',
    headers,
    headerValues: headers.values(),
    header(name: string) {
      read.push(name)
      return headers.get(name)
    },
    text: async () => 'grant_type=client_credentials',
  }
  operations.length = 0
  const response = await server.direct(source, { remoteAddress: '127.0.0.1' })
  await server.close()
  expect(response?.status).toBe(200)
  expect(operations.filter((name) => name === 'clients.find')).toHaveLength(1)
  expect(read).toContain('authorization')
  for (const name of read)
    expect(
      read.filter((other) => other === name),
      name,
    ).toHaveLength(name === 'authorization' || name === 'dpop' ? 2 : 1)
})
