import { readFileSync } from 'node:fs'
import type { Command } from 'commander'
import { type ClientInput, InvalidField } from '../index.ts'
import { itemsOfPages } from '../model/batches.ts'
import { tokenEndpointAuthMethods } from '../model/entities/client.ts'
import { responseTypes } from '../model/response-type.ts'
import { clientForm } from '../pages/forms/client.ts'
import { builtInGrants } from '../protocol/grants/built-in.ts'
import { CommandError, shown } from './errors.ts'
import { findUser } from './find-user.ts'
import { repeated, required, single } from './options.ts'
import { print } from './output.ts'
import { withServer } from './server.ts'

interface CreateOptions {
  readonly name: string
  readonly user: string
  readonly redirectUri?: readonly string[]
  readonly scope?: readonly string[]
  readonly optionalScope?: readonly string[]
  readonly public?: true
  readonly internal?: true
  readonly allowedScope?: readonly string[]
  readonly grantType?: readonly string[]
  readonly responseType?: readonly string[]
  readonly authMethod?: string
  readonly defaultResource?: string
  readonly postLogoutRedirectUri?: readonly string[]
  readonly backchannelLogoutUri?: string
  readonly jwks?: string
  readonly jwksUri?: string
}

interface ClientOption {
  readonly clientId: string
}

const grantTypes = builtInGrants.map(({ type }) => type).join(', ')

const authMethods = tokenEndpointAuthMethods.join(', ')

const clientId = () => required('--client-id <id>', 'The id of the client.')

/** `clients`: manages client applications. */
export const addClients = (program: Command): void => {
  const clients = program
    .command('clients')
    .description('Register, change and delete client applications.')
    .helpCommand(false)

  const creating = clients
    .command('create')
    .description(
      'Registers a client and prints its id and secret. The secret is shown only once. Public clients, and clients that authenticate with keys, have no secret.',
    )
    .addOption(required('--name <name>', 'The name that users see, at most 40 characters.'))
    .addOption(required('--user <user>', 'The owner: id or e-mail address.'))
    .addOption(
      repeated(
        '--redirect-uri <uri>',
        'A URI to which users return: https, or http on localhost. Repeatable; the first URI is the default.',
      ),
    )
    .addOption(
      repeated('--scope <scope>', 'A default scope, for requests without the parameter scope.'),
    )
    .addOption(repeated('--optional-scope <scope>', 'A scope that users may refuse individually.'))
    .option(
      '--public',
      'The client cannot keep a secret: an application in a browser or on a device.',
    )
    .option('--internal', 'The client belongs to the application itself.')
    .addOption(
      repeated(
        '--allowed-scope <scope>',
        'Limits the client to the given scopes. (default: every scope that is not internal)',
      ),
    )
    .addOption(
      repeated(
        '--grant-type <type>',
        `Limits the client to some of ${grantTypes}. (default: no limit)`,
      ),
    )
    .addOption(
      repeated(
        '--response-type <type>',
        `Limits the client to some of ${responseTypes.join(', ')}. (default: code, token)`,
      ),
    )
    .addOption(
      single(
        '--auth-method <method>',
        `Limits the client authentication to one of ${authMethods}. (default: no limit)`,
      ),
    )
    .addOption(
      single(
        '--default-resource <url>',
        'The resource of the tokens if the client requests no resource. (default: the setting defaultResource)',
      ),
    )
    .addOption(
      repeated(
        '--post-logout-redirect-uri <uri>',
        'A URI to which users return after a logout. Repeatable. Requires OpenID Connect.',
      ),
    )
    .addOption(
      single(
        '--backchannel-logout-uri <url>',
        'The URL that receives a logout token when a session ends. Requires OpenID Connect.',
      ),
    )
    .addOption(
      single(
        '--jwks <file>',
        'A file with the public keys for private_key_jwt as a JSON Web Key Set.',
      ),
    )
    .addOption(single('--jwks-uri <url>', 'The URL of the public keys for private_key_jwt.'))
    .addHelpText(
      'after',
      `
Example:
  $ svc-oauth2server clients create --name Calendar --user me@example.org \\
      --redirect-uri https://calendar.example/callback --scope user:email
  {"client_id":"…","client_secret":"…"}`,
    )
    .action(create)
  for (const { flags, about } of clientForm.options) creating.addOption(single(flags, about))

  clients
    .command('list')
    .description('Prints the client applications, one JSON object per line, the latest first.')
    .addOption(single('--user <user>', 'Only clients of this owner: id or e-mail address.'))
    .addHelpText(
      'after',
      `
Example:
  $ svc-oauth2server clients list --user me@example.org`,
    )
    .action(list)

  clients
    .command('set-default-resource')
    .description(
      'Sets the default resource of a client: the resource of the tokens if the client requests no resource. Without --resource, the setting defaultResource applies again.',
    )
    .addOption(clientId())
    .addOption(single('--resource <url>', 'A resource of the server.'))
    .addHelpText(
      'after',
      `${example('set-default-resource')} \\
      --resource https://api.example.org/mcp`,
    )
    .action(setDefaultResource)

  clients
    .command('pin')
    .description(
      'Pins a client that is described by a metadata document. Until the client is unpinned, the server uses the stored copy of the document, for instance while the host of the document is unavailable.',
    )
    .addOption(clientId())
    .addHelpText('after', documentExample('pin'))
    .action((options: ClientOption, command: Command) => pin(options, command, true))

  clients
    .command('unpin')
    .description('Unpins a client: the server fetches the metadata document of the client again.')
    .addOption(clientId())
    .addHelpText('after', documentExample('unpin'))
    .action((options: ClientOption, command: Command) => pin(options, command, false))

  clients
    .command('reset-secret')
    .description(
      'Replaces the secret of a client and prints the new secret. The former secret becomes invalid immediately.',
    )
    .addOption(clientId())
    .addHelpText('after', example('reset-secret'))
    .action(resetSecret)

  clients
    .command('reset-id')
    .description(
      'Replaces the id of a client and prints the new id. The secret and the tokens remain valid.',
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

const documentExample = (command: string): string => `
Example:
  $ svc-oauth2server clients ${command} --client-id https://client.example/oauth/client.json`

const create = (options: CreateOptions, command: Command): Promise<void> =>
  withServer(command, async (server) => {
    // Refuse an empty URI, which usually comes from an unset variable in a script.
    if (options.redirectUri?.some((uri) => uri.trim() === ''))
      throw new InvalidField('redirect_uris', 'A redirect URI is empty.')
    const { id: userId } = await findUser(server, options.user)
    const { client, clientSecret } = await server.clients.create({
      ...inputOf(options),
      userId,
    })
    print({
      client_id: client.clientId,
      ...(clientSecret && { client_secret: clientSecret }),
    })
  })

const list = ({ user }: { readonly user?: string }, command: Command): Promise<void> =>
  withServer(command, async (server) => {
    const owner = user === undefined ? undefined : await findUser(server, user)
    for await (const { client } of itemsOfPages(200, (cursor) =>
      server.clients.search('', cursor),
    )) {
      if (owner && client.userId !== owner.id) continue
      print({
        client_id: client.clientId,
        name: client.name,
        user_id: client.userId,
        is_confidential: client.isConfidential,
        is_internal: client.isInternal,
        is_disabled: client.isDisabled,
        created_at: new Date(client.createdAt).toISOString(),
      })
    }
  })

const keysIn = (file: string): string => {
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code = 'unknown error' } = error as NodeJS.ErrnoException
    throw new CommandError(`The file ${shown(file)} cannot be read: ${code}.`)
  }
}

