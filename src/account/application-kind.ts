import { type ApplicationKind, applicationKinds, rulesOfKind } from '../model/application-kind.ts'
import { InvalidField } from '../model/invalid-field.ts'
import type { Parameters } from '../model/parameters.ts'
import { splitRedirectUris } from '../model/redirect-uri.ts'

const field = 'application_type'

/**
 * Returns the chosen kind of a new application. Returns undefined if the form contains no valid kind, or if the form
 * contains `is_confidential`.
 */
export const kindIn = (params: Parameters): ApplicationKind | undefined =>
  params.repeated('is_confidential').length > 0
    ? undefined
    : applicationKinds.find((kind) => kind === params.repeated(field)[0])

/** Checks that the kind is valid, and that the kind permits the redirect URIs. @throws InvalidField */
export const checkKind = (params: Parameters): void => {
  const given = params.repeated(field)
  if (given.length === 0 || params.repeated('is_confidential').length > 0) return
  const kind = kindIn(params)
  if (kind === undefined || given.length > 1)
    throw new InvalidField(field, `${field} must be one of ${applicationKinds.join(', ')}.`)
  const { redirectUris: rule } = rulesOfKind[kind]
  const { length } = splitRedirectUris(params.repeated('redirect_uris').join('\n'))
  if (rule === 'required' && length === 0)
    throw new InvalidField('redirect_uris', 'This kind of application needs a redirect URI.', {
      problem: 'redirectUrisMissing',
    })
  if (rule === 'forbidden' && length > 0)
    throw new InvalidField('redirect_uris', 'A machine has no redirect URI.', {
      problem: 'redirectUrisUnused',
    })
}
