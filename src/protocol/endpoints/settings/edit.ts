import { sha256 } from '../../../crypto/digest.ts'
import type { Parameters } from '../../../model/parameters.ts'
import { isWithin } from '../../../model/scope.ts'
import type { EditState } from '../../../pages/parts/edit-form.ts'

/**
 * The error for a form that edits values which have changed in the store since the page was opened. Nothing was
 * written.
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
    super(`The change ends: ${losses.join(', ')}.`)
    this.losses = losses
  }
}

/** Returns the version of the values that an edit form shows: a digest, which is equal for equal values. */
export const versionOf = (values: object): string =>
  sha256(JSON.stringify(values, comparable)).slice(0, 22)

// A form must have the same version as the stored values if the user changed nothing. Browsers send line breaks as
// CRLF, and ticked boxes in the order of the page.
const comparable = (_: string, value: unknown): unknown => {
  if (typeof value === 'string') return value.replaceAll('\r\n', '\n').trim()
  return Array.isArray(value) ? [...value].sort() : value
}

/**
 * Checks a form that contains the version of the values that the page showed. A form without a version, such as the
 * request of a script, passes.
 * @throws EditConflict, Unconfirmed
 */
export const checkEdit = <Values extends object>(
  params: Parameters,
  { stored, typed }: { readonly stored: Values; readonly typed: Values },
  losses: readonly string[] = [],
): void => {
  const version = params.opaque('version')
  if (version === undefined) return
  // If the form contains the values that are stored already, nothing can be lost. For instance, it was sent twice.
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
    // After a conflict, the page shows the stored values too. With their version, the user can overwrite them.
    version: isConflict || sent === undefined ? versionOf(stored) : sent,
    stored: isConflict ? stored : undefined,
    losses: refused?.losses ?? [],
  }
}
