import type { AuditEvent } from './audit-event.ts'

/** The columns that the seal of an audit row covers, in this order. The seal does not cover the ID that the database assigns. */
export const auditColumns = [
  'at',
  'event',
  'actor',
  'actor_id',
  'actor_email',
  'user_id',
  'user_email',
  'client_id',
  'token_id',
  'authorization_id',
  'subject',
  'address',
  'user_agent',
  'request_id',
  'is_routine',
  'details',
] as const

/** The values of a row, in the order of `auditColumns`. */
export type AuditValues = readonly (string | number | null)[]

/** Returns the values of an event's row. */
export const auditValues = (event: AuditEvent): AuditValues =>
  [
    event.at,
    event.event,
    event.actor,
    event.actorId === null ? null : String(event.actorId),
    event.actorEmail,
    event.userId === null ? null : String(event.userId),
    event.userEmail,
    event.clientId,
    event.tokenId,
    event.authorizationId,
    event.subject,
    event.address,
    event.userAgent,
    event.requestId,
    event.isRoutine ? 1 : 0,
    JSON.stringify(event.details),
  ].map((value) => (typeof value === 'string' ? value.toWellFormed() : value))
