import fc from 'fast-check'
import type { ClientInput, User } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { formIn, responseTo, TestClient, UserAgent } from '../support/user-agent.ts'
import { check } from './check.ts'

// Compares the server with a small model of consent (decision §4.5 to §4.7). The server stores its data in a SQLite
// file, and the tests use its pages over HTTP.

const known = ['notes:read', 'notes:write', 'user:email']
type Decision = 'yes' | 'no'

/** The decision of a user about a client. */
interface DecidedScopes {
  readonly granted: readonly string[]
  readonly declined: readonly string[]
}
interface Issued {
  readonly user: number
  readonly client: number
  readonly token: string
  readonly scopes: readonly string[]
  isLive: boolean
}
interface ClientModel {
  isConfidential: boolean
  isDisabled: boolean
  allowed: readonly string[] | null
  optional: readonly string[]
}
interface Model {
  readonly clients: ClientModel[]
  readonly said: Map<string, DecidedScopes>
  readonly tokens: Issued[]
}
interface Real {
  readonly clients: readonly { readonly clientId: string; clientSecret: string }[]
}
type Command = fc.AsyncCommand<Model, Real>

let app: TestServer
const people: { readonly user: User; readonly agent: UserAgent }[] = []
beforeAll(async () => {
  app = await startServer()
  const { password } = app
  const second = await app.server.users.create({ email: 'user-b@example.org', password })
  for (const user of [app.user, second]) {
    const agent = new UserAgent()
    await agent.logIn({ issuer: app.issuer, user, password })
    people.push({ user, agent })
  }
})
afterAll(() => app.close())

const at = <T>(list: readonly T[], index: number): T => {
  const found = list[index % list.length]
  if (found === undefined) throw new Error('There is nothing to pick from.')
  return found
}
const keyOf = (user: number, client: number) => `${user} ${client}`
const command = (name: string, run: (model: Model, real: Real) => Promise<void>): Command => ({
  check: () => true,
  run,
  toString: () => name,
})

const clientOf = (
  { clients }: Real,
  client: number,
  user: number,
  { isConfidential }: ClientModel,
) => {
  const registered = { ...at(clients, client), redirectUri: 'https://client.example/cb' }
  return new TestClient(app, at(people, user).agent, registered, isConfidential ? 'basic' : 'none')
}

interface Asked {
  readonly user: number
  readonly client: number
  readonly scopes: readonly string[]
  readonly prompt: 'consent' | 'none' | undefined
  readonly decision: Decision
  /** The optional scopes that the user ticks if the page is shown. */
  readonly ticked: readonly string[]
}

/** The expected result of a request: an error, the page, or a code for these scopes. */
const predicted = (model: Model, { user, client, scopes, prompt }: Asked) => {
  const { isConfidential, allowed, optional } = at(model.clients, client)
  const ceiling = allowed ? known.filter((scope) => allowed.includes(scope)) : known
  if (scopes.some((scope) => !ceiling.includes(scope))) return { error: 'invalid_scope' } as const
  const said = model.said.get(keyOf(user, client))
  const isSettled =
    said !== undefined &&
    scopes.every(
      (scope) =>
        said.granted.includes(scope) || (optional.includes(scope) && said.declined.includes(scope)),
    )
  if (isConfidential && isSettled && prompt !== 'consent')
    return { granted: scopes.filter((scope) => said.granted.includes(scope)) }
  return prompt === 'none' ? ({ error: 'consent_required' } as const) : 'page'
}

const decide = async (
  page: Response,
  { agent }: { agent: UserAgent },
  { decision, ticked }: Asked,
) => {
  const { action, hidden } = formIn(await page.text())
  const body = new URLSearchParams({ ...hidden, confirm: decision })
  for (const scope of ticked) body.append('optional_scope', scope)
  return agent.fetch(new URL(action, app.issuer), { method: 'POST', body })
}

