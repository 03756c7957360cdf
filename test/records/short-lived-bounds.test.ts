import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/crypto/random.ts'
import { KeyRing } from '../../src/crypto/sealed.ts'
import type { RecordsContext } from '../../src/records/context.ts'
import {
  type Bound,
  maxOwnerSize,
  otherShortLivedRows,
  type ShortLivedKind,
  shortLivedKinds,
} from '../../src/records/short-lived-kinds.ts'
import { TransientValues } from '../../src/records/transient-values.ts'
import { memoryTransients } from '../../src/store/transients/memory-transients.ts'
import { root } from '../docs/markdown.ts'
import { newKey, proofBy } from '../support/dpop.ts'
import { basicOf, postForm } from '../support/form.ts'
import { pushed, referenceUrl } from '../support/pushed-request.ts'
import { registered } from '../support/registration.ts'
import { isOnNodes, redirectUri, secretKey, startServer } from '../support/server.ts'
import { TestClient, tokenRequest, UserAgent } from '../support/user-agent.ts'

const end = 100_000
const bounds: readonly (readonly [string, Bound])[] = Object.entries(shortLivedKinds)

const open = (kind: string) => {
  const context = {
    transients: memoryTransients(),
    clock: () => 0,
    random: systemRandom,
    keys: new KeyRing([secretKey]),
  } as unknown as RecordsContext
  return new TransientValues<string>(kind as ShortLivedKind, context)
}

