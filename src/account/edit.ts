import { sha256 } from '../crypto/digest.ts'
import type { Parameters } from '../model/parameters.ts'
import { isWithin } from '../model/scope.ts'
import type { EditState } from '../pages/parts/edit-form.ts'

/**
 * The error for an edit form whose values have changed in the store since the user opened the page. Nothing was written.
 */
export class EditConflict extends Error {
  override readonly name = 'EditConflict'
}

/**
 * The error for a change that would remove more than the user has confirmed, such as all tokens of a client. Nothing
 * was written.
 */
export class Unconfirmed extends Error {
  override readonly name = 'Unconfirmed'
  /** The names of everything that the change would remove, such as `verification` and `tokens`. */
  readonly losses: readonly string[]

  constructor(losses: readonly string[]) {
    super(`The change would remove ${losses.join(', ')}. The user has to confirm it.`)
    this.losses = losses
  }
}

/** Returns the version of the values that an edit form shows: a digest, which is equal for equal values. */
export const versionOf = (values: object): string =>
  sha256(JSON.stringify(values, comparable)).slice(0, 22)

// Normalizes values, so that an unchanged form has the same version as the stored values. Browsers send line breaks as
// CRLF, and ticked boxes in the order of the page.
const comparable = (_: string, value: unknown): unknown => {
  if (typeof value === 'string') return value.replaceAll('\r\n', '\n').trim()
  return Array.isArray(value) ? [...value].sort() : value
}

/**
 * Checks that the stored values have not changed since the page showed them, and that the user has confirmed all losses.
 * The form contains the version of the values that the page showed. A form without a version, such as the request of a
 * script, passes.
 * @throws EditConflict, Unconfirmed
 */
export const checkEdit = <Values extends object>(
  params: Parameters,
  { stored, typed }: { readonly stored: Values; readonly typed: Values },
  losses: readonly string[] = [],
): void => {
  const version = params.opaque('version')
  if (version === undefined) return
  // Accept a form that contains exactly the stored values, because the form changes nothing. For instance, the browser
  // may have sent the form twice.
  const isSame = version === versionOf(stored) || versionOf(stored) === versionOf(typed)
  if (!isSame) throw new EditConflict()
  if (!isWithin(losses, params.repeated('confirmed'))) throw new Unconfirmed(losses)
}

/** Returns the state of an edit form for its page. */
export const editState = <Values extends object>(
  stored: Values,
  refused:
    | {
        readonly params: Parameters
        readonly isConflict?: boolean
        readonly losses?: readonly string[]
      }
    | undefined,
): EditState<Values> => {
  const sent = refused?.params.opaque('version')
  const isConflict = refused?.isConflict ?? false
  return {
    // After a conflict, the page also shows the stored values. Their version allows the user to overwrite these values.
    version: isConflict || sent === undefined ? versionOf(stored) : sent,
    stored: isConflict ? stored : undefined,
    losses: refused?.losses ?? [],
  }
}
