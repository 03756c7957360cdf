import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { AroundStore } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Device, decideOn } from '../support/device.ts'
import { root } from '../support/processes.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { browser, logIn } from '../support/session.ts'
import { authorizationOf, statusOf } from '../support/tokens.ts'
import { TestClient, tokenRequest, UserAgent } from '../support/user-agent.ts'
import { databaseKinds, makeDatabase } from '../users/databases.ts'

// Whatever a scanner reports must never give access again: not by undo, leeway, overlap, redemption or a link.

const options = {
  acceptUnsignedLeakReports: true,
  dangerouslyIgnoreLimits: true,
  dynamicRegistration: 'open',
  deviceAuthorization: true,
  sendUserLink: ({ url }: { readonly url: string }) => {
    links.push(url)
  },
} as const
const links: string[] = []

const label = async (issuer: string, token: string): Promise<string> => {
  const response = await fetch(`${issuer}/oauth/leaked`, {
    method: 'POST',
    body: JSON.stringify([{ token, type: 'test' }]),
    headers: { 'content-type': 'application/json' },
  })
  expect(response.status).toBe(200)
  const [item] = (await response.json()) as { readonly label: string }[]
  return item?.label ?? ''
}

/** A secret, and every way by which its holder could still get access. */
interface Scenario {
  readonly value: string
  /** Whether the secret gives access. Called before the report unless `usedUp`, and after it. */
  readonly works: () => Promise<boolean>
  /** The secret can be used once, so the test uses it only after the report. */
  readonly usedUp?: true
}

const isOk = ({ status }: { readonly status: number }): boolean => status === 200

/** A secret of each kind. The keys are the kinds of digests, and `KIND/WAY` for other places of a value. */
const scenarios: Readonly<Record<string, (app: TestServer) => Promise<Scenario>>> = {
  async access_token(app) {
    const { accessToken } = await authorizationOf(app, (await app.client()).clientId)
    return { value: accessToken, works: async () => (await statusOf(app, accessToken)) === 200 }
  },
  async 'access_token/former'(app) {
    const client = await app.client()
    const { accessToken, refreshToken } = await authorizationOf(app, client.clientId)
    const refreshed = await refresh(app, client, refreshToken)
    return {
      value: accessToken,
      works: async () =>
        (await statusOf(app, accessToken)) === 200 ||
        (await statusOf(app, String(refreshed.body.access_token))) === 200,
    }
  },
  async 'access_token/personal'(app) {
    const value = await app.personalToken()
    return { value, works: async () => (await statusOf(app, value)) === 200 }
  },
  async 'access_token/personal with overlap'(app) {
    const value = await app.personalToken()
    const found = await app.server.tokens.find({ accessToken: value })
    await app.server.personalTokens.rotate(found?.token.id ?? 0, { overlap: 600 })
    return { value, works: async () => (await statusOf(app, value)) === 200 }
  },
  async refresh_token(app) {
    const client = await app.client()
    const { refreshToken } = await authorizationOf(app, client.clientId)
    return {
      value: refreshToken,
      works: async () => isOk(await refresh(app, client, refreshToken)),
      usedUp: true,
    }
  },
  async 'refresh_token/rotated within the leeway'(app) {
    const client = await app.client()
    const { refreshToken } = await authorizationOf(app, client.clientId)
    const { body } = await refresh(app, client, refreshToken)
    return {
      value: refreshToken,
      works: async () =>
        isOk(await refresh(app, client, refreshToken)) ||
        (await statusOf(app, String(body.access_token))) === 200,
    }
  },
  async client_secret(app) {
    const client = await app.client({ grantTypes: ['client_credentials'] })
    return { value: client.clientSecret, works: async () => isOk(await ownToken(app, client)) }
  },
  async 'client_secret/former with overlap'(app) {
    const client = await app.client({ grantTypes: ['client_credentials'] })
    await app.server.clients.resetClientSecret(client.clientId, { overlap: 600 })
    return { value: client.clientSecret, works: async () => isOk(await ownToken(app, client)) }
  },
  async authorization_code(app) {
    const client = await TestClient.register(app, new UserAgent())
    const code = await client.code()
    return { value: code, works: async () => isOk(await client.redeem(code)), usedUp: true }
  },
  async 'authorization_code/redeemed'(app) {
    const client = await TestClient.register(app, new UserAgent())
    const code = await client.code()
    const { body } = await client.redeem(code)
    return {
      value: code,
      works: async () => (await statusOf(app, String(body.access_token))) === 200,
    }
  },
  async device_code(app) {
    const device = await Device.register(app)
    const codes = await device.codes()
    const person = await logIn(app)
    await decideOn(app, person, codes)
    return {
      value: codes.device_code,
      works: async () => isOk(await device.poll(codes)),
      usedUp: true,
    }
  },
  async session(app) {
    const { identifier, agent } = await logIn(app)
    const works = async () => isOk(await agent.fetch(`${app.issuer}/account/settings/sessions/`))
    return { value: identifier, works }
  },
  async registration_token(app) {
    const answer = await fetch(`${app.issuer}/oauth/register`, {
      method: 'POST',
      body: JSON.stringify({ redirect_uris: ['https://client.example/callback'] }),
      headers: { 'content-type': 'application/json' },
    })
    const { client_id, registration_access_token: value } = (await answer.json()) as Record<
      string,
      string
    >
    const headers = { authorization: `Bearer ${value}` }
    const works = async () =>
      isOk(await fetch(`${app.issuer}/oauth/register/${client_id}`, { headers }))
    return { value: value ?? '', works }
  },
  async user_link(app) {
    const visitor = new UserAgent({ 'user-agent': browser })
    const page = await visitor.browse(`${app.issuer}/login/forgot-password`)
    await visitor.submit(page, { email: app.user.email })
    await expect.poll(() => links.length).toBeGreaterThan(0)
    const url = links.pop() ?? ''
    const works = async () => isOk(await fetch(url))
    return { value: new URL(url).searchParams.get('token') ?? '', works }
  },
  async ended_tokens(app) {
    const { id, accessToken } = await app.server.tokens.createPersonal('Deleted', app.user.id)
    const { undo } = await app.server.endedTokens.end(app.user.id, [id])
    const works = async () =>
      (await app.server.endedTokens.restore(app.user.id, undo, 100)) > 0 ||
      (await statusOf(app, accessToken)) === 200
    return { value: accessToken, works, usedUp: true }
  },
}

