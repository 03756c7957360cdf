import type { RecordsContext } from '../context.ts'
import { mustHaveKeyOf } from '../keys/noted-keys.ts'

type Kind = 'client' | 'consent' | 'session' | 'token' | 'user'
/** The IDs by which an operator finds the row. */
type Ids = Readonly<Record<string, unknown>>

/** Logs a row that was tampered with, and returns undefined as for a missing row. */
export const reportTampered = (
  kind: Kind,
  ids: Ids,
  { log }: Pick<RecordsContext, 'log'>,
): undefined => {
  log({
    level: 'error',
    event: {
      client: 'client.tampered',
      consent: 'consent.tampered',
      session: 'session.tampered',
      token: 'token.tampered',
      user: 'user.tampered',
    }[kind],
    message: `A ${kind} row was tampered with, or sealed with another secret key; the server refuses the row.`,
    ...ids,
  })
}

/**
 * Does the same as `reportTampered`.
 * @throws StoreUnavailable if other nodes have the key of the seal, but this process does not
 */
export const refusedRow = async (
  kind: Kind,
  seal: string,
  ids: Ids,
  context: RecordsContext,
): Promise<undefined> => {
  await mustHaveKeyOf(seal, context)
  return reportTampered(kind, ids, context)
}
