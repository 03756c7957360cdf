import type { Configuration, Identity } from '../server-context.ts'
// RFC 8707: Resource Indicators for OAuth 2.0

import { OAuthError } from '../../model/oauth-error.ts'
import type { Parameters } from '../../model/parameters.ts'
import { resourceNamed } from '../../model/protected-resource.ts'
import type { Redemption } from '../../model/redemption.ts'
import type { TokenIssue } from '../plug-ins/extension.ts'
import type { Extension } from '../plug-ins.ts'

/** The resources that an authorization request names. */
interface Requested {
  readonly resources: readonly string[]
}

const refused = (): OAuthError =>
  new OAuthError('invalid_target', 'The resource is unknown or was not granted.')

/** Restricts tokens to resources, so that the operator of one resource cannot use the tokens at another resource. */
export const resourceIndicators: Extension = {
  name: 'resource-indicators',
  isOn: ({ resourceIndicators }) => resourceIndicators,

  // RFC 8707 §2.1
  onAuthorizationRequest(params, _request, server): Requested | undefined {
    const resources = requestedResources(params, server)
    return resources.length === 0 ? undefined : { resources }
  },

  // RFC 8707 §2.2
  onTokenIssue(issue, server): Redemption {
    const { redemption, params } = issue
    const granted = resourcesGranted(issue)
    const requested = requestedResources(params, server)
    if (granted.length > 0 && !requested.every((resource) => granted.includes(resource)))
      throw refused()
    if (requested.length > 0) {
      // Store all granted resources with the authorization, because a refresh may request any of these resources.
      const isPart = redemption.type === 'user' && redemption.code !== undefined
      const whole = isPart ? { grantedResources: granted } : {}
      return { ...redemption, resources: requested, ...whole }
    }
    // A refresh without `resource` returns a token for all resources of the authorization.
    const isDecided = redemption.type === 'refresh' || redemption.resources !== undefined
    if (isDecided) return redemption
    return granted.length === 0
      ? withDefault(redemption, server)
      : { ...redemption, resources: granted }
  },
}

/**
 * Restricts a token to the default resource if one is configured. Neither the token request nor the authorization names
 * a resource.
 * @throws OAuthError if the default resource does not exist
 */
const withDefault = (
  redemption: Redemption,
  { settings, resources }: Configuration & Identity,
): Redemption => {
  const identifier = redemption.client.defaultResource ?? settings.defaultResource
  if (identifier === null) return redemption
  const found = resourceNamed(resources, identifier)
  if (found) return { ...redemption, resources: [found.resource] }
  // An unrestricted token would be valid for more resources than the administrator has allowed.
  throw new OAuthError(
    'invalid_target',
    'The default resource of this client does not exist any more. Request a resource.',
  )
}

// Return the resources in the order of the configuration, so that the order of the parameters makes no difference.
const requestedResources = (params: Parameters, { resources }: Identity): readonly string[] => {
  // Treat a parameter without a value as omitted (RFC 6749 §3.1).
  const named = params.repeated('resource').filter((identifier) => identifier !== '')
  const found = named.map((identifier) => resourceNamed(resources, identifier))
  if (found.includes(undefined)) throw refused()
  return resources.filter((known) => found.includes(known)).map(({ resource }) => resource)
}

/** Returns the resources to which the authorization or the parent token is restricted, or an empty list. */
const resourcesGranted = ({ redemption, remembered }: TokenIssue): readonly string[] => {
  if (redemption.type === 'narrowing') return redemption.parent.token.resources
  // Without `current`, the refresh token is unknown or was already rotated, so no new token needs a restriction.
  if (redemption.type === 'refresh') return redemption.current?.found.authorization?.resources ?? []
  return (remembered[resourceIndicators.name] as Requested | undefined)?.resources ?? []
}
