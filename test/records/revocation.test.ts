import { postgres } from 'svc-oauth2server/postgres'
import { expect, test } from 'vitest'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'
import { startServer, type TestOptions, type TestServer } from '../support/server.ts'
import { authorizationOf } from '../support/tokens.ts'

const stores = (await lacks('postgres')) ? ['SQLite'] : ['SQLite', 'PostgreSQL']
const cases = stores.flatMap((store) =>
  (['opaque', 'jwt'] as const).map((format) => [store, format] as const),
)

/** The operations that invalidate a token. */
const ends = [
  ({ server }: TestServer, { userId }: Party) => server.users.setActive(userId, false),
  ({ server }: TestServer, { userId }: Party) => server.users.delete(userId),
  ({ server }: TestServer, { clientId }: Party) => server.clients.delete(clientId),
  async ({ issuer }: TestServer, { clientId, clientSecret, accessToken: token }: Party) => {
    const authorization = `Basic ${btoa(`${clientId}:${clientSecret}`)}`
    const body = new URLSearchParams({ token })
    const request = { method: 'POST', headers: { authorization }, body }
    expect((await fetch(`${issuer}/oauth/revoke`, request)).status).toBe(200)
  },
]

interface Party {
  readonly userId: number
  readonly clientId: string
  readonly clientSecret: string
  readonly accessToken: string
}

let made = 0

const newParty = async (app: TestServer): Promise<Party> => {
  made += 1
  const user = await app.newUser({ email: `user-${made}@example.org` })
  const { clientId, clientSecret } = await app.client({ userId: user.id })
  const { accessToken } = await authorizationOf({ ...app, user }, clientId)
  return { userId: Number(user.id), clientId, clientSecret, accessToken }
}

const statusAt = async ({ issuer }: TestServer, { accessToken }: Party): Promise<number> =>
  (await fetch(`${issuer}/oauth/ping`, { headers: { authorization: `Bearer ${accessToken}` } }))
    .status

/** Sends requests with a token while `end` invalidates the token. @returns the statuses of later requests */
const responsesAfter = async (
  nodes: readonly TestServer[],
  party: Party,
  end: () => Promise<unknown>,
): Promise<readonly number[]> => {
  const after: number[] = []
  let hasEnded = false
  const asking = nodes.map(async (node) => {
    for (let left = 4; left > 0; ) {
      const isAfter = hasEnded
      const status = await statusAt(node, party)
      if (!isAfter) continue
      after.push(status)
      left -= 1
    }
  })
  await end()
  hasEnded = true
  await Promise.all(asking)
  return after
}

test.each(cases)(
  'with %s and the token format %s, both nodes reject every request after a token became invalid [T820]',
  async (store, accessTokenFormat) => {
    await using all = new AsyncDisposableStack()
    const database = store === 'PostgreSQL' ? await makeDatabase() : undefined
    if (database) all.defer(database.drop)
    const options = (): TestOptions => ({
      accessTokenFormat,
      ...(database && { store: postgres(database.url, { poolSize: 3 }) }),
    })
    const one = all.use(await startServer(options()))
    const other = all.use(await startServer({ ...options(), beside: one }))
    for (const end of ends) {
      const party = await newParty(one)
      expect([await statusAt(one, party), await statusAt(other, party)]).toEqual([200, 200])
      const responses = await responsesAfter([one, one, other, other], party, async () =>
        end(one, party),
      )
      expect(responses).toEqual(Array(16).fill(401))
    }
  },
)
