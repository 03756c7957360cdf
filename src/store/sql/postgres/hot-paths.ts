import { type NewToken, tokenCodec } from '../../../model/entities/token.ts'
import type { UsersLocation } from '../../../model/user-table.ts'
import { ClientChanged, StoreUnavailable, UniqueViolation } from '../../contract/errors.ts'
import { batched, batchedLookup, leftOut } from '../batches.ts'
import type { ColumnTypes, UserForeignKey } from '../handle.ts'
import type { HotPaths } from '../hot-paths.ts'
import type { LockRetries } from '../lock-retries.ts'
import type { RotationValues } from '../tokens/rotation.ts'
import type { PostgresDialect } from './dialect.ts'
import { isRolledBack } from './errors.ts'
import { parametersOf } from './insert-with-token.ts'
import { insertStatements, rotateStatements, rotationParameters } from './token-statements.ts'

export interface PostgresHotPathsOptions {
  /** The statement that inserts an authorization with its token and event. */
  readonly insertWithToken: string
  readonly dialect: Pick<PostgresDialect, 'run' | 'runOnce'>
  readonly users: UsersLocation
  readonly userForeignKey: UserForeignKey
  readonly types: ColumnTypes
  /** The statement that selects the current versions of clients. */
  readonly clientVersions: string
  /** Whether concurrent operations of the same kind share a statement. */
  readonly batch: boolean
  readonly lockRetries: LockRetries | undefined
}

/** The maximum number of rows in one statement. */
const maxItems = 100
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
  dialect,
  users,
  userForeignKey,
  types,
  clientVersions,
  insertWithToken,
  batch,
  lockRetries,
}: PostgresHotPathsOptions): HotPaths => {
  // Build the statements when the first token is inserted. Before that, `migrate` sets `userForeignKey.exists`.
  let built: ReturnType<typeof insertStatements> | undefined
  const inserting = () => {
    built ??= insertStatements(types, clientVersions, users, userForeignKey.exists)
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
  const alone = <T>(work: () => Promise<T>) => (lockRetries ? lockRetries.run(work) : work())
  const authorizing: Pick<HotPaths, 'insertWithToken'> = {
    async insertWithToken(rows) {
      const { ids } = rows
      if (!ids) return undefined
      const parameters = [parametersOf(rows, ids)]
      const { rows: inserted } = await alone(() => dialect.runOnce(insertWithToken, parameters))
      return inserted.length > 0 ? ids : undefined
    },
  }
  if (!batch) {
    return {
      ...authorizing,
      lookup,
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
  return {
    ...authorizing,
    lookup,
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
