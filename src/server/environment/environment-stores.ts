import { dirname } from 'node:path'
import { InvalidSettings } from '../../settings/invalid-settings.ts'
import { StoreUnusable } from '../../store/contract/errors.ts'
import type { TransientsOpener } from '../../store/contract/transients.ts'
import { sqlite } from '../../store/sqlite.ts'
import type { StoreOpener } from '../../store/store.ts'

/** The database that a `DATABASE_URL` identifies. */
export interface Database {
  readonly store: StoreOpener
  /** The directory of the database file; undefined for a database in memory and for PostgreSQL. */
  readonly dataFolder: string | undefined
  /** Whether other machines may use the database. If so, a secret key file on this machine is not sufficient. */
  readonly isShared: boolean
}

/**
 * Returns the database for a URL. Loads the PostgreSQL driver only for a PostgreSQL URL.
 * @throws InvalidSettings if the URL is invalid, or the driver is not installed
 */
export const databaseFrom = async (url: string): Promise<Database> => {
  if (/^postgres(?:ql)?:/.test(url)) {
    const { postgres } = await withDriver(
      'pg',
      'DATABASE_URL=postgres:',
      () => import('../../store/postgres.ts'),
    )
    const { driverUrl, options } = postgresTarget(url)
    return { store: postgres(driverUrl, options), dataFolder: undefined, isShared: true }
  }
  const [, path] = /^sqlite:(.+)$/.exec(url) ?? []
  if (path === undefined) {
    throw new InvalidSettings([
      'DATABASE_URL accepts sqlite:PATH, sqlite::memory: or postgres://USER:PASSWORD@HOST/DATABASE.',
    ])
  }
  const dataFolder = path === ':memory:' ? undefined : dirname(path)
  return { store: sqlite(path), dataFolder, isShared: false }
}

/**
 * Returns the URL for the driver, without the parameters `prepare` and `schema`, and the values of these parameters. The
 * PostgreSQL driver does not define them. PgBouncer in transaction mode needs `?prepare=false`.
 * @throws InvalidSettings
 */
const postgresTarget = (url: string) => {
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  const take = (name: string, accepts: string, accepted = /.*/): string | undefined => {
    const values = parsed?.searchParams.getAll(name) ?? []
    if (values.length > 1 || !values.every((value) => accepted.test(value)))
      throw new InvalidSettings([`DATABASE_URL: ${name} accepts ${accepts}, and only once.`])
    parsed?.searchParams.delete(name)
    return values[0]
  }
  const prepare = take('prepare', 'true or false', /^(?:true|false)$/)
  const schema = take('schema', 'a name')
  return {
    // The text of the URL is unchanged without a parameter of this server.
    driverUrl: parsed && (prepare ?? schema) !== undefined ? parsed.href : url,
    options: { prepare: prepare !== 'false', ...(schema !== undefined && { schema }) },
  }
}

/**
 * Returns the store of short-lived values for an `OAUTH2_CACHE_REDIS_URL`.
 * @throws InvalidSettings if the URL is invalid, or the Redis client is not installed
 */
export const transientsFrom = async (url: string): Promise<TransientsOpener> => {
  const { redis } = await withDriver(
    '@redis/client',
    'OAUTH2_CACHE_REDIS_URL',
    () => import('../../store/redis.ts'),
  )
  try {
    return redis(url)
  } catch (error) {
    if (!(error instanceof StoreUnusable)) throw error
    throw new InvalidSettings([`OAUTH2_CACHE_REDIS_URL: ${error.message}`])
  }
}

const withDriver = async <M>(name: string, setting: string, load: () => Promise<M>): Promise<M> => {
  try {
    return await load()
  } catch (error) {
    const isMissing =
      error instanceof Error &&
      'code' in error &&
      error.code === 'ERR_MODULE_NOT_FOUND' &&
      error.message.includes(`'${name}'`)
    if (!isMissing) throw error
    throw new InvalidSettings([
      `${setting} needs the package ${name}, which is not installed: npm install ${name}`,
    ])
  }
}
