import type { AuditActor, AuditEvent, SealedAuditEvent } from '../audit-event.ts'
import type { UserId } from '../user.ts'
import { entity } from './entity.ts'
import { computed, type Field, flag, having, json, nullable, number, text } from './field.ts'

/** A text in which each lone surrogate is replaced, because PostgreSQL stores no lone surrogates. */
const wellFormed = <Value extends string = string>(): Field<Value, string> => ({
  ...text<Value>(),
  encode: (value: Value) => value.toWellFormed(),
})

const userId: Field<UserId | null, string | null> = nullable({
  ...(text() as Field<UserId, string>),
  encode: (value: UserId) => String(value).toWellFormed(),
})

/** The fields of an event, in the order in which the seal covers them. The database assigns the ID. */
const fields = {
  id: having(number(), { place: 'assigned' }),
  at: number(),
  event: wellFormed(),
  actor: wellFormed<AuditActor>(),
  actorId: userId,
  actorEmail: wellFormed(),
  userId,
  userEmail: nullable(wellFormed()),
  clientId: nullable(wellFormed()),
  tokenId: nullable(number()),
  authorizationId: nullable(number()),
  subject: wellFormed(),
  address: wellFormed(),
  userAgent: wellFormed(),
  requestId: nullable(wellFormed()),
  isRoutine: flag(),
  details: json<Readonly<Record<string, unknown>>>(),
}

export const auditCodec = entity('oauth2server_audit', fields, {
  computed: { seal: computed(text(), ({ seal }: SealedAuditEvent) => seal) },
})

/** The columns that the seal of an audit row covers, in this order. */
export const auditColumns = auditCodec.columns.slice(0, -1)

/** The values of a row, in the order of `auditColumns`. */
export type AuditValues = readonly (string | number | null)[]

/** Returns the values of an event's row. */
export const auditValues = (event: AuditEvent): AuditValues =>
  auditCodec.toCells(event).slice(0, -1)
