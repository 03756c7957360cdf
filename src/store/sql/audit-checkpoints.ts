import { checkpointCodec } from '../../model/entities/audit-checkpoint.ts'
import type { AuditCheckpointStore } from '../contract/audit.ts'
import type { Handle } from './handle.ts'

/** Stores the sealed checkpoints of the audit log. Each checkpoint contains the digest of the previous one. */
export const sqlAuditCheckpoints = ({ read, write, purge }: Handle): AuditCheckpointStore => {
  const table = read.selectFrom('oauth2server_audit_checkpoint')
  return {
    async insert(checkpoint) {
      const row = await write
        .insertInto('oauth2server_audit_checkpoint')
        .values(checkpointCodec.toRow(checkpoint))
        .onConflict((c) => c.doNothing())
        .returning('number')
        .executeTakeFirst()
      return row !== undefined
    },

    async list(after, limit) {
      const later = table.selectAll().where('number', '>', after)
      return (await later.orderBy('number').limit(limit).execute()).map(checkpointCodec.fromRow)
    },

    async latest(limit, before) {
      const rows = await table
        .selectAll()
        .$if(before !== undefined, (q) => q.where('number', '<', before ?? 0))
        .orderBy('number', 'desc')
        .limit(limit)
        .execute()
      return rows.map(checkpointCodec.fromRow)
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
