import type { AuthorizationServer, UserId } from 'svc-oauth2server'
import { expect, test } from 'vitest'
import { execute } from '../support/database.ts'
import { storeOf } from '../support/internals.ts'
import { configure, misused, refused, type Workplace, workplace } from './workplace.ts'

const email = 'me@example.org'

const withHistory = async (): Promise<
  Workplace & { readonly server: AuthorizationServer; readonly userId: UserId }
> => {
  const place = await workplace()
  const server = await place.open()
  const { id } = await server.users.create({ email, password: null })
  await server.clients.create({ name: 'One', userId: id })
  await server.clients.create({ name: 'Two', userId: null })
  return {
    ...place,
    server,
    userId: id,
    async [Symbol.asyncDispose]() {
      await server.close()
      await place[Symbol.asyncDispose]()
    },
  }
}

type Event = Record<string, unknown>

const eventsIn = (stdout: string): readonly Event[] =>
  stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Event)

test('audit prints every event as a line of JSON, earliest first', async () => {
  await using place = await withHistory()
  const { code, stdout, stderr } = await place.run('audit')
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
  const events = eventsIn(stdout)
  expect(events.map(({ event, subject }) => [event, subject])).toEqual([
    ['user.created', ''],
    ['client.created', 'One'],
    ['client.created', 'Two'],
  ])
  expect(events[1]).toEqual({
    id: expect.any(Number),
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
    event: 'client.created',
    actor: 'system',
    actor_id: null,
    actor_email: null,
    user_id: expect.stringMatching(/^[0-9]+$/),
    user_email: email,
    client_id: expect.any(String),
    token_id: null,
    authorization_id: null,
    subject: 'One',
    address: '',
    user_agent: '',
    request_id: null,
    is_routine: false,
    details: { origin: 'owner' },
  })
})

test('audit prints only the events that match the options', async () => {
  await using place = await withHistory()
  const found = async (...options: string[]) =>
    eventsIn((await place.run('audit', ...options)).stdout).map(({ event }) => event)
  expect(await found('--event', 'user.created')).toEqual(['user.created'])
  expect(await found('--user', email)).toEqual(['user.created', 'client.created'])
  expect(await found('--user', `${place.userId}`)).toEqual(['user.created', 'client.created'])
  expect(await found('--user', '17')).toEqual([])
  expect(await found('--client', 'none')).toEqual([])
  expect(await found('--since', '2001-01-01')).toHaveLength(3)
  expect(await found('--since', '2200-01-01T00:00:00Z')).toEqual([])
  expect(await found('--until', '2001-01-01')).toEqual([])
})

test('audit reads a long log in batches, and prints every event', async () => {
  await using place = await withHistory()
  const [first] = (await place.server.activity.search({}, { after: null, limit: 1 })).items
  if (!first) throw new Error('There is no event.')
  const many = Array.from({ length: 1_234 }, () => ({ ...first, event: 'user.created' as const }))
  await storeOf(place.server).audit.addMany(
    many.map((event) => ({ ...event, details: {}, seal: '' })),
  )
  const { stdout } = await place.run('audit')
  expect(new Set(eventsIn(stdout).map(({ id }) => id)).size).toBe(1_237)
})

test('audit counts prints the numbers of routine events that match the options [T1707]', async () => {
  await using place = await withHistory()
  const hour = Date.UTC(2026, 10, 1, 7)
  const row = {
    event: 'token.issued',
    grantType: 'client_credentials',
    clientId: 'c',
    userId: null,
  }
  await storeOf(place.server).auditCounts.put([
    { ...row, at: hour, writer: 1, count: 2 },
    { ...row, at: hour, writer: 2, count: 3 },
    { ...row, at: hour + 3_600_000, writer: 1, count: 4, userId: 'u', grantType: '' },
  ])
  const counts = async (...options: string[]) =>
    eventsIn((await place.run('audit', 'counts', ...options)).stdout)
  expect(await counts()).toEqual([
    {
      hour: '2026-11-01T07:00:00.000Z',
      event: 'token.issued',
      grant_type: 'client_credentials',
      client_id: 'c',
      user_id: null,
      count: 5,
    },
    {
      hour: '2026-11-01T08:00:00.000Z',
      event: 'token.issued',
      grant_type: null,
      client_id: 'c',
      user_id: 'u',
      count: 4,
    },
  ])
  expect(await counts('--since', '2026-11-01T08:00:00Z')).toMatchObject([{ count: 4 }])
  expect(await counts('--user', 'u')).toMatchObject([{ count: 4 }])
  expect(await counts('--client', 'other')).toEqual([])
  expect(await counts('--event', 'token.refreshed')).toEqual([])
})

test('records the changes of a command with the command line as actor', async () => {
  await using place = await withHistory()
  await place.run('users', 'deactivate', '--user', email)
  const [event] = eventsIn((await place.run('audit', '--event', 'user.deactivated')).stdout)
  expect(event).toMatchObject({ actor: 'command_line', actor_id: null, user_email: email })
})

test('audit rejects invalid option values', async () => {
  await using place = await withHistory()
  expect(await place.run('audit', '--event', 'no.such')).toEqual(misused(/no event/))
  expect(await place.run('audit', '--since', 'yesterday')).toEqual(misused(/not a time/))
  expect(await place.run('audit', '--until', '2026-13-01')).toEqual(misused(/not a time/))
  expect(await place.run('audit', '--user', 'nobody@example.org')).toEqual(refused(/no user/))
})

test('audit verify prints a summary of the checked rows, and prints each defect with exit status 1', async () => {
  await using place = await withHistory()
  await place.server.sweep()
  const { code, stdout } = await place.run('audit', 'verify')
  expect(code).toBe(0)
  const [summary, ...others] = eventsIn(stdout)
  expect(others).toEqual([])
  expect(summary).toEqual({
    head: expect.stringMatching(/^1:/),
    checkpoints: 1,
    rows: 3,
    first_id: 1,
    last_id: 3,
    uncovered_rows: 0,
    uncovered_since: null,
    defects: 0,
  })
  const head = String(summary?.head)
  expect((await place.run('audit', 'verify', '--head', head)).code).toBe(0)
  expect(await place.run('audit', 'verify', '--head', 'x')).toEqual(misused(/not a head/))
  execute(place.database, 'delete from oauth2server_audit where id = 2')
  const after = await place.run('audit', 'verify')
  expect(after.code).toBe(1)
  expect(after.stderr).toMatch(/^error: The audit log was changed: 1 defects\.$/m)
  const [defect, last] = eventsIn(after.stdout)
  expect([defect, last?.defects]).toEqual([{ kind: 'row_removed', ids: '2' }, 1])
})

test('audit --user accepts the text ID of a user of the application that contains @ [T4118]', async () => {
  await using place = await workplace()
  const user = `{ id: 'ada@corp', email: 'ada@example.org', active: true, emailVerified: true, isAdmin: false }`
  const users = `{
    keyType: 'text',
    find: async (id) => (id === 'ada@corp' ? ${user} : undefined),
    findByEmail: async (email) => (email === 'ada@example.org' ? ${user} : undefined),
  }`
  await configure(place, `{ ...base, ...login, store: sqlite('own.sqlite'), users: ${users} }`)
  for (const name of ['ada@corp', 'deleted@corp', 'ada@example.org']) {
    const { code, stderr } = await place.run(
      'audit',
      '--config',
      'authorization.mjs',
      '--user',
      name,
    )
    expect([name, code, stderr]).toEqual([name, 0, ''])
  }
})
