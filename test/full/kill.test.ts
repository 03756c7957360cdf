import { randomInt } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { digestOf } from '../../src/crypto/digest.ts'
import {
  type Cluster,
  createUserAndClient,
  type Fault,
  type Form,
  type HttpResponse,
  type Node,
  type NodeClient,
  openRecords,
  ping,
  prepare,
  query,
  send,
  startNode,
} from '../support/nodes.ts'
import { temporaryFolder } from '../support/processes.ts'
import { UserAgent } from '../support/user-agent.ts'

const issuer = 'http://localhost:8080'
/** The timeout of a test in milliseconds. Dozens of restarts are slow on a busy machine. */
const timeout = 240_000

/** Creates a folder with a database that contains a user and a client. No process has the database open. */
const furnished = async () => {
  const folder = await temporaryFolder()
  const shared: Cluster = { data: folder.path, issuer }
  const records = await openRecords(shared)
  const { client } = await createUserAndClient(records, { allowedScopes: ['notes:read'] })
  await records.close()
  return {
    ...shared,
    client,
    agent: new UserAgent(),
    [Symbol.asyncDispose]: () => folder[Symbol.asyncDispose](),
  }
}

const expectIntact = (data: string) => {
  expect(query(data, 'pragma integrity_check')).toEqual([{ integrity_check: 'ok' }])
  expect(query(data, 'pragma foreign_key_check')).toEqual([])
}

/** Returns the response, or undefined if the connection closed without a response. */
const received = (sent: Promise<HttpResponse>): Promise<HttpResponse | undefined> =>
  sent.catch(() => undefined)

/** `NODES=whole npm run test:full` runs more rounds, and kills the server at more points. */
const isWhole = process.env.NODES === 'whole'

describe('kill -9 in the middle of 300 token requests', () => {
  test.each(isWhole ? [20, 150, 280] : [150])(
    'every token that a client received is valid after the restart (killed after %i responses)',
    async (enough) => {
      await using it = await furnished()
      await using node = await startNode(it)
      const answered: unknown[] = []
      let left = 300
      const worker = async () => {
        while (left > 0) {
          left -= 1
          const form = it.client.form(node, { grant_type: 'client_credentials' })
          const response = await received(send(form))
          if (!response) return
          expect(response.status).toBe(200)
          answered.push(response.body.access_token)
          if (answered.length === enough) node.program.kill('SIGKILL')
        }
      }
      await Promise.all(Array.from({ length: 12 }, worker))
      expect((await node.program.exited).signal).toBe('SIGKILL')
      expect(answered.length).toBeGreaterThanOrEqual(enough)
      expect(answered.length).toBeLessThan(300)

      await using again = await startNode(it)
      const statuses = new Set<number>()
      for (const token of answered) statuses.add(await ping(again, token))
      expect(statuses).toEqual(new Set([200]))
      expectIntact(it.data)
    },
  )
})

/** Returns the number of authorizations, tokens and revoked authorizations of a code in the database. */
const familyOf = (data: string, code: string) => {
  const [family] = query(
    data,
    `select count(distinct a.id) as families, count(t.id) as tokens, count(a.revoked_at) as revoked
     from oauth2server_authorization a left join oauth2server_token t on t.authorization_id = a.id
     where a.code_digest = ?`,
    digestOf('authorization_code', code),
  )
  return family
}

const redeemed = { families: 1, tokens: 1, revoked: 0 }
const untouched = { families: 0, tokens: 0, revoked: 0 }
const revoked = { families: 1, tokens: 0, revoked: 1 }

/** Checks I1 and I2 after a crash during the redemption of a code, and the result of a retry by the client. */
const expectConsistentCode = async (
  { data, client }: { readonly data: string; readonly client: NodeClient },
  node: Node,
  code: string,
  response: HttpResponse | undefined,
): Promise<'answered' | 'redeemed' | 'untouched'> => {
  expectIntact(data)
  const family = familyOf(data, code)
  if (response) {
    expect(response.status).toBe(200)
    expect(family).toEqual(redeemed)
    expect(await ping(node, response.body.access_token)).toBe(200)
    return 'answered'
  }
  // The killed server either stored the complete result of the redemption, or stored nothing.
  expect([redeemed, untouched]).toContainEqual(family)
  const retry = await send(client.redemption(node, code))
  if (family?.families === 1) {
    // The client received no response. Its retry looks like a replay, which revokes the authorization and its tokens.
    expect([retry.status, retry.body.error]).toEqual([400, 'invalid_grant'])
    expect(familyOf(data, code)).toEqual(revoked)
    return 'redeemed'
  }
  expect(retry.status).toBe(200)
  expect(familyOf(data, code)).toEqual(redeemed)
  expect(await ping(node, retry.body.access_token)).toBe(200)
  return 'untouched'
}

/** Sends a form, and kills the node the given number of milliseconds after the last byte of the form. */
const killedAfter = async (
  node: Node,
  form: Form,
  milliseconds: number,
): Promise<HttpResponse | undefined> => {
  const prepared = await prepare(form)
  const response = received(prepared.finish())
  // Fixed time: the server is killed at any moment of the request.
  if (milliseconds > 0) await delay(milliseconds)
  await node.program.crash()
  return response
}

/** Sends a form to a node that kills itself at a store operation. */
const killedAt = async (node: Node, form: Form, fault: Fault): Promise<void> => {
  await node.order(fault)
  expect(await received(send(form))).toBeUndefined()
  expect((await node.program.exited).signal).toBe('SIGKILL')
}

