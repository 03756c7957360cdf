import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { decodeJwt } from 'jose'
import {
  type AuthorizationServerOptions,
  type ClientInput,
  InvalidField,
  Scope,
  type StoreOpener,
} from 'svc-oauth2server'
import { chain, requireOauthScopes, rest } from 'svc-oauth2server/node'
import { postgres } from 'svc-oauth2server/postgres'
import { sqlite } from 'svc-oauth2server/sqlite'
import { createTestServer } from 'svc-oauth2server/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { validEmail } from '../../src/model/email-address.ts'
import { blankClient } from '../../src/model/entities/client.ts'
import { validName, validPassword } from '../../src/model/field-rules.ts'
import { checkedFields } from '../../src/records/clients/checked-fields.ts'
import { type Document, propertiesOf } from '../fuzz/openapi-seeds.ts'
import { newKey, proofBy } from '../support/dpop.ts'
import { basicOf, postForm } from '../support/form.ts'
import { unescaped } from '../support/html.ts'
import { contextOf } from '../support/internals.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'
import { serve } from '../support/rest-app.ts'
import { startServer, type TestServer, testScopes } from '../support/server.ts'
import { assertionOf, jwksOf, jwtBearer, newClientKey } from '../support/signing-client.ts'
import { ping, TestClient, tokenRequest, UserAgent } from '../support/user-agent.ts'
import { declaredParameters } from '../work/places.ts'

// What one part accepts, every later part must be able to carry. The parameters and fields come from the OpenAPI document.

const withoutPostgres = await lacks('postgres')

/** The maximum length of all headers that Node accepts. */
const maxHeaders = 16_384

/** Texts whose length differs between characters, bytes, JSON and percent-encoding. */
const units = {
  letters: 'a',
  blanks: ' ',
  escapes: '%20',
  ampersands: '&',
  quotes: '"',
  'control characters': '\u0001',
  '2-byte characters': 'ü',
  '3-byte characters': '漢',
  '4-byte characters': '😀',
} as const
type Encoding = keyof typeof units
const encodings = Object.keys(units) as Encoding[]

/** Returns as many units as fit into a number of UTF-16 code units. */
const textOf = (encoding: Encoding, length: number): string =>
  units[encoding].repeat(Math.floor(length / units[encoding].length))

const headersOf = ({ headers }: Response): number =>
  [...headers].reduce((sum, [name, value]) => sum + name.length + value.length + 4, 0)

/** Returns the longest text of an encoding, up to a length, that is accepted; undefined if no text is. */
const longest = async (
  make: (length: number) => string,
  most: number,
  accepts: (text: string) => boolean | Promise<boolean>,
): Promise<string | undefined> => {
  let [low, high] = [0, most]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if (await accepts(make(middle))) low = middle
    else high = middle - 1
  }
  return low === 0 ? undefined : make(low)
}

/** Values that no ID, number or day may have. */
const extremes = [
  '0',
  '-1',
  '1.5',
  '1e400',
  '9007199254740993',
  '9223372036854775808',
  '9'.repeat(300),
  '0000-00-00',
  '9999-12-31',
  '+275760-09-13',
  '2026-02-30',
  'NaN',
  '\u0000',
  'a\u0000b',
  '\uFFFE',
  "'",
  '%',
  '_',
  '😀'.repeat(1_000),
]

const stores: [string, () => Promise<{ store?: StoreOpener; drop(): Promise<void> }>][] = [
  ['SQLite', async () => ({ drop: async () => undefined })],
]
if (!withoutPostgres)
  stores.push([
    'PostgreSQL',
    async () => {
      const database = await makeDatabase()
      return { store: postgres(database.url), drop: () => database.drop() }
    },
  ])

