import { describe, expect, test } from 'vitest'
import { findUser } from '../../src/cli/find-user.ts'
import { count } from '../support/database.ts'
import { misused, refused, silent, workplace } from './workplace.ts'

const email = 'me@example.org'

describe('users create', () => {
  test('prints the ID, the e-mail address and a generated password that works for a login', async () => {
    await using place = await workplace()
    const { code, stdout, stderr } = await place.run('users', 'create', '--email', 'Me@Example.org')
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' })
    const created = JSON.parse(stdout)
    expect(stdout).toBe(`${JSON.stringify(created)}\n`)
    expect(created).toEqual({
      id: expect.any(Number),
      email: 'me@example.org',
      password: expect.stringMatching(/^[a-z2-9]{5}(?:-[a-z2-9]{5}){3}$/),
    })
    const server = await place.open()
    expect(await server.getUser(created.email, created.password)).toEqual({
      id: created.id,
      email: 'me@example.org',
      active: true,
      emailVerified: true,
      isAdmin: false,
    })
    await server.close()
  })

  test('accepts every option, and does not print a given password', async () => {
    await using place = await workplace()
    const flags = ['--password', 'given password', '--inactive', '--unverified', '--admin']
    const { stdout, ...rest } = await place.run('users', 'create', '--email', email, ...flags)
    const { id } = JSON.parse(stdout)
    expect({ stdout, ...rest }).toEqual({ ...silent, stdout: `{"id":${id},"email":"${email}"}\n` })
    const server = await place.open()
    const user = await server.users.find(id)
    expect(user).toMatchObject({ active: false, emailVerified: false, isAdmin: true })
    expect(await server.users.checkPassword(id, 'given password')).toBe(true)
    await server.close()
  })

  test.each([
    [
      'a taken e-mail address',
      ['--email', 'taken@example.org'],
      'email: This e-mail address is taken.',
    ],
    [
      'an invalid e-mail address',
      ['--email', 'me\nand@you'],
      'email: The e-mail address contains an invisible character.',
    ],
    [
      'a short password',
      ['--email', 'a@b.example', '--password', '1234567'],
      /password: .* 8 characters/,
    ],
  ])('rejects %s without creating a user', async (_, options, message) => {
    await using place = await workplace()
    const server = await place.open()
    await server.users.create({ email: 'taken@example.org', password: null })
    await server.close()
    expect(await place.run('users', 'create', ...options)).toEqual(refused(message))
    expect(count(place.database, 'oauth2server_user')).toBe(1)
  })

  test.each([
    ['a missing e-mail option', [], "required option '--email <email>' not specified"],
    ['an option without its value', ['--email'], "option '--email <email>' argument missing"],
    [
      'a repeated password option without printing the passwords',
      ['--email', 'a@b.example', '--password', 'secret one', '--password', 'secret two'],
      "option '--password <password>' is given more than once",
    ],
  ])('rejects %s as wrong usage', async (_, options, message) => {
    await using place = await workplace()
    expect(await place.run('users', 'create', ...options)).toEqual(misused(message))
  })
})

test('changes and deletes users by ID or e-mail address without output', async () => {
  await using place = await workplace()
  const server = await place.open()
  const { id } = await server.users.create({ email, password: 'first password' })
  const users = (...args: string[]) => place.run('users', ...args)

  expect(await users('deactivate', '--user', 'ME@example.org')).toEqual(silent)
  expect((await server.users.find(id))?.active).toBe(false)
  expect(await users('activate', '--user', `${id}`)).toEqual(silent)
  expect((await server.users.find(id))?.active).toBe(true)

  expect(await users('promote', '--user', `${id}`)).toEqual(silent)
  expect((await server.users.find(id))?.isAdmin).toBe(true)
  expect(await users('demote', '--user', 'me@example.org')).toEqual(silent)
  expect((await server.users.find(id))?.isAdmin).toBe(false)

  expect(await users('set-password', '--user', `${id}`, '--password', 'second password')).toEqual(
    silent,
  )
  expect(await server.users.checkPassword(id, 'second password')).toBe(true)

  const generated = await users('set-password', '--user', `${id}`)
  expect(generated).toMatchObject({ code: 0, stdout: '' })
  const [, password = ''] =
    /^The new password of me@example.org, shown once: (\S+)\n$/.exec(generated.stderr) ?? []
  expect(await server.users.checkPassword(id, password)).toBe(true)

  expect(await users('delete', '--user', `${id}`)).toEqual(silent)
  expect(await server.users.find(id)).toBeUndefined()
  await server.close()
})

test('rejects an unknown user', async () => {
  await using place = await workplace()
  const server = await place.open()
  await server.users.create({ email: 'me@example.org', password: null })
  expect(await place.run('users', 'delete', '--user', 'you@example.org')).toEqual(
    refused('There is no user "you@example.org".'),
  )
  for (const user of ['2', '', '01e0', '-1', '1.0', ' 1', '9'.repeat(400)])
    await expect(findUser(server, user)).rejects.toThrow(/^There is no user ".{0,81}"\.$/)
  await server.close()
  expect(count(place.database, 'oauth2server_user')).toBe(1)
})
