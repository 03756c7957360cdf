import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServer, type TestServer } from '../../support/server.ts'
import { Contract } from './contract.ts'
import { applications, type Fields, Script } from './script.ts'

let app: TestServer
let contract: Contract
let user: Script
beforeAll(async () => {
  app = await startServer()
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
