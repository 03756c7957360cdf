import type { Identity } from '../server-context.ts'
// RFC 8707: Resource Indicators for OAuth 2.0

import { OAuthError } from '../../model/oauth-error.ts'
import type { Parameters } from '../../model/parameters.ts'
import { resourceNamed } from '../../model/protected-resource.ts'
import type { Redemption } from '../../model/redemption.ts'
import type { TokenIssue } from '../plug-ins/extension.ts'
import type { Extension } from '../plug-ins.ts'

/** What an authorization request asked for; without it, tokens are for all that the server protects. */
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
      // Further tokens may be for the rest of what was granted with a code.
      const isPart = redemption.type === 'user' && redemption.code !== undefined
      const whole = isPart ? { grantedResources: granted } : {}
      return { ...redemption, resources: asked, ...whole }
    }
    // A refresh that asks for nothing is for the whole of its authorization.
    const isDecided = redemption.type === 'refresh' || redemption.resources !== undefined
    return isDecided || granted.length === 0 ? redemption : { ...redemption, resources: granted }
  },
}

// Each by the name that the server has for it, and in its order: a request says the same in any order.
const askedFor = (params: Parameters, { resources }: Identity): readonly string[] => {
  // What has no value counts as left out (RFC 6749 §3.1).
  const named = params.repeated('resource').filter((identifier) => identifier !== '')
  const found = named.map((identifier) => resourceNamed(resources, identifier))
  if (found.includes(undefined)) throw refused()
  return resources.filter((known) => found.includes(known)).map(({ resource }) => resource)
}

/** What the authorization, or the token that is narrowed, is restricted to; empty: to nothing. */
const grantedTo = ({ redemption, remembered }: TokenIssue): readonly string[] => {
  if (redemption.type === 'narrowing') return redemption.parent.token.resources
  // A rotated refresh token that is presented again gets the tokens that were issued then, or none.
  if (redemption.type === 'refresh') return redemption.current?.found.authorization?.resources ?? []
  return (remembered[resourceIndicators.name] as Asked | undefined)?.resources ?? []
}
