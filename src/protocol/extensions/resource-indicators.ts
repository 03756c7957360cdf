import type { Identity } from '../server-context.ts'
// RFC 8707: Resource Indicators for OAuth 2.0

import { OAuthError } from '../../model/oauth-error.ts'
import type { Parameters } from '../../model/parameters.ts'
import { resourceNamed } from '../../model/protected-resource.ts'
import type { Redemption } from '../../model/redemption.ts'
import type { TokenIssue } from '../plug-ins/extension.ts'
import type { Extension } from '../plug-ins.ts'

/** The requested resources. Without any, tokens are valid for all resources of the server. */
interface Asked {
  readonly resources: readonly string[]
}

const refused = (): OAuthError =>
  new OAuthError('invalid_target', 'The resource is unknown, or not among those that were granted.')

/** Restricts tokens to resources, so that the operator of one resource cannot use them at another. */
export const resourceIndicators: Extension = {
  name: 'resource-indicators',
  isOn: ({ resourceIndicators }) => resourceIndicators,

  // RFC 8707 §2.1
  onAuthorizationRequest(params, _request, server): Asked | undefined {
    const resources = askedFor(params, server)
    return resources.length === 0 ? undefined : { resources }
  },

  // RFC 8707 §2.2
  onTokenIssue(issue, server): Redemption {
    const { redemption, params } = issue
    const granted = grantedTo(issue)
    const asked = askedFor(params, server)
    if (granted.length > 0 && !asked.every((resource) => granted.includes(resource)))
      throw refused()
    if (asked.length > 0) {
      // Later tokens of this authorization may be for its other resources.
      const isPart = redemption.type === 'user' && redemption.code !== undefined
      const whole = isPart ? { grantedResources: granted } : {}
      return { ...redemption, resources: asked, ...whole }
    }
    // A refresh without `resource` is for all resources of its authorization.
    const isDecided = redemption.type === 'refresh' || redemption.resources !== undefined
    return isDecided || granted.length === 0 ? redemption : { ...redemption, resources: granted }
  },
}

// Use the server's own names and order, so that the order in the request makes no difference.
const askedFor = (params: Parameters, { resources }: Identity): readonly string[] => {
  // A parameter without a value counts as omitted (RFC 6749 §3.1).
  const named = params.repeated('resource').filter((identifier) => identifier !== '')
  const found = named.map((identifier) => resourceNamed(resources, identifier))
  if (found.includes(undefined)) throw refused()
  return resources.filter((known) => found.includes(known)).map(({ resource }) => resource)
}

/** Returns the resources to which the authorization or the parent token is restricted; empty if unrestricted. */
const grantedTo = ({ redemption, remembered }: TokenIssue): readonly string[] => {
  if (redemption.type === 'narrowing') return redemption.parent.token.resources
  // A refresh token that was already rotated gets the tokens of that rotation again, or none.
  if (redemption.type === 'refresh') return redemption.current?.found.authorization?.resources ?? []
  return (remembered[resourceIndicators.name] as Asked | undefined)?.resources ?? []
}
