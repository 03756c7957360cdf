import { decodeJwt } from 'jose'
import { type ClientInput, InvalidField, type StoreOpener } from 'svc-oauth2server'
import { postgres } from 'svc-oauth2server/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { validEmail } from '../../src/model/email-address.ts'
import { validName, validPassword } from '../../src/model/field-rules.ts'
import { builtInExtensions } from '../../src/protocol/extensions/built-in.ts'
import { type Document, propertiesOf } from '../fuzz/openapi-seeds.ts'
import { unescaped } from '../support/html.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { TestClient, UserAgent } from '../support/user-agent.ts'
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

describe.each<[string, () => Promise<{ store?: StoreOpener; drop(): Promise<void> }>]>([
  ['SQLite', async () => ({ drop: async () => undefined })],
  ...(withoutPostgres
    ? []
    : [
        [
          'PostgreSQL',
          async () => {
            const database = await makeDatabase()
            return { store: postgres(database.url), drop: () => database.drop() }
          },
        ] as [string, () => Promise<{ store: StoreOpener; drop(): Promise<void> }>],
      ]),
])('%s: the longest accepted values', (_, makeStore) => {
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
      const names = [
        ...declaredParameters(document, '/oauth/authorize', 'get'),
        ...builtInExtensions.flatMap(({ authorizationParameters = [] }) => authorizationParameters),
      ]
      expect(names).toEqual(expect.arrayContaining(['state', 'nonce', 'claims', 'ui_locales']))
      for (const name of new Set(names)) {
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
      const { clients } = app.server
      const isValid = (input: Partial<ClientInput>): boolean => {
        try {
          clients.check({ name: 'x', ...input })
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
      const { client } = await clients.create({ ...input, userId: admin } as ClientInput)
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
      const { clientSecret: _, ...after } = (await clients.find(client.clientId)) ?? ({} as never)
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
      for (const path of ['activity/', 'sessions/', 'activity/export?format=json']) {
        const response = await visitor.browse(`${app.issuer}/account/settings/${path}`)
        await response.body?.cancel()
        expect([path, response.status]).toEqual([path, expect.toSatisfy((status) => status < 500)])
      }
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
