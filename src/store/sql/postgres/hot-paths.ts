import { type NewToken, tokenCodec } from '../../../model/entities/token.ts'
import type { ReservedIds } from '../../../model/redemption.ts'
import { ClientChanged, StoreUnavailable, UniqueViolation } from '../../contract/errors.ts'
import { batched, batchedLookup, leftOut } from '../batches.ts'
import type { TableHandle, UserForeignKey } from '../handle.ts'
import type { HotPaths } from '../hot-paths.ts'
import type { LockRetries } from '../lock-retries.ts'
import type { RotationValues } from '../tokens/rotation.ts'
import type { PostgresDialect } from './dialect.ts'
import { isRolledBack } from './errors.ts'
import { insertWithTokenStatement, parametersOf, type RowsToInsert } from './insert-with-token.ts'
import {
  freeUsers,
  insertStatements,
  rotateStatements,
  rotationParameters,
} from './token-statements.ts'

export interface PostgresHotPathsOptions {
  readonly tables: TableHandle
  readonly dialect: Pick<PostgresDialect, 'run' | 'runOnce'>
  readonly userForeignKey: UserForeignKey
  /** The statement that selects the current versions of clients. */
  readonly clientVersions: string
  /** Whether concurrent operations of the same kind share a statement. */
  readonly batch: boolean
  readonly lockRetries: LockRetries | undefined
}

/** The maximum number of rows in one statement. */
const maxItems = 100
/**
 * The maximum number of authorizations in one statement. They do not see each other, so they could together exceed the
 * limit of authorizations of one user.
 */
const maxAuthorizations = 16
/** The maximum number of concurrent statements of a kind. Further calls wait for the next batch. */
const maxLookups = 2
const maxWrites = 2

const isUndone = (error: unknown): boolean =>
  !(error instanceof StoreUnavailable) || isRolledBack(error.cause)

/**
 * The hot paths of PostgreSQL. A statement costs a round trip, and a write also costs a disk flush. Concurrent
 * operations of the same kind therefore share a statement. A batch of writes skips items whose rows are locked. Each
 * skipped item then runs in a separate statement, so that no request waits for the locked row of another request.
 */
