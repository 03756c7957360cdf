import { createAuthorizationServer, Scope } from '../dist/index.js'
import { sqlite } from '../dist/store/sqlite.js'
import { everything } from '../test/support/observed-server.ts'

const head = `# Endpoints

<!-- Written by \`npm run reference\` from the descriptions of the endpoints and scripts/endpoints-reference.js. Do not edit it by hand. -->

The endpoints of a server with all standards enabled. All paths are below the path of the issuer, and their prefixes are
settings. A disabled standard has no endpoint. The OpenAPI document \`/openapi.json\` of a server describes the fields and the
responses of its own endpoints. The pages for browsers that return no JSON are in
[protocol decisions](../protocol-decisions.md#2-endpoints-forms-and-json).

| Method and path | Summary | Credentials |
| --- | --- | --- |
`

/** The descriptions of the credentials, by the names of the security schemes. */
const credentials = new Map([
  ['session', 'the session of a user'],
  ['sessionJwt', 'the JWT of the session'],
  ['accessToken', 'an access token'],
  ['client', 'a client'],
  ['registrationToken', 'a registration token'],
])

/**
 * @typedef {{ summary: string, security: readonly Record<string, unknown>[] }} Operation
 * @typedef {{ paths: Record<string, Record<string, Operation>> }} Document
 */

/** @param {Operation} operation */
const credentialsOf = ({ security }) => {
  const names = [...new Set(security.flatMap((one) => Object.keys(one)))]
  return names.map((name) => credentials.get(name) ?? name).join(', ') || 'none'
}

/** @returns {Promise<Document>} */
const documentOfEverything = async () => {
  const issuer = 'http://localhost:3000'
  const server = await createAuthorizationServer({
    ...everything,
    issuer,
    secretKeys: ['a secret key for the reference of the endpoints'],
    store: sqlite(':memory:'),
    scopes: [new Scope('notes:read', { helpText: 'Read your notes', group: 'Notes' })],
    accessTokenFormat: 'jwt',
    acceptUnsignedLeakReports: true,
    sendUserLink: async () => undefined,
    trustedProxies: [],
    sweepInterval: 0,
    log: () => undefined,
  })
  try {
    const response = await server.fetch(new Request(`${issuer}/openapi.json`))
    return /** @type {Document} */ (await response.json())
  } finally {
    await server.close()
  }
}

/** Returns the text of docs/reference/endpoints.md. */
export const endpointsReference = async () => {
  const { paths } = await documentOfEverything()
  const rows = Object.entries(paths).flatMap(([path, { parameters: _, ...operations }]) =>
    Object.entries(operations).map(
      ([method, operation]) =>
        `| \`${method.toUpperCase()} ${path}\` | ${operation.summary} | ${credentialsOf(operation)} |\n`,
    ),
  )
  return head + rows.join('')
}
