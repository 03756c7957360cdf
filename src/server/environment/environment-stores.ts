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
    const { driverUrl, prepare, schema } = postgresTarget(url)
    const store = postgres(driverUrl, { prepare, ...(schema !== undefined && { schema }) })
    return { store, dataFolder: undefined, isShared: true }
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

interface PostgresTarget {
  /** The URL for the driver. */
  readonly driverUrl: string
  readonly prepare: boolean
  readonly schema: string | undefined
}

/**
 * Removes the parameters `prepare` and `schema` from the URL, and returns their values. The PostgreSQL driver does not
 * define these parameters. PgBouncer in transaction mode needs `?prepare=false`.
 * @throws InvalidSettings
 */
const postgresTarget = (url: string): PostgresTarget => {
  const unchanged = { driverUrl: url, prepare: true, schema: undefined }
  if (!URL.canParse(url)) return unchanged
  const parsed = new URL(url)
  const prepare = takeParameter(parsed, 'prepare', 'accepts true or false')
  const schema = takeParameter(parsed, 'schema', 'accepts a name')
  if (prepare === undefined && schema === undefined) return unchanged
  if (!['true', 'false', undefined].includes(prepare))
    throw refusedParameter('prepare', 'accepts true or false')
  return { driverUrl: parsed.href, prepare: prepare !== 'false', schema }
}

/** Removes a parameter from a URL and returns its value. @throws InvalidSettings for a repeated parameter */
const takeParameter = (url: URL, name: string, accepted: string): string | undefined => {
  const values = url.searchParams.getAll(name)
  if (values.length > 1) throw refusedParameter(name, accepted)
  url.searchParams.delete(name)
  return values[0]
}

const refusedParameter = (name: string, accepted: string): InvalidSettings =>
  new InvalidSettings([`DATABASE_URL: ${name} ${accepted}, and only once.`])

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