/** The kinds of digests whose values give no access by themselves, with the reason. */
const harmless: Readonly<Record<string, string>> = {
  authorization_request: 'works only in the session that opened the consent page',
  settings_notice:
    'a name that derives from a session and a page; a secret in the notice is dead after the report',
  settings_form: 'a name that derives from a session and a form; the value is an address',
  form_draft: 'works only for the user who typed the text, and nothing is saved',
  refused_redirect: 'is only displayed, to the owner of the client',
  deleted_token: 'is only displayed; the note of the token decides whether it comes back',
  client_refusals: 'is only displayed',
  pushed_request: 'starts an authorization request, on which the user decides',
  used_pushed_request: 'remembers that a pushed request was used',
  user_code: 'starts a request of a device, on which the user decides',
  device_confirmation: 'works only in the session that opened the consent page',
  client_assertion: 'the identifier of a used proof',
  request_object: 'the identifier of a used proof',
  dpop_proof: 'the identifier of a used proof',
  leaked_credential: 'remembers reports',
  looked_up: 'works only in the session that looked up the credentials, and contains no values',
}

const refresh = (app: TestServer, basic: Basic, refresh_token: string) =>
  tokenRequest(app.issuer, { grant_type: 'refresh_token', refresh_token }, { basic })

const ownToken = (app: TestServer, basic: Basic) =>
  tokenRequest(app.issuer, { grant_type: 'client_credentials' }, { basic })

type Basic = { readonly clientId: string; readonly clientSecret: string }

describe('a reported secret gives no access any more', () => {
  let app: TestServer
  beforeAll(async () => {
    app = await startServer(options)
  })
  afterAll(() => app.close())

  test('each kind of digest has a scenario, or a reason why its values give no access [T3821]', () => {
    const source = readFileSync(join(root, 'src/crypto/digest.ts'), 'utf8')
    const [, kinds = ''] = /type SecretKind =\n((?: {2}\| '.*'\n)+)/.exec(source) ?? []
    const known = [...kinds.matchAll(/'(\w+)'/g)].map(([, kind = '']) => kind)
    expect(known.length).toBeGreaterThan(15)
    const covered = new Set(
      [...Object.keys(scenarios), ...Object.keys(harmless)].map((name) => name.split('/')[0]),
    )
    expect([...covered].sort()).toEqual(known.sort())
  })

  test('each column with a digest or a secret belongs to a scenario [T3822]', async () => {
    const named = (await app.place.columns())
      .map(({ table, name }) => `${table}.${name}`.replace('oauth2server_', ''))
      .filter((name) =>
        /digest|secret|token$|session\.id|transient\.key/.test(
          name.replace(/^[a-z_]*token\./, 'x.'),
        ),
      )
      .filter((name) => !/^(?:audit|client_logo|secret_key)|_expires$/.test(name))
    const of: Readonly<Record<string, string>> = {
      'authorization.code_digest': 'authorization_code/redeemed',
      'client.client_secret': 'client_secret',
      'client.previous_client_secret': 'client_secret/former with overlap',
      'client.registration_token': 'registration_token',
      'rotated_refresh_token.digest': 'refresh_token/rotated within the leeway',
      'session.id': 'session',
      'token.access_token': 'access_token',
      'token.access_token_digest': 'access_token',
      'token.former_digest': 'access_token/former',
      'token.login_digest': 'is no secret: covers the values of a login for the ID token',
      'token.refresh_token': 'refresh_token',
      'token.refresh_token_digest': 'refresh_token',
      'transient.key': 'authorization_code',
    }
    expect(named.sort()).toEqual(Object.keys(of).sort())
  })

  test.each(Object.entries(scenarios))('%s [T3823]', async (_kind, make) => {
    const { value, works, usedUp } = await make(app)
    if (!usedUp) expect(await works()).toBe(true)
    expect(await label(app.issuer, value)).toBe('true_positive')
    expect(await works()).toBe(false)
    expect(await label(app.issuer, value)).toBe('true_positive')
    expect(await works()).toBe(false)
  })

  test.each(Object.entries(scenarios))(
    'without a report, %s works [T3824]',
    async (_kind, make) => {
      expect(await (await make(app)).works()).toBe(true)
    },
  )
})

