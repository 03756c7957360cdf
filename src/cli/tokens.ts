import { type Command, Option } from 'commander'
import { personalTokenToWire } from '../account/wire.ts'
import type { AuthorizationServer, FoundToken, Token, User } from '../index.ts'
import { itemsOfPages } from '../model/batches.ts'
import { internals } from '../records/context.ts'
import { blockRestoring, findEnded } from '../records/tokens/ended-tokens.ts'
import { CommandError, shown, UsageError } from './errors.ts'
import { findUser } from './find-user.ts'
import { repeated, required, single } from './options.ts'
import { print } from './output.ts'
import { confirm, isTerminal, readSecret } from './prompt.ts'
import { withServer } from './server.ts'

interface CreateOptions {
  readonly name: string
  readonly user: string
  readonly scope?: readonly string[]
  readonly internal?: true
  readonly expiresIn?: string
}

interface DeleteOptions {
  readonly name?: string
  readonly user?: string
  readonly token?: true
  readonly force?: true
}

/** `tokens`: manages personal access tokens. */
export const addTokens = (program: Command): void => {
  const tokens = program
    .command('tokens')
    .description('Create, list and delete personal access tokens, and revoke other tokens.')
    .helpCommand(false)

  tokens
    .command('create')
    .description(
      'Creates a personal access token and prints its value. The value is shown only once.',
    )
    .addOption(required('--name <name>', 'The purpose of the token, at most 40 characters.'))
    .addOption(required('--user <user>', 'The user of the token: id or e-mail address.'))
    .addOption(
      repeated(
        '--scope <scope>',
        'A scope of the token; see `scopes list`. Internal scopes are allowed. (default: no scopes; the token only identifies its user)',
      ),
    )
    .option(
      '--internal',
      'Hide the token from its user: the pages of the user and `tokens list` omit the token.',
    )
    .addOption(
      single('--expires-in <seconds>', 'The lifetime. (default: the token does not expire)'),
    )
    .addHelpText(
      'after',
      `
Example:
  $ svc-oauth2server tokens create --name Backup --user me@example.org --scope user:email`,
    )
    .action(create)

  tokens
    .command('list')
    .description(
      'Prints the personal access tokens of a user, one JSON object per line, the latest first. Each object has the schema PersonalToken of the OpenAPI document. The objects contain no token values except the last characters. Internal tokens are not listed.',
    )
    .addOption(required('--user <user>', 'The user of the tokens: id or e-mail address.'))
    .addHelpText(
      'after',
      `
Example:
  $ svc-oauth2server tokens list --user me@example.org`,
    )
    .action(list)

  tokens
    .command('delete')
    .description(
      'Deletes a personal access token by its name or value. Given the value of an access token of a client, revokes the authorization of the token. An access token without an authorization, or an exchanged token, is revoked with the tokens that were exchanged from it.',
    )
    .addOption(single('--name <name>', 'The name of a personal access token, with --user.'))
    .addOption(single('--user <user>', 'The user of the token: id or e-mail address.'))
    .addOption(
      new Option(
        '--token',
        'Prompt for the value of an access token, or read the value from stdin.',
      ).conflicts(['name', 'user']),
    )
    .option('--force', 'Do not ask for confirmation. Required without a terminal.')
    .addHelpText(
      'after',
      `
Examples:
  $ svc-oauth2server tokens delete --name Backup --user me@example.org
  $ svc-oauth2server tokens delete --token --force < leaked-token.txt`,
    )
    .action(remove)

  tokens
    .command('purge')
    .description('Does the same as `sweep`.')
    .addHelpText(
      'after',
      `
Example:
  $ svc-oauth2server tokens purge`,
    )
    .action((_options: unknown, command: Command) =>
      withServer(command, async (server) => print(await server.sweep())),
    )
}

const create = (options: CreateOptions, command: Command): Promise<void> =>
  withServer(command, async (server) => {
    const { id } = await findUser(server, options.user)
    const { accessToken } = await server.tokens.createPersonal(options.name, id, {
      scopes: options.scope ?? [],
      isInternal: options.internal ?? false,
      ...(options.expiresIn === undefined ? {} : { expiresIn: seconds(options.expiresIn) }),
    })
    print(accessToken)
  })

