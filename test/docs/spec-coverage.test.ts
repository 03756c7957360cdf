import { existsSync, readFileSync } from 'node:fs'
import { posix, resolve } from 'node:path'
import { expect, test } from 'vitest'
import { readPage, root } from './markdown.ts'
import { allTestIds, testIdsIn } from './test-ids.ts'

const specification = resolve(root, '../shared/spec/authorization-service.md')

interface TestReference {
  readonly path: string
  /** Ends the title of the test: `[T012]`. */
  readonly id: string
}

interface Row {
  readonly id: string
  readonly statement: string
  readonly sources: readonly string[]
  readonly tests: readonly TestReference[]
  readonly note: string
}

const page = readPage('docs/spec-coverage.md')

const linksIn = (cell: string): readonly string[] =>
  [...cell.matchAll(/\]\(([^)]+)\)/g)].map(([, target = '']) => posix.join('docs', target))

const testsIn = (cell: string): readonly TestReference[] =>
  cell
    .split('<br>')
    .filter((line) => line !== '')
    .map((line) => {
      const [, target = '', id = ''] =
        /^\[[^\]]+\]\(([^)]+)\): (T\d{3,4})$/.exec(line) ?? expect.fail(`not a test: ${line}`)
      return { path: posix.join('docs', target), id }
    })

const rows: readonly Row[] = [...page.matchAll(/^\| `([^`]+)` +\| (.*) \|$/gm)].map(
  ([line, id = '', rest = '']) => {
    const cells = rest.split(/(?<!\\)\|/).map((cell) => cell.trim())
    expect(cells, line).toHaveLength(4)
    const [statement = '', sources = '', tests = '', note = ''] = cells
    return { id, statement, sources: linksIn(sources), tests: testsIn(tests), note }
  },
)

const sections: Readonly<Record<string, string>> = {
  'What the service does': 'does',
  'States and transitions': 'states',
  'Other records': 'records',
  Errors: 'error',
}

const tables: Readonly<Record<string, string>> = {
  'Grant type': 'grant ',
  Item: 'limit ',
  Name: 'config ',
}

const slug = (text: string): string =>
  text
    .replaceAll(/\([^)]*\)/g, '')
    .replaceAll(/[`,]/g, '')
    .trim()
    .replaceAll(/ +/g, '-')

/**
 * An id for every statement of the specification, in its order: numbered items and what is below them, list items,
 * table rows and the sentences in between.
 */
