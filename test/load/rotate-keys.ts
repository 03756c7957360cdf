/**
 * Measures a rotation of the secret keys over many tokens, with two servers under load.
 *
 *     npm run test:load -- rotate-keys [TOKENS]
 *
 * Uses a SQLite file, or the PostgreSQL database at DATABASE_URL, which must be empty.
 */

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import pLimit from 'p-limit'
import { digestOf } from '../../src/crypto/digest.ts'
import { KeyRing } from '../../src/crypto/sealed.ts'
import { type AuthorizationServer, createAuthorizationServer } from '../../src/index.ts'
import { accessClaims, blankToken, refreshClaims } from '../../src/model/entities/token.ts'
import { fromEnvironment } from '../../src/server/environment/environment.ts'
import { storeOf } from '../support/internals.ts'
import { LoadClient, type Pair } from './client.ts'
import { Meter } from './meter.ts'
import { runCommand, type ServerProcess, startServer, type Variables } from './servers.ts'

const oldKey = 'the old secret key of the measurement'
const newKey = 'the new secret key of the measurement'
const redirectUri = 'https://client.example/cb'
const email = 'load@example.org'
const password = 'correct horse battery staple'
const scopes = ['user:email']
const workers = 12
/** Milliseconds for which the script measures the load without a rotation. */
const idle = 5_000

const openServer = async (env: Variables): Promise<AuthorizationServer> => {
  const { options } = await fromEnvironment(env)
  return createAuthorizationServer({ ...options, sweepInterval: 0, log: () => undefined })
}

const furnish = async (server: AuthorizationServer) => {
  const user = await server.users.create({ email, password })
  const { client, clientSecret } = await server.clients.create({
    name: 'Load',
    userId: user.id,
    redirectUris: [redirectUri],
    defaultScopes: scopes,
  })
  await server.consents.grant(user.id, client.clientId, scopes)
  // A user can have at most `authorizationsPerApplication` authorizations, so several users are needed.
  const holders = await Promise.all(
    Array.from({ length: 200 }, (_, index) =>
      server.users.create({ email: `holder-${index}@example.org`, password: null }),
    ),
  )
  return { holders, client, clientSecret }
}

/** Inserts authorizations with token pairs, sealed with the former key, without using the endpoints. */
const fill = async (
  server: AuthorizationServer,
  { holders, client: { clientId, clientKey } }: Awaited<ReturnType<typeof furnish>>,
  count: number,
): Promise<Pair[]> => {
  const store = storeOf(server)
  const keys = new KeyRing([oldKey])
  const pairs: Pair[] = []
  const createdAt = Date.now()
  const ends = createdAt + 86_400_000
  while (pairs.length < count) {
    await store.transaction(async (tx) => {
      for (let index = 0; index < 500 && pairs.length < count; index += 1) {
        const userId = holders[pairs.length % holders.length]?.id ?? null
        const authorizationId = await tx.authorizations.insertOnce({
          clientKey,
          userId,
          scopes,
          resources: [],
          codeDigest: null,
          code: null,
          userAgent: '',
          createdAt,
          expiresAt: ends,
          revokedAt: null,
        })
        const fields = {
          ...blankToken,
          clientId,
          clientKey,
          userId,
          authorizationId: authorizationId ?? null,
          expires: ends,
          refreshExpires: ends,
          scopes,
          createdAt,
        }
        const pair = { accessToken: secret(), refreshToken: secret() }
        const accessDigest = digestOf('access_token', pair.accessToken)
        const refreshDigest = digestOf('refresh_token', pair.refreshToken)
        const none = { successorId: null, formerDigest: null, formerExpires: null }
        const access = accessClaims({ fields, accessDigest, ...none })
        const refresh = refreshClaims(refreshDigest, fields, {
          scopes,
          resources: [],
          createdAt,
        })
        await tx.tokens.insert({
          fields,
          accessDigest,
          accessToken: keys.seal('token', pair.accessToken, access),
          refreshDigest,
          refreshToken: keys.seal('token', pair.refreshToken, refresh),
          ...none,
        })
        pairs.push(pair)
      }
    })
  }
  return pairs
}

const secret = (): string => randomBytes(32).toString('hex')