const list = ({ user }: { readonly user: string }, command: Command): Promise<void> =>
  withServer(command, async (server) => {
    const { id } = await findUser(server, user)
    const pages = itemsOfPages(200, (cursor) => server.personalTokens.listByUser(id, cursor))
    // Print internal scopes too, which the user's page omits.
    for await (const managed of pages)
      print({ ...personalTokenToWire(managed), scopes: managed.token.scopes })
  })

/** Parses seconds. Returns NaN for an invalid number, which `createPersonal` then rejects. */
const seconds = (text: string): number => (/^\d+$/.test(text) ? Number(text) : Number.NaN)

/** A token to delete or revoke, and the question for the confirmation. */
interface Found {
  readonly token: Token
  /** The digest of the value by which the token was found. */
  readonly digest?: FoundToken['accessDigest']
  readonly question: string
}

const remove = async (options: DeleteOptions, command: Command): Promise<void> => {
  const { name, user, token: byValue = false, force = false } = options
  if (!byValue && (name === undefined || user === undefined))
    throw new UsageError('either --name and --user, or --token is needed')
  if (!force && !isTerminal()) throw new UsageError('without a terminal, --force is needed')
  await withServer(command, async (server) => {
    const value = name === undefined ? await readSecret('Token: ') : ''
    const found =
      name !== undefined && user !== undefined
        ? await byName(name, user, server)
        : await byAccessToken(value, server)
    // The user deleted the token a moment ago, and cannot restore it any more.
    if (found === 'deleted') return
    const { token, digest, question } = found
    if (!force && !(await confirm(question)))
      throw new CommandError('Cancelled: nothing was revoked.')
    // The user may have deleted the token in the meantime, and must not restore it. A restored token has another client.
    if (digest) await blockRestoring(digest, server[internals])
    await server.tokens.revoke((await server.tokens.get(token.id)) ?? token)
  })
}

const byName = async (name: string, user: string, server: AuthorizationServer): Promise<Found> => {
  const { id, email } = await findUser(server, user)
  const [tokenId, ...others] = await server.tokens.personalNamed(id, name)
  if (others.length > 0) {
    throw new CommandError(
      `${email} has ${others.length + 1} personal access tokens named ${shown(name)}: identify one with --token.`,
    )
  }
  const token = tokenId === undefined ? undefined : await server.tokens.get(tokenId)
  if (!token) throw new CommandError(`${email} has no personal access token named ${shown(name)}.`)
  return { token, question: `Delete the personal access token ${shown(name)} of ${email}?` }
}

const byAccessToken = async (
  accessToken: string,
  server: AuthorizationServer,
): Promise<Found | 'deleted'> => {
  let found = await server.tokens.find({ accessToken })
  const deleted = found ? undefined : await findEnded(accessToken, server[internals])
  if (deleted) {
    if (await blockRestoring(deleted.digest, server[internals])) return 'deleted'
    // The user restored the token a moment ago.
    found = await server.tokens.find({ accessToken })
  }
  if (!found) throw new CommandError('There is no access token with this value.')
  return { token: found.token, digest: found.accessDigest, question: questionFor(found) }
}

/** Returns the question that states what `Tokens.revoke` deletes or revokes. */
export const questionFor = ({
  token: { isPersonal, parentId, authorizationId },
  client,
  user,
}: {
  readonly token: Pick<Token, 'isPersonal' | 'parentId' | 'authorizationId'>
  readonly client: Pick<FoundToken['client'], 'name'>
  readonly user: Pick<User, 'email'> | null
}): string => {
  const name = shown(client.name)
  if (!user) return `Revoke the token of the client ${name}?`
  const { email } = user
  if (parentId === null && isPersonal)
    return `Delete the personal access token ${name} of ${email}?`
  if (parentId === null && authorizationId !== null)
    return `Revoke the authorization that ${email} granted to the client ${name}?`
  return `Revoke the token with which the client ${name} acts on behalf of ${email}?`
}
