import { describe, expect, test } from 'vitest'
import { runNode } from '../support/processes.ts'

const source = (path: string) => JSON.stringify(new URL(`../../src/${path}`, import.meta.url).href)

/** Removes argon2 from Node, as in Node 22 and Deno. */
const withoutArgon2 = `
import crypto from 'node:crypto'
import { registerHooks, syncBuiltinESMExports } from 'node:module'
delete crypto.argon2
delete crypto.argon2Sync
syncBuiltinESMExports()
`
const withoutLibrary = `
registerHooks({
  resolve(name, context, next) {
    if (name.startsWith('@noble/hashes')) throw new Error('not installed')
    return next(name, context)
  },
})
`
const create = (options: string) => `
const { createAuthorizationServer, InvalidSettings } = await import(${source('index.ts')})
const { sqlite } = await import(${source('store/sqlite.ts')})
const server = await createAuthorizationServer({
  issuer: 'https://a.example', secretKeys: ['a secret key of more than thirty-two bytes'],
  store: sqlite(':memory:'), log: () => undefined, ${options}
}).catch((error) => {
  if (!(error instanceof InvalidSettings)) throw error
  console.log(error.problems.join())
})
await server?.close()
`

const outputOf = async (program: string): Promise<string> => {
  const run = runNode(['--input-type=module', '-e', program])
  expect((await run.exited).code, run.stderr).toBe(0)
  return run.stdout
}

describe('on a runtime without argon2', () => {
  test('the library computes the same hash as Node, in the worker and in the main thread', async () => {
    const parameters = { message: 'pässword', memory: 64, passes: 2, parallelism: 1, tagLength: 32 }
    const compute = `
const argon2 = await import(${source('crypto/passwords/argon2.ts')})
const parameters = { ...${JSON.stringify(parameters)}, nonce: new Uint8Array(16).fill(7) }
const tags = [await argon2.argon2id(parameters), await argon2.argon2idBlocking(parameters)]
console.log(tags.map((tag) => Buffer.from(tag).toString('hex')).join())`
    const here = await outputOf(compute)
    const [one, other] = here.trim().split(',')
    expect(one).toMatch(/^[0-9a-f]{64}$/)
    expect(other).toBe(one)
    expect(await outputOf(withoutArgon2 + compute)).toBe(here)
  })

  test('the start fails with one line that names the package, if the library is not installed', async () => {
    expect(await outputOf(withoutArgon2 + withoutLibrary + create(''))).toBe(
      'This runtime does not contain argon2, which hashes the passwords of the built-in users. Use Node 24.7 or newer, or install the package @noble/hashes.\n',
    )
  })

  test('the start succeeds without the library, if the application has its own users', async () => {
    const users = 'users: { find: async () => undefined, withPassword: async () => undefined }, '
    expect(await outputOf(withoutArgon2 + withoutLibrary + create(users))).toBe('')
  })
})
