import { globSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/crypto/random.ts'
import { KeyRing } from '../../src/crypto/sealed.ts'
import type { RecordsContext } from '../../src/records/context.ts'
import {
  type Bound,
  otherShortLivedRows,
  type ShortLivedKind,
  shortLivedKinds,
} from '../../src/records/short-lived-kinds.ts'
import { TransientValues } from '../../src/records/transient-values.ts'
import { memoryTransients } from '../../src/store/transients/memory-transients.ts'
import { root } from '../docs/markdown.ts'
import { newKey, proofBy } from '../support/dpop.ts'
import { secretKey, startServer } from '../support/server.ts'
import { tokenRequest, UserAgent } from '../support/user-agent.ts'

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
      expect(() => values.claim('name', 'without an owner', end)).toThrow('needs its owner')
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
    const [count] = await app.query(
      "select count(*) as n, max(length(value)) as largest from oauth2server_transient where key like 'authorization_request:%'",
    )
    expect(count?.n).toBe(most + 1)
    // A value is not several times as large as its request.
    expect(Number(count?.largest)).toBeLessThan(address.length * 4)
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
    const statuses = []
    for (let asked = 0; asked < 5; asked += 1) statuses.push(await ask(clients[0]))
    expect(statuses).toEqual([200, 200, 200, 429, 429])
    expect(await ask(clients[1])).toBe(200)
    const rows = await app.query("select key from oauth2server_transient where key like 'dpop%'")
    expect(rows).toHaveLength(4)
  })
})