/** Sends requests to both servers until the caller stops the load. */
const underLoad = (
  servers: readonly ServerProcess[],
  client: LoadClient,
  pairs: readonly Pair[],
) => {
  const meter = new Meter()
  let isOver = false
  const work = async (worker: number): Promise<void> => {
    for (let turn = 0; !isOver; turn += 1) {
      const at = servers[(turn + worker) % servers.length]?.url ?? ''
      const beside = servers[(turn + worker + 1) % servers.length]?.url ?? ''
      // Each worker uses different tokens, which are spread over the whole table.
      const pair = pairs[((turn * 7919) % Math.floor(pairs.length / workers)) * workers + worker]
      if (!pair) return
      for (let uses = 0; uses < 5; uses += 1)
        await meter.time('bearer', () => client.use(uses % 2 ? at : beside, pair))
      await meter.time('refresh', async () => {
        Object.assign(pair, await client.refresh(at, pair))
      })
      await meter.time('bearer', () => client.use(beside, pair))
      await meter.time('code', async () => {
        await client.newPair(beside, at)
      })
      await meter.time('client', () => client.ownToken(beside))
    }
  }
  const working = Array.from({ length: workers }, (_, worker) => work(worker))
  return {
    meter,
    async end() {
      isOver = true
      await Promise.all(working)
    },
  }
}

/** Returns the number of token pairs that a server with only the new key does not find. */
const lost = async (server: AuthorizationServer, pairs: readonly Pair[]): Promise<number> => {
  const limit = pLimit(8)
  const found = await Promise.all(
    pairs.map(({ accessToken, refreshToken }) =>
      limit(async () => {
        const both = [
          await server.tokens.find({ accessToken }),
          await server.tokens.find({ refreshToken }),
        ]
        return both.every((token) => token !== undefined)
      }),
    ),
  )
  return found.filter((isThere) => !isThere).length
}

const seconds = (since: number): number => Math.round((performance.now() - since) / 100) / 10

/**
 * Fills the database, rotates the keys, and prints the figures.
 * @returns whether all requests succeeded and no token was lost
 */
export const run = async ([count = '100000']: readonly string[]): Promise<boolean> => {
  const folder = await mkdtemp(join(tmpdir(), 'oauth2server-load-'))
  const DATABASE_URL = process.env.DATABASE_URL ?? `sqlite:${join(folder, 'load.sqlite')}`
  const env = {
    DATABASE_URL,
    BASE_URL: 'http://localhost:3000',
    // Set the values that cause no start-up warnings.
    OAUTH2SERVER_ALLOWED_RESPONSE_TYPES: 'code',
    OAUTH2SERVER_ACCEPT_QUERY_ACCESS_TOKEN: 'false',
  }
  const both = { ...env, SECRET_KEY: newKey, SECRET_KEY_PREVIOUS: oldKey }
  const servers: ServerProcess[] = []
  try {
    const begun = performance.now()
    const filling = await openServer({ ...env, SECRET_KEY: oldKey })
    const made = await furnish(filling)
    const pairs = await fill(filling, made, Number(count))
    await filling.close()
    console.log(`${pairs.length} tokens made in ${seconds(begun)} s: ${DATABASE_URL.split(':')[0]}`)

    servers.push(await startServer(both), await startServer(both))
    const client = new LoadClient({
      ...made,
      clientId: made.client.clientId,
      redirectUri,
      email,
      password,
    })
    await client.logIn(servers[0]?.url ?? '')
    const load = underLoad(servers, client, pairs)
    await delay(2_000)
    load.meter.take()
    await delay(idle)
    console.log(`without a rotation, in ${idle / 1000} s:`)
    console.table(load.meter.take())

    const rotating = performance.now()
    const resealed = await runCommand(['secret-key', 'rotate'], both)
    const took = seconds(rotating)
    const during = load.meter.take()
    await load.end()
    console.log(`${resealed} rows sealed anew in ${took} s; meanwhile:`)
    console.table(during)
    const again = await runCommand(['secret-key', 'rotate'], both)
    const after = await openServer({ ...env, SECRET_KEY: newKey })
    const gone = await lost(after, pairs)
    await after.close()
    const warnings = servers.flatMap((server) => server.warnings)
    const failed = load.meter.reasons
    console.log(
      `run again: ${again} rows; lost: ${gone} of ${pairs.length} tokens; failed requests: ${failed.length}`,
    )
    for (const line of [...failed, ...warnings].slice(0, 20)) console.log(line)
    return failed.length === 0 && gone === 0 && warnings.length === 0 && again === '0'
  } finally {
    await Promise.all(servers.map((server) => server.stop()))
    await rm(folder, { recursive: true })
  }
}