describe('every kind of short-lived values', () => {
  const counted = bounds.flatMap(([kind, bound]) =>
    'per' in bound ? [[kind, bound.per, bound.most] as const] : [],
  )

  test.each(counted)(
    '%s: for each %s, at most %i values are stored; the value that expires first is removed, and no value of another owner [T3503]',
    async (kind, _per, most) => {
      const values = open(kind)
      const theirs = await values.put('theirs', end, 'another owner')
      const names: string[] = []
      for (let index = 0; index < most + 5; index += 1)
        names.push(await values.put('mine', end + index, 'owner'))
      const kept = await values.getMany(names)
      expect(kept.map((value) => value !== undefined)).toEqual(names.map((_, index) => index >= 5))
      expect(await values.get(theirs)).toBe('theirs')
      await expect(values.set('name', 'without an owner', end)).rejects.toThrow('needs its owner')
      await expect(values.claim('name', 'without an owner', end)).rejects.toThrow('needs its owner')
    },
  )

  test.each(counted)(
    '%s: for each %s, at most %i values of any lifetimes are stored; the new value remains, and the other that expires first is removed [T4664]',
    async (kind, _per, most) => {
      const values = open(kind)
      const theirs = await values.put('theirs', end - most, 'another owner')
      const names: string[] = []
      for (let index = 0; index < most + 2; index += 1) {
        names.push(await values.put('mine', end - index, 'owner'))
        expect(await values.get(names[index] ?? '')).toBe('mine')
      }
      const kept = await values.getMany(names)
      const isKept = (index: number) => index < most - 1 || index === most + 1
      expect(kept.map((value) => value !== undefined)).toEqual(
        names.map((_, index) => isKept(index)),
      )
      expect(await values.get(theirs)).toBe('theirs')
    },
  )

  test.each(bounds.map(([kind, { size }]) => [kind, size] as const))(
    '%s: a value with more than %i characters is refused with 413 [T3504]',
    async (kind, size) => {
      const values = open(kind)
      const status = (length: number) =>
        values.set('name', 'x'.repeat(length), end, 'owner').then(
          () => 200,
          (error) => error.status,
        )
      const around = JSON.stringify({ expiresAt: end, value: '' }).length
      expect([await status(size - around), await status(size - around + 1)]).toEqual([200, 413])
    },
  )

  test.each(counted)(
    '%s: for each %s, the largest values together are bounded too [T4401]',
    async (kind, _per, most) => {
      const { size } = shortLivedKinds[kind as ShortLivedKind]
      const values = open(kind)
      const large = 'x'.repeat(size - 100)
      const names: string[] = []
      const count = Math.min(most, Math.floor(maxOwnerSize / size)) + 20
      for (let index = 0; index < count; index += 1)
        names.push(await values.put(large, end + index, 'owner'))
      const kept = (await values.getMany(names)).filter((value) => value !== undefined)
      expect(kept.length * large.length).toBeLessThanOrEqual(maxOwnerSize)
      expect(kept.length).toBeGreaterThan(0)
      expect(await values.get(names.at(-1) ?? '')).toBe(large)
    },
  )

  test('code that writes short-lived rows in another way is listed with its reason [T3505]', () => {
    const src = resolve(root, 'src')
    const writers = globSync('**/*.ts', { cwd: src })
      .filter((path) => !path.startsWith('store'))
      .filter((path) =>
        /\btransients\s*\.(?:put|set|increment)\(/.test(readFileSync(resolve(src, path), 'utf8')),
      )
      .map((path) => path.replaceAll('\\', '/'))
    expect(writers.sort()).toEqual([
      'records/limits.ts',
      'records/transient-values.ts',
      'server/host-transactions.ts',
      'server/sweeper/sweeper.ts',
    ])
    expect(Object.keys(otherShortLivedRows)).toHaveLength(writers.length - 1)
  })
})

describe('a user who opens consent pages without end', () => {
  test('stores at most the bound, keeps the latest pages, and removes no page of another user [T3506]', async () => {
    await using app = await startServer()
    const { most } = shortLivedKinds.authorization_request
    const { clientId } = await app.client({ redirectUris: ['https://app.example/cb'] })
    const padding = 'x'.repeat(4_000)
    const address = `${app.issuer}/oauth/authorize?${new URLSearchParams({ response_type: 'code', client_id: clientId, state: padding })}`
    const [mine, theirs] = [new UserAgent(), new UserAgent()]
    await mine.logIn(app)
    const other = await app.newUser({ email: 'other@example.org' })
    await theirs.logIn({ ...app, user: other })
    const page = await theirs.browse(address)
    const first = await mine.browse(address)
    const pages: Awaited<ReturnType<UserAgent['browse']>>[] = []
    for (let opened = 1; opened < most + 20; opened += 1) {
      app.advance(0.001)
      pages.push(await mine.browse(address))
    }
    const rows = await app.shortLived('authorization_request:')
    expect(rows).toHaveLength(most + 1)
    // A value is not several times as large as its request.
    for (const { value } of rows) expect(value.length).toBeLessThan(address.length * 4)
    const decided = async (agent: UserAgent, one: Response & { address: string }) =>
      (await agent.submit(one, { confirm: 'yes' })).status
    expect(await decided(mine, first)).toBe(400)
    // A user with many tabs loses no ordinary page.
    const [oldestTab] = pages.slice(-60)
    if (!oldestTab) throw new Error('There are too few pages.')
    expect(await decided(mine, oldestTab)).toBeLessThan(400)
    expect(await decided(theirs, page)).toBeLessThan(400)
  })
})

/** A parameter that the server ignores, so that few requests fill the room of their owner. */
const padding = { ignored: 'x'.repeat(55_000) }

describe('pushed requests that browsers have opened', () => {
  test('do not displace a request that no browser has opened yet [T4408]', async () => {
    await using app = await startServer()
    const client = await TestClient.register(app, new UserAgent())
    const open = (requestUri: string) =>
      new UserAgent().fetch(referenceUrl(client, requestUri), { redirect: 'manual' })
    const count = Math.ceil(maxOwnerSize / 70_000)
    for (let index = 0; index < count; index += 1) {
      app.advance(0.001)
      expect((await open(await pushed(client, padding))).headers.get('location')).toMatch('/login?')
    }
    app.advance(0.001)
    const waiting = await pushed(client, padding)
    app.advance(0.001)
    await pushed(client, padding)
    expect((await open(waiting)).headers.get('location')).toMatch('/login?')
  })
})

describe('clients that register themselves and push requests without end', () => {
  test('share the room of their address, and remove no request of another address or of a trusted client [T4402]', async () => {
    await using app = await startServer({
      dynamicRegistration: 'open',
      trustedProxies: ['127.0.0.1'],
    })
    const registeredAt = async (address: string) => {
      const { client_id: clientId, client_secret: clientSecret } = await registered(app)
      return { clientId, clientSecret, headers: { 'x-forwarded-for': address } }
    }
    const pushedBy = async ({ headers, ...client }: Awaited<ReturnType<typeof registeredAt>>) => {
      const form = {
        response_type: 'code',
        client_id: client.clientId,
        redirect_uri: redirectUri,
        code_challenge: 'x'.repeat(43),
        code_challenge_method: 'S256',
        state: 'x'.repeat(4_000),
        ...padding,
      }
      const sent = { ...basicOf(client), ...headers }
      expect((await postForm(`${app.issuer}/oauth/par`, form, sent)).status).toBe(201)
    }
    const trusted = { ...(await app.client()), headers: { 'x-forwarded-for': '192.0.2.1' } }
    await pushedBy(trusted)
    await pushedBy(await registeredAt('192.0.2.2'))
    const clients = await Promise.all(Array.from({ length: 8 }, () => registeredAt('192.0.2.1')))
    for (let index = 0; index < 35; index += 1)
      for (const client of clients) {
        app.advance(0.001)
        await pushedBy(client)
      }
    const byOwner = Map.groupBy(await app.shortLived('pushed_request:'), ({ owner }) => owner)
    const [first, second, ...rest] = [...byOwner.values()].sort((a, b) => a.length - b.length)
    expect([first?.length, second?.length, rest.length]).toEqual([1, 1, 1])
    const size = rest.flat().reduce((sum, { value }) => sum + value.length, 0)
    expect(size).toBeLessThanOrEqual(maxOwnerSize)
  })
})

describe('a client that uses up its proofs', () => {
  test('receives 429 and stores no further proof, and another client is served [T3507]', async () => {
    const usedProofs = { points: 3, seconds: 60 }
    await using app = await startServer({ limits: { usedProofs } })
    const key = await newKey()
    const ask = async (basic: Awaited<ReturnType<typeof app.client>>) => {
      const dpop = await proofBy(key, { app })
      const form = { grant_type: 'client_credentials' }
      return (await tokenRequest(app.issuer, form, { basic, headers: { dpop } })).status
    }
    const clients = [await app.client(), await app.client()] as const
    const statuses: number[] = []
    for (let asked = 0; asked < 12; asked += 1) statuses.push(await ask(clients[0]))
    const accepted = statuses.filter((status) => status === 200).length
    // Each of three nodes learns of the limit from its own next count.
    if (isOnNodes) expect(accepted).toBeLessThanOrEqual(usedProofs.points + 3)
    else expect(accepted).toBe(usedProofs.points)
    expect(statuses.slice(accepted)).toEqual(statuses.slice(accepted).map(() => 429))
    expect(await ask(clients[1])).toBe(200)
    expect(await app.shortLived('dpop')).toHaveLength(accepted + 1)
  })
})
