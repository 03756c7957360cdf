import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { chromiumPath } from '../../scripts/chromium.ts'

/** A program, or a permission, that a test suite requires and that npm does not install. */
export type Need =
  | 'postgres'
  | 'postgres programs'
  | 'pgbouncer'
  | 'redis'
  | 'chromium'
  | 'go'
  | 'own mounts'
  | 'own networks'
  | 'npm registry'

const isExecutable = (path: string): boolean => {
  try {
    accessSync(path, constants.X_OK)
    return true
  } catch {
    return false
  }
}

const isOnPath = (program: string): boolean =>
  (process.env.PATH ?? '').split(delimiter).some((folder) => isExecutable(join(folder, program)))

/** The path of the program in the Debian package. */
export const pgbouncerPath = '/usr/sbin/pgbouncer'

const home = '/usr/lib/postgresql'
const [newest] = existsSync(home)
  ? readdirSync(home).sort((one, other) => Number(other) - Number(one))
  : []
/** The folder of the newest installed version of PostgreSQL. */
export const postgresPrograms: string = join(home, newest ?? 'none', 'bin')

const hasPostgresPrograms = (): boolean => isExecutable(join(postgresPrograms, 'initdb'))

/** The arguments with which `unshare` gives a program its own mount namespace. */
export const unshareMounts: readonly string[] = process.getuid?.() === 0 ? ['-m'] : ['-Urm']

const needs = {
  postgres: {
    name: `PostgreSQL's programs below ${home}, or a server at TEST_POSTGRES_URL`,
    how: 'apt-get install postgresql',
    isThere: () => Boolean(process.env.TEST_POSTGRES_URL) || hasPostgresPrograms(),
  },
  'postgres programs': {
    name: `PostgreSQL's programs below ${home}`,
    how: 'apt-get install postgresql',
    isThere: hasPostgresPrograms,
  },
  pgbouncer: {
    name: 'PgBouncer',
    how: 'apt-get install pgbouncer',
    isThere: () => isExecutable(pgbouncerPath),
  },
  redis: {
    name: 'redis-server',
    how: 'apt-get install redis-server',
    isThere: () => isOnPath('redis-server'),
  },
  chromium: {
    name: `Chromium as ${chromiumPath}`,
    how: 'apt-get install chromium-headless-shell or chromium, or set CHROMIUM_PATH',
    isThere: () => isExecutable(chromiumPath),
  },
  go: {
    name: 'Go',
    how: 'apt-get install golang-go',
    isThere: () => isOnPath('go'),
  },
  'own mounts': {
    name: 'a mount namespace for a program',
    how: 'run as root with CAP_SYS_ADMIN, or allow user namespaces: sysctl kernel.unprivileged_userns_clone=1',
    isThere: () => spawnSync('unshare', [...unshareMounts, 'true']).status === 0,
  },
  'own networks': {
    name: 'network namespaces that are connected by a bridge',
    how: 'apt-get install iproute2, and run as root with CAP_NET_ADMIN and CAP_SYS_ADMIN',
    isThere: () =>
      spawnSync('unshare', ['-mn', 'ip', 'link', 'add', 'probe', 'type', 'bridge']).status === 0 &&
      spawnSync('ip', ['netns', 'list']).status === 0,
  },
  'npm registry': {
    name: 'the registry of npm',
    how: 'connect this machine to the registry that `npm config get registry` prints',
    isThere: () =>
      spawnSync('npm', ['view', 'npm', 'version', '--fetch-retries=0', '--prefer-online'])
        .status === 0,
  },
} satisfies Record<Need, { name: string; how: string; isThere: () => boolean }>

/** Returns whether the program is available, without printing anything. */
export const has = async (need: Need): Promise<boolean> => needs[need].isThere()

/**
 * Returns whether the program is missing. For a missing program, prints a message, or throws an error with `CI=true`.
 * @example describe.skipIf(await lacks('chromium'))('consent in a browser', () => { … })
 */
export const lacks = async (need: Need): Promise<boolean> => {
  const { name, how } = needs[need]
  if (await has(need)) return false
  const message = `needs ${name}, which is not available. To make it available: ${how}`
  if (process.env.CI === 'true') throw new Error(`This suite ${message}`)
  console.warn(`SKIPPED: this suite ${message}`)
  return true
}
