import type { AuthorizationServer, User } from 'svc-oauth2server'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import {
  type Cluster,
  createUserAndClient,
  type Form,
  type HttpResponse,
  type Node,
  type NodeClient,
  openRecords,
  password,
  ping,
  query,
  registerClient,
  send,
  sendConcurrently,
  startNode,
} from '../support/nodes.ts'
import { type TemporaryFolder, temporaryFolder } from '../support/processes.ts'
import { UserAgent } from '../support/user-agent.ts'

const issuer = 'http://localhost:8080'
const many = 50

/** Starts two server processes on one SQLite file. This process acts as the command line of the operator. */
const cluster = (env: Readonly<Record<string, string>> = {}) => {
  let folder: TemporaryFolder
  const it = {} as {
    a: Node
    b: Node
    data: string
    records: AuthorizationServer
    user: User
    client: NodeClient
    agent: UserAgent
  }
  beforeAll(async () => {
    folder = await temporaryFolder()
    const shared: Cluster = { data: folder.path, issuer, env }
    it.data = folder.path
    // Start both nodes concurrently, so that both find an empty folder.
    ;[it.a, it.b] = await Promise.all([startNode(shared), startNode(shared)])
    it.records = await openRecords(shared)
    Object.assign(it, await createUserAndClient(it.records))
    it.agent = new UserAgent()
  })
  afterAll(async () => {
    await Promise.all([it.a?.program.stop(), it.b?.program.stop()])
    // The locked database caused no failed request and no error in the logs.
    const logged = [it.a, it.b].map(({ program }) => program.stderr).join('')
    expect(logged).not.toMatch(/request\.failed|"level":"error"/)
    await it.records?.close()
    await folder?.[Symbol.asyncDispose]()
  })
  beforeEach(async () => {
    await Promise.all([it.a.order(), it.b.order()])
  })
  return it
}

type Shared = ReturnType<typeof cluster>

/** Sends the same form many times concurrently, alternating between the nodes. */
const both = async (
  { a, b }: Shared,
  form: (node: Node) => Form,
  count = many,
): Promise<readonly HttpResponse[]> => {
  const settled = await sendConcurrently(
    Array.from({ length: count }, (_, i) => form(i % 2 === 0 ? a : b)),
  )
  return settled.map((one) => {
    if (one.status === 'rejected') throw one.reason
    return one.value
  })
}

/** Counts the responses of each kind. */
const tally = (responses: readonly HttpResponse[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const { status, body } of responses) {
    const kind = `${status} ${body.error ?? 'ok'}`
    counts[kind] = (counts[kind] ?? 0) + 1
  }
  return counts
}

const succeeded = (responses: readonly HttpResponse[]): HttpResponse['body'] => {
  const { body } = responses.find(({ status }) => status === 200) ?? {}
  if (!body) throw new Error(`Nobody succeeded: ${JSON.stringify(tally(responses))}`)
  return body
}

const authorizations = ({ data, client }: Pick<Shared, 'data' | 'client'>) =>
  query(
    data,
    `select a.id, a.revoked_at is not null as revoked, count(t.id) as tokens
     from oauth2server_authorization a left join oauth2server_token t on t.authorization_id = a.id
     join oauth2server_client c on c.client_key = a.client_key
     where c.client_id = ? group by a.id order by a.id`,
    client.clientId,
  )

