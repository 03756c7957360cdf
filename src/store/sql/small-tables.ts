import { sql } from 'kysely'
import { checkpointCodec } from '../../model/entities/audit-checkpoint.ts'
import { rotatedTokenCodec } from '../../model/entities/rotated-token.ts'
import { secretKeyCodec } from '../../model/entities/secret-key.ts'
import { signingKeyCodec } from '../../model/entities/signing-key.ts'
import { sweeperNoteCodec } from '../../model/entities/sweeper-note.ts'
import type { SweeperNoteStore } from '../contract/sweeper.ts'
import type { Store } from '../store.ts'
import { expiring } from './expiring.ts'
import type { Handle } from './handle.ts'
import { readsOf, rowsOf } from './rows.ts'

export const secretKeys = (handle: Handle) => rowsOf(handle, secretKeyCodec)

export const rotatedTokens = (handle: Handle): Store['rotatedTokens'] => {
  const query = () => handle.read.selectFrom('oauth2server_rotated_refresh_token as r').selectAll()
  return { find: readsOf(handle, { ...rotatedTokenCodec, alias: 'r', query }).find }
}

export const signingKeys = (handle: Handle) => rowsOf(handle, signingKeyCodec)

export const checkpoints = (handle: Handle) => ({
  ...rowsOf(handle, checkpointCodec),
  ...expiring(handle, { ...checkpointCodec, end: 'number' }),
})

export const notes = (handle: Handle): SweeperNoteStore => {
  const ofKind = (kind: string) =>
    expiring(handle, { ...sweeperNoteCodec, where: sql`kind = ${kind}`, end: 'at' })
  return {
    ...rowsOf(handle, sweeperNoteCodec),
    deleteExpired: ({ kind, at }, limit) => ofKind(kind).deleteExpired(at, limit),
    countExpired: ({ kind, at }, max) => ofKind(kind).countExpired(at, max),
  }
}