/** Converts command-line options to a `ClientInput`. Missing options receive the defaults of the specification. */
const inputOf = (options: CreateOptions): ClientInput => ({
  name: options.name,
  isConfidential: !options.public,
  isInternal: options.internal ?? false,
  redirectUris: options.redirectUri ?? [],
  defaultScopes: options.scope ?? [],
  optionalScopes: options.optionalScope ?? [],
  ...Object.fromEntries(
    clientForm.options.map(({ field }) => [field, Reflect.get(options, field) ?? '']),
  ),
  allowedScopes: options.allowedScope ?? null,
  grantTypes: options.grantType ?? null,
  responseTypes: options.responseType ?? null,
  // `clients.create` rejects an unknown method.
  tokenEndpointAuthMethod: (options.authMethod ?? null) as ClientInput['tokenEndpointAuthMethod'] &
    string,
  defaultResource: options.defaultResource ?? null,
  openid: {
    post_logout_redirect_uris: options.postLogoutRedirectUri ?? null,
    backchannel_logout_uri: options.backchannelLogoutUri ?? null,
  },
  jwks: options.jwks === undefined ? null : keysIn(options.jwks),
  jwksUri: options.jwksUri ?? null,
})

const setDefaultResource = (
  { clientId: id, resource = null }: ClientOption & { readonly resource?: string | null },
  command: Command,
): Promise<void> =>
  withServer(command, async ({ clients }) => {
    await clients.update(id, { defaultResource: resource })
  })

const pin = ({ clientId: id }: ClientOption, command: Command, isPinned: boolean): Promise<void> =>
  withServer(command, async ({ clients }) => {
    await clients.mark(id, { isPinned })
  })

const resetSecret = (options: ClientOption, command: Command): Promise<void> =>
  withServer(command, async ({ clients }) => {
    const { client, clientSecret } = await clients.resetClientSecret(options.clientId)
    print({ client_id: client.clientId, client_secret: clientSecret })
  })

const resetId = (options: ClientOption, command: Command): Promise<void> =>
  withServer(command, async ({ clients }) => {
    print({ client_id: (await clients.resetClientId(options.clientId)).clientId })
  })

const remove = (options: ClientOption, command: Command): Promise<void> =>
  withServer(command, async ({ clients }) => {
    const isPersonal = (await clients.find(options.clientId))?.isPersonal === true
    if (isPersonal || !(await clients.delete(options.clientId)))
      throw new CommandError('There is no such client.')
  })
