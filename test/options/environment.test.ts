import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createAuthorizationServer, InvalidSettings, StoreUnusable } from 'svc-oauth2server'
import { fromEnvironment, startProblem, type Variables } from 'svc-oauth2server/environment'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { runNode } from '../support/processes.ts'
import { secretKey } from '../support/server.ts'

let root: string
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'oauth2server-environment-'))
})
afterAll(() => rm(root, { recursive: true }))

let folders = 0
const newFolder = () => {
  folders += 1
  return join(root, `data-${folders}`)
}
const inMemory = { DATABASE_URL: 'sqlite::memory:' }

const problemsOf = async (env: Variables): Promise<readonly string[]> => {
  const error: unknown = await fromEnvironment(env).catch((reason: unknown) => reason)
  expect(error).toBeInstanceOf(InvalidSettings)
  expect(startProblem(error)).toBe((error as Error).message)
  return (error as InvalidSettings).problems
}

describe('decision §1: the environment', () => {
  test('requires no variable', async () => {
    const { port, host, options, dataFolder } = await fromEnvironment({
      DATABASE_URL: `sqlite:${newFolder()}/x.sqlite`,
    })
    expect([port, host, options.issuer]).toEqual([3000, '127.0.0.1', 'http://localhost:3000'])
    expect(dataFolder).toBe(join(root, `data-${folders}`))
    expect(options.secretKeys).toHaveLength(1)
  })

  test('without DATABASE_URL, the database is in a folder of the working directory', async () => {
    const cwd = newFolder()
    await mkdir(cwd)
    const program = `import { fromEnvironment } from ${JSON.stringify(new URL('../../src/server/environment/environment.ts', import.meta.url).href)}
const { dataFolder, options } = await fromEnvironment({})
console.log(dataFolder, options.store.description)`
    const run = runNode(['--input-type=module', '-e', program], { cwd })
    expect((await run.exited).code, run.stderr).toBe(0)
    expect(run.stdout).toBe('./data sqlite:./data/oauth2server.sqlite\n')
    expect(await readdir(join(cwd, 'data'))).toEqual(['secret-key'])
  })

  test('reads PORT, HOST and BASE_URL', async () => {
    const environment = await fromEnvironment({ ...inMemory, PORT: '8080', HOST: '0.0.0.0' })
    expect(environment).toMatchObject({
      port: 8080,
      host: '0.0.0.0',
      options: { issuer: 'http://localhost:8080' },
      dataFolder: undefined,
    })
    const { options } = await fromEnvironment({
      ...inMemory,
      BASE_URL: 'https://api.example.org/app',
      HOST: '',
      PORT: '1',
    })
    expect(options.issuer).toBe('https://api.example.org/app')
    for (const PORT of ['0', '65536', '-1', 'x', '', '80.5', '1e3', ' 80'])
      expect(await problemsOf({ ...inMemory, PORT })).toEqual([
        expect.stringMatching(/^PORT accepts/),
      ])
  })

  test('reads settings from their variables', async () => {
    const { options } = await fromEnvironment({
      ...inMemory,
      OAUTH2SERVER_CLIENT_ID_SALT_LEN: '30',
      OAUTH2_PROVIDER_TOKEN_EXPIRES_IN: '60',
      TRUSTED_PROXIES: '10.0.0.1',
    })
    expect(options).toMatchObject({
      clientIdSaltLen: 30,
      tokenExpiresIn: 60,
      trustedProxies: ['10.0.0.1'],
    })
  })

  test('reports all errors in one message', async () => {
    const problems = await problemsOf({
      PORT: 'x',
      DATABASE_URL: 'mysql://x',
      OAUTH2SERVER_MISSPELT: 'x',
      OAUTH2SERVER_CLIENT_ID_SALT_LEN: '1',
    })
    expect(problems.map((problem) => problem.split(' ')[0]).sort()).toEqual([
      'DATABASE_URL',
      'OAUTH2SERVER_CLIENT_ID_SALT_LEN',
      'OAUTH2SERVER_MISSPELT',
      'PORT',
    ])
  })

  test.each(['prepare=no', 'prepare=', 'prepare=false&prepare=true'])(
    'rejects a DATABASE_URL with the query %s',
    async (parameters) => {
      const given = { DATABASE_URL: `postgres://localhost/x?${parameters}`, SECRET_KEY: secretKey }
      await expect(fromEnvironment(given)).rejects.toThrow(
        'DATABASE_URL: prepare accepts true or false, and only once.',
      )
    },
  )

  test.each([
    ['schema=a&schema=b', 'DATABASE_URL: schema accepts a name, and only once.'],
    ['schema=A', 'schema accepts lower-case letters, digits and _'],
    ['schema=a&prepare=false', 'schema cannot be combined with prepare: false'],
  ])('rejects a DATABASE_URL with the query %s', async (parameters, message) => {
    const given = { DATABASE_URL: `postgres://localhost/x?${parameters}`, SECRET_KEY: secretKey }
    const opened = fromEnvironment(given).then(({ options }) => options.store.open())
    await expect(opened).rejects.toThrow(message)
  })

  test.each(['postgres', 'postgresql'])(
    'requires a SECRET_KEY for a DATABASE_URL with the scheme %s',
    async (scheme) => {
      const DATABASE_URL = `${scheme}://user:s3cret@db.example/app`
      const problems = await problemsOf({ DATABASE_URL })
      expect(problems).toEqual([
        expect.stringMatching(/^SECRET_KEY is missing: every node .* at least 32 random/),
      ])
      const { options, dataFolder } = await fromEnvironment({ DATABASE_URL, SECRET_KEY: secretKey })
      expect(options.store.description).toBe('postgres://db.example/app')
      expect(options.secretKeys).toEqual([secretKey])
      expect(dataFolder).toBeUndefined()
    },
  )

  test('enables Redis with OAUTH2_CACHE_REDIS_URL alone, unless the cache type is set', async () => {
    const OAUTH2_CACHE_REDIS_URL = 'redis://user:s3cret@cache.example:6380/1'
    const read = async (env: Variables) => (await fromEnvironment({ ...inMemory, ...env })).options
    for (const env of [{}, { OAUTH2_CACHE_TYPE: 'redis' }]) {
      const { transients } = await read({ OAUTH2_CACHE_REDIS_URL, ...env })
      expect(transients?.description).toBe('redis://cache.example:6380/1')
    }
    for (const OAUTH2_CACHE_TYPE of ['database', 'memory'])
      expect(await read({ OAUTH2_CACHE_REDIS_URL, OAUTH2_CACHE_TYPE })).not.toHaveProperty(
        'transients',
      )
    expect(await read({ OAUTH2_CACHE_REDIS_URL: '' })).not.toHaveProperty('transients')
  })

  test('reports an invalid Redis URL without its password', async () => {
    const env = { ...inMemory, OAUTH2_CACHE_REDIS_URL: 'http://:s3cret@localhost' }
    const problems = await problemsOf(env)
    expect(problems).toEqual([
      expect.stringMatching(/^OAUTH2_CACHE_REDIS_URL: The address of Redis cannot be read\./),
    ])
    expect(problems.join()).not.toContain('s3cret')
  })

  test('rejects OAUTH2_CACHE_TYPE=redis without a URL at start-up', async () => {
    const { options } = await fromEnvironment({ ...inMemory, OAUTH2_CACHE_TYPE: 'redis' })
    const failure = await createAuthorizationServer({
      ...options,
      log: () => undefined,
    }).catch((error: unknown) => error)
    expect(startProblem(failure)).toMatch(
      /cacheType \(OAUTH2_CACHE_TYPE\) redis needs the option transients \(OAUTH2_CACHE_REDIS_URL\)/,
    )
  })

  test.each([
    ['pg', { DATABASE_URL: 'postgres://localhost/x', SECRET_KEY: secretKey }],
    ['@redis/client', { OAUTH2_CACHE_REDIS_URL: 'redis://localhost' }],
  ])('reports a missing package %s only if it is needed', async (name, env) => {
    const program = `import { registerHooks } from 'node:module'
const gone = (name) => Object.assign(new Error(\`Cannot find package '\${name}' imported from x\`), { code: 'ERR_MODULE_NOT_FOUND' })
registerHooks({
  resolve(name, context, next) {
    if (name === ${JSON.stringify(name)}) throw gone(name)
    return next(name, context)
  },
})
const { fromEnvironment } = await import(${JSON.stringify(new URL('../../src/server/environment/environment.ts', import.meta.url).href)})
const read = (env) => fromEnvironment({ DATABASE_URL: 'sqlite::memory:', ...env })
await read({})
await read(${JSON.stringify(env)}).catch((error) => console.log(error.problems.join()))`
    const run = runNode(['--input-type=module', '-e', program])
    expect((await run.exited).code, run.stderr).toBe(0)
    expect(run.stdout).toBe(
      `${name === 'pg' ? 'DATABASE_URL=postgres:' : 'OAUTH2_CACHE_REDIS_URL'} needs the package ${name}, which is not installed: npm install ${name}\n`,
    )
  })

  test.each(['', 'sqlite', 'sqlite:', './data/x.sqlite', 'file:x', 'mysql://localhost/x'])(
    'rejects DATABASE_URL %j',
    async (DATABASE_URL) => {
      expect(await problemsOf({ DATABASE_URL })).toEqual([
        expect.stringMatching(/^DATABASE_URL accepts sqlite:PATH/),
      ])
    },
  )
})

