import fc from 'fast-check'
import type { User } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { audit } from '../attacks/support/auditor.ts'
import { basicOf, postForm } from '../support/form.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { ping, TestClient, type TokenResponse, UserAgent } from '../support/user-agent.ts'
import { check } from './check.ts'

// Compares a small model of refresh tokens with a server on a SQLite file (RFC 6749 §6, RFC 9700 §4.14.2).

const seconds = { access: 300, refresh: 1_000, leeway: 60, whole: 2_500 }
const whole = ['notes:read', 'notes:write']

interface Pair {
  readonly access: string
  readonly refresh: string
  readonly scope: string
  readonly at: number
  readonly ends: number
}
/** A refresh token that was exchanged. */
interface Exchanged {
  readonly token: string
  readonly at: number
  readonly next: string
  readonly scope: string | undefined
}
/** The tokens that were issued from one code. */
interface Family {
  readonly code: string
  readonly begun: number
  current: Pair
  readonly exchanged: Exchanged[]
  /** Access tokens that were replaced, with the end of their leeway. */
  readonly replaced: { readonly access: string; ends: number }[]
  isEnded: boolean
}
interface Model {
  families: Family[]
  isActive: boolean
}

let app: TestServer
let other: TestClient
/** The owner of the clients, who can be deactivated separately from the user. */
let owner: User
beforeAll(async () => {
  app = await startServer({
    tokenExpiresIn: seconds.access,
    refreshTokenExpiresIn: seconds.refresh,
    refreshTokenLeeway: seconds.leeway,
    authorizationExpiresIn: seconds.whole,
    sessionExpiresIn: 31_536_000,
    sessionIdleExpiresIn: 31_536_000,
  })
  owner = await app.server.users.create({ email: 'owner@example.org', password: null })
  other = await TestClient.register(app, new UserAgent(), { userId: owner.id })
})
afterAll(() => app.close())

type Real = TestClient
type Command = fc.AsyncCommand<Model, Real>

const now = () => app.now() / 1000
const endOf = ({ begun }: Pick<Family, 'begun'>) =>
  Math.min(now() + seconds.refresh, begun + seconds.whole)
const pairOf = ({ body }: TokenResponse, family: Pick<Family, 'begun'>): Pair => ({
  access: body.access_token,
  refresh: body.refresh_token,
  scope: body.scope,
  at: now(),
  ends: endOf(family),
})
const refused = (response: TokenResponse, error: string) =>
  expect([response.status, response.body.error]).toEqual([400, error])

const pick = <T>(list: readonly T[], at: number): T => {
  const found = list[at % list.length]
  if (found === undefined) throw new Error('There is nothing to pick from.')
  return found
}

const command = (
  name: string,
  run: (model: Model, client: Real) => Promise<void>,
  canRun: (model: Model) => boolean = ({ families }) => families.length > 0,
): Command => ({
  check: canRun,
  run,
  toString: () => name,
})

const redeem = command(
  'redeem a code',
  async (model, client) => {
    const code = await client.code({ scope: whole.join(' ') })
    const response = await client.redeem(code)
    expect(response).toMatchObject({
      status: 200,
      body: { scope: whole.join(' '), expires_in: seconds.access },
    })
    const begun = now()
    const current = pairOf(response, { begun })
    model.families.push({ code, begun, current, exchanged: [], replaced: [], isEnded: false })
  },
  ({ families, isActive }) => isActive && families.length < 3,
)

const redeemAgain = (at: number) =>
  command(`redeem code ${at} again`, async ({ families }, client) => {
    const family = pick(families, at)
    refused(await client.redeem(family.code), 'invalid_grant')
    family.isEnded = true
  })

