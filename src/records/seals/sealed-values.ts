import type { KeyRing, Sealed } from '../../crypto/sealed.ts'
import { type SealedKind, sealedEntities } from '../../model/entities/all.ts'
import type { Seal } from '../../model/entities/field.ts'
import type { ResealedRow, SealedRow } from '../../store/contract/sealed.ts'

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
export const sealedAnew = (kind: SealedKind, before: SealedRow, keys: KeyRing): SealedAnew => {
  const seals: readonly Seal[] = sealedEntities[kind].seals
  const unreadable: Sealed[] = []
  const sealed = before.sealed.map((old, at) => {
    if (old === null || old.startsWith(`${keys.currentId}.`)) return old
    const { purpose, claims: claimsOf } = seals[at] as Seal
    const claims = claimsOf(before.row as never)
    const opened = claims && keys.open(purpose, old, claims)
    if (claims && opened !== undefined) return keys.seal(purpose, opened, claims)
    unreadable.push(old)
    return old
  })
  const hasChanged = sealed.some((value, at) => value !== before.sealed[at])
  return { resealed: hasChanged ? { before, sealed } : undefined, unreadable }
}
