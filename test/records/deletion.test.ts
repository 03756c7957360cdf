import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import type { AroundStore } from '../../src/store/store.ts'
import { count, execute } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { authorizationOf, statusOf } from '../support/tokens.ts'

const many = 3_000

/** Inserts tokens of the client directly into the database. Without a user, the client acts on its own behalf. */
const fill = ({ database }: TestServer, clientKey: number, userId: number | null): void => {
  const numbers = `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${many})`
  execute(
    database,
    `${numbers} insert into oauth2server_token (client_key, user_id, token_type, access_token, access_token_digest, expires, ends_at, scopes, is_personal, is_internal, created_at)
     select ?, ?, 'bearer', 'x', ? || '-' || ? || '-' || i, 9e15, 9e15, '', 0, 0, 1 from n`,
    clientKey,
    userId,
    clientKey,
    userId ?? 'itself',
  )
}

/** Inserts rotated refresh tokens of one authorization. */
const fillTombstones = ({ database }: TestServer, authorizationId: number): void => {
  execute(
    database,
    `with recursive n(i) as (select 1 union all select i + 1 from n where i < ${many})
     insert into oauth2server_rotated_refresh_token (digest, authorization_id, successor, parameters, rotated_at, seal)
     select 'tombstone-' || i, ?, '', '', 1, '' from n`,
    authorizationId,
  )
}

const rowsLeft = ({ database }: TestServer): number =>
  ['token', 'authorization', 'consent', 'session', 'rotated_refresh_token']
    .map((table) => count(database, `oauth2server_${table}`))
    .reduce((sum, rows) => sum + rows)

const until = async (isDone: () => boolean): Promise<void> => {
  while (!isDone()) await delay(20)
}

/** Records the number of rows in each removed batch. Each batch waits until `gate.wait` resolves. */
const watched = () => {
  const parts: number[] = []
  const gate: { wait?: Promise<void>; onPart?: () => Promise<void> } = {}
  const aroundStore: AroundStore = async ({ name }, run) => {
    if (name !== 'removals.removeSome') return run()
    await gate.wait
    const rows = await run()
    parts.push(Number(rows))
    await gate.onPart?.()
    return rows
  }
  return { parts, gate, aroundStore }
}