describe.each(stores)('%s: the longest accepted values', (_, makeStore) => {
  let app: TestServer
  let drop: () => Promise<void>
  let agent: UserAgent
  let document: Document
  beforeAll(async () => {
    const { store, drop: dropStore } = await makeStore()
    drop = dropStore
    app = await startServer({
      ...(store && { store }),
      openidConnect: true,
      userClaimsInIdToken: true,
      allowFrontChannelIdTokens: true,
      accessTokenFormat: 'jwt',
      deviceAuthorization: true,
      dangerouslyIgnoreLimits: true,
    })
    const [user] = await Promise.all([app.newUser({ email: 'admin@example.org', isAdmin: true })])
    agent = new UserAgent()
    await agent.logIn({ ...app, user })
    document = (await (await fetch(`${app.issuer}/openapi.json`)).json()) as Document
  })
  afterAll(async () => {
    await app.close()
    await drop()
  })

  test.each(encodings)(
    'no parameter of an authorization request with %s causes a 5xx or long headers [T4210]',
    async (encoding) => {
      const client = await TestClient.register(app, agent)
      // The server refuses `request`, because request objects are disabled.
      const names = [...declaredParameters(document, '/oauth/authorize', 'get'), 'request']
      expect(names).toEqual(expect.arrayContaining(['state', 'nonce', 'claims', 'ui_locales']))
      for (const name of names) {
        const { searchParams } = new URL(client.url({ scope: 'openid notes:read', nonce: 'n' }))
        searchParams.set(
          name,
          textOf(encoding, 50_000 / encodeURIComponent(units[encoding]).length),
        )
        const response = await agent.fetch(`${app.issuer}/oauth/authorize`, {
          method: 'POST',
          body: searchParams,
        })
        await response.body?.cancel()
        expect([name, response.status]).toEqual([name, expect.toSatisfy((status) => status < 500)])
        expect([name, headersOf(response) < maxHeaders]).toEqual([name, true])
      }
    },
  )

  test.each(encodings)(
    'the longest state, nonce and redirect URI with %s arrive together, also with tokens in the fragment [T4211]',
    async (encoding) => {
      const base = 'https://client.example/'
      const client = await TestClient.register(app, agent, {
        redirectUris: [base + 'a'.repeat(2_000 - base.length)],
        responseTypes: ['code', 'token', 'id_token token', 'code id_token'],
      } as Partial<ClientInput>)
      for (const response_type of ['code', 'id_token token', 'code id_token']) {
        const ask = async (given: Record<string, string>): Promise<Response> => {
          const url = client.url({
            scope: 'openid notes:read',
            nonce: 'n',
            response_type,
            ...given,
          })
          let response = await agent.fetch(`${app.issuer}/oauth/authorize`, {
            method: 'POST',
            body: new URL(url).searchParams,
          })
          if (response.status !== 200) return response
          response = await agent.submit(response, { confirm: 'yes' })
          return response
        }
        const answerOf = async (given: Record<string, string>) => {
          const response = await ask(given)
          await response.body?.cancel()
          const answer = new URL(response.headers.get('location') ?? '', app.issuer)
          const values = new URLSearchParams(`${answer.search.slice(1)}&${answer.hash.slice(1)}`)
          return { response, values }
        }
        const isGranted = ({ values }: { readonly values: URLSearchParams }) =>
          values.has('code') || values.has('id_token')
        const longestOf = (name: string) =>
          longest(
            (length) => textOf(encoding, length),
            5_000,
            async (text) => isGranted(await answerOf({ [name]: text, prompt: 'none' })),
          )
        await answerOf({})
        const [state, nonce] = [await longestOf('state'), await longestOf('nonce')]
        expect([state, nonce]).not.toContain(undefined)
        const { response, values } = await answerOf({ state: state ?? '', nonce: nonce ?? '' })
        expect(values.get('error')).toBeNull()
        expect(values.get('state')).toBe(state)
        expect(headersOf(response)).toBeLessThan(maxHeaders)
        const idToken = values.get('id_token')
        if (idToken !== null) expect(decodeJwt(idToken).nonce).toBe(nonce)
      }
    },
  )

  test.each(encodings)(
    'an ID token with the longest nonce of %s is accepted as a hint, and the longest state arrives after the logout [T4212]',
    async (encoding) => {
      const returnUri = `https://client.example/${'a'.repeat(1_900)}`
      const visitor = new UserAgent()
      await visitor.logIn(app)
      const client = await TestClient.register(app, visitor, {
        openid: { post_logout_redirect_uris: [returnUri] },
      })
      await client.tokens({ scope: 'openid' })
      const nonce = await longest(
        (length) => textOf(encoding, length),
        5_000,
        async (text) => {
          const url = new URL(client.url({ scope: 'openid', nonce: text, prompt: 'none' }))
          const response = await visitor.fetch(`${app.issuer}/oauth/authorize`, {
            method: 'POST',
            body: url.searchParams,
          })
          await response.body?.cancel()
          return response.headers.get('location')?.includes('code=') === true
        },
      )
      const { searchParams } = new URL(client.url({ scope: 'openid', nonce: nonce ?? '' }))
      const granted = await visitor.fetch(`${app.issuer}/oauth/authorize`, {
        method: 'POST',
        body: searchParams,
      })
      const code = new URL(granted.headers.get('location') ?? '').searchParams.get('code') ?? ''
      const { body } = await client.redeem(code)
      const { id_token: hint = '' } = body as { readonly id_token?: string }
      expect(decodeJwt(hint).nonce).toBe(nonce)
      const logOut = async (state: string) => {
        const forwarded = await visitor.fetch(`${app.issuer}/oauth/logout`, {
          method: 'POST',
          body: new URLSearchParams({
            client_id: client.clientId,
            post_logout_redirect_uri: returnUri,
            state,
          }),
        })
        await forwarded.body?.cancel()
        const location = forwarded.headers.get('location')
        return location === null ? forwarded : visitor.browse(new URL(location, app.issuer))
      }
      const state = await longest(
        (length) => textOf(encoding, length),
        5_000,
        async (text) => {
          const response = await logOut(text)
          await response.body?.cancel()
          return response.status < 400
        },
      )
      const url = `${app.issuer}/oauth/logout?${new URLSearchParams({ id_token_hint: hint, post_logout_redirect_uri: returnUri })}`
      const response = await visitor.fetch(`${url}&${new URLSearchParams({ state: 's' })}`)
      expect(response.headers.get('location')).toBe(`${returnUri}?state=s`)
      await visitor.logIn(app)
      const asked = await logOut(state ?? '')
      const confirmation = formOf(await asked.text(), 'logout_request')
      confirmation.set('confirm', 'yes')
      const confirmed = await visitor.fetch(`${app.issuer}/oauth/logout`, {
        method: 'POST',
        body: confirmation,
      })
      expect(headersOf(confirmed)).toBeLessThan(maxHeaders)
      const text = await confirmed.text()
      const [, link = ''] = /href="(https:[^"]*)"/.exec(text) ?? []
      const target = confirmed.headers.get('location') ?? unescaped(link)
      expect(new URL(target, app.issuer).searchParams.get('state')).toBe(state)
    },
  )

  test.each(encodings)(
    'an application with the longest fields of %s is shown, exported and saved again by its own form [T4213]',
    async (encoding) => {
      const form = propertiesOf(
        Object.values(
          document.paths['/account/settings/applications/clients/new/']?.post?.requestBody
            ?.content ?? {},
        )[0]?.schema ?? {},
        document,
      )
      expect(Object.keys(form)).toEqual(expect.arrayContaining(['name', 'redirect_uris']))
      const isValid = (input: Partial<ClientInput>): boolean => {
        try {
          checkedFields(blankClient, { name: 'x', ...input }, contextOf(app.server))
          return true
        } catch (error) {
          if (error instanceof InvalidField) return false
          throw error
        }
      }
      const url = (length: number, number = 0) =>
        `https://h${number}.example/${textOf(encoding, length)}`
      const uris = (length: number) =>
        Array.from({ length: Math.ceil(length / 1_900) }, (_unused, number) =>
          url(Math.min(1_900, length), number),
        )
      const fields: Partial<Record<keyof ClientInput, (length: number) => string | string[]>> = {
        name: (length) => textOf(encoding, length),
        description: (length) => textOf(encoding, length).trim(),
        website: url,
        logoUri: url,
        redirectUris: uris,
      }
      const input: Record<string, unknown> = { name: 'x' }
      for (const [name, make] of Object.entries(fields)) {
        const value = await longest(make as (length: number) => string, 100_000, (text) =>
          isValid({ [name]: text }),
        )
        if (value !== undefined && isValid({ ...input, [name]: value })) input[name] = value
      }
      for (const count of [50, 20, 5, 1]) {
        const openid = { post_logout_redirect_uris: uris(1_900 * count) }
        if (isValid({ ...input, openid })) Object.assign(input, { openid })
      }
      const admin = (await app.server.users.findByEmail('admin@example.org'))?.id ?? null
      // The list shows the newest applications first, and those of the same time by their random IDs.
      app.advance(1)
      const { client } = await app.server.clients.create({ ...input, userId: admin } as ClientInput)
      const page = `${app.issuer}/account/settings/applications/clients/${client.clientId}/`
      const lists = ['applications/', 'applications/clients/'].map(
        (path) => `${app.issuer}/account/settings/${path}`,
      )
      for (const address of [
        page,
        ...lists,
        `${app.issuer}/admin/applications/${client.clientId}/`,
      ]) {
        const response = await agent.browse(address)
        expect([address, response.status]).toEqual([address, 200])
        expect(unescaped(await response.text())).toContain(client.name)
      }
      const shown = await (await agent.browse(page)).text()
      const answer = await agent.fetch(page, { method: 'POST', body: formOf(shown, 'name') })
      expect([answer.status, (await answer.text()).slice(0, 500)]).toEqual([303, ''])
      const { clientSecret: _, ...after } =
        (await app.server.clients.find(client.clientId)) ?? ({} as never)
      expect(after).toMatchObject({
        name: client.name,
        description: client.description,
        website: client.website,
        redirectUris: client.redirectUris,
        metadata: client.metadata,
      })
    },
  )

  test.each(encodings)(
    'a user and a personal token with the longest texts of %s can be used, and are shown [T4215]',
    async (encoding) => {
      const fits = (check: (text: string) => unknown) => (text: string) => {
        try {
          check(text)
          return true
        } catch (error) {
          if (error instanceof InvalidField) return false
          throw error
        }
      }
      const email = await longest(
        (length) => `x${textOf(encoding, length)}@example.org`,
        300,
        fits(validEmail),
      )
      const make = (length: number) => textOf(encoding, length)
      const password = (await longest(make, 2_000, fits(validPassword))) ?? 'password of 8'
      const name = (await longest(make, 200, fits(validName))) ?? 'x'
      const { users, tokens } = app.server
      const user = await users.create({
        email: email ?? `${encoding}@example.org`.replaceAll(' ', '-'),
        password,
      })
      const visitor = new UserAgent({ 'user-agent': textOf('letters', 8_000) })
      await visitor.logIn({ issuer: app.issuer, user, password })
      const token = await tokens.createPersonal(name, user.id, { scopes: ['user:email'] })
      const info = await fetch(`${app.issuer}/oauth/userinfo`, {
        headers: { authorization: `Bearer ${token.accessToken}` },
      })
      await info.body?.cancel()
      expect(info.status).toBeLessThan(500)
      const own = await visitor.browse(`${app.issuer}/account/settings/applications/tokens/`)
      expect(unescaped(await own.text())).toContain(validName(name))
      const query = new URLSearchParams({ q: user.email })
      const found = await agent.browse(`${app.issuer}/admin/users/?${query}`)
      expect(unescaped(await found.text())).toContain(user.email)
      for (const path of ['activity/', 'sessions/']) {
        const response = await visitor.browse(`${app.issuer}/account/settings/${path}`)
        await response.body?.cancel()
        expect([path, response.status]).toEqual([path, 200])
      }
      for (const [who, page] of [
        [visitor, `/account/settings/activity/export/`],
        [agent, '/admin/activity/export/'],
      ] as const)
        for (const format of ['csv', 'jsonl']) {
          const file = await who.browse(`${app.issuer}${page}?${new URLSearchParams({ format })}`)
          expect([page, format, file.status]).toEqual([page, format, 200])
          const text = await file.text()
          if (format === 'jsonl' && who === visitor)
            expect(
              text.split('\n').some((line) => line.includes(JSON.stringify(validName(name)))),
            ).toBe(true)
        }
    },
  )

  test.each(encodings)(
    'the longest jti and kid of %s are accepted in an assertion and in a proof, once [T4622]',
    async (encoding) => {
      const jti = textOf(encoding, 255)
      const key = await newClientKey('ES256', { kid: textOf(encoding, 255) })
      const { clientId } = await app.client({
        jwks: jwksOf(key),
        defaultScopes: ['notes:read'],
      })
      const dpop = await newKey()
      const ask = async (claims: object, proofClaims: object) => {
        const { status } = await tokenRequest(
          app.issuer,
          {
            grant_type: 'client_credentials',
            client_assertion_type: jwtBearer,
            client_assertion: await assertionOf(app, clientId, key, { ...claims }),
          },
          { headers: { dpop: await proofBy(dpop, { app }, { claims: { ...proofClaims } }) } },
        )
        return status
      }
      expect(await ask({ jti }, { jti })).toBe(200)
      expect([await ask({ jti }, {}), await ask({}, { jti })]).toEqual([401, 400])
      const longer = textOf(encoding, 300)
      expect([await ask({ jti: longer }, {}), await ask({}, { jti: longer })]).toEqual([401, 400])
    },
  )

  test('no extreme value of a path or query parameter of the document causes a 5xx [T4214]', async () => {
    const found: string[] = []
    for (const [pattern, item] of Object.entries(document.paths)) {
      if (!item.get || /logout/.test(pattern)) continue
      const parameters = declaredParameters(document, pattern, 'get')
      // All parameters of the query have the value, but only one part of the path.
      for (const place of [...(pattern.match(/\{\w+\}/g) ?? []), ''])
        for (const value of place === '' && parameters.length === 0 ? [] : extremes) {
          const path = pattern.replaceAll(/\{\w+\}/g, (name) =>
            name === place ? encodeURIComponent(value) : '1',
          )
          const query = new URLSearchParams(
            place === '' ? parameters.map((name): [string, string] => [name, value]) : [],
          )
          const response = await agent.fetch(`${app.issuer}${path}?${query}`, {
            headers: { accept: 'text/html' },
          })
          await response.body?.cancel()
          if (response.status >= 500 || headersOf(response) > maxHeaders)
            found.push(`${response.status} ${path}?${query}`.slice(0, 200))
        }
    }
    expect(found).toEqual([])
  })
})

