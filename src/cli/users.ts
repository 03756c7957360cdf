import { randomInt } from 'node:crypto'
import type { Command } from 'commander'
import type { AuthorizationServer, User } from '../index.ts'
import { findUser, noSuchUser } from './find-user.ts'
import { required, single } from './options.ts'
import { print, say } from './output.ts'
import { withServer } from './server.ts'

interface CreateOptions {
  readonly email: string
  readonly password?: string
  readonly inactive?: true
  readonly unverified?: true
  readonly admin?: true
}

interface UserOption {
  readonly user: string
}

const user = () => required('--user <user>', 'The user: id or e-mail address.')

/** `users`: manages the built-in users. */
export const addUsers = (program: Command): void => {
  const users = program
    .command('users')
    .description('Create, change and delete users.')
    .helpCommand(false)

  users
    .command('create')
    .description(
      'Creates a user. Prints the id, the e-mail address, and the password if the command generated it.',
    )
    .addOption(required('--email <email>', 'The e-mail address with which the user logs in.'))
    .addOption(
      single(
        '--password <password>',
        'The password, at least 8 characters. Other users of this machine can see the password while the command runs. (default: generated)',
      ),
    )
    .option('--inactive', 'The user cannot log in until activated.')
    .option('--unverified', 'The e-mail address has not been verified.')
    .option('--admin', 'The user is an administrator.')
    .addHelpText(
      'after',
      `
Example:
  $ svc-oauth2server users create --email me@example.org
  {"id":236431208914755,"email":"me@example.org","password":"…"}`,
    )
    .action(create)

  users
    .command('list')
    .description('Prints all users, one JSON object per line, in the order of their ids.')
    .addHelpText('after', example('list'))
    .action(list)

  users
    .command('activate')
    .description('Lets a user log in again. The tokens and clients of the user work again.')
    .addOption(user())
    .addHelpText('after', example('activate --user me@example.org'))
    .action(setActive(true))

  users
    .command('deactivate')
    .description(
      'Prevents a user from logging in. The tokens and clients of the user stop working immediately.',
    )
    .addOption(user())
    .addHelpText('after', example('deactivate --user me@example.org'))
    .action(setActive(false))

  users
    .command('promote')
    .description("Makes a user an administrator, who sees the administrator's page.")
    .addOption(user())
    .addHelpText('after', example('promote --user me@example.org'))
    .action(setAdmin(true))

  users
    .command('demote')
    .description('Makes an administrator an ordinary user again.')
    .addOption(user())
    .addHelpText('after', example('demote --user me@example.org'))
    .action(setAdmin(false))

  users
    .command('delete')
    .description('Deletes a user with all clients, tokens and sessions.')
    .addOption(user())
    .addHelpText('after', example('delete --user me@example.org'))
    .action(
      onUser(({ id }, server) => {
        return server.users.delete(id)
      }),
    )

  users
    .command('set-email')
    .description('Changes the e-mail address with which a user logs in.')
    .addOption(user())
    .addOption(required('--email <email>', 'The new e-mail address.'))
    .option('--unverified', 'The new e-mail address has not been verified.')
    .addHelpText('after', example('set-email --user 236431208914755 --email me@example.org'))
    .action(setEmail)

  users
    .command('set-password')
    .description(
      'Sets a password and ends the sessions of the user. Personal access tokens remain valid. A generated password is shown on stderr.',
    )
    .addOption(user())
    .addOption(
      single('--password <password>', 'The password, at least 8 characters. (default: generated)'),
    )
    .addHelpText('after', example('set-password --user me@example.org'))
    .action(setPassword)
}

const example = (command: string): string => `
Example:
  $ svc-oauth2server users ${command}`

const create = (options: CreateOptions, command: Command): Promise<void> =>
  withServer(command, async (server) => {
    const password = options.password ?? newPassword()
    const { id, email } = await server.users.create({
      email: options.email,
      password,
      active: !options.inactive,
      emailVerified: !options.unverified,
      isAdmin: options.admin ?? false,
    })
    print({ id, email, ...(options.password === undefined ? { password } : {}) })
  })

const list = (_options: unknown, command: Command): Promise<void> =>
  withServer(command, async ({ users }) => {
    for await (const { id, email, active, emailVerified, isAdmin } of users.all())
      print({ id, email, active, email_verified: emailVerified, is_admin: isAdmin })
  })

const setPassword = (
  options: UserOption & { readonly password?: string },
  command: Command,
): Promise<void> => {
  const password = options.password ?? newPassword()
  return onUser(async ({ id, email }, server) => {
    const isSet = await server.users.setPassword(id, password)
    if (isSet && options.password === undefined)
      say(`The new password of ${email}, shown once: ${password}`)
    return isSet
  })(options, command)
}

const setEmail = (
  options: UserOption & { readonly email: string; readonly unverified?: true },
  command: Command,
): Promise<void> =>
  onUser(({ id }, server) =>
    server.users.setEmail(id, options.email, { emailVerified: !options.unverified }),
  )(options, command)

const setActive = (active: boolean) =>
  onUser(({ id }, server) => server.users.setActive(id, active))

const setAdmin = (isAdmin: boolean) =>
  onUser(({ id }, server) => server.users.setAdmin(id, isAdmin))

/** Returns an action on one user. `work` returns false if the user was deleted concurrently. */
const onUser =
  (work: (user: User, server: AuthorizationServer) => Promise<boolean>) =>
  (options: UserOption, command: Command): Promise<void> =>
    withServer(command, async (server) => {
      const found = await findUser(server, options.user)
      if (!(await work(found, server))) throw noSuchUser(options.user)
    })

// Returns a password with 99 bits of entropy, without letters and digits that look alike.
const newPassword = (): string => {
  const letters = 'abcdefghjkmnpqrstuvwxyz23456789'
  const word = () => Array.from({ length: 5 }, () => letters[randomInt(letters.length)]).join('')
  return [word(), word(), word(), word()].join('-')
}