const ask = (asked: Asked) => {
  const { user, client, scopes, prompt, decision, ticked } = asked
  const name = `user ${user}, client ${client}: ${scopes.join(' ')}, prompt ${prompt}, ${decision}, ticked ${ticked.join(' ')}`
  return command(name, async (model, real) => {
    const known = at(model.clients, client)
    const testClient = clientOf(real, client, user, known)
    const response = await testClient.agent.fetch(
      testClient.url({ scope: scopes.join(' '), prompt }),
    )
    if (known.isDisabled) {
      expect(response.headers.get('location')).toMatch(/\/oauth\/errors\?/)
      return
    }
    const expected = predicted(model, asked)
    if (expected !== 'page') expect(response.status).toBe(303)
    let last = response
    let granted = expected !== 'page' && 'granted' in expected ? expected.granted : undefined
    if (expected === 'page') {
      expect(response.status).toBe(200)
      last = await decide(response, testClient, asked)
      expect(last.status).toBe(303)
      if (decision === 'yes') {
        const declined = scopes.filter(
          (one) => known.optional.includes(one) && !ticked.includes(one),
        )
        const agreed = scopes.filter((one) => !declined.includes(one))
        const before = model.said.get(keyOf(user, client)) ?? { granted: [], declined: [] }
        const all = [...before.granted.filter((one) => !declined.includes(one)), ...agreed]
        model.said.set(keyOf(user, client), {
          granted: all,
          declined: [...before.declined.filter((one) => !all.includes(one)), ...declined],
        })
        granted = agreed
      }
    }
    const { code, error } = responseTo(testClient, new URL(last.headers.get('location') ?? ''))
    if (granted === undefined) {
      const why = expected === 'page' ? 'access_denied' : 'error' in expected ? expected.error : ''
      expect([code, error]).toEqual([undefined, why])
      return
    }
    const { status, body } = await testClient.redeem(code ?? '')
    expect([status, body.scope]).toEqual([200, granted.join(' ')])
    model.tokens.push({ user, client, token: body.access_token, scopes: granted, isLive: true })
  })
}

const end = (
  { tokens, said }: Model,
  isMeant: (of: { user: number; client: number }) => boolean,
) => {
  for (const token of tokens) if (isMeant(token)) token.isLive = false
  for (const key of [...said.keys()]) {
    const [user = 0, client = 0] = key.split(' ').map(Number)
    if (isMeant({ user, client })) said.delete(key)
  }
}

/** Agrees to all scopes, and unticks one scope later. A request for all scopes then receives the remaining scopes. */
const changeOfMind = (user: number, client: number, unticked: string) =>
  command(
    `user ${user} agrees to client ${client}, and unticks ${unticked} later`,
    async (model, real) => {
      const asked = { user, client, scopes: known, decision: 'yes', ticked: known } as const
      await ask({ ...asked, prompt: undefined }).run(model, real)
      await change(client, { optionalScopes: [unticked] }).run(model, real)
      const ticked = known.filter((scope) => scope !== unticked)
      await ask({ ...asked, ticked, prompt: 'consent' }).run(model, real)
      await ask({ ...asked, prompt: undefined }).run(model, real)
    },
  )

const takeBack = (user: number, client: number) =>
  command(`user ${user} withdraws the consent for client ${client}`, async (model, real) => {
    const had = model.said.has(keyOf(user, client))
    const { clientId } = at(real.clients, client)
    const { authorizedApplications } = app.server
    expect(await authorizedApplications.revoke(at(people, user).user.id, clientId)).toBe(had)
    end(model, (of) => of.user === user && of.client === client)
  })

const change = (client: number, input: Partial<ClientInput>) =>
  command(`client ${client} becomes ${JSON.stringify(input)}`, async (model, real) => {
    const before = at(model.clients, client)
    const registered = at(real.clients, client)
    await app.server.clients.update(registered.clientId, input)
    // A public client has no secret, so a client that becomes confidential needs one.
    if (input.isConfidential && registered.clientSecret === '') {
      const { clientSecret } = await app.server.clients.resetClientSecret(registered.clientId)
      registered.clientSecret = clientSecret
    }
    const { isConfidential = before.isConfidential, allowedScopes, optionalScopes } = input
    if (before.isConfidential && !isConfidential) end(model, (of) => of.client === client)
    before.isConfidential = isConfidential
    if (allowedScopes !== undefined) before.allowed = allowedScopes
    if (optionalScopes !== undefined) before.optional = optionalScopes
  })

