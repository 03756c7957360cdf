import { checkpointCodec } from './audit-checkpoint.ts'
import { auditCodec } from './audit-event.ts'
import { authorizationCodec } from './authorization.ts'
import { clientCodec } from './client.ts'
import { clientLoginCodec } from './client-login.ts'
import { clientLogoCodec } from './client-logo.ts'
import { consentCodec } from './consent.ts'
import { logoutNoticeCodec } from './logout-notice.ts'
import { removalCodec } from './removal.ts'
import { rotatedTokenCodec } from './rotated-token.ts'
import { secretKeyCodec } from './secret-key.ts'
import { sessionCodec } from './session.ts'
import { signingKeyCodec } from './signing-key.ts'
import { sweeperNoteCodec } from './sweeper-note.ts'
import { tokenCodec } from './token.ts'
import { userCodec } from './user.ts'

/** The entities with sealed values, by the names of their parts of the store. */
export const sealedEntities = {
  tokens: tokenCodec,
  rotations: rotatedTokenCodec,
  clients: clientCodec,
  consents: consentCodec,
  sessions: sessionCodec,
  users: userCodec,
  signingKeys: signingKeyCodec,
  auditCheckpoints: checkpointCodec,
} as const

/** The name of an entity with sealed values. */
export type SealedKind = keyof typeof sealedEntities

export const entities = {
  ...sealedEntities,
  authorizations: authorizationCodec,
  audit: auditCodec,
  clientLogins: clientLoginCodec,
  clientLogos: clientLogoCodec,
  logoutNotices: logoutNoticeCodec,
  removals: removalCodec,
  sweeperNotes: sweeperNoteCodec,
  secretKeys: secretKeyCodec,
} as const