const rotated = (family: Family, response: TokenResponse, scope: string | undefined): void => {
  const { current } = family
  expect(response).toMatchObject({
    status: 200,
    body: { scope: scope ?? whole.join(' '), expires_in: seconds.access },
  })
  const next = pairOf(response, family)
  expect(new Set([current.access, current.refresh, next.access, next.refresh]).size).toBe(4)
  family.exchanged.push({ token: current.refresh, at: now(), next: next.refresh, scope })
  for (const before of family.replaced) before.ends = 0
  const leeway = Math.min(current.at + seconds.access, now() + seconds.leeway)
  const ends = current.scope === next.scope ? leeway : 0
  family.replaced.push({ access: current.access, ends })
  family.current = next
}

const refresh = (at: number, scope: string | undefined) =>
  command(`refresh ${at} for ${scope ?? 'all'}`, async ({ families, isActive }, client) => {
    const family = pick(families, at)
    const response = await client.refresh(
      family.current.refresh,
      scope === undefined ? {} : { scope },
    )
    if (family.isEnded || now() >= family.current.ends || !isActive)
      refused(response, 'invalid_grant')
    else if (scope === 'test:scope' || scope === 'user:email') refused(response, 'invalid_scope')
    else rotated(family, response, scope)
  })

const refreshAtOnce = (at: number, times: number) =>
  command(`refresh ${at}, ${times} at once`, async ({ families, isActive }, client) => {
    const family = pick(families, at)
    const { current } = family
    const responses = await Promise.all(
      Array.from({ length: times }, () => client.refresh(current.refresh)),
    )
    if (family.isEnded || now() >= current.ends || !isActive) {
      for (const response of responses) refused(response, 'invalid_grant')
      return
    }
    const [first] = responses
    if (!first) throw new Error('There is no response.')
    for (const response of responses) expect(response.body).toEqual(first.body)
    rotated(family, first, undefined)
  })

const replay = (at: number, which: number, scope: string | undefined) =>
  command(
    `replay ${which} of ${at} for ${scope ?? 'all'}`,
    async ({ families, isActive }, client) => {
      const family = pick(
        families.filter(({ exchanged }) => exchanged.length > 0),
        at,
      )
      const old = pick(family.exchanged, which)
      const response = await client.refresh(old.token, scope === undefined ? {} : { scope })
      if (family.isEnded) return refused(response, 'invalid_grant')
      const { current } = family
      const isRetry = old.next === current.refresh && now() < old.at + seconds.leeway
      if (!isRetry) {
        refused(response, 'invalid_grant')
        family.isEnded = true
      } else if (scope !== old.scope || !isActive) refused(response, 'invalid_grant')
      else
        expect(response).toMatchObject({
          status: 200,
          body: {
            access_token: current.access,
            refresh_token: current.refresh,
            scope: current.scope,
            expires_in: current.at + seconds.access - now(),
          },
        })
    },
    ({ families }) => families.some(({ exchanged }) => exchanged.length > 0),
  )

/** Presents the token that was just exchanged, after this delay. */
const refreshAndReplay = (at: number, wait: number) =>
  command(`refresh ${at}, and again after ${wait} seconds`, async (model, client) => {
    await refresh(at, undefined).run(model, client)
    app.advance(wait)
    const own = pick(model.families, at)
    const last = own.exchanged.length - 1
    if (last >= 0) await replay(0, last, undefined).run({ ...model, families: [own] }, client)
    await liveTokens(model)
  })

const byAnother = (at: number, isOld: boolean) =>
  command(
    `another client presents ${isOld ? 'an old token' : 'the token'} of ${at}`,
    async ({ families }) => {
      const { current, exchanged } = pick(families, at)
      const token = (isOld && exchanged[0]?.token) || current.refresh
      refused(await other.refresh(token), 'invalid_grant')
      const revoked = await postForm(`${app.issuer}/oauth/revoke`, { token }, basicOf(other))
      expect(revoked.status).toBe(200)
    },
  )

