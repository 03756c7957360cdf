import { afterAll, beforeAll, expect, test } from 'vitest'
import { unescaped } from '../../support/html.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { Contract } from './contract.ts'
import { applications, type Fields, Script } from './script.ts'

let app: TestServer
let contract: Contract
let user: Script
beforeAll(async () => {
  app = await startServer({ openidConnect: true })
  contract = await Contract.of(app)
  user = await Script.logIn(app)
})
afterAll(() => app.close())

/** Fields that select an action, and fields that the response contains in another form. */
const exempt = [
  ...['delete', 'confirm_name', 'end_former', 'reduce'],
  ...['application_type', 'expires', 'expiry', 'time_zone'],
]

/** A value for every field of the forms, which differs from the default. Add a value for a new field. */
const values: Fields = {
  name: 'Printer',
  description: 'Prints reports.',
  website: 'https://printer.example',
  redirect_uris: ['https://printer.example/cb'],
  is_confidential: false,
  default_scopes: ['notes:read'],
  optional_scopes: ['notes:write'],
  post_logout_redirect_uris: ['https://printer.example/bye'],
  backchannel_logout_uri: 'https://printer.example/ended',
  scopes: ['notes:read'],
}

const fieldsOf = (schema: string): readonly string[] => {
  const { properties = {} } = contract.document.components.schemas[schema] as {
    readonly properties?: object
  }
  return Object.keys(properties).filter((name) => !exempt.includes(name))
}

/** Creates an object if the form changes one, and returns the path of the form. */
type Place = () => Promise<string>

const newClient: Place = async () => `${applications}/clients/${(await app.client()).clientId}/`
const newToken: Place = async () =>
  `${applications}/tokens/${(await app.server.tokens.createPersonal('Old', app.user.id)).id}/`

const forms: readonly (readonly [schema: string, Place])[] = [
  ['NewClient', async () => `${applications}/clients/new/`],
  ['ClientChange', newClient],
  ['NewPersonalToken', async () => `${applications}/tokens/new/`],
  ['PersonalTokenChange', newToken],
]

test.each(forms)(
  'saves every field of %s, from JSON and from a form [T1904]',
  async (schema, at) => {
    const names = fieldsOf(schema)
    expect(names.length).toBeGreaterThan(1)
    expect(names.filter((name) => !(name in values))).toEqual([])
    const sent = Object.fromEntries(names.map((name) => [name, values[name]]))
    for (const as of ['post', 'postForm'] as const) {
      const { body } = await user[as](await at(), sent)
      expect([as, body]).toMatchObject([as, sent])
    }
  },
)

const changes: readonly (readonly [schema: string, Place, event: string])[] = [
  ['ClientChange', newClient, 'client.edited'],
  ['PersonalTokenChange', newToken, 'personal_token.edited'],
]

test.each(changes)(
  'records every changed field of %s in the audit log [T1905]',
  async (schema, at, event) => {
    const names = fieldsOf(schema)
    await user.post(await at(), Object.fromEntries(names.map((name) => [name, values[name]])))
    const [row] = await app.query(
      `select details from oauth2server_audit where event = '${event}' order by id desc limit 1`,
    )
    const { fields } = JSON.parse(String(row?.details)) as { readonly fields: readonly string[] }
    expect(names.filter((name) => !fields.includes(name))).toEqual([])
  },
)

const isList = (value: unknown): value is readonly unknown[] => Array.isArray(value)

test.each(forms)(
  'refuses a text of 60,000 characters in every field of %s [T2001]',
  async (schema, at) => {
    const names = fieldsOf(schema)
    const sent = Object.fromEntries(names.map((name) => [name, values[name]]))
    const long = 'x'.repeat(60_000)
    for (const name of names) {
      const { status } = await user.post(await at(), {
        ...sent,
        [name]: isList(values[name]) ? [long] : long,
      })
      expect([name, status]).toEqual([name, 400])
    }
  },
)

/** Flags and counts, which pages express in words of their own. */
const inWords = ['id', 'client_type', 'is_confidential', 'is_verified', 'is_disabled', 'users']
/** Facts that only some objects have, with the test of the page that shows them. */
const rare = [
  'client_secret_leaked_at', // test/pages/settings/leaked.test.ts
]

/** Creates an object for which each fact has a value. */
const fullClient: Place = async () => {
  const path = await newClient()
  const id = path.split('/').at(-2) ?? ''
  await user.post(path, { ...values, is_confidential: true })
  await app.server.clients.resetClientSecret(id, { overlap: 600 })
  return path
}
const fullToken: Place = async () => {
  const { id } = await app.server.tokens.createPersonal('Old', app.user.id, { expiresIn: 86_400 })
  const path = `${applications}/tokens/${id}/`
  await user.post(path, values)
  const { accessToken } = await app.server.personalTokens.rotate(id, { overlap: 600 })
  const headers = { authorization: `Bearer ${accessToken}` }
  await fetch(`${app.issuer}/api/notes`, { headers })
  return path
}

const facts: readonly (readonly [schema: string, Place])[] = [
  ['Client', fullClient],
  ['PersonalToken', fullToken],
]

test.each(facts)('shows every fact of the JSON of %s on its page [T2002]', async (_schema, at) => {
  const path = await at()
  const { cookie } = user.session
  const page = await fetch(new URL(path, app.issuer), {
    headers: { ...user.headers, authorization: '', accept: 'text/html', cookie },
  })
  const html = unescaped(await page.text())
  expect(html).toContain('</html>')
  const shown = Object.entries((await user.get(path)).body as Fields).filter(
    ([name]) => !inWords.includes(name) && !rare.includes(name),
  )
  expect(shown.length).toBeGreaterThan(5)
  expect(shown.filter(([, value]) => value === null || [value].flat().join('') === '')).toEqual([])
  const isShown = (value: unknown) => [value].flat().every((one) => html.includes(String(one)))
  expect(shown.filter(([, value]) => !isShown(value))).toEqual([])
})
