import { type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import type { Tables } from './tables.ts'

/** Counts the rows of a query, which must have a limit. */
export const countRows = async (
  read: Kysely<Tables>,
  // biome-ignore lint/suspicious/noExplicitAny: any query can be counted
  rows: SelectQueryBuilder<any, any, unknown>,
): Promise<number> => {
  const counted = await sql<{
    count: number
  }>`select count(*) as count from (${rows}) as limited`.execute(read)
  return Number(counted.rows[0]?.count)
}
