/**
 * Writes the generated files:
 * - docs/reference/settings.md and src/settings/settings-input.ts from src/settings/settings.ts
 * - docs/reference/metrics.md and log.md from src/server/telemetry
 * - docs/reference/api.md from the declarations in `dist`: run `npm run build` first
 * - docs/reference/audit.md from src/model/audit-event.ts
 * - docs/reference/endpoints.md from the endpoints in `dist`: run `npm run build` first
 * - the table of attacks in docs/security.md, and the table of neighbours in docs/operations.md
 *
 *     npm run reference
 */
import { readFile, writeFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { describeSettings } from '../src/settings/describe-settings.ts'
import { apiReference } from './api-reference.js'
import { withAttacks } from './attacks-table.js'
import { auditReference } from './audit-reference.js'
import { endpointsReference } from './endpoints-reference.js'
import { logReference } from './log-reference.js'
import { metricsReference } from './metrics-reference.js'
import { withNeighbours } from './neighbours-table.js'
import { settingsInput } from './settings-input.js'

const page = resolve(import.meta.dirname, '../docs/reference/settings.md')

const head = `# Settings

<!-- Written by \`npm run reference\` from src/settings/settings.ts and scripts/reference.js. Do not edit it by hand. -->

A setting has one name in code, as an option of \`createAuthorizationServer\`, and one in the environment of
\`npm start\` and of the command line. An invalid value or an unknown \`OAUTH2SERVER_…\` variable prevents the
start, with one message that lists every problem.

In the environment, a list is separated by commas, and every other text is used unchanged. In code, a list is an array.
Durations are in seconds.

`

const programHead = `
## Variables of the programs

\`npm start\` and the command line also read these variables. In code, the options \`issuer\`, \`store\`, \`transients\` and
\`secretKeys\` correspond to them. The package itself reads no environment variable.

`

const programFoot = `
The data folder is the folder of the database file. If the setting \`OAUTH2_CACHE_TYPE\` is not set,
\`OAUTH2_CACHE_REDIS_URL\` selects Redis. PostgreSQL needs the package \`pg\`, and Redis needs \`@redis/client\`: install them with
\`npm install\`. [How to use Redis](../how-to/redis.md) describes the address of Redis.
`

/** The variables of src/server/environment/environment.ts: name, accepted values, default, meaning. */
const programVariables = [
  ['PORT', 'a number from 1 to 65535', '`3000`', 'Port to listen on.'],
  ['HOST', 'an address of this machine', '`127.0.0.1`', 'Address to listen on.'],
  [
    'BASE_URL',
    'an https URL; http for localhost, 127.0.0.1 and [::1]',
    '`http://localhost:` and the port',
    'The public URL of the application, which is also the issuer. Every URL that the server generates begins with it.',
  ],
  [
    'DATABASE_URL',
    '`sqlite:PATH`, `sqlite::memory:` or `postgres://USER:PASSWORD@HOST/DATABASE`',
    '`sqlite:./data/oauth2server.sqlite`',
    'The database.',
  ],
  [
    'OAUTH2_CACHE_REDIS_URL',
    '`redis://USER:PASSWORD@HOST:PORT/DATABASE`, `rediss://…` for TLS, several addresses of a cluster separated by commas',
    'none',
    'Redis for codes and other short-lived values.',
  ],
  [
    'OAUTH2SERVER_RESOURCES',
    'URLs, separated by commas, or a JSON array of objects with `resource`, `name`, `scopes`, `introspectionClients` and `documentation`',
    'none',
    'The resources that tokens can be restricted to. An application that embeds the server passes the option `resources` instead.',
  ],
  [
    'OAUTH2SERVER_INTROSPECTION_CLIENTS',
    'client IDs, separated by commas',
    'none',
    'The clients of resource servers, which may introspect the tokens of all resources.',
  ],
  [
    'SECRET_KEY',
    'a text of at least 32 bytes',
    'generated once and stored in the file `secret-key` in the data folder; for a database in memory, generated at each start; required with PostgreSQL, because all nodes need the same key',
    'The secret key of the application.',
  ],
  [
    'SECRET_KEY_PREVIOUS',
    'previous keys, separated by commas',
    'none',
    'Former secret keys, with which the server still reads existing data.',
  ],
]

/** @param {string} text */
const code = (text) => `\`${text}\``

/** @param {unknown} value the default, in the form of the environment */
const shown = (value) => {
  const isTable = typeof value === 'object' && value !== null && !Array.isArray(value)
  const text = Array.isArray(value) ? value.join(',') : isTable ? '' : String(value ?? '')
  return text === '' ? 'none' : code(text)
}

/**
 * @param {readonly string[]} titles
 * @param {readonly (readonly string[])[]} rows
 */
const table = (titles, rows) =>
  [titles, titles.map(() => '---'), ...rows]
    .map((cells) => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |\n`)
    .join('')

/** Returns the text of docs/reference/settings.md. */
export const settingsReference = () => {
  const settings = describeSettings().map(
    ({ name, env, accepts, sentence, default: otherwise }) => [
      code(name),
      code(env),
      accepts,
      shown(otherwise),
      sentence,
    ],
  )
  const variables = programVariables.map(([name = '', ...cells]) => [code(name), ...cells])
  return [
    head,
    table(['In code', 'In the environment', 'Accepts', 'Default', 'Meaning'], settings),
    programHead,
    table(['Variable', 'Accepts', 'Default', 'Meaning'], variables),
    programFoot,
  ].join('')
}

if (import.meta.main) {
  await writeFile(page, settingsReference())
  await writeFile(
    resolve(import.meta.dirname, '../src/settings/settings-input.ts'),
    settingsInput(),
  )
  await writeFile(resolve(page, '../api.md'), apiReference())
  await writeFile(resolve(page, '../metrics.md'), metricsReference())
  await writeFile(resolve(page, '../log.md'), logReference())
  const security = resolve(page, '../../security.md')
  await writeFile(security, withAttacks(await readFile(security, 'utf8')))
  const operations = resolve(page, '../../operations.md')
  await writeFile(operations, withNeighbours(await readFile(operations, 'utf8')))
  await writeFile(resolve(page, '../audit.md'), auditReference())
  await writeFile(resolve(page, '../endpoints.md'), await endpointsReference())
}
