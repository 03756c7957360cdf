import { lookup } from 'node:dns/promises'
import type { Command } from 'commander'
import { examineConfiguration } from './doctor/configuration.ts'
import { examine } from './doctor/examine.ts'
import type { Finding } from './doctor/finding.ts'
import { CommandError, shown, UsageError } from './errors.ts'
import { single } from './options.ts'
import { print, say } from './output.ts'
import { withServer } from './server.ts'

interface DoctorOptions {
  readonly url?: string
  readonly logIn?: boolean
  readonly json?: boolean
  readonly aiClients?: boolean
}

/** `doctor`: examines a server or a configuration from the point of view of clients and users. */
export const addDoctor = (program: Command): void => {
  program
    .command('doctor')
    .summary('Examine a server from the point of view of its clients.')
    .description(
      'Examines a server from the point of view of clients and users: URLs, cross-origin requests, headers, cookies, refusals, a complete login, and ignored recommendations of RFC 9700. Without --url, the doctor starts a temporary server with this configuration and a database in memory, and examines that server.',
    )
    .addOption(
      single('--url <issuer>', 'The public URL of a running server to examine from outside.'),
    )
    .option(
      '--log-in',
      'With --url: also checks a complete login. Creates a user and clients in the configured database, and deletes them afterwards.',
    )
    .option(
      '--ai-clients',
      'Also checks for each known AI client, such as Claude or VS Code, whether it could log in. Registers a client at the server where necessary, and deletes the registration afterwards if the server supports this.',
    )
    .option('--json', 'Print one JSON object per line: {"state", "check", "advice"}.')
    .addHelpText(
      'after',
      `
Prints a line for each check: the state (ok, warn, fail or skip), the name, and what to do.
Exit status: 0 if no check fails, 1 otherwise.

Examples:
  $ svc-oauth2server doctor
  $ svc-oauth2server doctor --url https://login.example.org`,
    )
    .action(doctor)
}

const doctor = async (
  { url, logIn = false, json = false, aiClients = false }: DoctorOptions,
  command: Command,
): Promise<void> => {
  if (url === undefined && logIn) throw new UsageError('--log-in needs --url')
  const findings =
    url === undefined
      ? await examineConfiguration(process.env, command.optsWithGlobals().config, aiClients)
      : await examineServer(issuerIn(url), logIn ? command : undefined, aiClients)
  for (const finding of findings) print(json ? finding : lineOf(finding))
  const count = (state: Finding['state']) => findings.filter((one) => one.state === state).length
  const failed = count('fail')
  if (failed > 0) throw new CommandError(`${failed} of ${findings.length} checks failed.`)
  const skipped = count('skip')
  const untried = skipped === 0 ? '' : `; skipped: ${skipped}`
  say(`${findings.length} checks, none failed; warnings: ${count('warn')}${untried}.`)
  if (url !== undefined && !logIn) say('No login was tried. To check a login, add --log-in.')
}

/**
 * Examines a running server. If `command` is given, also checks a login: creates a user and clients in the database of
 * the command's configuration, and deletes them afterwards.
 */
const examineServer = async (
  issuer: string,
  command: Command | undefined,
  aiClients: boolean,
): Promise<readonly Finding[]> => {
  const send = (request: Request) => fetch(request)
  const target = { issuer, send, isOurs: false, aiClients }
  if (!command) return examine(target)
  const reachedAt = await lookup(new URL(issuer).hostname.replace(/^\[|\]$/g, '')).then(
    ({ address }) => address,
    () => undefined,
  )
  let findings: readonly Finding[] = []
  await withServer(command, async (records) => {
    findings = await examine({ ...target, records, reachedAt })
  })
  return findings
}

/** @throws UsageError */
const issuerIn = (url: string): string => {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (!parsed || !/^https?:$/.test(parsed.protocol) || /[?#]/.test(url) || parsed.username !== '')
    throw new UsageError(
      `--url accepts a URL such as https://login.example.org; the given value is ${shown(url)}`,
    )
  return `${parsed.origin}${parsed.pathname.replace(/\/$/, '')}`
}

const checkWidth = 28

const lineOf = ({ state, check, advice }: Finding): string =>
  `${state.padEnd(4)}  ${advice === '' ? check : `${check.padEnd(checkWidth)}  ${advice}`}`
