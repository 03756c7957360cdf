import { execFile } from 'node:child_process'
import { readdir } from 'node:fs/promises'
import { constants, getPriority } from 'node:os'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { PasswordHasher } from '../../src/crypto/passwords/password.ts'

const run = promisify(execFile)

test('hashes passwords in a thread with lower priority than the process', async () => {
  const before = getPriority(process.pid)
  await new PasswordHasher().check('x', undefined)
  expect(getPriority(process.pid)).toBe(before)
  // Other systems do not support priorities of threads.
  if (process.platform !== 'linux') return
  const threads = await readdir('/proc/self/task')
  const lowered = threads.filter(
    (thread) => getPriority(Number(thread)) === constants.priority.PRIORITY_BELOW_NORMAL,
  )
  expect(lowered.length).toBeGreaterThan(0)
})

test('hashes passwords without the permission to start threads', async () => {
  const module = new URL('../../src/crypto/passwords/password.ts', import.meta.url)
  const program = `
    import { PasswordHasher } from ${JSON.stringify(module.href)}
    const hasher = new PasswordHasher()
    const hash = await hasher.hash('correct horse')
    console.log(await hasher.check('correct horse', hash), await hasher.check('wrong', hash))
  `
  const args = ['--permission', '--allow-fs-read=*', '--input-type=module', '--eval', program]
  const { stdout } = await run(process.execPath, args)
  expect(stdout.trim()).toBe('true false')
})

test('lets a process exit after it has hashed a password', async () => {
  const module = new URL('../../src/crypto/passwords/password.ts', import.meta.url)
  const program = `
    import { PasswordHasher } from ${JSON.stringify(module.href)}
    console.log(await new PasswordHasher().check('x', undefined))
  `
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program])
  expect(stdout.trim()).toBe('false')
})
