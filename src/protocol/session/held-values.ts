import type { Claims, KeyRing } from '../../crypto/sealed.ts'

/** The kinds of sealed values that browsers and clients hold. A value of one kind is not valid as another kind. */
export const heldKinds = [
  'dpop_nonce',
  'end_session',
  'form',
  'known_browser',
  'logged_in',
  'login_requested',
  'request_object_read',
  'signed_request_object',
] as const

/** A kind of sealed values that browsers and clients hold. */
export type HeldKind = (typeof heldKinds)[number]

/** The keys and the clock that seal and open values. */
export interface Sealing {
  readonly keys: KeyRing
  readonly clock: () => number
}

/** A value with its expiry. */
type Dated<T> = T & {
  /** Milliseconds since the epoch. */
  readonly until: number
}

/**
 * Seals a value that a browser or a client holds, and presents later.
 * @param bound what the value belongs to, for instance the request or the client. Opening requires the same values
 */
export const sealHeld = <T extends object>(
  kind: HeldKind,
  bound: Claims,
  value: Dated<T>,
  { keys }: Sealing,
): string => keys.seal('transient', JSON.stringify(value), [kind, ...bound])

/** Opens a value of this kind. Returns undefined if it is missing, has expired, was changed, or belongs to another. */
export const openHeld = <T extends object>(
  kind: HeldKind,
  bound: Claims,
  sealed: string | undefined,
  { keys, clock }: Sealing,
): Dated<T> | undefined => {
  const text = sealed && keys.open('transient', sealed, [kind, ...bound])
  if (text === undefined || text === '') return undefined
  const value = JSON.parse(text) as Dated<T>
  return value.until > clock() ? value : undefined
}
