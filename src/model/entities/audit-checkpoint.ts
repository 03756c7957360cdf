import { claimsOf, entity, type RecordOf } from './entity.ts'
import { number, sealed, text } from './field.ts'

const fields = {
  number: number(),
  at: number(),
  /** The checkpoint covers rows with IDs above this ID. */
  afterId: number(),
  /** The greatest ID that the checkpoint covers. */
  lastId: number(),
  /** The IDs of the covered rows, such as `3-7,9`. */
  ids: text(),
  /** The digest of the covered rows. */
  rowsDigest: text(),
  /** The greatest `at` of the covered rows; 0 without rows. */
  latestAt: number(),
  /** The IDs of covered rows without a valid seal. */
  forged: text(),
  /** The number of the checkpoint up to which rows and checkpoints were removed; 0 if nothing was removed. */
  removedUpTo: number(),
  /** The digest of the previous checkpoint. */
  previous: text(),
}
export const checkpointClaims = claimsOf('audit_checkpoint', fields)
const row = { ...fields, seal: sealed(checkpointClaims) }

/** A record of the rows that the audit log contained at one time. Later changes of the rows contradict this record. */
export interface AuditCheckpoint extends RecordOf<typeof fields> {}
export interface SealedCheckpoint extends RecordOf<typeof row> {}
export const checkpointCodec = entity('oauth2server_audit_checkpoint', row, { key: ['number'] })
