import { glob } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { accountEndpoints } from '../../src/account/built-in.ts'
import { builtInEndpoints } from '../../src/protocol/endpoints/built-in.ts'
import { builtInExtensions } from '../../src/protocol/extensions/built-in.ts'

const source = join(import.meta.dirname, '../../src')

/** Endpoints that need the built-in login, the built-in users or `sendUserLink`, or exist only with `serve`. */
const conditional = [
  'loginEndpoint',
  'logoutEndpoint',
  'sessionsPage',
  'passwordPage',
  'forgotPasswordEndpoint',
  'signUpEndpoint',
  'openLinkEndpoint',
  'verifyEmailPage',
  'homeEndpoint',
]

const isEndpoint = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'handle' in value && 'path' in value

test('the server registers every endpoint that a file in src/protocol/endpoints or src/account exports', async () => {
  const registered = new Set<unknown>([
    ...builtInEndpoints,
    ...accountEndpoints,
    ...builtInExtensions.flatMap(({ endpoints = [] }) => endpoints),
  ])
  const unregistered: string[] = []
  for await (const file of glob('{protocol/endpoints,account}/**/*.ts', { cwd: source })) {
    const exported = (await import(pathToFileURL(join(source, file)).href)) as object
    for (const [name, value] of Object.entries(exported))
      if (isEndpoint(value) && !registered.has(value)) unregistered.push(name)
  }
  expect(unregistered.sort()).toEqual(conditional.sort())
})