describe('two processes on one SQLite file', () => {
  const it = cluster()

  beforeEach(async () => {
    it.client = await registerClient(it.records, it.user)
  })

  test.each([1, 2, 3])(
    'CD-06 one of 50 concurrent redemptions of a code succeeds, and the other redemptions revoke its tokens (round %i)',
    async () => {
      const code = await it.client.code(it.a, it.agent)
      const responses = await both(it, (node) => it.client.redemption(node, code))
      expect(tally(responses)).toEqual({ '200 ok': 1, '400 invalid_grant': many - 1 })
      const { access_token, refresh_token } = succeeded(responses)
      expect([await ping(it.a, access_token), await ping(it.b, access_token)]).toEqual([401, 401])
      const refresh = await send(it.client.refreshForm(it.a, refresh_token))
      expect(tally([refresh])).toEqual({ '400 invalid_grant': 1 })
      expect(authorizations(it)).toEqual([expect.objectContaining({ revoked: 1, tokens: 0 })])
    },
  )

  test.each(['a', 'b'] as const)(
    'CD-07 a node that pauses after reading a code does not redeem the code a second time (node %s is slow)',
    async (slowName) => {
      const slow = it[slowName]
      const fast = slowName === 'a' ? it.b : it.a
      const code = await it.client.code(it.a, it.agent)
      await slow.order({ at: 'after transients.get', does: 'pause', milliseconds: 300 })
      const late = send(it.client.redemption(slow, code))
      const first = await send(it.client.redemption(fast, code))
      expect(first.status).toBe(200)
      expect(await ping(slow, first.body.access_token)).toBe(200)
      expect(tally([await late])).toEqual({ '400 invalid_grant': 1 })
      // The second redemption with valid credentials is a replay, which revokes the tokens.
      expect(await ping(fast, first.body.access_token)).toBe(401)
      expect(authorizations(it)).toEqual([expect.objectContaining({ revoked: 1, tokens: 0 })])
    },
  )

  test('CD-06 25 concurrent redemptions of different codes all succeed', async () => {
    const codes: string[] = []
    for (let made = 0; made < 25; made += 1) codes.push(await it.client.code(it.a, it.agent))
    const turn = (index: number) => (index % 2 === 0 ? it.a : it.b)
    const settled = await sendConcurrently(
      codes.map((code, index) => it.client.redemption(turn(index), code)),
    )
    const responses = settled.map((one) => (one.status === 'fulfilled' ? one.value : undefined))
    expect(responses.map((response) => response?.status)).toEqual(codes.map(() => 200))
    for (const [index, response] of responses.entries()) {
      expect(await ping(turn(index + 1), response?.body.access_token)).toBe(200)
    }
  })

  test.each([1, 2, 3])(
    'RF-05 50 concurrent refreshes within the leeway cause one rotation, and return the same tokens (round %i)',
    async () => {
      const { access_token, refresh_token } = await it.client.tokens(it.a, it.agent)
      const responses = await both(it, (node) => it.client.refreshForm(node, refresh_token))
      expect(tally(responses)).toEqual({ '200 ok': many })
      // Ignore `expires_in`, which is the remaining lifetime.
      const distinct = new Set(
        responses.map(({ body }) => JSON.stringify({ ...body, expires_in: undefined })),
      )
      expect(distinct.size).toBe(1)
      const next = succeeded(responses)
      expect(next.refresh_token).not.toBe(refresh_token)
      expect([await ping(it.a, access_token), await ping(it.b, access_token)]).toEqual([200, 200])
      expect(await ping(it.a, next.access_token)).toBe(200)
      expect(await ping(it.b, next.access_token)).toBe(200)
      expect(authorizations(it)).toEqual([expect.objectContaining({ revoked: 0, tokens: 1 })])
      const rotations = query(
        it.data,
        `select r.authorization_id from oauth2server_rotated_refresh_token r
         join oauth2server_authorization a on a.id = r.authorization_id
         join oauth2server_client using (client_key) where client_id = ?`,
        it.client.clientId,
      )
      expect(rotations).toHaveLength(1)
      expect((await send(it.client.refreshForm(it.b, next.refresh_token))).status).toBe(200)
    },
  )

  test('RF-05 a node that pauses between reading and rotating a token returns the same tokens as the faster node', async () => {
    const { refresh_token } = await it.client.tokens(it.a, it.agent)
    await it.a.order({ at: 'after tokens.findByRefresh', does: 'pause', milliseconds: 300 })
    const late = send(it.client.refreshForm(it.a, refresh_token))
    const first = await send(it.client.refreshForm(it.b, refresh_token))
    const second = await late
    expect([first.status, second.status]).toEqual([200, 200])
    expect(second.body.access_token).toBe(first.body.access_token)
    expect(second.body.refresh_token).toBe(first.body.refresh_token)
  })

  test('FT-07 each step of a login, consent, token request and logout may use another node [T666]', async () => {
    const agent = new UserAgent()
    const login = { user: it.user, password }
    // Open the login page at node a, and send its form to node b.
    const page = await agent.browse(`${it.a.url}/login`)
    const crossed = await agent.submit(Object.assign(page, { address: `${it.b.url}/login` }), {
      email: it.user.email,
      password,
    })
    expect(crossed.status).toBe(303)
    expect(await (await agent.fetch(`${it.a.url}/`)).text()).toContain(it.user.email)

    // Open the consent page at node a, send the decision to node b, and redeem the code at node a.
    const consent = await agent.browse(it.client.authorizeUrl(it.a))
    const decided = await agent.submit(
      Object.assign(consent, { address: `${it.b.url}/oauth/authorize` }),
      { confirm: 'yes' },
    )
    const code = new URL(decided.headers.get('location') ?? '').searchParams.get('code') ?? ''
    const issued = await send(it.client.redemption(it.a, code))
    expect(issued.status).toBe(200)
    expect(await ping(it.b, issued.body.access_token)).toBe(200)
    // Node b does not request consent again.
    const remembered = await agent.fetch(it.client.authorizeUrl(it.b))
    expect(remembered.headers.get('location')).toContain('code=')

    const home = await (await agent.fetch(`${it.a.url}/`)).text()
    const csrfToken = /name="csrf_token" value="([^"]+)"/.exec(home)?.[1] ?? ''
    const body = new URLSearchParams({ csrf_token: csrfToken })
    expect((await agent.fetch(`${it.a.url}/logout`, { method: 'POST', body })).status).toBe(303)
    expect(await (await agent.fetch(`${it.b.url}/`)).text()).toContain('Nobody is logged in')
    expect((await agent.logIn({ issuer: it.b.url, ...login })).status).toBe(303)
  })

  test('redeeming a code twice at one node revokes its tokens for the next request to the other node', async () => {
    const code = await it.client.code(it.a, it.agent)
    const { body } = await send(it.client.redemption(it.a, code))
    expect(await ping(it.b, body.access_token)).toBe(200)
    expect((await send(it.client.redemption(it.a, code))).status).toBe(400)
    expect(await ping(it.b, body.access_token)).toBe(401)
    expect((await send(it.client.refreshForm(it.b, body.refresh_token))).status).toBe(400)
  })

  test('deactivating and reactivating a user applies to the next request to either node [T570]', async () => {
    const tokens = await it.client.tokens(it.a, it.agent)
    const code = await it.client.code(it.a, it.agent)
    const statuses = async () => [
      await ping(it.a, tokens.access_token),
      await ping(it.b, tokens.access_token),
    ]
    const agent = new UserAgent()
    await agent.logIn({ issuer: it.a.url, user: it.user, password })
    const session = async (node: Node) =>
      (await (await agent.fetch(`${node.url}/`)).text()).includes(it.user.email)
    expect([...(await statuses()), await session(it.a), await session(it.b)]).toEqual([
      200,
      200,
      true,
      true,
    ])

    await it.records.users.setActive(it.user.id, false)
    expect([...(await statuses()), await session(it.a), await session(it.b)]).toEqual([
      401,
      401,
      false,
      false,
    ])
    for (const node of [it.a, it.b]) {
      const refused = await Promise.all([
        send(it.client.redemption(node, code)),
        send(it.client.refreshForm(node, tokens.refresh_token)),
      ])
      expect(refused.map(({ status }) => status)).toEqual([401, 401])
    }

    await it.records.users.setActive(it.user.id, true)
    expect(await statuses()).toEqual([200, 200])
    expect((await send(it.client.refreshForm(it.b, tokens.refresh_token))).status).toBe(200)
  })

  test('resetting a secret, changing a password and deleting a client apply to the next request to either node [T571]', async () => {
    const tokens = await it.client.tokens(it.a, it.agent)
    const { clientSecret } = await it.records.clients.resetClientSecret(it.client.clientId)
    for (const node of [it.a, it.b]) {
      const refused = await send(it.client.refreshForm(node, tokens.refresh_token))
      expect(tally([refused])).toEqual({ '401 invalid_client': 1 })
    }
    it.client.clientSecret = clientSecret
    const refreshed = await send(it.client.refreshForm(it.b, tokens.refresh_token))
    expect(refreshed.status).toBe(200)

    await it.records.users.setPassword(it.user.id, password)
    for (const node of [it.a, it.b]) {
      expect(await (await it.agent.fetch(`${node.url}/`)).text()).toContain('Nobody is logged in')
      // Changing the password ends sessions, but does not revoke authorizations.
      expect(await ping(node, refreshed.body.access_token)).toBe(200)
    }

    await it.records.clients.delete(it.client.clientId)
    expect([
      await ping(it.a, refreshed.body.access_token),
      await ping(it.b, refreshed.body.access_token),
    ]).toEqual([401, 401])
  })
})

