import type { Selectable } from 'kysely'
import type { Sealed } from '../../crypto/sealed.ts'
import type { AuditCheckpointStore, SealedCheckpoint } from '../contract/audit.ts'
import type { Handle } from './handle.ts'
import type { Tables } from './tables.ts'

type Row = Selectable<Tables['oauth2server_audit_checkpoint']>

export const fromRow = (row: Row): SealedCheckpoint => ({
  number: row.number,
  at: row.at,
  afterId: row.after_id,
  lastId: row.last_id,
  ids: row.ids,
  rowsDigest: row.rows_digest,
  latestAt: row.latest_at,
  forged: row.forged,
  removedUpTo: row.removed_up_to,
  previous: row.previous,
  seal: row.seal as Sealed,
})

const toRow = (checkpoint: SealedCheckpoint): Row => ({
  number: checkpoint.number,
  at: checkpoint.at,
  after_id: checkpoint.afterId,
  last_id: checkpoint.lastId,
  ids: checkpoint.ids,
  rows_digest: checkpoint.rowsDigest,
  latest_at: checkpoint.latestAt,
  forged: checkpoint.forged,
  removed_up_to: checkpoint.removedUpTo,
  previous: checkpoint.previous,
  seal: checkpoint.seal,
})

/** Stores the sealed checkpoints of the audit log. Each checkpoint contains the digest of the previous one. */
export const sqlAuditCheckpoints = ({ read, write, purge }: Handle): AuditCheckpointStore => {
  const table = read.selectFrom('oauth2server_audit_checkpoint')
  return {
    async insert(checkpoint) {
      const row = await write
        .insertInto('oauth2server_audit_checkpoint')
        .values(toRow(checkpoint))
        .onConflict((c) => c.doNothing())
        .returning('number')
        .executeTakeFirst()
      return row !== undefined
    },

    async list(after, limit) {
      const later = table.selectAll().where('number', '>', after)
      return (await later.orderBy('number').limit(limit).execute()).map(fromRow)
    },

    async latest(limit, before) {
      const rows = await table
        .selectAll()
        .$if(before !== undefined, (q) => q.where('number', '<', before ?? 0))
        .orderBy('number', 'desc')
        .limit(limit)
        .execute()
      return rows.map(fromRow)
    },

    async deleteBelow(number, limit) {
      const old = table.select('number').where('number', '<', number).orderBy('number').limit(limit)
      const { numDeletedRows } = await purge
        .deleteFrom('oauth2server_audit_checkpoint')
        .where('number', 'in', old)
        .executeTakeFirst()
      return Number(numDeletedRows)
    },
  }
}
