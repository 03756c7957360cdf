import type { TestServer } from '../../support/server.ts'
import type { Contract } from './contract.ts'
import { applications, type Fields } from './script.ts'

/** Fields that contain no value to save. */
const actions = [
  ...['delete', 'confirm_name'], // deletes
  ...['end_former', 'reduce'], // end a former value, and unused scopes
  ...['expiry', 'time_zone'], // other ways to choose `expires`
  'application_type', // another way to choose `is_confidential`
]

/** A value for every field of the forms, which differs from the default. Add a value for a new field. */
export const values: Fields = {
  name: 'Printer',
  description: 'Prints reports.',
  website: 'https://printer.example/about',
  logo_uri: 'https://printer.example/logo.png',
  redirect_uris: ['https://printer.example/cb'],
  is_confidential: false,
  default_scopes: ['notes:read'],
  optional_scopes: ['notes:write'],
  post_logout_redirect_uris: ['https://printer.example/bye'],
  backchannel_logout_uri: 'https://printer.example/ended',
  scopes: ['notes:read', 'notes:write'],
  expires: '2027-01-31T12:00:00.000Z',
}

/** Returns the fields of a form whose values are saved. */
export const savedFields = ({ document }: Contract, schema: string): readonly string[] => {
  const { properties = {} } = document.components.schemas[schema] as {
    readonly properties?: object
  }
  return Object.keys(properties).filter((name) => !actions.includes(name))
}

/** Returns the values of these fields. */
export const valuesOf = (names: readonly string[]): Fields =>
  Object.fromEntries(names.map((name) => [name, values[name]]))

/** Creates the object that a form changes, and returns the path of the form. */
export type Place = (app: TestServer) => Promise<string>

const newClient: Place = async (app) => `${applications}/clients/${(await app.client()).clientId}/`
const newToken: Place = async ({ server, user }) =>
  `${applications}/tokens/${(await server.tokens.createPersonal('Old', user.id)).id}/`

/** The forms that change an object. */
export const changes = [
  ['ClientChange', newClient],
  ['PersonalTokenChange', newToken],
] as const satisfies readonly (readonly [schema: string, Place])[]

/** The forms with values to save. */
export const forms: readonly (readonly [schema: string, Place])[] = [
  ['NewClient', async () => `${applications}/clients/new/`],
  ['NewPersonalToken', async () => `${applications}/tokens/new/`],
  ...changes,
]
