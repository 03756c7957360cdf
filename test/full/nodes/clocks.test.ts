import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, test, vi } from 'vitest'
import { storeOf } from '../../support/internals.ts'
import { lacks } from '../../support/needs.ts'
import {
  createUserAndClient,
  openRecords,
  ping,
  query,
  send,
  startNode,
} from '../../support/nodes.ts'
import { temporaryFolder } from '../../support/processes.ts'
import { skewVariable } from '../../support/shared-clock.ts'
import { startSite } from '../../support/site.ts'

// Starts several processes. The machine of one process has a wrong clock.

const second = 1_000
const hour = 3_600 * second
/** Options for polls, in milliseconds. The timeout is long, because the machine may be busy. */
const timeout = { timeout: 60_000, interval: 100 }

const skewFile = async () => {
  const folder = await temporaryFolder()
  const file = join(folder.path, 'skew')
  const set = (milliseconds: number) => writeFile(file, String(milliseconds))
  await set(0)
  return { file, set, [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose]() }
}

const readiness = async (node: { readonly url: string }) => {
  const response = await fetch(`${node.url}/health/ready`)
  return { status: response.status, body: await response.json() }
}
const isReady = { status: 200, body: { status: 'ready' } }
const isWrong = { status: 503, body: { status: 'not ready', clock: 'wrong' } }

describe.skipIf(await lacks('postgres'))('three nodes on PostgreSQL', () => {
  test('a node whose clock is two hours ahead accepts valid tokens, reports not ready, and does not sweep [T608]', async () => {
    await using skew = await skewFile()
    await skew.set(2 * hour)
    await using site = await startSite({
      envOf: (index) =>
        index === 2 ? { [skewVariable]: skew.file, OAUTH2SERVER_SWEEP_INTERVAL: '1' } : {},
    })
    const [right, other, wrong] = [site.node(0), site.node(1), site.node(2)]
    expect(await readiness(wrong)).toEqual(isWrong)
    for (const node of [right, other]) expect(await readiness(node)).toEqual(isReady)
    const tokens = await site.client.tokens(right, site.agent)
    await site.database.query(
      `insert into oauth2server_transient (key, count, expires_at) values ('x', 0, 1)`,
    )
    const isSwept = async () => {
      const rows = await site.database.query(`select 1 from oauth2server_transient where key = 'x'`)
      return rows.length === 0
    }
    await vi.waitFor(() => expect(wrong.program.stderr).toContain('sweeper.held'), timeout)
    expect(wrong.program.stderr).toContain('clock.wrong')
    expect(wrong.program.stderr).toMatch(/7200\.\d s ahead of the clock of the database/)
    expect(await isSwept()).toBe(false)
    // The node has not acquired the sweeper lease, so other nodes can sweep.
    const lease = `select 1 from oauth2server_transient where key = 'sweeper'`
    expect(await site.database.query(lease)).toEqual([])
    // The node still handles requests, and uses the correct time.
    for (const node of [right, other, wrong])
      expect(await ping(node, tokens.access_token)).toBe(200)
    const issued = await send(site.client.refreshForm(wrong, tokens.refresh_token))
    expect(issued.body).toMatchObject({ expires_in: tokens.expires_in })
    const [{ expires } = {}] = await site.database.query('select expires from oauth2server_token')
    expect(Number(expires)).toBeLessThan(Date.now() + Number(tokens.expires_in) * second + hour)

    await skew.set(0)
    expect(await readiness(wrong)).toEqual(isReady)
    await vi.waitFor(async () => expect(await isSwept()).toBe(true), timeout)
    for (const node of [right, other, wrong])
      expect(await ping(node, issued.body.access_token)).toBe(200)
  })

  test('retrying a refresh at a node whose clock is wrong by 61 s returns the same tokens [T610]', async () => {
    await using ahead = await skewFile()
    await ahead.set(61 * second)
    await using behind = await skewFile()
    await behind.set(-61 * second)
    const files = [undefined, ahead.file, behind.file]
    await using site = await startSite({
      envOf: (index) => (files[index] === undefined ? {} : { [skewVariable]: files[index] }),
    })
    const right = site.node(0)
    for (const wrong of [site.node(1), site.node(2)]) {
      const { refresh_token } = await site.client.tokens(right, site.agent)
      const first = await send(site.client.refreshForm(right, refresh_token))
      expect(first.status).toBe(200)
      const { access_token, refresh_token: next } = first.body
      expect(await send(site.client.refreshForm(wrong, refresh_token))).toMatchObject({
        status: 200,
        body: { access_token, refresh_token: next },
      })
      const again = await send(site.client.refreshForm(wrong, next))
      expect(await send(site.client.refreshForm(right, next))).toMatchObject({
        status: 200,
        body: { access_token: again.body.access_token },
      })
      for (const node of [right, wrong]) expect(await ping(node, again.body.access_token)).toBe(200)
    }
  })
})

describe('a node on SQLite', () => {
  const start = async (file: string, data: string) =>
    startNode({
      data,
      issuer: 'http://localhost:8080',
      env: { [skewVariable]: file, OAUTH2SERVER_SWEEP_INTERVAL: '1' },
    })

  test('does not delete a token after the machine clock jumped by a month, even after a restart [T612]', async () => {
    await using skew = await skewFile()
    await using folder = await temporaryFolder()
    const data = folder.path
    const rows = () =>
      query(data, 'select count(*) as n from oauth2server_token where ends_at is not null')[0]?.n
    const isSwept = () =>
      query(data, `select 1 from oauth2server_transient where key = 'x'`).length === 0
    {
      await using node = await start(skew.file, data)
      await using records = await openRecords({ data, issuer: 'http://localhost:8080' }).then(
        (server) => ({ ...server, [Symbol.asyncDispose]: () => server.close() }),
      )
      const { user } = await createUserAndClient(records)
      await records.tokens.createPersonal('Short', user.id, { expiresIn: 3_600 })
      await storeOf(records).transients.put('x', 'x', 1, 0)
      await vi.waitFor(() => expect(isSwept()).toBe(true), timeout)
      await skew.set(31 * 24 * hour)
      await vi.waitFor(() => expect(node.program.stderr).toContain('sweeper.held'), timeout)
      expect(rows()).toBe(1)
    }
    await using again = await start(skew.file, data)
    await vi.waitFor(() => expect(again.program.stderr).toContain('sweeper.held'), timeout)
    expect(rows()).toBe(1)
  })
})
