import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { type OwnPostgres, startPostgres } from './own-postgres.ts'
import { makeDatabase } from './postgres.ts'
import { type TemporaryFolder, temporaryFolder } from './processes.ts'
import { type OwnRedis, startRedis } from './redis.ts'
import { type Site, type SiteOptions, startSite } from './site.ts'
import { longLeeway } from './sound.ts'

/** A PostgreSQL server for the tests of a block, and a Redis for each test. */
export interface OwnServices {
  readonly postgres: OwnPostgres
  readonly redis: OwnRedis
  /** Starts nodes that use these services. */
  newSite(options?: SiteOptions): Promise<Site>
}

/** Starts the services before the tests of a block, which may stop and start them, and stops them after the tests. */
export const useOwnServices = (): OwnServices => {
  let postgres: OwnPostgres
  let redis: OwnRedis
  let folder: TemporaryFolder
  beforeAll(async () => {
    postgres = await startPostgres()
  })
  afterAll(() => postgres?.[Symbol.asyncDispose]())
  beforeEach(async () => {
    folder = await temporaryFolder()
    // Configure Redis to store its data on disk, because no node can detect values that a restart loses.
    redis = await startRedis(['--dir', folder.path, '--appendonly', 'yes'])
  })
  afterEach(async () => {
    await redis?.stop()
    await folder?.[Symbol.asyncDispose]()
  })
  return {
    get postgres() {
      return postgres
    },
    get redis() {
      return redis
    },
    newSite: async (options = {}) =>
      startSite({
        database: await makeDatabase(postgres.url),
        redisUrl: redis.url,
        env: longLeeway,
        ...options,
      }),
  }
}
