import { afterAll, beforeAll, expect, test } from 'vitest'
import { digestOf } from '../../../src/crypto/digest.ts'
import { endLeakedSecret } from '../../../src/records/clients/leaked-credentials.ts'
import { unescaped } from '../../support/html.ts'
import { contextOf } from '../../support/internals.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { Contract } from '../api/contract.ts'
import { changes, forms, type Place, savedFields, values, valuesOf } from '../api/form-values.ts'
import { applications, type Fields as Json, Script } from '../api/script.ts'
import { at, type Fields, type Page, Person } from './support.ts'

// The tests derive the fields from the OpenAPI document, so they also name the places that a new field needs.

let app: TestServer
let contract: Contract
let script: Script
beforeAll(async () => {
  app = await startServer()
  contract = await Contract.of(app)
  script = await Script.logIn(app)
})
afterAll(() => app.close())

/** Returns the fields as the form of a page contains them. */
const asForm = (fields: Json): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      if (name === 'expires') return [name, String(value).slice(0, 10)]
      if (name === 'redirect_uris') return [name, [value].flat().join('\n')]
      return [name, Array.isArray(value) ? value.map(String) : String(value)]
    }),
  )

/** Returns the values of a form for a person. A new client has a kind instead of `is_confidential`. */
const typedInto = (schema: string): Fields => {
  const { is_confidential, ...rest } = asForm(valuesOf(savedFields(contract, schema)))
  const isNewClient = schema === 'NewClient'
  return {
    ...rest,
    ...(is_confidential !== undefined && !isNewClient && { is_confidential }),
    ...(isNewClient && { application_type: 'native' }),
    ...('expires' in rest && { expiry: 'day' }),
  }
}

const expectTyped = (page: Page, path: string, typed: Fields): void => {
  const { fields } = page.form(path, 'name')
  for (const [name, value = []] of Object.entries(typed))
    expect([name, fields[name]]).toEqual([name, [value].flat()])
}

test.each(forms)(
  'the form of %s shows every typed field again after an invalid value, and after a lost session [T2700]',
  async (schema, place) => {
    const person = await Person.logIn(app)
    const path = await place(app)
    const typed = typedInto(schema)
    const form = (await person.get(path)).form(path, 'name')
    const name = 'x'.repeat(41)
    const refused = await person.send(form, { ...typed, name })
    expect(refused.status).toBe(400)
    expectTyped(refused, path, { ...typed, name })

    await person.post('/logout')
    const late = await person.send(form, typed)
    const login = await person.get(late.location ?? '')
    const { email } = person.user
    const action = /action="(\/login[^"]*)"/.exec(login.html)?.[1] ?? ''
    const entered = await person.send(login.form(action), { email, password: app.password })
    expectTyped(await person.follow(entered), path, typed)
  },
)

test.each(changes)(
  'the form of %s shows every field that another tab has changed [T2701]',
  async (schema, place) => {
    for (const name of savedFields(contract, schema)) {
      const person = await Person.logIn(app)
      const path = await place(app)
      const form = (await person.get(path)).form(path, 'name')
      expect((await script.post(path, { [name]: values[name] })).status).toBe(200)
      const page = await person.send(form, { name: 'Second' })
      expect([name, page.status]).toEqual([name, 409])
      // The form does not overwrite the expiry: its choice is the current expiry.
      if (name !== 'expires') expect(page.html).toContain(`<a href="#${name}">`)
    }
  },
)

/** Flags and counts, which pages express in words. */
const inWords = ['id', 'client_type', 'is_confidential', 'is_verified', 'is_disabled', 'users']

/** Saves a value in each field of a client. */
const filledIn = async (clientId: string): Promise<string> => {
  const path = `${applications}/clients/${clientId}/`
  const fields = valuesOf(savedFields(contract, 'ClientChange'))
  await script.post(path, { ...fields, is_confidential: true })
  return path
}

/** Creates an object with values for as many members of its JSON as possible. */
const fullClient: Place = async () => {
  const { clientId } = await app.client()
  await app.server.clients.resetClientSecret(clientId, { overlap: 600 })
  return filledIn(clientId)
}
const fullToken: Place = async () => {
  const path = await changes[1][1](app)
  await script.post(path, valuesOf(savedFields(contract, 'PersonalTokenChange')))
  const id = Number(path.split('/').at(-2))
  const { accessToken } = await app.server.personalTokens.rotate(id, { overlap: 600 })
  const headers = { authorization: `Bearer ${accessToken}` }
  await fetch(`${app.issuer}/api/notes`, { headers })
  return path
}

