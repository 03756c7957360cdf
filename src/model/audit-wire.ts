import type { AuditRecord } from './audit-event.ts'
import { isoTime } from './iso-time.ts'

/** Converts an event to JSON for the API of administrators, the command line and log collectors. */
export const auditToWire = (event: AuditRecord) => ({
  id: event.id,
  at: isoTime(event.at),
  event: event.event,
  actor: event.actor,
  actor_id: event.actorId,
  actor_email: event.actorEmail || null,
  user_id: event.userId,
  user_email: event.userEmail,
  client_id: event.clientId,
  token_id: event.tokenId,
  authorization_id: event.authorizationId,
  subject: event.subject,
  address: event.address,
  user_agent: event.userAgent,
  request_id: event.requestId,
  is_routine: event.isRoutine,
  details: event.details,
})

/** Returns whether another user, such as an administrator, performed the action. */
export const isByAnother = ({ actor, actorId, userId }: AuditRecord): boolean =>
  actor === 'user' && actorId !== userId

/** Converts an event to JSON for the affected user, without the identity of another user who performed the action. */
export const ownAuditToWire = (event: AuditRecord) => ({
  id: event.id,
  at: isoTime(event.at),
  event: event.event,
  actor: isByAnother(event) ? ('another_user' as const) : event.actor,
  client_id: event.clientId,
  token_id: event.tokenId,
  subject: event.subject,
  address: isByAnother(event) ? null : event.address,
  user_agent: isByAnother(event) ? null : event.userAgent,
  details: event.details,
})
