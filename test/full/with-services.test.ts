import { readdirSync, readFileSync } from 'node:fs'
import { chmod, mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createClient } from '@redis/client'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { lacks } from '../support/needs.ts'
import { queryAt } from '../support/postgres.ts'
import { Program, type TemporaryFolder, temporaryFolder } from '../support/processes.ts'

interface Addresses {
  readonly postgres: string
  readonly redis: string
}

/** `NODES=whole npm run test:full` tests more signals. */
const isWhole = process.env.NODES === 'whole'

const isLacking = (await lacks('postgres programs')) || (await lacks('redis'))

describe('the folder for the temporary files of a test run', () => {
  const hold = `
    import { startServices } from './test/support/services.ts'
    const { env, stop } = await startServices({ hasRunFolder: true })
    console.log(env.TMPDIR)
    if (process.env.STOPS) await stop()
    else setInterval(() => undefined, 1000)`
  // startServices() starts no service whose URL is set.
  const given = { TEST_POSTGRES_URL: 'postgres://given/', TEST_REDIS_URL: 'redis://given' }
  const holding = (env: Readonly<Record<string, string>> = {}): Program =>
    new Program(process.execPath, ['--input-type=module', '--eval', hold], {
      env: { ...given, ...env },
    })

  test('is deleted with its content when the run stops', async () => {
    await using running = holding({ STOPS: 'yes' })
    const [, path = ''] = await running.says(/^(.*oauth2server-run-.*)$/m)
    expect((await running.exited).code).toBe(0)
    await expect(readdir(path)).rejects.toThrow('ENOENT')
  })

  test('is deleted with its content after the run received SIGKILL', async () => {
    await using running = holding()
    const [, path = ''] = await running.says(/^(.*oauth2server-run-.*)$/m)
    await mkdir(join(path, 'left'))
    await writeFile(join(path, 'left', 'file'), '')
    await running.crash()
    await vi.waitFor(() => expect(readdir(path)).rejects.toThrow('ENOENT'), { timeout: 60_000 })
  })
})

describe.skipIf(isLacking)('with-services', () => {
  let temporary: TemporaryFolder
  beforeEach(async () => {
    temporary = await temporaryFolder()
    // PostgreSQL may run as another operating system user, who needs access to the folder.
    await chmod(temporary.path, 0o755)
  })
  afterEach(() => temporary[Symbol.asyncDispose]())

  const withServices = (command: readonly string[], env = {}): Program =>
    new Program(process.execPath, ['scripts/with-services.ts', ...command], {
      env: {
        TMPDIR: temporary.path,
        TEST_POSTGRES_URL: undefined,
        TEST_REDIS_URL: undefined,
        ...env,
      },
    })

  /** Returns a command that prints the URLs of the services, and then runs the script. */
  const telling = (script: string): readonly string[] => {
    const addresses =
      'JSON.stringify({ postgres: process.env.TEST_POSTGRES_URL, redis: process.env.TEST_REDIS_URL })'
    return [process.execPath, '-e', `console.log(${addresses}); ${script}`]
  }
  const forever = 'setInterval(() => undefined, 1000)'

  const addressesOf = async (running: Program): Promise<Addresses> =>
    JSON.parse((await running.says(/^\{.*\}$/m))[0])

  const expectRunning = async ({ postgres, redis }: Addresses) => {
    expect(await queryAt(postgres, 'select 1 as one')).toEqual([{ one: 1 }])
    const client = await createClient({ url: redis }).connect()
    expect(await client.ping()).toBe('PONG')
    client.destroy()
  }

  /** Returns the IDs of the processes that use the temporary folder of this test. */
  const processes = () =>
    readdirSync('/proc').filter((pid) => {
      try {
        return ['environ', 'cmdline'].some((file) =>
          readFileSync(`/proc/${pid}/${file}`, 'latin1').includes(temporary.path),
        )
      } catch {
        return false
      }
    })

  const expectNothingLeft = () =>
    vi.waitFor(async () => expect([processes(), await readdir(temporary.path)]).toEqual([[], []]), {
      timeout: 60_000,
    })

  test('passes the URLs of both services to the command, returns its exit status, and leaves no process or file', async () => {
    await using running = withServices(telling('setTimeout(() => process.exit(7), 1000)'))
    await expectRunning(await addressesOf(running))
    expect((await running.exited).code).toBe(7)
    expect([processes(), await readdir(temporary.path)]).toEqual([[], []])
  })

  test.each(['SIGTERM', 'SIGKILL', ...(isWhole ? (['SIGHUP'] as const) : [])] as const)(
    'leaves no process or file when only with-services receives %s',
    async (signal) => {
      await using running = withServices(telling(forever))
      await expectRunning(await addressesOf(running))
      process.kill(running.pid, signal)
      await running.exited
      await expectNothingLeft()
    },
  )

  test.each(['SIGINT', 'SIGKILL', ...(isWhole ? (['SIGTERM'] as const) : [])] as const)(
    'leaves no process or file when the whole process group receives %s',
    async (signal) => {
      await using running = withServices(telling(forever))
      await expectRunning(await addressesOf(running))
      running.kill(signal)
      await running.exited
      await expectNothingLeft()
    },
  )

  test('leaves no process or file when the process group is killed while the services start', async () => {
    await using running = withServices(telling(forever))
    await vi.waitFor(async () => expect(await readdir(temporary.path)).not.toEqual([]), {
      interval: 5,
      timeout: 60_000,
    })
    await running.crash()
    expect(running.stdout).toBe('')
    await expectNothingLeft()
  })

  test('does not start a service whose URL is given', async () => {
    const postgres = 'postgres://given/'
    const redis = 'redis://given'
    const given = { TEST_POSTGRES_URL: postgres, TEST_REDIS_URL: redis }
    await using running = withServices(telling(''), given)
    expect(await addressesOf(running)).toEqual({ postgres, redis })
    expect(await readdir(temporary.path)).toEqual([])
    expect((await running.exited).code).toBe(0)
  })

  test('exits with status 127 if the command cannot be run, and leaves no process or file', async () => {
    await using running = withServices(['./no-such-command'])
    expect((await running.exited).code).toBe(127)
    expect(running.stderr).toMatch(/no-such-command/)
    await expectNothingLeft()
  })
})