/** Returns a text of random digits, which PostgreSQL cannot compress. */
const incompressible = (length: number): string =>
  randomBytes(Math.ceil(length / 2))
    .toString('hex')
    .slice(0, length)

describe.each(stores)('%s: as many scopes as fit into a request', (_, makeStore) => {
  const longScopes = Array.from(
    { length: 240 },
    (_unused, index) => new Scope(`${index}:${'s'.repeat(255 - String(index).length - 1)}`),
  )
  const ids = longScopes.map(({ id }) => id)

  test.each(['opaque', 'jwt'] as const)(
    'with %s access tokens, every issued token can be used, introspected, refreshed and shown [T4621]',
    async (accessTokenFormat) => {
      await using all = new AsyncDisposableStack()
      const { store, drop } = await makeStore()
      all.defer(drop)
      const app = await startServer({
        ...(store && { store }),
        scopes: [...testScopes, ...longScopes],
        openidConnect: true,
        accessTokenFormat,
      })
      all.use(app)
      const agent = new UserAgent()
      await agent.logIn(app)
      const outcomes: string[] = []
      for (const count of [1, 12, 60, 200]) {
        const client = await TestClient.register(app, agent)
        const scope = ids.slice(0, count).join(' ')
        const { searchParams } = new URL(client.url({ scope }))
        const page = await agent.fetch(`${app.issuer}/oauth/authorize`, {
          method: 'POST',
          body: searchParams,
        })
        expect([count, page.status]).toEqual([count, count < 200 ? 200 : 413])
        if (page.status !== 200) continue
        const answer = await agent.submit(page, { confirm: 'yes' })
        const location = new URL(answer.headers.get('location') ?? '', app.issuer)
        const { status, body } = await client.redeem(location.searchParams.get('code') ?? '')
        outcomes.push(status === 200 ? `${count}` : `${count} ${body.error}`)
        if (status !== 200) continue
        expect(body.scope.split(' ')).toHaveLength(count)
        expect(await ping(app, body.access_token)).toBe(200)
        const about = await postForm(
          `${app.issuer}/oauth/introspect`,
          { token: body.access_token },
          basicOf(client),
        )
        expect(about.body).toMatchObject({ active: true, scope: body.scope })
        expect((await client.refresh(body.refresh_token)).body.scope).toBe(body.scope)
        for (const path of ['applications/authorized/', 'applications/']) {
          const shown = await agent.browse(`${app.issuer}/account/settings/${path}`)
          await shown.body?.cancel()
          expect([count, path, shown.status]).toEqual([count, path, 200])
        }
      }
      const last = accessTokenFormat === 'jwt' ? '60 invalid_scope' : '60'
      expect(outcomes).toEqual(['1', '12', last])
      const personal = await app.server.tokens.createPersonal('All', app.user.id, { scopes: ids })
      expect(await ping(app, personal.accessToken)).toBe(200)
    },
  )

  test('a challenge names the scopes only if the headers stay short [T4623]', async () => {
    const server = await createTestServer({ scopes: longScopes })
    for (const [count, isNamed] of [
      [12, true],
      [240, false],
    ] as const) {
      const needed = ids.slice(0, count)
      await using app = await serve(
        chain(rest(server), requireOauthScopes(...(needed as [string])), (_request, response) =>
          response.end(),
        ),
      )
      const response = await fetch(app.issuer)
      await response.body?.cancel()
      expect(response.status).toBe(401)
      expect(headersOf(response)).toBeLessThan(8_192)
      const challenge = response.headers.get('www-authenticate') ?? ''
      expect(challenge.includes(`scope="${needed.join(' ')}"`)).toBe(isNamed)
      expect(challenge).toContain('resource_metadata="')
    }
    await server.close()
  })
})