/** Creates a client whose secret has leaked, so that the client has no previous secret. */
const leakedClient: Place = async () => {
  const { clientId, clientSecret } = await app.client()
  await endLeakedSecret(digestOf('client_secret', clientSecret), contextOf(app.server))
  return filledIn(clientId)
}

/** The schema of each object, and objects that together have a value for each member. */
const objects = [
  ['Client', 'ClientChange', [fullClient, leakedClient]],
  ['PersonalToken', 'PersonalTokenChange', [fullToken]],
] as const

const isEmpty = (value: unknown): boolean => value === null || [value].flat().join('') === ''

/** Returns the items of every longer list that contains all items of this list. */
const largerThan = (list: readonly unknown[], facts: Json): readonly unknown[] =>
  Object.values(facts)
    .filter((other): other is readonly unknown[] => Array.isArray(other))
    .filter((other) => other.length > list.length && list.every((item) => other.includes(item)))
    .flat()

/** Returns whether a page shows a value. A part of another list must be shown in addition to that list. */
const isShown = (value: unknown, facts: Json, html: string): boolean => {
  const times = (item: unknown) => html.split(String(item)).length - 1
  const items = [value].flat()
  const others = Array.isArray(value)
    ? largerThan(items, facts).filter((item) => !items.includes(item))
    : []
  return items.every((item) => times(item) > Math.max(0, ...others.map(times)))
}

test.each(objects)(
  'the page of %s shows every member of its JSON, and the form shows every stored value [T2002]',
  async (_name, schema, places) => {
    const person = await Person.logIn(app)
    const empty: string[][] = []
    for (const place of places) {
      const path = await place(app)
      const page = await person.get(path)
      const html = unescaped(page.html)
      const facts = (await script.get(path)).body as Json
      const shown = Object.entries(facts).filter(([name]) => !inWords.includes(name))
      expect(shown.length).toBeGreaterThan(5)
      empty.push(shown.filter(([, value]) => isEmpty(value)).map(([name]) => name))
      const missing = shown.filter(([, value]) => !isEmpty(value) && !isShown(value, facts, html))
      expect(missing).toEqual([])
      const stored = savedFields(contract, schema).filter((name) => name !== 'expires')
      const form = asForm(Object.fromEntries(stored.map((name) => [name, facts[name]])))
      expectTyped(page, path, form)
    }
    expect(empty.reduce((all, more) => all.filter((name) => more.includes(name)))).toEqual([])
  },
)

/** The members that only the page of an object shows. */
const onlyOnPage: Readonly<Record<string, readonly string[]>> = {
  clients: [
    ...['description', 'website', 'logo_uri', 'redirect_uris', 'default_scopes', 'optional_scopes'],
    ...['client_secret_leaked_at', 'previous_client_secret_expires'],
  ],
  tokens: ['used_scopes', 'previous_expires'],
}

test.each([
  ['clients', fullClient],
  ['tokens', fullToken],
] as const)(
  'the list of %s shows every member of its JSON, apart from the members that are only on the page of one object [T3030]',
  async (list, place) => {
    const path = await place(app)
    const facts = (await script.get(path)).body as Json
    const person = await Person.logIn(app)
    const { items } = await person.get(`${applications}/${list}/`)
    const [item = ''] = items.filter((one) => one.includes(path))
    const names = Object.keys(facts).filter((name) => !inWords.includes(name))
    const listed = names.filter((name) => !onlyOnPage[list]?.includes(name))
    expect(listed.length).toBeGreaterThan(2)
    expect(listed.filter((name) => !isShown(facts[name], facts, unescaped(item)))).toEqual([])
  },
)

test('undoing the deletion of a personal token restores every member of its JSON [T2702]', async () => {
  const path = await fullToken(app)
  const before = (await script.get(path)).body
  const { undo } = (await script.post(path, { delete: 'yes' })).body as { readonly undo: string }
  expect((await script.get(path)).status).toBe(404)
  expect((await script.post(at.undo, { undo })).status).toBe(200)
  expect((await script.get(path)).body).toEqual({ ...(before as Json), used_scopes: [] })
})

test('a rotation preserves every saved field of a personal token [T2703]', async () => {
  const path = await fullToken(app)
  const facts = async () => (await script.get(path)).body as Json
  const before = await facts()
  expect((await script.post(`${path}rotate/`)).status).toBe(200)
  const names = savedFields(contract, 'PersonalTokenChange')
  expect(names.length).toBeGreaterThan(2)
  const after = await facts()
  for (const name of names) expect([name, after[name]]).toEqual([name, before[name]])
  expect(path).toContain(applications)
})
