import { setTimeout as delay } from 'node:timers/promises'
import { postgres } from 'svc-oauth2server/postgres'
import { createTestServer } from 'svc-oauth2server/testing'
import { describe, expect, test } from 'vitest'
import { count, execute } from '../support/database.ts'
import { lacks } from '../support/needs.ts'
import { createUserAndClient, databaseIn, openRecords, query, startNode } from '../support/nodes.ts'
import { makeDatabase } from '../support/postgres.ts'
import { temporaryFolder } from '../support/processes.ts'

const isLacking = await lacks('postgres')
const issuer = 'http://localhost:8080'

describe('kill -9 while the rows of a deleted client are removed', () => {
  test('a later process deletes the remaining rows [T575]', async () => {
    const many = 20_000
    await using folder = await temporaryFolder()
    const cluster = { data: folder.path, issuer, env: { OAUTH2SERVER_SWEEP_INTERVAL: '1' } }
    const file = databaseIn(folder.path)
    const left = () => count(file, 'oauth2server_token')
    const records = await openRecords(cluster)
    const { client } = await createUserAndClient(records)
    const found = await records.clients.find(client.clientId)
    execute(
      file,
      `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${many})
       insert into oauth2server_token (client_key, token_type, access_token, access_token_digest, expires, ends_at, scopes, is_personal, is_internal, created_at)
       select ?, 'bearer', 'x', 'digest-' || i, 9e15, 9e15, '', 0, 0, 1 from n`,
      found?.clientKey ?? 0,
    )
    expect(await records.clients.delete(client.clientId)).toBe(true)
    // Closing stops the deletion after the current batch.
    await records.close()
    const atFirst = left()
    expect(atFirst).toBeGreaterThan(many / 2)
    {
      await using node = await startNode(cluster)
      await node.order({ at: 'after removals.removeSome', does: 'kill', time: 3 })
      expect((await node.program.exited).signal).toBe('SIGKILL')
    }
    expect(left()).toBeLessThan(atFirst)
    expect(left()).toBeGreaterThan(0)
    expect(query(folder.path, 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
    await using _again = await startNode(cluster)
    while (left() > 0) await delay(100)
  })
})

describe.skipIf(isLacking)('PostgreSQL', () => {
  test('deletes a user with thousands of tokens in batches of at most 1,000 rows, without a failure', async () => {
    const [tokens, tombstones] = [3_000, 6_000]
    const database = await makeDatabase()
    const log: { readonly event: string }[] = []
    const longest = { rows: 0, milliseconds: 0 }
    const server = await createTestServer({
      store: postgres(database.url, { statementTimeout: 1_000 }),
      log: (entry) => void log.push(entry),
      aroundStore: async ({ name }, run) => {
        const begun = performance.now()
        const result = await run()
        if (name === 'removals.removeSome') {
          longest.rows = Math.max(longest.rows, Number(result))
          longest.milliseconds = Math.max(longest.milliseconds, performance.now() - begun)
        }
        return result
      },
    })
    try {
      const user = await server.users.create({ email: 'abusive@example.org', password: null })
      const { client } = await server.clients.create({ name: 'Client' })
      const { clientKey } = client
      await database.query(
        `insert into oauth2server_authorization (client_key, user_id, scopes, created_at, expires_at)
         select ${clientKey}, ${user.id}, '', 1, 9000000000000000 from generate_series(1, 1000)`,
      )
      await database.query(
        `insert into oauth2server_token (client_key, user_id, token_type, access_token, access_token_digest, expires, ends_at, scopes, is_personal, is_internal, created_at)
         select ${clientKey}, ${user.id}, 'bearer', 'x', 'digest-' || i, 9000000000000000, 9000000000000000, '', 0, 0, 1 from generate_series(1, ${tokens}) as i`,
      )
      await database.query(
        `insert into oauth2server_rotated_refresh_token (digest, authorization_id, successor, parameters, rotated_at, seal)
         select 'digest-' || i, (select min(id) from oauth2server_authorization) + i % 1000, '', '', 1, '' from generate_series(1, ${tombstones}) as i`,
      )
      const begun = performance.now()
      expect(await server.users.delete(user.id)).toBe(true)
      console.log('ms until the deletion returned:', performance.now() - begun)
      const left = async () => {
        const [row] = await database.query(
          'select (select count(*) from oauth2server_token) + (select count(*) from oauth2server_authorization) + (select count(*) from oauth2server_rotated_refresh_token) as n',
        )
        return Number(row?.n)
      }
      while ((await left()) > 0) await delay(200)
      console.log(
        'removed in seconds:',
        (performance.now() - begun) / 1_000,
        'longest part:',
        longest,
      )
      expect(longest.rows).toBeLessThanOrEqual(1_000)
      expect(log.filter(({ event }) => event === 'removal.failed')).toEqual([])
    } finally {
      await server.close()
      await database.drop()
    }
  })
})