describe.each(stores)('%s: the longest IDs of users of the application', (_, makeStore) => {
  test.each([
    ['digits that PostgreSQL cannot compress', (bytes: number) => incompressible(bytes)],
    ['3-byte characters', (bytes: number) => `x${'漢'.repeat((bytes - 1) / 3)}`],
    [
      'characters with a meaning in URLs',
      (bytes: number) => `${'/%?#&"'.repeat(bytes)}`.slice(0, bytes),
    ],
  ])(
    'an ID of 1,000 bytes of %s logs in, gets tokens and is shown; a longer one is refused with the reason [T4624]',
    async (_what, make) => {
      await using all = new AsyncDisposableStack()
      const { store, drop } = await makeStore()
      all.defer(drop)
      let id = make(1_000)
      const user = () => ({
        id,
        email: `u${id.length}@example.org`,
        active: true,
        emailVerified: true,
        isAdmin: true,
      })
      const base = await startServer()
      all.use(base)
      const app = await startServer({
        beside: base,
        store: store ?? sqlite(join(base.folder, 'own-users.db')),
        openidConnect: true,
        loginUrl: '/host-login',
        logoutUrl: '/host-logout',
        resourceOwner: () => id,
        users: {
          keyType: 'text',
          find: async (asked) => (asked === id ? user() : undefined),
          search: async () => [user()],
        },
      } as Partial<AuthorizationServerOptions>)
      all.use(app)
      const { server, issuer } = app
      const agent = new UserAgent()
      const client = await TestClient.register(app, agent, { userId: null })
      const { refresh_token, id_token = '' } = await client.tokens({ scope: 'openid' })
      expect(decodeJwt(id_token).sub).toBe(id)
      expect((await client.refresh(refresh_token)).status).toBe(200)
      const personal = await server.tokens.createPersonal('Laptop', id)
      expect(await ping(app, personal.accessToken)).toBe(200)
      for (const path of [
        '/account/settings/applications/',
        '/account/settings/activity/',
        '/account/settings/activity/export/',
        '/admin/users/',
        `/admin/users/${encodeURIComponent(id)}/`,
        `/admin/activity/?${new URLSearchParams({ user: id })}`,
        `/admin/users/?${new URLSearchParams({ q: id })}`,
      ]) {
        const page = await agent.browse(`${issuer}${path}`)
        await page.body?.cancel()
        expect([path, page.status]).toEqual([path, 200])
      }
      await server.loggedOut(id)
      await server.users.deleted(id)
      id = make(1_003)
      const long = 'has more than 1000 bytes'
      await expect(server.tokens.createPersonal('Laptop', id)).rejects.toThrow(long)
      await expect(server.clients.create({ name: 'N', userId: id })).rejects.toThrow(long)
      const page = await agent.browse(client.url())
      await page.body?.cancel()
      expect(page.status).toBe(500)
      expect(app.log.map(({ error }) => String(error)).join()).toContain(long)
    },
  )
})

/** Returns the fields of the form of a page that contains a field, as a browser sends them. */
const formOf = (html: string, field: string): URLSearchParams => {
  const forms = [...html.matchAll(/<form [^>]*method="post"[\s\S]*?<\/form>/g)].map(
    ([form]) => form,
  )
  const form = forms.find((one) => one.includes(`name="${field}"`)) ?? ''
  const fields = new URLSearchParams()
  const value = (tag: string, name: string) =>
    unescaped(new RegExp(`\\b${name}="([^"]*)"`).exec(tag)?.[1] ?? '')
  for (const [tag] of form.matchAll(/<input [^>]*>/g)) {
    if (/type="(?:checkbox|radio)"/.test(tag) && !/ checked/.test(tag)) continue
    if (value(tag, 'name') !== '') fields.append(value(tag, 'name'), value(tag, 'value'))
  }
  for (const [, tag = '', text = ''] of form.matchAll(/<textarea ([^>]*)>([\s\S]*?)<\/textarea>/g))
    fields.append(value(tag, 'name'), unescaped(text).replace(/^\n/, '').replaceAll('\n', '\r\n'))
  return fields
}