/** A server whose work can be interrupted between two operations of the store. */
const interrupted = () => {
  let left = 0
  let interruption: () => Promise<unknown> = async () => undefined
  let isInTransaction = false
  const aroundStore: AroundStore = async ({ name }, run) => {
    // An interruption inside a transaction would wait for its locks.
    if (isInTransaction) return run()
    isInTransaction = name === 'transaction'
    const result = await run().finally(() => {
      isInTransaction = false
    })
    left -= 1
    if (left === 0) await interruption()
    return result
  }
  return {
    options: { aroundStore },
    /** Runs `work`, and `other` after an operation of it. Returns false if `work` has fewer operations. */
    async after(step: number, other: () => Promise<unknown>, work: () => Promise<unknown>) {
      left = step
      interruption = other
      await work()
      const wasReached = left <= 0
      left = 0
      return wasReached
    },
  }
}

describe.each(databaseKinds)('a deleted personal token on %s', (kind) => {
  const userOf = (app: TestServer) => app.user.id

  test('is reported in the period to restore it: it never comes back, but its other values do [T3825]', async () => {
    const database = await makeDatabase(kind)
    const app = await startServer({ ...options, store: database.store })
    const { endedTokens, personalTokens, tokens } = app.server
    const { id, accessToken: former } = await tokens.createPersonal('Laptop', userOf(app))
    const { accessToken } = await personalTokens.rotate(id, { overlap: 600 })
    const first = await endedTokens.end(userOf(app), [id])
    expect(await label(app.issuer, former)).toBe('true_positive')
    expect(await endedTokens.restore(userOf(app), first.undo, 100)).toBe(1)
    expect([await statusOf(app, former), await statusOf(app, accessToken)]).toEqual([401, 200])

    const second = await endedTokens.end(userOf(app), [id])
    expect(await label(app.issuer, accessToken)).toBe('true_positive')
    expect(await endedTokens.restore(userOf(app), second.undo, 100)).toBe(0)
    expect(await statusOf(app, accessToken)).toBe(401)
    // After the period, a report still recognizes the token, and nothing else happens.
    const late = await tokens.createPersonal('Late', userOf(app))
    await endedTokens.end(userOf(app), [late.id])
    app.advance(60)
    expect(await label(app.issuer, late.accessToken)).toBe('true_positive')
    await app.close()
    await database.remove()
  })

  test('a report on one node and the undo on another node never leave the token valid [T3826]', async () => {
    const database = await makeDatabase(kind)
    const nodes = { report: interrupted(), undo: interrupted() }
    const app = await startServer({ ...options, store: database.store, ...nodes.undo.options })
    const beside = await startServer({
      ...options,
      beside: app,
      store: database.store,
      ...nodes.report.options,
    })
    const restored = new Set<number>()
    for (const slow of ['report', 'undo'] as const) {
      // The other request is completed after each step of the slow request in turn.
      for (let step = 1; ; step += 1) {
        const { id, accessToken } = await app.server.tokens.createPersonal('Raced', userOf(app))
        const { undo } = await app.server.endedTokens.end(userOf(app), [id])
        const work = {
          report: async () => expect(await label(beside.issuer, accessToken)).toBe('true_positive'),
          undo: async () =>
            restored.add(await app.server.endedTokens.restore(userOf(app), undo, 100)),
        }
        const other = slow === 'report' ? work.undo : work.report
        const wasReached = await nodes[slow].after(step, other, work[slow])
        if (!wasReached) {
          expect(step).toBeGreaterThan(2)
          break
        }
        expect(await statusOf(app, accessToken)).toBe(401)
      }
    }
    expect(restored).toEqual(new Set([0, 1]))
    await beside.close()
    await app.close()
    await database.remove()
  })
})