export const postgresHotPaths = ({
  tables,
  dialect,
  userForeignKey,
  clientVersions,
  batch,
  lockRetries,
}: PostgresHotPathsOptions): HotPaths => {
  const { types, users } = tables
  // Build the statements when the first token is inserted. Before that, `migrate` sets `userForeignKey.exists`.
  const build = () => {
    const free = freeUsers(users, userForeignKey)
    const withToken = (isWaiting: boolean) =>
      insertWithTokenStatement(tables, { freeUsers: free, isWaiting })
    return {
      ...insertStatements(types, clientVersions, free),
      withToken: { skipping: withToken(false), waiting: withToken(true) },
    }
  }
  let built: ReturnType<typeof build> | undefined
  const inserting = () => {
    built ??= build()
    return built
  }
  const rotating = rotateStatements(types)
  const insertAll = async (sql: string, tokens: readonly NewRow[]) => {
    const { rows } = await dialect.runOnce(sql, [JSON.stringify(tokens)])
    const inserted = rows as unknown as readonly Inserted[]
    return new Map(inserted.map((row) => [row.digest, row.id]))
  }
  const rotateAll = async (sql: string, rotations: readonly RotationValues[]) => {
    const { rows } = await dialect.runOnce(sql, [JSON.stringify(rotations.map(rotationParameters))])
    return new Set(rows.map((row) => row.access_token_digest))
  }
  const insertOne = async (token: NewRow): Promise<number | undefined> => {
    try {
      const id = (await insertAll(inserting().waiting, [token])).get(token.access_token_digest)
      if (id === undefined) throw new ClientChanged()
      return id
    } catch (error) {
      if (error instanceof UniqueViolation) return undefined
      throw error
    }
  }
  const rotateOne = async (rotation: RotationValues): Promise<boolean> =>
    (await rotateAll(rotating.waiting, [rotation])).has(rotation.next.accessDigest)

  const insertWithTokens = async (
    sql: string,
    all: readonly RowsToInsert[],
  ): Promise<readonly (ReservedIds | undefined)[]> => {
    const { rows } = await dialect.runOnce(sql, parametersOf(all))
    const inserted = new Set(rows.map(({ id }) => Number(id)))
    return all.map(({ ids }) => (inserted.has(ids.tokenId) ? ids : undefined))
  }
  const insertOneWithToken = async (one: RowsToInsert): Promise<ReservedIds | undefined> =>
    (await insertWithTokens(inserting().withToken.waiting, [one]))[0]

  const lookup: HotPaths['lookup'] = ({ one, many, keyOf }) => {
    type Row = Parameters<typeof keyOf>[0]
    if (!batch) return async (key) => (await dialect.run(one.sql, [key])).rows[0] as Row | undefined
    return batchedLookup(
      async (keys) => {
        // Omit keys with the character NUL, because PostgreSQL would reject the whole batch. No stored key contains
        // NUL.
        const possible = keys.filter((key) => !key.includes('\0'))
        const { rows } = await dialect.run(many.sql, [possible])
        return new Map((rows as readonly Row[]).map((row) => [keyOf(row), row]))
      },
      // If the database is unavailable, do not retry the items, because each retry would fail.
      {
        isUndone: (error) => !(error instanceof StoreUnavailable),
        maxItems,
        maxConcurrent: maxLookups,
      },
    )
  }
  const shared: HotPaths['shared'] = (statement, { isWrite, alone }) => {
    type Row = Awaited<ReturnType<typeof alone>>
    return batched({
      async run(items) {
        const given = items.map((values, index) => ({ given: index, ...values }))
        const { rows } = await dialect.runOnce(statement, [JSON.stringify(given)])
        const found: Row[] = items.map(() => undefined as Row)
        for (const row of rows) found[Number(row.given)] = row as Row
        return found
      },
      runAlone: alone,
      isUndone: isWrite ? isUndone : (error) => !(error instanceof StoreUnavailable),
      maxItems,
      maxConcurrent: isWrite ? maxWrites : maxLookups,
    })
  }
  const alone = <T>(work: () => Promise<T>) => (lockRetries ? lockRetries.run(work) : work())
  if (!batch) {
    return {
      lookup,
      insertWithToken: async ({ ids, ...rows }) =>
        ids && alone(() => insertOneWithToken({ ...rows, ids })),
      insertToken: (token, version) => alone(() => insertOne(withVersion(token, version))),
      rotate: (rotation) => alone(() => rotateOne(rotation)),
    }
  }
  const retry = <T>(work: () => Promise<T>) => (lockRetries ? lockRetries.again(work) : work())
  const limits = { isUndone, maxItems, maxConcurrent: maxWrites }
  const insertToken = batched<NewRow, number | undefined>({
    async run(tokens) {
      const ids = await insertAll(inserting().skipping, tokens)
      return tokens.map(({ access_token_digest }) => ids.get(access_token_digest) ?? leftOut)
    },
    runAlone: (token) => retry(() => insertOne(token)),
    ...limits,
  })
  const insertWithToken = batched<RowsToInsert, ReservedIds | undefined>({
    async run(all) {
      const inserted = await insertWithTokens(inserting().withToken.skipping, all)
      return inserted.map((ids) => ids ?? leftOut)
    },
    runAlone: (one) => retry(() => insertOneWithToken(one)),
    ...limits,
    maxItems: maxAuthorizations,
  })
  return {
    lookup,
    shared,
    insertWithToken: async ({ ids, ...rows }) => ids && insertWithToken({ ...rows, ids }),
    insertToken: (token, version) => insertToken(withVersion(token, version)),
    rotate: batched<RotationValues, boolean>({
      async run(rotations) {
        // A statement can update a row only once, so the batch contains only the first rotation of each token.
        const first = new Map<number, RotationValues>()
        for (const one of rotations) if (!first.has(one.id)) first.set(one.id, one)
        const done = await rotateAll(rotating.skipping, [...first.values()])
        const isDone = ({ next }: RotationValues) => done.has(next.accessDigest)
        return rotations.map((one) => {
          if (isDone(one)) return true
          const served = first.get(one.id)
          // If another rotation of the batch has replaced the token, this rotation fails. Otherwise, run this rotation
          // alone, because its row may be locked.
          return served && isDone(served) ? false : leftOut
        })
      },
      runAlone: (rotation) => retry(() => rotateOne(rotation)),
      ...limits,
    }),
  }
}

/** A token to insert. With `client_version`, the token is only inserted if its client still has this version. */
type NewRow = ReturnType<typeof tokenCodec.toRow> & { readonly client_version?: string }

const withVersion = (token: NewToken, version: string | undefined): NewRow => {
  const row = tokenCodec.toRow(token)
  return version === undefined ? row : { ...row, client_version: version }
}

interface Inserted {
  readonly id: number
  readonly digest: string
}
