import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, rename, rmdir, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { lacks } from './needs.ts'
import {
  Program,
  type ProgramOptions,
  root,
  type TemporaryFolder,
  temporaryFolder,
} from './processes.ts'

/** Whether the registry of npm, from which these functions install packages, does not respond. */
export const withoutRegistry: boolean = await lacks('npm registry')

/** The milliseconds after which an installation is killed. Without a cache, an installation downloads up to 700 MB. */
const installationLimit = 300_000

/** The timeout in milliseconds of a hook or test that installs packages. */
export const installationTimeout: number = installationLimit + 60_000

/** Runs a program and expects exit status 0. */
export const run = async (
  command: string,
  args: readonly string[],
  options: ProgramOptions = {},
): Promise<{ stdout: string; stderr: string }> => {
  // Run programs with the Node version of this process, which the package supports.
  const PATH = `${dirname(process.execPath)}:${process.env.PATH}`
  await using program = new Program(command, args, { ...options, env: { PATH, ...options.env } })
  const { code } = await program.exited
  if (code !== 0) {
    const said = `${program.stdout}\n${program.stderr}`
    throw new Error(`${command} ${args.join(' ')} ended with ${code}:\n${said}`)
  }
  return program
}

export const readJson = async (path: string): Promise<Record<string, unknown>> =>
  JSON.parse(await readFile(path, 'utf8'))

/**
 * Creates a folder once in a run, in the first worker that needs it, and returns its path. The run deletes its temporary
 * folders at its end.
 */
const once = async (name: string, fill: (path: string) => Promise<void>): Promise<string> => {
  const path = join(tmpdir(), `oauth2server-${name}`)
  const lock = `${path}.lock`
  for (;;) {
    const isOurs = await mkdir(lock).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code !== 'EEXIST') throw error
        return false
      },
    )
    if (isOurs) break
    await delay(50)
  }
  try {
    if (existsSync(path)) return path
    const folder = await temporaryFolder()
    await fill(folder.path)
    await rename(folder.path, path)
    return path
  } finally {
    // After a failure, the next worker tries again.
    await rmdir(lock)
  }
}

/** Builds and packs the package once in a run. Returns the path of the tarball. */
export const packedTarball = async (): Promise<string> => {
  const path = await once('packed', async (folder) => {
    await run(process.execPath, ['scripts/build.js', '--if-stale'])
    await run('npm', ['pack', '--ignore-scripts', '--pack-destination', folder])
  })
  const [filename = ''] = await readdir(path)
  return join(path, filename)
}

const npmInstall = async (cwd: string, packages: readonly string[]): Promise<void> => {
  const quiet = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', '--save-exact']
  await run('npm', ['install', ...quiet, ...packages], { cwd, limit: installationLimit })
}

/** Returns a directory in which only the packed package is installed. */
const installedAlone = (): Promise<string> =>
  once('installed-alone', async (folder) => {
    await writeFile(join(folder, 'package.json'), '{ "private": true }')
    await npmInstall(folder, [await packedTarball()])
  })

/**
 * Installs the packages that `package.json` lists and additional packages. The first installation in a directory starts
 * with a copy of the packed package and its dependencies, which takes a quarter of the time.
 */
export const install = async (cwd: string, packages: readonly string[] = []): Promise<void> => {
  // Copy the times as well: npm ignores its list of installed packages if a directory is newer than the list.
  if (!existsSync(join(cwd, 'node_modules')))
    await run('cp', ['-a', join(await installedAlone(), 'node_modules'), cwd])
  await npmInstall(cwd, packages)
}

/** Creates a directory with these packages and the packed package. @param manifest the members of `package.json` */
export const installed = async (
  packages: readonly string[],
  manifest: object = {},
): Promise<TemporaryFolder> => {
  const folder = await temporaryFolder()
  const dependencies = { 'svc-oauth2server': `file:${await packedTarball()}` }
  await writeFile(
    join(folder.path, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies, ...manifest }),
  )
  await install(folder.path, packages)
  return folder
}

/** Returns the version of a tool of the repository, as an argument of `npm install`. */
export const versionOf = async (name: string): Promise<string> => {
  const { devDependencies } = await readJson(join(root, 'package.json'))
  return `${name}@${(devDependencies as Record<string, string>)[name]}`
}
