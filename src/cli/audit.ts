import type { Command } from 'commander'
import type { AuthorizationServer } from '../index.ts'
import { auditEvents, isBuiltInEventName } from '../model/audit-event.ts'
import { auditToWire } from '../model/audit-wire.ts'
import { routineCountToWire } from '../model/routine-count.ts'
import { userIdIn } from '../model/user-id.ts'
import { CommandError, shown, UsageError } from './errors.ts'
import { noSuchUser } from './find-user.ts'
import { single } from './options.ts'
import { print } from './output.ts'
import { withServer } from './server.ts'

interface AuditOptions {
  readonly since?: string
  readonly until?: string
  readonly event?: string
  readonly user?: string
  readonly client?: string
}

/** `audit`: shows and verifies the audit log. */
export const addAudit = (program: Command): void => {
  const audit = program
    .command('audit')
    .description(
      'Prints the audit log, one JSON object per line, the earliest event first. The log contains no tokens, secrets or passwords.',
    )
    .addOption(
      single('--since <time>', 'Only events from this time on: ISO 8601, such as 2026-01-31.'),
    )
    .addOption(single('--until <time>', 'Only events before this time.'))
    .addOption(single('--event <event>', 'Only events with this name, such as login.failed.'))
    .addOption(single('--user <user>', 'Only events about this user: id or e-mail address.'))
    .addOption(single('--client <id>', 'Only events about the client with this id.'))
    .addHelpText(
      'after',
      `
Example:
  $ svc-oauth2server audit --since 2026-11-01 --event login.failed`,
    )
    .helpCommand(false)
    .action(printAudit)
  audit
    .command('counts')
    .description(
      'Prints the number of routine events by hour, client, user and grant, one JSON object per line, the earliest hour first. Routine events are refreshed tokens, exchanged tokens, and tokens that clients request for themselves.',
    )
    .addHelpText(
      'after',
      `
The options of audit also select counts. --since and --until select hours.

Example:
  $ svc-oauth2server audit counts --since 2026-11-01`,
    )
    .action(printCounts)
  audit
    .command('verify')
    .description(
      'Finds rows of the audit log that were changed, removed or inserted by anyone except the server. Prints each defect, and then a summary, as JSON. The exit status is 1 if there are defects.',
    )
    .addOption(
      single(
        '--head <head>',
        'The "head" that an earlier run printed. The command also checks that the log still contains the checkpoints up to this head.',
      ),
    )
    .addHelpText(
      'after',
      `
Store the head outside this database. A later run with this head detects if the latest checkpoints
were removed.

Example:
  $ svc-oauth2server audit verify --head 1234:6l3V…`,
    )
    .action(verifyAudit)
}

const verifyAudit = async (
  { head }: { readonly head?: string },
  command: Command,
): Promise<void> => {
  if (head !== undefined && !/^\d{1,15}:[\w-]{43}$/.test(head))
    throw new UsageError(`${shown(head)} is not a head that audit verify printed`)
  await withServer(command, async (server) => {
    const { uncovered, ...checked } = await server.activity.verify({ head, onDefect: print })
    const since = uncovered.since === null ? null : new Date(uncovered.since).toISOString()
    print({
      head: checked.head,
      checkpoints: checked.checkpoints,
      rows: checked.rows,
      first_id: checked.firstId,
      last_id: checked.lastId,
      uncovered_rows: uncovered.rows,
      uncovered_since: since,
      defects: checked.defects,
    })
    if (checked.defects > 0)
      throw new CommandError(`The audit log was changed: ${checked.defects} defects.`)
  })
}

const printAudit = (options: AuditOptions, command: Command): Promise<void> =>
  found(options, command, async (search, { activity }) => {
    for await (const event of activity.all(search)) print(auditToWire(event))
  })

const printCounts = (_options: object, command: Command): Promise<void> =>
  found(command.optsWithGlobals<AuditOptions>(), command, async (search, { activity }) => {
    for await (const count of activity.counts(search)) print(routineCountToWire(count))
  })

type Search = Parameters<AuthorizationServer['activity']['search']>[0]

const found = async (
  { event, user, client, ...times }: AuditOptions,
  command: Command,
  show: (search: Search, server: AuthorizationServer) => Promise<void>,
): Promise<void> => {
  if (event !== undefined && !isBuiltInEventName(event) && !event.includes('/')) {
    const known = Object.keys(auditEvents).join(', ')
    throw new UsageError(`there is no event ${shown(event)}; the events are: ${known}`)
  }
  const [since, until] = [timeIn(times.since), timeIn(times.until)]
  await withServer(command, async (server) => {
    if (user !== undefined) await checkUser(user, server)
    await show({ event, user, clientId: client, since, until }, server)
  })
}

// Accept every ID, because the log also contains events about deleted users. The IDs of an application may contain `@`.
const checkUser = async (user: string, { users }: AuthorizationServer): Promise<void> => {
  if (user === '') throw new CommandError('--user is empty.')
  const isId = !user.includes('@') || userIdIn(user, users.keyType) !== undefined
  if (!isId && !(await users.findByEmail(user))) throw noSuchUser(user)
}

const isoTime = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?(?:Z|[+-]\d\d:\d\d))?$/

/** Parses a day or a time as milliseconds since the epoch. A day begins at midnight UTC. */
const timeIn = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  const at = isoTime.test(text) ? Date.parse(text) : Number.NaN
  if (Number.isNaN(at))
    throw new UsageError(`${shown(text)} is not a time such as 2026-01-31 or 2026-01-31T12:00:00Z`)
  return at
}
