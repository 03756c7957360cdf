import { accessSync, constants, existsSync, readdirSync } from 'node:fs'
import { connect } from 'node:net'
import { delimiter, join } from 'node:path'

/** What a suite may need that npm does not install. */
export type Need = 'postgres' | 'postgres programs' | 'redis' | 'chromium'

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

const listens = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port, timeout: 1000 })
    const answer = (is: boolean) => () => {
      socket.destroy()
      resolve(is)
    }
    socket.once('connect', answer(true)).once('error', answer(false)).once('timeout', answer(false))
  })

/** Where the browser of the tests is, whether it is there or not. */
export const chromiumPath: string = process.env.CHROMIUM_PATH || '/usr/bin/chromium'

const home = '/usr/lib/postgresql'
const [newest] = existsSync(home)
  ? readdirSync(home).sort((one, other) => Number(other) - Number(one))
  : []
/** The folder of PostgreSQL's programs, of the newest version that is there. */
export const postgresPrograms: string = join(home, newest ?? 'none', 'bin')

const needs = {
  postgres: {
    name: 'PostgreSQL on 127.0.0.1:5432',
    how: 'apt-get install postgresql && pg_ctlcluster $(ls /etc/postgresql) main start',
    isThere: () => listens(5432),
  },
  'postgres programs': {
    name: `PostgreSQL's programs below ${home}`,
    how: 'apt-get install postgresql',
    isThere: async () => isExecutable(join(postgresPrograms, 'initdb')),
  },
  redis: {
    name: 'Redis on 127.0.0.1:6379, and redis-server for more of them',
    how: "apt-get install redis-server && redis-server --daemonize yes --save ''",
    isThere: async () => isOnPath('redis-server') && (await listens(6379)),
  },
  chromium: {
    name: `Chromium as ${chromiumPath}`,
    how: 'apt-get install chromium, or set CHROMIUM_PATH',
    isThere: async () => isExecutable(chromiumPath),
  },
} satisfies Record<Need, { name: string; how: string; isThere: () => Promise<boolean> }>

/** Whether it is there; says nothing. */
export const has = (need: Need): Promise<boolean> => needs[need].isThere()

/**
 * Whether the suite must do without something; says so on the console. With `CI=true` it throws instead.
 *
 * @example describe.skipIf(await lacks('chromium'))('consent in a browser', () => { … })
 */
export const lacks = async (need: Need): Promise<boolean> => {
  const { name, how, isThere } = needs[need]
  if (await isThere()) return false
  const message = `needs ${name}, which is not there. To get it: ${how}`
  if (process.env.CI === 'true') throw new Error(`This suite ${message}`)
  console.warn(`SKIPPED: this suite ${message}`)
  return true
}
