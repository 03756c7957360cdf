import type { Command } from 'commander'
import { type ClientInput, InvalidField } from '../index.ts'
import { CommandError } from './errors.ts'
import { findUser } from './find-user.ts'
import { repeated, required, single } from './options.ts'
import { print } from './output.ts'
import { withServer } from './server.ts'

interface CreateOptions {
  readonly name: string
  readonly user: string
  readonly redirectUri?: readonly string[]
  readonly scope?: readonly string[]
  readonly public?: true
  readonly internal?: true
  readonly website?: string
  readonly description?: string
  readonly allowedScope?: readonly string[]
  readonly grantType?: readonly string[]
  readonly responseType?: readonly string[]
  readonly authMethod?: string
}

interface ClientOption {
  readonly clientId: string
}

const clientId = () => required('--client-id <id>', 'The id of the client.')

/** `clients`: applications that ask for access. */
export const addClients = (program: Command): void => {
  const clients = program
    .command('clients')
    .description('Register, change and delete client applications.')
    .helpCommand(false)

  clients
    .command('create')
    .description(
      'Registers a client and prints its id and secret. The secret is shown this once; a public client has none.',
    )
    .addOption(required('--name <name>', 'What users see, at most 40 characters.'))
    .addOption(required('--user <user>', 'Who owns it: id or e-mail address.'))
    .addOption(
      repeated(
        '--redirect-uri <uri>',
        'Where users are sent back to: https, or http on localhost. The first is the default.',
      ),
    )
    .addOption(repeated('--scope <scope>', 'What it asks for when a request names no scope.'))
    .option('--public', 'It can keep no secret: an application in a browser or on a device.')
    .option('--internal', 'It belongs to the application itself.')
    .addOption(single('--website <url>', 'Its website, shown to users.'))
    .addOption(single('--description <text>', 'What it does, shown to users.'))
    .addOption(
      repeated(
        '--allowed-scope <scope>',
        'The most it may ask for. (default: every scope that is not internal)',
      ),
    )
    .addOption(
      repeated(
        '--grant-type <type>',
        'Limits it to authorization_code, password, client_credentials or refresh_token. (default: no limit)',
      ),
    )
    .addOption(
      repeated('--response-type <type>', 'Limits it to code or token. (default: no limit)'),
    )
    .addOption(
      single(
        '--auth-method <method>',
        'Limits how it authenticates: client_secret_basic, client_secret_post or none. (default: no limit)',
      ),
    )
    .addHelpText(
      'after',
      `
Example:
  $ svc-oauth2server clients create --name Calendar --user me@example.org \\
      --redirect-uri https://calendar.example/callback --scope user:email
  {"client_id":"…","client_secret":"…"}`,
    )
    .action(create)

  clients
    .command('reset-secret')
    .description('Gives a client another secret and prints it. The old one stops at once.')
    .addOption(clientId())
    .addHelpText('after', example('reset-secret'))
    .action(resetSecret)

  clients
    .command('reset-id')
    .description(
      'Gives a client another id and prints it. Its secret and its tokens go on working.',
    )
    .addOption(clientId())
    .addHelpText('after', example('reset-id'))
    .action(resetId)

  clients
    .command('delete')
    .description('Deletes a client with all its tokens and authorizations.')
    .addOption(clientId())
    .addHelpText('after', example('delete'))
    .action(remove)
}

const example = (command: string): string => `
Example:
  $ svc-oauth2server clients ${command} --client-id 6dC0sDVVWLkJDKmxvBmqPsNpmcZKCQYmCwDWRKGn`

const create = (options: CreateOptions): Promise<void> =>
  withServer(async (server) => {
    // A script whose variable is empty would otherwise register a client that nobody can return to.
    if (options.redirectUri?.some((uri) => uri.trim() === ''))
      throw new InvalidField('redirect_uris', 'A redirect URI is empty.')
    const { id: userId } = await findUser(server, options.user)
    const { client, clientSecret } = await server.clients.create({
      ...inputOf(options),
      userId,
    })
    print({
      client_id: client.clientId,
      ...(client.isConfidential ? { client_secret: clientSecret } : {}),
    })
  })

/** What was not given takes the specified default. */
const inputOf = (options: CreateOptions): ClientInput => ({
  name: options.name,
  isConfidential: !options.public,
  isInternal: options.internal ?? false,
  redirectUris: options.redirectUri ?? [],
  defaultScopes: options.scope ?? [],
  description: options.description ?? '',
  website: options.website ?? '',
  allowedScopes: options.allowedScope ?? null,
  grantTypes: options.grantType ?? null,
  responseTypes: options.responseType ?? null,
  // The records refuse what is no method.
  tokenEndpointAuthMethod: (options.authMethod ?? null) as ClientInput['tokenEndpointAuthMethod'] &
    string,
})

const resetSecret = (options: ClientOption): Promise<void> =>
  withServer(async ({ clients }) => {
    if ((await clients.find(options.clientId))?.isConfidential === false)
      throw new CommandError('A public client has no secret.')
    const { client, clientSecret } = await clients.resetClientSecret(options.clientId)
    print({ client_id: client.clientId, client_secret: clientSecret })
  })

const resetId = (options: ClientOption): Promise<void> =>
  withServer(async ({ clients }) => {
    print({ client_id: (await clients.resetClientId(options.clientId)).clientId })
  })

const remove = (options: ClientOption): Promise<void> =>
  withServer(async ({ clients }) => {
    const isPersonal = (await clients.find(options.clientId))?.isPersonal === true
    if (isPersonal || !(await clients.delete(options.clientId)))
      throw new CommandError('There is no such client.')
  })
