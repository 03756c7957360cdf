import type { AuditStore } from '../store.ts'
import type { Handle } from './handle.ts'

export const sqlAudit = ({ read, write }: Handle): AuditStore => ({
  async add(event) {
    await write
      .insertInto('oauth2server_audit')
      .values({
        at: event.at,
        event: event.event,
        actor_id: event.actorId === null ? null : String(event.actorId),
        actor_email: event.actorEmail,
        client_id: event.clientId,
        token_id: event.tokenId,
        subject: event.subject,
        address: event.address,
      })
      .execute()
  },

  async latest(limit) {
    const rows = await read
      .selectFrom('oauth2server_audit')
      .selectAll()
      .orderBy('id', 'desc')
      .limit(limit)
      .execute()
    return rows.map((row) => ({
      at: row.at,
      event: row.event,
      actorId: row.actor_id,
      actorEmail: row.actor_email,
      clientId: row.client_id,
      tokenId: row.token_id,
      subject: row.subject,
      address: row.address,
    }))
  },
})