describe('secret key', () => {
  const start = (data: string, env: Variables = {}) =>
    fromEnvironment({ DATABASE_URL: `sqlite:${join(data, 'x.sqlite')}`, ...env })

  test('is generated once in the data folder, readable only by its owner', async () => {
    const data = newFolder()
    const first = (await start(data)).options.secretKeys
    expect(first).toEqual([expect.stringMatching(/^[A-Za-z0-9_-]{64}$/)])
    expect((await stat(join(data, 'secret-key'))).mode & 0o777).toBe(0o600)
    expect((await readFile(join(data, 'secret-key'), 'utf8')).trim()).toBe(first[0])
    expect((await start(data)).options.secretKeys).toEqual(first)
    expect((await start(newFolder())).options.secretKeys).not.toEqual(first)
    expect(await readdir(data)).toEqual(['secret-key'])
  })

  test('is used unchanged, and the server generates no other key', async () => {
    const data = newFolder()
    const SECRET_KEY = ' a key with spaces, a comma and ä, longer than 32 bytes '
    expect((await start(data, { SECRET_KEY })).options.secretKeys).toEqual([SECRET_KEY])
    await expect(readdir(data)).rejects.toThrow(/ENOENT/)
  })

  test('can be followed by previous keys, separated by commas', async () => {
    const SECRET_KEY_PREVIOUS = 'one,two,'
    const { options } = await start(newFolder(), { SECRET_KEY: 'now', SECRET_KEY_PREVIOUS })
    expect(options.secretKeys).toEqual(['now', 'one', 'two'])
    expect(
      (await start(newFolder(), { SECRET_KEY: 'now', SECRET_KEY_PREVIOUS: '' })).options.secretKeys,
    ).toEqual(['now'])
  })

  test('of a database in memory is new at every start', async () => {
    const [one, other] = [await fromEnvironment(inMemory), await fromEnvironment(inMemory)]
    expect(one.options.secretKeys).not.toEqual(other.options.secretKeys)
  })

  test('is the same for twenty concurrent first starts in one process, which leave no temporary file', async () => {
    const data = newFolder()
    const keys = await Promise.all(
      Array.from({ length: 20 }, async () => (await start(data)).options.secretKeys[0]),
    )
    expect(new Set(keys).size).toBe(1)
    expect((await readFile(join(data, 'secret-key'), 'utf8')).trim()).toBe(keys[0])
    expect(await readdir(data)).toEqual(['secret-key'])
  })

  test('is the same for several processes that start concurrently', async () => {
    const data = newFolder()
    const module = new URL('../../src/server/environment/environment.ts', import.meta.url).href
    const program = `import { fromEnvironment } from ${JSON.stringify(module)}
// Fixed time: all programs start at the same moment.
await new Promise((resolve) => setTimeout(resolve, Number(process.argv[1]) - Date.now()))
console.log((await fromEnvironment({ DATABASE_URL: ${JSON.stringify(`sqlite:${join(data, 'x.sqlite')}`)} })).options.secretKeys[0])`
    const at = String(Date.now() + 1_500)
    const runs = Array.from({ length: 3 }, () =>
      runNode(['--input-type=module', '-e', program, at]),
    )
    for (const run of runs) expect((await run.exited).code, run.stderr).toBe(0)
    expect(new Set(runs.map(({ stdout }) => stdout)).size).toBe(1)
    expect(runs[0]?.stdout).toMatch(/^[A-Za-z0-9_-]{64}\n$/)
  })

  test('rejects a folder that is not writable, with a message of one line that says what to do', async () => {
    const file = join(root, 'a-file')
    await writeFile(file, '')
    const failure = await start(join(file, 'data')).catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(StoreUnusable)
    expect(startProblem(failure)).toMatch(
      /secret key file .* cannot be read or created .*set SECRET_KEY/,
    )
    expect(startProblem(failure)).not.toContain('\n')
  })
})

