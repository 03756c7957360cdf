import { tokenCodec } from '../../../model/entities/token.ts'
import type { StoredToken } from '../../contract/tokens.ts'

/** The columns of a token, with the current ID of its client, which is a column of another table. */
export type JoinedToken = Parameters<typeof tokenCodec.fromRow>[0] & LastUse

interface LastUse {
  readonly last_used_at: number | null
  readonly last_used_address: string | null
}

export const fromRow = (row: JoinedToken): StoredToken => ({
  ...tokenCodec.fromRow(row),
  lastUse:
    row.last_used_at === null
      ? null
      : { at: row.last_used_at, address: row.last_used_address ?? '' },
})