describe('two processes without a leeway', () => {
  const it = cluster({ OAUTH2SERVER_REFRESH_TOKEN_LEEWAY: '0' })

  beforeEach(async () => {
    it.client = await registerClient(it.records, it.user)
  })

  test.each([1, 2, 3])(
    'RF-05 one of 50 concurrent refreshes succeeds, and the other refreshes revoke the authorization (round %i)',
    async () => {
      const { access_token, refresh_token } = await it.client.tokens(it.a, it.agent)
      const responses = await both(it, (node) => it.client.refreshForm(node, refresh_token))
      expect(tally(responses)).toEqual({ '200 ok': 1, '400 invalid_grant': many - 1 })
      const next = succeeded(responses)
      for (const node of [it.a, it.b]) {
        expect(await ping(node, access_token)).toBe(401)
        expect(await ping(node, next.access_token)).toBe(401)
        const again = await send(it.client.refreshForm(node, next.refresh_token))
        expect(tally([again])).toEqual({ '400 invalid_grant': 1 })
      }
      expect(authorizations(it)).toEqual([expect.objectContaining({ revoked: 1, tokens: 0 })])
    },
  )

  test('P-8 reusing a refresh token does not revoke other authorizations of the user and client', async () => {
    const stays = await it.client.tokens(it.a, it.agent)
    const goes = await it.client.tokens(it.a, it.agent)
    const next = await send(it.client.refreshForm(it.a, goes.refresh_token))
    expect(await ping(it.b, next.body.access_token)).toBe(200)
    expect((await send(it.client.refreshForm(it.a, goes.refresh_token))).status).toBe(400)
    expect(await ping(it.b, next.body.access_token)).toBe(401)
    expect(await ping(it.b, stays.access_token)).toBe(200)
  })
})