const revoke = (at: number, kind: 'access' | 'refresh' | 'exchanged' | 'replaced') =>
  command(`revoke ${at} by its ${kind} token`, async ({ families }, client) => {
    const family = pick(families, at)
    const { current, exchanged, replaced } = family
    const former = replaced.at(-1)
    const token = { ...current, exchanged: exchanged[0]?.token, replaced: former?.access }[kind]
    if (token === undefined) return
    const response = await postForm(`${app.issuer}/oauth/revoke`, { token }, basicOf(client))
    expect(response.status).toBe(200)
    if (kind !== 'replaced') family.isEnded = true
    else if (former) former.ends = 0
  })

const takeBack = command('the user revokes the authorization', async ({ families }, client) => {
  await app.server.authorizedApplications.revoke(app.user.id, client.clientId)
  for (const family of families) family.isEnded = true
})

const setActive = (active: boolean) =>
  command(active ? 'the user is active' : 'the user is not active', async (model) => {
    await app.server.users.setActive(app.user.id, active)
    model.isActive = active
  })

const advance = (by: number) =>
  command(
    `${by} seconds pass`,
    async () => app.advance(by),
    () => true,
  )

const sweep = command('expired rows are removed', async () => void (await app.server.sweep()))

/** Expects that exactly the tokens of the model are valid. */
const liveTokens = async ({ families, isActive }: Model): Promise<void> => {
  for (const { current, replaced, isEnded } of families) {
    const isLive = !isEnded && isActive && now() < current.at + seconds.access
    expect(await ping(app, current.access)).toBe(isLive ? 200 : 401)
    for (const { access, ends } of replaced)
      expect(await ping(app, access)).toBe(!isEnded && isActive && now() < ends ? 200 : 401)
  }
}
const look = command('check every access token', liveTokens)

const family = fc.nat(2)
const scope = fc.constantFrom(
  undefined,
  undefined,
  'notes:read',
  'notes:write',
  'test:scope',
  'user:email',
)
// Actions that revoke all tokens are rare, so that other actions have valid tokens.
const often = (of: fc.Arbitrary<Command>): fc.Arbitrary<Command>[] =>
  Array.from({ length: 4 }, () => of)
const commands = fc.commands(
  [
    ...often(fc.constant(redeem)),
    ...often(fc.tuple(family, scope).map(([at, of]) => refresh(at, of))),
    ...often(fc.tuple(family, fc.nat(5), scope).map(([at, which, of]) => replay(at, which, of))),
    // Use times around the end of the leeway.
    ...often(
      fc
        .tuple(family, fc.constantFrom(0, seconds.leeway - 1, seconds.leeway))
        .map(([at, wait]) => refreshAndReplay(at, wait)),
    ),
    ...often(fc.constantFrom(1, 30, 59, 60, 299).map(advance)),
    ...often(fc.constant(look)),
    fc.tuple(family, fc.integer({ min: 2, max: 4 })).map(([at, times]) => refreshAtOnce(at, times)),
    fc.tuple(family, fc.boolean()).map(([at, isOld]) => byAnother(at, isOld)),
    fc.constant(sweep),
    fc.boolean().map(setActive),
    fc.constant(setActive(true)),
    family.map(redeemAgain),
    fc
      .tuple(family, fc.constantFrom('access', 'refresh', 'exchanged', 'replaced'))
      .map(([at, kind]) => revoke(at, kind)),
    fc.constant(takeBack),
    fc.constantFrom(301, 999, 1_000, 1_001, 2_500).map(advance),
  ],
  { maxCommands: 40, size: 'max' },
)

describe('I1, I2, I3 refresh tokens', () => {
  test('follow the model for any sequence of actions', () =>
    check(
      fc.asyncProperty(commands, async (all) => {
        const client = await TestClient.register(app, new UserAgent(), { userId: owner.id })
        const model: Model = { families: [], isActive: true }
        try {
          await fc.asyncModelRun(() => ({ model, real: client }), all)
          await liveTokens(model)
          await audit(app)
        } finally {
          await app.server.users.setActive(app.user.id, true)
          await app.server.clients.delete(client.clientId)
        }
      }),
      { runs: 20, limit: 100_000 },
    ))
})
