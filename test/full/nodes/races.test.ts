import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digestOf } from '../../../src/crypto/digest.ts'
import { call, each, kinds, type Outcome, post } from '../../support/load.ts'
import { lacks } from '../../support/needs.ts'
import { sharedRedis } from '../../support/redis.ts'
import { type Site, startSite } from '../../support/site.ts'

/** The number of codes and of tokens. Only `npm run test:nodes` has time for the larger number. */
const many = process.env.NODES === 'whole' ? 2_000 : 100
/** The number of concurrent requests with each code or token. */
const times = 5
/** The number of codes or tokens that the test creates or presents concurrently. */
const width = 20
/** The timeout of a test in milliseconds, on a machine that may be busy. */
const timeout = 300_000

/** Raised limits: the test redeems old codes, presents used codes, and has only one user. */
const generousLimits = {
  OAUTH2SERVER_AUTHORIZATION_CODE_EXPIRES_IN: '600',
  OAUTH2SERVER_LIMITS: 'wrongGrants=1000000/60',
  OAUTH2SERVER_AUTHORIZATIONS_PER_APPLICATION: '100000',
}

const isLacking = (await lacks('postgres')) || (await lacks('redis'))

/** Presents one credential several times concurrently, to different nodes in turn. */
const presented = (send: (turn: number) => Promise<Outcome>, index: number): Promise<Outcome[]> =>
  Promise.all(Array.from({ length: times }, (_, turn) => send(index + turn)))

/** Counts how often each combination of responses to one credential occurred. */
const patterns = (volleys: readonly (readonly Outcome[])[]): Record<string, number> => {
  const counts: Record<string, number> = {}
  for (const volley of volleys) {
    const pattern = JSON.stringify(kinds(volley))
    counts[pattern] = (counts[pattern] ?? 0) + 1
  }
  return counts
}

const seconds = (since: number): string => `${((performance.now() - since) / 1000).toFixed(1)} s`

/** Requests codes from all nodes for a logged-in user who has consented before. */
const makeCodes = async ({
  client,
  agent,
  node,
  browserHeaders,
}: Site): Promise<readonly string[]> => {
  await client.code(node(0), agent)
  const headers = await browserHeaders()
  const codes: string[] = []
  await each(Array.from({ length: many }), width, async (_, index) => {
    const url = client.authorizeUrl(node(index))
    const response = await call({ url, headers })
    const code = new URL(String(response.headers.location)).searchParams.get('code')
    if (code !== null) codes.push(code)
  })
  return codes
}

/** Issues refresh tokens, each for a new authorization. */
const makeRefreshTokens = async ({ records, client, user }: Site): Promise<readonly string[]> => {
  const found = await records.clients.find(client.clientId)
  if (!found) throw new Error('There is no client.')
  const tokens: string[] = []
  await each(Array.from({ length: many }), 5, async () => {
    const { refreshToken } = await records.tokens.issue({
      type: 'user',
      client: found,
      subject: user,
      scopes: ['notes:read'],
      refreshable: true,
    })
    tokens.push(refreshToken ?? '')
  })
  return tokens
}

describe.skipIf(isLacking).each([
  { kept: 'the database', redisUrl: undefined },
  { kept: 'Redis', redisUrl: sharedRedis },
])('three nodes that store codes in $kept', ({ kept, redisUrl }) => {
  let site: Site
  beforeAll(async () => {
    site = await startSite({
      redisUrl,
      env: { ...generousLimits, OAUTH2SERVER_REFRESH_TOKEN_LEEWAY: '0' },
    })
  })
  afterAll(() => site?.[Symbol.asyncDispose]())

  test(`redeem each of ${many} codes exactly once if each is presented ${times} times concurrently [T563]`, {
    timeout,
  }, async () => {
    const codes = await makeCodes(site)
    expect(new Set(codes).size).toBe(many)
    const began = performance.now()
    const volleys: Outcome[][] = []
    await each(codes, width, async (code, index) => {
      const send = (turn: number) => post(site.client.redemption(site.node(turn), code))
      volleys.push(await presented(send, index))
    })
    console.log(`${many} codes in ${kept} × ${times}: ${seconds(began)}`, patterns(volleys))
    expect(patterns(volleys)).toEqual({ '{"200":1,"400 invalid_grant":4}': many })
    const [row] = await site.database.query(
      `select count(*) as families, count(distinct a.code_digest) as codes, count(a.revoked_at) as revoked,
       (select count(*) from oauth2server_token) as tokens
       from oauth2server_authorization a where a.code_digest is not null`,
    )
    // The second request with valid credentials is a replay, which revokes the issued tokens.
    expect(row).toEqual({ families: `${many}`, codes: `${many}`, revoked: `${many}`, tokens: '0' })
  })

  test(`rotate each of ${many} refresh tokens once without a leeway, and revoke its authorization after ${times} concurrent uses`, {
    timeout,
  }, async () => {
    const tokens = await makeRefreshTokens(site)
    const began = performance.now()
    const volleys: Outcome[][] = []
    await each(tokens, width, async (token, index) => {
      const send = (turn: number) => post(site.client.refreshForm(site.node(turn), token))
      volleys.push(await presented(send, index))
    })
    console.log(
      `${many} refresh tokens × ${times}, no leeway: ${seconds(began)}`,
      patterns(volleys),
    )
    expect(patterns(volleys)).toEqual({ '{"200":1,"400 invalid_grant":4}': many })
    expect(await rotationsOf(site, tokens)).toEqual({ rotations: many, revoked: many, alive: 0 })
  })
})

describe.skipIf(isLacking)('three nodes with the default leeway', () => {
  test(`rotate each of ${many} refresh tokens once, and return the same tokens to ${times} concurrent requests [T564]`, {
    timeout,
  }, async () => {
    await using site = await startSite({ redisUrl: sharedRedis })
    const tokens = await makeRefreshTokens(site)
    const began = performance.now()
    const volleys: Outcome[][] = []
    await each(tokens, width, async (token, index) => {
      const send = (turn: number) => post(site.client.refreshForm(site.node(turn), token))
      volleys.push(await presented(send, index))
    })
    console.log(`${many} refresh tokens × ${times}, leeway: ${seconds(began)}`, patterns(volleys))
    expect(patterns(volleys)).toEqual({ '{"200":5}': many })
    const responses = volleys.map(
      (volley) =>
        new Set(volley.map(({ body }) => `${body.access_token} ${body.refresh_token}`)).size,
    )
    expect(new Set(responses)).toEqual(new Set([1]))
    expect(await rotationsOf(site, tokens)).toEqual({ rotations: many, revoked: 0, alive: many })
  })
})

/** Returns the numbers of rotated refresh tokens, of their revoked authorizations, and of their valid tokens. */
const rotationsOf = async ({ database }: Site, tokens: readonly string[]) => {
  const [row] = await database.query(
    `select count(*) as rotations, count(a.revoked_at) as revoked, count(t.id) as alive
     from oauth2server_rotated_refresh_token r
     join oauth2server_authorization a on a.id = r.authorization_id
     left join oauth2server_token t on t.authorization_id = a.id
     where r.digest = any($1)`,
    [tokens.map((token) => digestOf('refresh_token', token))],
  )
  return Object.fromEntries(Object.entries(row ?? {}).map(([name, n]) => [name, Number(n)]))
}