const statementsOf = (text: string): readonly string[] => {
  const ids: string[] = []
  let section = 'intro'
  let sentences = 0
  let item = ''
  let letter = 0
  let table: string | undefined
  for (const line of text.split('\n')) {
    const [, heading] = /^##+ (.*)$/.exec(line) ?? []
    const [, cell] = /^\| ([^|]*?) \|/.exec(line) ?? []
    const [, number] = /^(\d+)\. /.exec(line) ?? []
    const [, inner] = /^ +(\d+)\. /.exec(line) ?? []
    if (cell !== undefined) {
      if (table !== undefined) ids.push(table + slug(cell))
      else if (cell === 'Field' || cell === 'Attribute') table = `${section}.`
      else table = tables[cell] ?? `${cell.toLowerCase()} `
      continue
    }
    if (line.startsWith('|')) continue
    table = undefined
    if (heading !== undefined) {
      section = sections[heading] ?? slug(heading).toLowerCase()
      sentences = 0
    } else if (number !== undefined) {
      item = section === 'does' ? `does-${number}` : `${section}-rule-${number}`
      letter = 0
      ids.push(item)
    } else if (inner !== undefined) {
      ids.push(`${item}.${inner}`)
    } else if (/^ +- /.test(line)) {
      ids.push(`${item}.${'abcdefgh'[letter]}`)
      letter += 1
    } else if (line !== '' && !line.startsWith('#') && !line.endsWith(':')) {
      const parts = line.startsWith('- ') ? [line] : line.split(/(?<=\.) (?=[A-Z`{])/)
      for (const _ of parts) {
        sentences += 1
        ids.push(`${section}-${sentences}`)
      }
    }
  }
  return ids
}

/** What `statementsOf` finds in the specification, for a clone that does not have it beside itself. */
const specified = `
intro-1, intro-2, intro-3, intro-4, intro-5,
does-1, does-2, does-3, does-4, does-5, does-6, does-7, does-7.a, does-7.b, does-8, does-8.a,
does-8.b, does-8.c, does-8.d, does-8.e, does-9, grant client_credentials,
grant authorization_code, grant Implicit, grant password, grant refresh_token, does-10,
does-10.1, does-10.2, does-10.3, does-10.4, does-10.5, does-10.6, does-11, does-12, does-13,
does-14,
client.name, client.description, client.website, client.user_id, client.client_id,
client.client_secret, client.is_confidential, client.is_internal, client.redirect_uris,
client.default_scopes, client.client_type, client.default_redirect_uri,
client.allowed_grant_types, client.allowed_response_types, client.get_users, client-rule-1,
client-rule-2, client-rule-3, client-rule-4, client-rule-5,
token.id, token.client_id, token.user_id, token.token_type, token.access_token,
token.refresh_token, token.expires, token.scopes, token.is_personal, token.is_internal,
token-rule-1, token-rule-2, token-rule-3, token-rule-3.a, token-rule-3.b, token-rule-3.c,
token-rule-4,
scope.id, scope.help_text, scope.group, scope.is_internal, scope-rule-1, scope-rule-2,
scope-rule-3,
user-proxy-1, user-proxy-2, user-proxy-3, user-proxy-4, user-proxy-5, user-proxy-6,
records-1,
states-1, states-2, states-3, states-4,
endpoints-1, endpoints-2,
endpoint Authorize, endpoint Token,
endpoints-3, endpoints-4,
parameter access_token,
operation get_client, operation get_token, operation get_user, operation save_token,
endpoints-5, endpoints-6,
method Session, method JWT, method Access-token, method Client-credentials,
authentication-rule-1, authentication-rule-2, authentication-rule-3, authentication-rule-4,
authentication-rule-5, authentication-rule-6, authentication-rule-7, authentication-rule-8,
events-1,
error ScopeDoesNotExists, error JWTExtendedException, error JWTDecodeError,
error JWTExpiredToken, error JWTInvalidHeaderError, error JWTInvalidIssuer,
error JWTNoAuthorizationError, error-rule-1, error-rule-2, error-rule-3, error-rule-4,
error-rule-5,
limit Client-name-length, limit client_id-client_secret-token-strings,
limit Generated-client-id-length, limit Generated-client-secret-length,
limit Generated-personal-access-token-length, limit Access-token-life-time,
limit Personal-access-token-life-time, limit Authorization-code-life-time, limit Rate-limits,
config OAUTH2SERVER_ALLOWED_GRANT_TYPES, config OAUTH2SERVER_ALLOWED_RESPONSE_TYPES,
config OAUTH2SERVER_ALLOWED_URLENCODE_CHARACTERS, config OAUTH2SERVER_CLIENT_ID_SALT_LEN,
config OAUTH2SERVER_CLIENT_SECRET_SALT_LEN, config OAUTH2SERVER_JWT_AUTH_HEADER,
config OAUTH2SERVER_JWT_AUTH_HEADER_TYPE, config OAUTH2SERVER_JWT_VERYFICATION_FACTORY,
config OAUTH2SERVER_TOKEN_PERSONAL_SALT_LEN, config OAUTH2_CACHE_TYPE,
config OAUTH2_PROVIDER_ERROR_ENDPOINT, config OAUTH2_PROVIDER_TOKEN_EXPIRES_IN,
release 1.0.0, release 1.0.1,
versioning-1, versioning-2,
`
  .split(/,\s*/)
  .map((id) => id.trim())
  .filter((id) => id !== '')

const isThere = (path: string): boolean => existsSync(resolve(root, path))

test('the table has a row for every statement of the specification, once and in its order', () => {
  expect(rows.map(({ id }) => id)).toEqual(specified)
  expect(new Set(specified).size).toBe(specified.length)
})

// Not skipped where the specification is missing: there is nothing that a machine could be given for it.
if (existsSync(specification))
  test('the list of statements is that of the specification', () => {
    expect(specified).toEqual(statementsOf(readFileSync(specification, 'utf8')))
  })

test.each(rows)('$id has sources and tests, and they exist', (row) => {
  const { statement, sources, tests, note } = row
  expect(statement).not.toBe('')
  expect(sources.filter((path) => !path.startsWith('src/') || !isThere(path))).toEqual([])
  expect(tests.filter(({ path }) => !path.startsWith('test/') || !isThere(path))).toEqual([])
  expect(tests.filter(({ path, id }) => !testIdsIn(path).includes(id))).toEqual([])
  if (sources.length === 0 || tests.length === 0)
    expect(note).toMatch(/^(?:Later|Nothing to build): /)
})

test('no two tests have the same ID', () => {
  const ids = allTestIds()
  expect(ids.length).toBeGreaterThan(700)
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
})

test('what we decide otherwise is listed above the table, and only that', () => {
  const [, list = ''] = /\n## Where we decide otherwise\n([\s\S]*?)\n## /.exec(page) ?? []
  const listed = [...list.matchAll(/^- ([^:]+):/gm)].flatMap(([, ids = '']) =>
    [...ids.matchAll(/`([^`]+)`/g)].map(([, id]) => id),
  )
  const noted = rows.filter(({ note }) => note.startsWith('Otherwise: ')).map(({ id }) => id)
  expect(noted.length).toBeGreaterThan(0)
  expect(listed.toSorted()).toEqual(noted.toSorted())
})