/** Returns the points before and after each store operation of the request. `time` numbers points of the same name. */
const momentsOf = async (node: Node, form: Form): Promise<readonly Fault[]> => {
  await node.order()
  expect((await send(form)).status).toBe(200)
  const seen = await node.order()
  return seen.map((at, index) => ({
    at,
    does: 'kill',
    time: seen.slice(0, index + 1).filter((other) => other === at).length,
  }))
}

/** Removes each start that follows the end of another operation: nothing is written between these points. */
const distinct = (moments: readonly Fault[]): readonly Fault[] =>
  moments.filter(
    ({ at }, index) => !(at.startsWith('before') && moments[index - 1]?.at.startsWith('after')),
  )

const rounds = isWhole ? 30 : 5

describe('FT-01 kill -9 around the redemption of a code', () => {
  test(`I2 redeems the code completely or not at all, if killed at ${rounds} random moments`, {
    timeout: timeout,
  }, async () => {
    await using it = await furnished()
    const ends: Record<string, number> = {}
    let node = await startNode(it)
    try {
      for (let round = 0; round < rounds; round += 1) {
        const code = await it.client.code(node, it.agent)
        const response = await killedAfter(node, it.client.redemption(node, code), randomInt(0, 24))
        node = await startNode(it)
        const end = await expectConsistentCode(it, node, code, response)
        ends[end] = (ends[end] ?? 0) + 1
      }
    } finally {
      await node.program.crash()
    }
    console.log('killed at random around a code:', ends)
    // Each code has exactly one authorization.
    expect(query(it.data, 'select count(*) as n from oauth2server_authorization')).toEqual([
      { n: rounds },
    ])
  })

  test('I2 redeems the code completely or not at all, if killed before or after any store operation [T562]', {
    timeout: timeout,
  }, async () => {
    await using it = await furnished()
    let node = await startNode(it)
    try {
      const first = await it.client.code(node, it.agent)
      const reached = await momentsOf(node, it.client.redemption(node, first))
      // One operation writes all rows and commits.
      expect(reached.map(({ at }) => at)).toEqual(
        expect.arrayContaining([
          'before authorizations.insertWithToken',
          'after authorizations.insertWithToken',
        ]),
      )
      const moments = distinct(reached)
      const ends: string[] = []
      for (const moment of moments) {
        const code = await it.client.code(node, it.agent)
        await killedAt(node, it.client.redemption(node, code), moment)
        node = await startNode(it)
        ends.push(await expectConsistentCode(it, node, code, undefined))
      }
      const committed = moments.findIndex(({ at }) => at === 'after authorizations.insertWithToken')
      expect(ends).toEqual(
        moments.map((_, index) => (index < committed ? 'untouched' : 'redeemed')),
      )
    } finally {
      await node.program.crash()
    }
  })
})

describe('FT-01 kill -9 around a refresh', () => {
  const rotationsOf = (data: string, refreshToken: unknown) =>
    query(
      data,
      `select t.refresh_token_digest = r.successor as followed
       from oauth2server_rotated_refresh_token r
       join oauth2server_token t on t.authorization_id = r.authorization_id where r.digest = ?`,
      digestOf('refresh_token', String(refreshToken)),
    )

  /** Expects that the client can retry the refresh, whether or not the killed server had rotated the token. */
  const expectConsistentRefresh = async (
    { data, client }: { readonly data: string; readonly client: NodeClient },
    node: Node,
    before: HttpResponse['body'],
    response: HttpResponse | undefined,
  ): Promise<HttpResponse['body']> => {
    expectIntact(data)
    const rotations = rotationsOf(data, before.refresh_token)
    // The database contains the successor if and only if it records the old token as rotated.
    expect([[], [{ followed: 1 }]]).toContainEqual(rotations)
    expect(await ping(node, before.access_token)).toBe(200)
    if (response) expect(rotations).toHaveLength(1)
    const retry = await send(client.refreshForm(node, before.refresh_token))
    expect(retry.status).toBe(200)
    if (response) expect(retry.body.access_token).toBe(response.body.access_token)
    expect(rotationsOf(data, before.refresh_token)).toEqual([{ followed: 1 }])
    expect(await ping(node, before.access_token)).toBe(200)
    expect(await ping(node, retry.body.access_token)).toBe(200)
    return retry.body
  }

  test(`I2 rotates the token completely or not at all, if killed at ${rounds} random moments or at any store operation`, {
    timeout: timeout,
  }, async () => {
    await using it = await furnished()
    let node = await startNode(it)
    try {
      const first = await it.client.tokens(node, it.agent)
      const refresh = it.client.refreshForm(node, first.refresh_token)
      const moments = await momentsOf(node, refresh)
      expect(moments.map(({ at }) => at)).toEqual(
        expect.arrayContaining(['before tokens.rotate', 'after tokens.rotate']),
      )
      let current = (await send(refresh)).body
      for (const moment of distinct(moments)) {
        await killedAt(node, it.client.refreshForm(node, current.refresh_token), moment)
        node = await startNode(it)
        current = await expectConsistentRefresh(it, node, current, undefined)
      }
      for (let round = 0; round < rounds; round += 1) {
        const form = it.client.refreshForm(node, current.refresh_token)
        const response = await killedAfter(node, form, randomInt(0, 24))
        node = await startNode(it)
        current = await expectConsistentRefresh(it, node, current, response)
      }
      // Exactly one token pair remains.
      expect(query(it.data, 'select count(*) as n from oauth2server_token')).toEqual([{ n: 1 }])
    } finally {
      await node.program.crash()
    }
  })
})
