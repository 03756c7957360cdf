import { cp, lstat, mkdir, readdir, readFile, stat, symlink, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  freePort,
  Program,
  root,
  type TemporaryFolder,
  temporaryFolder,
} from '../support/processes.ts'

/** `NODES=whole npm run test:full` installs all packages. */
const isWhole = process.env.NODES === 'whole'

/** The PATH without `node_modules`, as for a user with any version of Node and npm. */
const systemPath = (process.env.PATH ?? '')
  .split(':')
  .filter((folder) => folder !== '' && !folder.includes('node_modules'))
  .join(':')

/** Copies every file that Git tracks or does not ignore, as in a clone. */
const copyOfCheckout = async (): Promise<TemporaryFolder> => {
  const folder = await temporaryFolder()
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z']
  await using git = new Program('git', args, { limit: 60_000 })
  expect(await git.exited).toEqual({ code: 0, signal: null })
  for (const file of git.stdout.split('\0').filter((name) => name !== '')) {
    const from = join(root, file)
    // Skip deleted files, which Git also lists. Skip links, because `npm ci` would delete the target of a link to
    // node_modules, which other checkouts use.
    const found = await lstat(from).catch(() => undefined)
    if (!found?.isFile()) continue
    const target = join(folder.path, file)
    await mkdir(dirname(target), { recursive: true })
    await cp(from, target)
  }
  for (const made of ['dist', 'node_modules', 'data']) {
    await expect(lstat(join(folder.path, made))).rejects.toThrow('ENOENT')
  }
  return folder
}

describe('a fresh clone, with the system’s Node first in the PATH', () => {
  let clone: TemporaryFolder
  const programs: Program[] = []

  const run = (
    command: string,
    args: readonly string[],
    env: Readonly<Record<string, string>> = {},
  ): Program => {
    const options = { cwd: clone.path, env: { PATH: systemPath, ...env }, limit: 200_000 }
    const program = new Program(command, args, options)
    programs.push(program)
    return program
  }

  /** Runs `npm start`, and waits until the server accepts requests. */
  const npmStart = async (env: Readonly<Record<string, string>> = {}) => {
    const port = await freePort()
    const program = run('npm', ['start'], { PORT: String(port), ...env })
    await program.says(/Stop with Ctrl-C/, { within: 110_000 })
    return program
  }

  beforeAll(async () => {
    clone = await copyOfCheckout()
    // `.ci/run` begins with `npm ci` in a fresh clone. This test links the same packages instead, and runs the scripts
    // that `npm ci` would run at its end.
    if (!isWhole) await symlink(join(root, 'node_modules'), join(clone.path, 'node_modules'))
    const install = run('npm', isWhole ? ['ci'] : ['run', 'prepare'])
    const { code } = await install.exited
    expect(`${install.stdout}${install.stderr}`).not.toMatch(/npm (?:error|ERR!)/)
    expect(code).toBe(0)
  })
  afterAll(async () => {
    await Promise.all(programs.map((program) => program.crash()))
    await clone?.[Symbol.asyncDispose]()
  })

  test('§1 npm ci builds the package, npm start starts the server, and the printed curl command succeeds', async () => {
    await stat(join(clone.path, 'dist/index.js'))
    const app = await npmStart()
    // `npm start` does not build the package again.
    expect(app.stderr).not.toContain('building')
    const [line = ''] = app.stdout.split('\n').filter((text) => text.includes('curl'))
    const curl = run('sh', ['-c', `${line} -i -s`])
    expect(await curl.exited).toEqual({ code: 0, signal: null })
    expect(curl.stdout).toMatch(/^HTTP\/1\.1 200 OK\r\n[\s\S]*\r\n\r\n\[\{.*\}\]$/)
    // The data is in the documented folder, and Git ignores it.
    const data = await readdir(join(clone.path, 'data'))
    expect(data).toEqual(expect.arrayContaining(['oauth2server.sqlite', 'secret-key']))
    expect(await readFile(join(clone.path, '.gitignore'), 'utf8')).toMatch(/^data\/$/m)

    await app.stop()
    const again = await npmStart()
    expect(again.stdout).not.toMatch(/curl|^ *password/m)
    await again.stop()
  })

  test('§1 after a source file changed, only one of three concurrent starts builds the package, and all three serve', async () => {
    const now = new Date()
    await utimes(join(clone.path, 'src/index.ts'), now, now)
    const before = await stat(join(clone.path, 'dist/.built'))
    const apps = await Promise.all([npmStart(), npmStart(), npmStart()])
    const after = await stat(join(clone.path, 'dist/.built'))
    expect(after.mtimeMs).toBeGreaterThan(before.mtimeMs)
    const builds = apps.filter(({ stderr }) => stderr.includes('building'))
    expect(builds).toHaveLength(1)
    for (const { stdout } of apps) {
      const [, url] = /^Open (\S+)\/ and log in/m.exec(stdout) ?? []
      expect((await fetch(`${url}/login`)).status).toBe(200)
      expect((await fetch(`${url}/oauth/style.css`)).status).toBe(200)
    }
    const left = (await readdir(clone.path)).filter((name) => name.startsWith('.dist'))
    expect(left).toEqual([])
    await Promise.all(apps.map((app) => app.stop()))
  })

  // The test of docs/getting-started.md also runs this command.
  if (isWhole) {
    test('npx svc-oauth2server runs in the checkout', async () => {
      const program = run('npx', ['svc-oauth2server', '--help'])
      expect(await program.exited).toEqual({ code: 0, signal: null })
      expect(program.stdout).toMatch(/^ {2}serve\b/m)
    })
  }
})
