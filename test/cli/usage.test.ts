import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { root } from '../support/processes.ts'
import { misused, refused, silent, workplace } from './workplace.ts'

const ownProcess = { nodeOptions: [] }

test('--help prints the usage to stdout', async () => {
  await using place = await workplace()
  const overview = await place.runWith(ownProcess, '--help')
  expect(overview).toMatchObject({ code: 0, stderr: '' })
  const commands = ['serve', 'users', 'tokens', 'clients', 'scopes', 'migrate', 'secret-key']
  for (const command of [...commands, 'doctor'])
    expect(overview.stdout).toMatch(new RegExp(`^ {2}${command} `, 'm'))
  expect(overview.stdout).toContain('DATABASE_URL')

  const help = await place.runWith(ownProcess, 'clients', 'create', '--help')
  expect(help).toMatchObject({ code: 0, stderr: '' })
  expect(help.stdout).toContain('Registers a client and prints its id and secret.')
  expect(help.stdout).toMatch(/--redirect-uri <uri>\s+A URI to which users return/)
  expect(help.stdout).toMatch(/Example:\n {2}\$ svc-oauth2server clients create --name /)
})

test('--version prints the version', async () => {
  await using place = await workplace()
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  expect(await place.runWith(ownProcess, '--version')).toEqual({
    ...silent,
    stdout: `${version}\n`,
  })
})

test.each([
  ['an unknown command', ['user', 'create'], "unknown command 'user' (Did you mean users?)"],
  ['an unknown option', ['scopes', 'list', '--all'], "unknown option '--all'"],
  ['an unexpected argument', ['tokens', 'purge', 'now'], /too many arguments for 'purge'/],
])('rejects %s as wrong usage, in one line', async (_, args, message) => {
  await using place = await workplace()
  expect(await place.runWith(ownProcess, ...args)).toEqual(misused(message))
})

test('rejects a command group without a command as wrong usage, and prints the help', async () => {
  await using place = await workplace()
  const { code, stdout, stderr } = await place.runWith(ownProcess, 'users')
  expect({ code, stdout }).toEqual({ code: 2, stdout: '' })
  expect(stderr).toMatch(/^Usage: svc-oauth2server users /)
})

test('rejects an older version of Node in one line, before any import', async () => {
  await using place = await workplace()
  const older = 'Object.defineProperty(process, "versions", { value: { node: "22.9.1" } })'
  const nodeOptions = ['--import', `data:text/javascript,${older}`]
  expect(await place.runWith({ nodeOptions }, '--help')).toEqual(
    refused('svc-oauth2server needs Node 22.13 or newer; this is Node 22.9.1.'),
  )
})
