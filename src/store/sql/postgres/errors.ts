import { ReferenceNotFound, StoreUnavailable, UniqueViolation } from '../../contract/errors.ts'

/** Returns the five-character SQLSTATE; undefined for an error that PostgreSQL did not send. */
export const sqlStateOf = (error: unknown): string | undefined => {
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) ? code : undefined
}

/**
 * SQLSTATEs of a database that is temporarily unusable: connection exceptions, insufficient resources, shutdowns,
 * system and internal errors, standbys, idle and long transactions, rollbacks because of conflicts, lock timeouts.
 */
const outages = /^(?:08|53|57|58|25006|25P03|25P04|40|55P03|XX)/

/** The outages that abort a statement without closing the connection. The transaction can be rolled back. */
const keepsConnection = /^(?:40|53|55P03|57014)/

/**
 * Converts an error of the driver to an error of the store contract; keeps other errors. Also returns whether the
 * connection must be closed.
 */
export const asStoreError = (
  error: unknown,
  { isConnecting = false }: { readonly isConnecting?: boolean } = {},
): { readonly storeError: unknown; readonly breaksConnection: boolean } => {
  const state = sqlStateOf(error)
  if (state === '23505') return { storeError: new UniqueViolation(), breaksConnection: false }
  if (state === '23503')
    return {
      storeError: new ReferenceNotFound('A referenced row no longer exists.'),
      breaksConnection: false,
    }
  // Without a state, PostgreSQL did not respond: the connection was refused or lost, or timed out.
  if (isConnecting || state === undefined || outages.test(state) || hasChangedPlan(error)) {
    const storeError = new StoreUnavailable('The database cannot be used right now.', {
      cause: error,
    })
    return { storeError, breaksConnection: state === undefined || !keepsConnection.test(state) }
  }
  return { storeError: error, breaksConnection: false }
}

/** Returns whether a prepared statement is outdated because its table was changed. */
export const hasChangedPlan = (error: unknown): boolean =>
  sqlStateOf(error) === '0A000' && error instanceof Error && /cached plan/.test(error.message)

/** Returns whether a value does not fit the type of its column, such as a text without digits for a number. */
export const isBeyondType = (error: unknown): boolean =>
  ['22P02', '22003', '22021'].includes(sqlStateOf(error) ?? '')

/**
 * Returns whether PostgreSQL has rolled back the statement after a deadlock, a conflict, a lock timeout or a
 * cancellation.
 */
export const isRolledBack = (error: unknown): boolean =>
  /^(?:40|55P03|57014)/.test(sqlStateOf(error) ?? '')