describe('deletions in batches', () => {
  test('deleting a client marks the client, returns, and removes its many tokens later in batches [T828]', async () => {
    const { parts, aroundStore } = watched()
    await using app = await startServer({ aroundStore })
    const basic = await app.client()
    const { accessToken, token } = await authorizationOf(app, basic.clientId)
    fill(app, token.clientKey, Number(app.user.id))
    fillTombstones(app, Number(token.authorizationId))
    expect(await app.server.clients.delete(basic.clientId)).toBe(true)
    expect(rowsLeft(app)).toBeGreaterThan(many)
    expect(await statusOf(app, accessToken)).toBe(401)
    expect(await app.server.clients.find(basic.clientId)).toBeUndefined()
    await until(() => rowsLeft(app) === 0)
    expect(Math.max(...parts)).toBeLessThanOrEqual(1_000)
    expect(parts.length).toBeGreaterThan(5)
  })

  test('deleting a user frees the e-mail address immediately, and removes the many tokens later in batches', async () => {
    const { parts, aroundStore } = watched()
    await using app = await startServer({ aroundStore })
    const user = await app.server.users.create({ email: 'gone@example.org', password: null })
    const theirs = await app.client({ userId: user.id })
    const ofOther = await authorizationOf(app, theirs.clientId)
    const basic = await app.client()
    const personal = await app.server.tokens.createPersonal('Laptop', user.id)
    fill(app, (await app.server.clients.find(basic.clientId))?.clientKey ?? 0, Number(user.id))
    fill(app, ofOther.token.clientKey, Number(app.user.id))
    fillTombstones(app, Number(ofOther.token.authorizationId))
    expect(await app.server.users.delete(user.id)).toBe(true)
    expect(rowsLeft(app)).toBeGreaterThan(many)
    for (const token of [personal.accessToken, ofOther.accessToken])
      expect(await statusOf(app, token)).toBe(401)
    expect(await app.server.clients.find(theirs.clientId)).toBeUndefined()
    const again = await app.server.users.create({ email: 'gone@example.org', password: null })
    expect(again.id).not.toBe(user.id)
    await until(() => rowsLeft(app) === 0)
    expect(Math.max(...parts)).toBeLessThanOrEqual(1_000)
    expect(await app.server.clients.find(basic.clientId)).toBeDefined()
  })

  test('another node rejects the tokens of a deleted client from the next request [T573]', async () => {
    await using app = await startServer()
    await using other = await startServer({ beside: app })
    const { clientId } = await app.client()
    const { accessToken } = await authorizationOf(app, clientId)
    expect(await statusOf(other, accessToken)).toBe(200)
    await app.server.clients.delete(clientId)
    expect(await statusOf(other, accessToken)).toBe(401)
  })

  test('a token that is inserted after the deletion of its client is never valid', async () => {
    await using app = await startServer()
    const { clientId } = await app.client()
    const client = await app.server.clients.find(clientId)
    if (!client) throw new Error('The client is gone.')
    await app.server.clients.delete(clientId)
    // Issue a token as a request does that looked up the client before the deletion.
    const issued = await app.server.tokens.issue({
      type: 'client',
      client,
      subject: null,
      scopes: [],
    })
    expect(await statusOf(app, issued.accessToken)).toBe(401)
    expect(await app.server.tokens.get(issued.token.id)).toBeUndefined()
    await app.server.sweep()
    expect(rowsLeft(app)).toBe(0)
  })

  test('the sweeper of a later process completes an interrupted deletion', async () => {
    const { gate, aroundStore } = watched()
    await using app = await startServer()
    const { clientId } = await app.client()
    const { token } = await authorizationOf(app, clientId)
    fill(app, token.clientKey, null)
    {
      await using cut = await startServer({ beside: app, aroundStore })
      let parts = 0
      gate.onPart = async () => {
        parts += 1
        if (parts > 3) throw new Error('The process is killed.')
      }
      expect(await cut.server.clients.delete(clientId)).toBe(true)
    }
    expect(rowsLeft(app)).toBeGreaterThan(0)
    expect(count(app.database, 'oauth2server_removal')).toBe(1)
    expect(await app.server.sweep()).toBeGreaterThan(0)
    expect(rowsLeft(app)).toBe(0)
    expect(count(app.database, 'oauth2server_removal')).toBe(1)
    app.advance(60)
    await app.server.sweep()
    expect(count(app.database, 'oauth2server_removal')).toBe(0)
  })

  test('two nodes can concurrently remove the rows of a deleted client', async () => {
    await using app = await startServer()
    await using other = await startServer({ beside: app })
    const { clientId } = await app.client()
    const { token } = await authorizationOf(app, clientId)
    fill(app, token.clientKey, null)
    await Promise.all([
      app.server.clients.delete(clientId),
      app.server.sweep(),
      other.server.sweep(),
    ])
    await Promise.all([app.server.sweep(), other.server.sweep()])
    await until(() => rowsLeft(app) === 0)
    expect([...app.log, ...other.log].filter(({ level }) => level === 'error')).toEqual([])
  })

  test('a deletion in a failing transaction has no effect', async () => {
    await using app = await startServer()
    const { clientId } = await app.client()
    const { accessToken } = await authorizationOf(app, clientId)
    const failure = new Error('The work fails.')
    await expect(
      app.server.transaction(async (tx) => {
        await tx.clients.delete(clientId)
        throw failure
      }),
    ).rejects.toBe(failure)
    expect(await statusOf(app, accessToken)).toBe(200)
    await app.server.transaction((tx) => tx.clients.delete(clientId))
    expect(await statusOf(app, accessToken)).toBe(401)
    expect(rowsLeft(app)).toBe(0)
  })

  test('making a client public invalidates its tokens immediately, and removes their rows later', async () => {
    const { aroundStore } = watched()
    await using app = await startServer({ aroundStore })
    const { clientId } = await app.client()
    const { accessToken, token } = await authorizationOf(app, clientId)
    await app.server.consents.grant(app.user.id, clientId, ['notes:read'])
    fill(app, token.clientKey, null)
    const changed = await app.server.clients.update(clientId, { isConfidential: false })
    expect(changed.clientKey).not.toBe(token.clientKey)
    expect(await statusOf(app, accessToken)).toBe(401)
    expect(await app.server.consents.find(app.user.id, clientId)).toBeUndefined()
    expect(await app.server.clients.find(clientId)).toMatchObject({ isConfidential: false })
    await until(() => rowsLeft(app) === 0)
  })

  test('the background removal also removes the rows of a deletion that begins while the removal ends [T2010]', async () => {
    let second: (() => Promise<unknown>) | undefined
    const aroundStore: AroundStore = async ({ name }, run) => {
      const result = await run()
      if (name === 'removals.select' && Array.isArray(result) && result.length === 0) {
        // The background removal has just found nothing more to remove.
        const deletion = second
        second = undefined
        await deletion?.()
      }
      return result
    }
    await using app = await startServer({ aroundStore })
    const clients: string[] = []
    for (let index = 0; index < 2; index += 1) {
      const { clientId } = await app.client()
      const { token } = await authorizationOf(app, clientId)
      fill(app, token.clientKey, null)
      clients.push(clientId)
    }
    const [first = '', next = ''] = clients
    second = () => app.server.clients.delete(next)
    await app.server.clients.delete(first)
    await until(() => rowsLeft(app) === 0)
    expect(second).toBeUndefined()
  })

  test('deleting a client with 30,000 tokens does not block the event loop for long [T574]', async () => {
    await using app = await startServer()
    // Measure the processor time of this thread, so that other load on the machine does not matter.
    const longestTurn = async (work: () => Promise<unknown>): Promise<number> => {
      let longest = 0
      let last = process.threadCpuUsage()
      const timer = setInterval(() => {
        const { user, system } = process.threadCpuUsage(last)
        longest = Math.max(longest, (user + system) / 1_000)
        last = process.threadCpuUsage()
      }, 1)
      await work()
      clearInterval(timer)
      return longest
    }
    const deletion = async (): Promise<number> => {
      const { clientId } = await app.client()
      const { token } = await authorizationOf(app, clientId)
      for (const userId of [null, ...Array.from({ length: 9 }, (_, index) => 1_000 + index)])
        fill(app, token.clientKey, userId)
      return longestTurn(async () => {
        await app.server.clients.delete(clientId)
        await until(() => rowsLeft(app) === 0)
      })
    }
    // Fixed time: the control does nothing.
    const control = await longestTurn(() => delay(1_000))
    // Use the shorter of two measurements, because a garbage collection may lengthen one of them.
    const removing = Math.min(await deletion(), await deletion())
    console.log('longest turn, ms of processor time:', { control, removing })
    // Deleting 30,000 tokens in one statement would take more than 300 ms. The control is the longest turn without a
    // deletion.
    expect(removing).toBeLessThan(control + 60)
  })
})
