import { type Kysely, type RawBuilder, sql } from 'kysely'
import { prepared } from '../handle.ts'
import type { Tables } from '../tables.ts'
import {
  afterReplacement,
  type RotationStatement,
  type RotationValues,
  replacePair,
} from './rotation.ts'

/** Locks the authorization before its tokens, like `revoke`, to avoid a deadlock. */
const lockAuthorization: RotationStatement = {
  text: 'select id from oauth2server_authorization where id = ? for no key update',
  parametersOf: ({ next }) => [next.fields.authorizationId],
}

/** Rotates within a transaction. Returns false without a change if the conditions are not met. */
export const rotateIn = async (
  handle: Parameters<typeof prepared>[0],
  tx: Kysely<Tables>,
  rotation: RotationValues,
): Promise<boolean> => {
  const run = ({ text, parametersOf }: RotationStatement) => {
    const values = parametersOf(rotation)
    const parts = text.split('?')
    const build = (...placeholders: RawBuilder<never>[]) =>
      sql(Object.assign(parts, { raw: parts }), ...placeholders)
    return prepared(handle, tx, text, build, values.length)(...values)
  }
  if (handle.locking) await run(lockAuthorization)
  const { numAffectedRows } = await run(replacePair)
  if (!numAffectedRows) return false
  for (const statement of afterReplacement) await run(statement)
  return true
}