describe('secrets in files', () => {
  const fileWith = async (text: string): Promise<string> => {
    const folder = newFolder()
    await mkdir(folder)
    await writeFile(join(folder, 'secret'), text)
    return join(folder, 'secret')
  }

  test('a variable that ends in _FILE names the file of a secret [T4320]', async () => {
    const metricsToken = 'a-token-of-the-metrics-in-a-file'
    const { options } = await fromEnvironment({
      DATABASE_URL_FILE: await fileWith('sqlite::memory:\n'),
      SECRET_KEY_FILE: await fileWith(` ${secretKey}\r\n`),
      SECRET_KEY_PREVIOUS_FILE: await fileWith('one,two'),
      OAUTH2_CACHE_REDIS_URL_FILE: await fileWith('redis://cache.example:6380/1\n'),
      OAUTH2SERVER_METRICS_TOKEN_FILE: await fileWith(`${metricsToken}\n`),
      SECRET_KEY: '',
    })
    expect(options).toMatchObject({
      secretKeys: [` ${secretKey}`, 'one', 'two'],
      store: { description: 'sqlite::memory:' },
      transients: { description: 'redis://cache.example:6380/1' },
      metricsToken,
    })
  })

  test('refuses a file that is missing, both variables, and files of other settings [T4321]', async () => {
    const missing = join(root, 'missing')
    const problems = await problemsOf({
      ...inMemory,
      DATABASE_URL_FILE: await fileWith('sqlite::memory:'),
      SECRET_KEY_FILE: missing,
      OAUTH2SERVER_TOKEN_EXPIRES_IN_FILE: missing,
    })
    expect(problems).toEqual([
      'DATABASE_URL and DATABASE_URL_FILE are both set. Set one of them.',
      expect.stringMatching(/^SECRET_KEY_FILE: the file cannot be read \(ENOENT/),
      expect.stringMatching(/^OAUTH2SERVER_TOKEN_EXPIRES_IN_FILE is not a setting/),
    ])
  })

  test('a program does not start if the file of a secret is missing, although it has a default', async () => {
    for (const SECRET_KEY_FILE of [join(root, 'missing'), root])
      expect(await problemsOf({ ...inMemory, SECRET_KEY_FILE })).toHaveLength(1)
  })
})

describe('variables that other programs set', () => {
  const ofService = (name: string): Variables => ({
    [`${name}_SERVICE_HOST`]: '10.96.0.12',
    [`${name}_SERVICE_PORT`]: '80',
    [`${name}_SERVICE_PORT_HTTP`]: '80',
    [`${name}_PORT`]: 'tcp://10.96.0.12:80',
    [`${name}_PORT_80_TCP`]: 'tcp://10.96.0.12:80',
    [`${name}_PORT_80_TCP_PROTO`]: 'tcp',
    [`${name}_PORT_80_TCP_PORT`]: '80',
    [`${name}_PORT_80_TCP_ADDR`]: '10.96.0.12',
    [`${name}_PORT_53_UDP`]: 'udp://10.96.0.12:53',
  })

  test.each(['OAUTH2SERVER', 'OAUTH2SERVER_METRICS', 'OAUTH2', 'OAUTH2_CACHE'])(
    'ignores the variables that Kubernetes adds beside a Service %s [T3915]',
    async (name) => {
      const { port } = await fromEnvironment({ ...inMemory, ...ofService(name) })
      expect(port).toBe(3000)
    },
  )

  test('still refuses misspelled settings that look similar [T3916]', async () => {
    for (const [name, value] of [
      ['OAUTH2SERVER_PORT', '3000'],
      ['OAUTH2SERVER_SERVICE_PORT', 'x'],
      ['OAUTH2SERVER_HOST', '10.96.0.12'],
      ['OAUTH2SERVER_SUPPORT', 'yes'],
    ] as const)
      expect(await problemsOf({ ...inMemory, [name]: value })).toEqual([
        expect.stringContaining(`${name} is not a setting.`),
      ])
  })
})
