import type { Claims, KeyRing, Sealed, SealPurpose } from '../../crypto/sealed.ts'
import { checkpointClaims } from '../../model/entities/audit-checkpoint.ts'
import { clientClaims, clientStateClaims } from '../../model/entities/client.ts'
import { consentClaims } from '../../model/entities/consent.ts'
import { rotationClaims } from '../../model/entities/rotated-token.ts'
import { sessionClaims } from '../../model/entities/session.ts'
import { signingKeyClaims } from '../../model/entities/signing-key.ts'
import { accessClaims, refreshClaims } from '../../model/entities/token.ts'
import { passwordClaims, userClaims } from '../../model/entities/user.ts'
import type {
  ResealedRow,
  SealedRow,
  SealedRows,
  SealedStore,
} from '../../store/contract/sealed.ts'

/** A kind of row that is sealed. */
export type SealedKind = keyof SealedStore

/** The columns that are read from a row of this kind. */
export type RowOf<K extends SealedKind> = SealedStore[K] extends SealedRows<infer Row> ? Row : never

interface Value {
  readonly purpose: SealPurpose
  readonly claims: Claims
}

const seal = (...all: readonly Claims[]): readonly Value[] =>
  all.map((claims) => ({ purpose: 'row', claims }))

/** Returns the purpose and the claims of each sealed value of a row; undefined for a missing refresh token. */
const valuesOf: {
  readonly [K in SealedKind]: (row: RowOf<K>) => readonly (Value | undefined)[]
} = {
  tokens: (row) => [
    { purpose: 'token', claims: accessClaims(row) },
    row.refreshDigest === null
      ? undefined
      : { purpose: 'token', claims: refreshClaims(row.refreshDigest, row.fields, row.granted) },
  ],
  rotations: (rotated) => seal(rotationClaims(rotated)),
  clients: ({ fields }) => seal(clientClaims(fields), clientStateClaims(fields)),
  consents: ({ consent }) => seal(consentClaims(consent)),
  sessions: (session) => seal(sessionClaims(session)),
  users: (user) => seal(passwordClaims(user), userClaims(user)),
  signingKeys: (key) => seal(signingKeyClaims(key)),
  auditCheckpoints: (checkpoint) => seal(checkpointClaims(checkpoint)),
}

/** The result of resealing a row, with the values that could not be opened. */
export interface SealedAnew {
  /** Undefined if no value changed. */
  readonly resealed: ResealedRow | undefined
  readonly unreadable: readonly Sealed[]
}

/**
 * Seals the values of a row under the current key. A value with an invalid seal remains unchanged, and the server
 * continues to refuse the value.
 */
export const sealedAnew = <K extends SealedKind>(
  kind: K,
  before: SealedRow<RowOf<K>>,
  keys: KeyRing,
): SealedAnew => {
  const values = valuesOf[kind](before.row)
  const unreadable: Sealed[] = []
  const sealed = before.sealed.map((old, at) => {
    if (old === null || old.startsWith(`${keys.currentId}.`)) return old
    const value = values[at]
    const opened = value && keys.open(value.purpose, old, value.claims)
    if (value && opened !== undefined) return keys.seal(value.purpose, opened, value.claims)
    unreadable.push(old)
    return old
  })
  const hasChanged = sealed.some((value, at) => value !== before.sealed[at])
  return { resealed: hasChanged ? { before, sealed } : undefined, unreadable }
}
