import type { Session, TestData } from '../support/observed-test-data.ts'
import type { SeededRandom } from '../support/seeded-random.ts'
import { basic, bearer, pairsOf, shapeOf, type WeightedSeed } from './seeds.ts'

interface Schema {
  readonly $ref?: string
  readonly type?: string | readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
  readonly enum?: readonly unknown[]
  readonly anyOf?: readonly Schema[]
  readonly oneOf?: readonly Schema[]
  readonly allOf?: readonly Schema[]
}

interface Operation {
  readonly summary: string
  readonly security?: readonly Readonly<Record<string, unknown>>[]
  readonly parameters?: readonly { readonly in: string; readonly name: string }[]
  readonly requestBody?: { readonly content: Readonly<Record<string, { readonly schema: Schema }>> }
}

/** The parts of an OpenAPI document that this file reads. */
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: { readonly schemas: Readonly<Record<string, Schema>> }
}

const resolved = (schema: Schema, document: Document): Schema =>
  schema.$ref === undefined
    ? schema
    : resolved(document.components.schemas[schema.$ref.split('/').at(-1) ?? ''] ?? {}, document)

/** Returns all properties that a body may have, in any alternative. */
export const propertiesOf = (
  given: Schema,
  document: Document,
): Readonly<Record<string, Schema>> => {
  const schema = resolved(given, document)
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  return Object.assign(
    {},
    ...parts.map((part) => propertiesOf(part, document)),
    schema.properties ?? {},
  )
}

/** Returns valid values for parameters. IDs belong to existing objects. */
const known = (f: TestData, random: SeededRandom): Readonly<Record<string, unknown>> => ({
  name: 'Fuzz',
  description: 'Text',
  website: 'https://client.example/',
  redirect_uris: [f.redirectUri],
  default_scopes: ['notes:read'],
  scopes: ['notes:read'],
  client_id: random.pick(f.clientIds),
  id: random.pick(f.tokenIds),
  token_id: random.pick(f.tokenIds),
  token: random.pick([random.pick(f.pairs).access, random.pick(f.personal)]),
  redirect_uri: f.redirectUri,
  scope: 'notes:read',
  csrf_token: f.session.csrf,
  confirm_name: 'Fuzz',
  overlap: '0',
  expires: '2030-01-01',
  // Use `yes` rarely: later requests need the session and the object that the request would delete.
  delete: random.chance(3) ? 'yes' : 'no',
  others: random.chance(1) ? 'yes' : 'no',
  session_id: random.chance(1) ? '1' : '999999',
})

const exampleOf = (given: Schema, document: Document, random: SeededRandom): unknown => {
  const schema = resolved(given, document)
  if (schema.enum) return random.pick(schema.enum)
  const [alternative] = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])]
  if (alternative) return exampleOf(alternative, document, random)
  const type = [schema.type].flat()[0]
  if (type === 'array') return [exampleOf(schema.items ?? {}, document, random)]
  if (type === 'integer' || type === 'number') return random.below(100)
  if (type === 'boolean') return random.chance(50)
  if (type === 'object') return {}
  return 'text'
}

/** Returns the headers and the format of a request with the credentials that an operation accepts. */
const callerOf = (
  { security = [] }: Operation,
  f: TestData,
  random: SeededRandom,
  session: Session,
): { readonly headers: Record<string, string>; readonly isJson: boolean } => {
  const accepts = (scheme: string) => security.some((one) => scheme in one)
  if (accepts('client')) return { headers: basic(f.confidential), isJson: false }
  if (accepts('accessToken')) return { headers: bearer(random.pick(f.pairs).access), isJson: false }
  if (accepts('registrationToken')) return { headers: bearer(f.registered.token), isJson: true }
  const isScript = random.chance(60)
  return isScript
    ? { headers: asScript(session), isJson: true }
    : { headers: { cookie: session.cookie }, isJson: false }
}

const asScript = ({ cookie, jwt }: Session) => ({
  accept: 'application/json',
  cookie,
  authorization: `Bearer ${jwt}`,
})

/** Returns a request for each operation of the document, with the credentials and in a format that it accepts. */
export const openapiSeeds = (document: Document): readonly WeightedSeed[] =>
  Object.entries(document.paths).flatMap(([pattern, item]) =>
    Object.entries(item)
      .filter(([method]) => method !== 'parameters')
      .map(([method, operation]): WeightedSeed => {
        const schema = Object.values(operation.requestBody?.content ?? {})[0]?.schema
        const properties = schema ? propertiesOf(schema, document) : undefined
        return {
          weight: /sessions|authorized|admin/.test(pattern) && method !== 'get' ? 3 : 12,
          seed(f, random) {
            const names = known(f, random)
            const path = pattern
              .replace('{client_id}', random.pick(f.clientIds))
              .replace('{id}', random.pick([...f.tokenIds, ...f.personalIds]))
            const session = pattern.startsWith('/admin') ? f.admin : f.session
            const { headers, isJson } = callerOf(operation, f, random, session)
            const fields = Object.fromEntries(
              Object.entries(properties ?? {})
                .filter(() => random.chance(85))
                .map(([name, one]) => [name, names[name] ?? exampleOf(one, document, random)]),
            )
            const form = { ...fields, csrf_token: session.csrf }
            const body =
              properties === undefined && method === 'get'
                ? ({ kind: 'none' } as const)
                : isJson
                  ? ({ kind: 'json', value: fields } as const)
                  : ({ kind: 'form', pairs: pairsOf(textsOf(form)) } as const)
            return shapeOf(random, {
              endpoint: `${method.toUpperCase()} ${pattern}`,
              method: method.toUpperCase(),
              path,
              headers,
              body,
            })
          },
        }
      }),
  )

const textsOf = (fields: Readonly<Record<string, unknown>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [
      name,
      Array.isArray(value) ? value.join('\n') : String(value),
    ]),
  )