const disable = (client: number, isDisabled: boolean) =>
  command(`client ${client} is ${isDisabled ? 'disabled' : 'enabled'}`, async (model, real) => {
    await app.server.clients.mark(at(real.clients, client).clientId, { isDisabled })
    at(model.clients, client).isDisabled = isDisabled
  })

/** Expects that every token follows the model from the next request on. */
const everyToken = async ({ tokens, clients }: Model, real: Real): Promise<void> => {
  for (const { token, scopes, isLive, client, user } of tokens) {
    const { allowed, isDisabled } = at(clients, client)
    const response = await fetch(`${app.issuer}/oauth/info`, {
      headers: { authorization: `Bearer ${token}` },
    })
    const body = (await response.json()) as Record<string, unknown>
    if (!isLive || isDisabled) {
      expect(response.status).toBe(401)
      continue
    }
    expect(response.status).toBe(200)
    const granted = allowed ? scopes.filter((scope) => allowed.includes(scope)) : scopes
    const { id, email } = at(people, user).user
    expect(body).toEqual({
      user: granted.includes('user:email') ? { id, email, email_verified: true } : { id },
      client: { client_id: at(real.clients, client).clientId, name: 'Client' },
      scopes: granted,
    })
  }
}

const user = fc.nat(1)
const client = fc.nat(1)
const scopes = fc.subarray(known)
const asked = fc
  .record({
    user,
    client,
    scopes: fc.oneof(
      { weight: 12, arbitrary: fc.shuffledSubarray(known, { minLength: 1 }) },
      { weight: 1, arbitrary: fc.constantFrom(['test:scope'], ['notes:read', 'nowhere']) },
    ),
    prompt: fc.constantFrom(undefined, undefined, undefined, 'consent' as const, 'none' as const),
    decision: fc.constantFrom<Decision>('yes', 'yes', 'yes', 'no'),
    ticked: scopes,
  })
  .map(ask)
const commands = fc.commands(
  [
    ...Array.from({ length: 8 }, () => asked),
    fc
      .tuple(user, client, fc.constantFrom(...known))
      .map(([one, of, scope]) => changeOfMind(one, of, scope)),
    fc.tuple(user, client).map(([one, of]) => takeBack(one, of)),
    fc.tuple(client, scopes).map(([of, optionalScopes]) => change(of, { optionalScopes })),
    fc
      .tuple(client, fc.option(scopes, { nil: null, freq: 2 }))
      .map(([of, allowedScopes]) => change(of, { allowedScopes })),
    fc.tuple(client, fc.boolean()).map(([of, isConfidential]) => change(of, { isConfidential })),
    fc.tuple(client, fc.boolean()).map(([of, isDisabled]) => disable(of, isDisabled)),
    fc.constant(command('check every token', everyToken)),
  ],
  { maxCommands: 40, size: 'max' },
)

describe('I4 consent and the rights of tokens', () => {
  test('follow the model for two users and two clients, for any sequence of actions', () =>
    check(
      fc.asyncProperty(commands, async (all) => {
        const real: Real = {
          clients: [await app.client(), await app.client({ isConfidential: false })],
        }
        const fresh = (isConfidential: boolean): ClientModel => ({
          isConfidential,
          isDisabled: false,
          allowed: null,
          optional: [],
        })
        const model: Model = { clients: [fresh(true), fresh(false)], said: new Map(), tokens: [] }
        try {
          await fc.asyncModelRun(() => ({ model, real }), all)
          await everyToken(model, real)
        } finally {
          for (const { clientId } of real.clients) await app.server.clients.delete(clientId)
        }
      }),
      { runs: 30, limit: 100_000 },
    ))
})
