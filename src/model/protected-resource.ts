/** A resource for which tokens can be issued (RFC 8707 §2): the whole application, or a part with a separate URL. */
export interface ProtectedResource {
  /** The identifier: an https URL without a query or fragment. Tokens for this resource have this audience. */
  readonly resource: string
  /** The name that users read (RFC 9728 §2, `resource_name`). */
  readonly name?: string
  /** The scopes that the resource supports; default: all scopes that clients may request. */
  readonly scopes?: readonly string[]
  /** The client IDs of resource servers that may introspect every token for this resource (RFC 7662). */
  readonly introspectionClients?: readonly string[]
  /** The URL of a page for developers (RFC 9728 §2, `resource_documentation`). */
  readonly documentation?: string
}

/**
 * Finds a resource by its identifier. Compares identifiers as strings (RFC 3986 §6.2.1), but accepts `https://h` for
 * `https://h/` and vice versa, because URL parsers append this slash to an origin.
 */
export const resourceNamed = (
  resources: readonly ProtectedResource[],
  identifier: string,
): ProtectedResource | undefined =>
  resources.find(({ resource }) => withPath(resource) === withPath(identifier))

const originOnly = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]+$/i

const withPath = (identifier: string): string =>
  originOnly.test(identifier) ? `${identifier}/` : identifier

/** The path of the metadata of a resource (RFC 9728 §3), before the path of the resource. */
export const resourceMetadataPath = '/.well-known/oauth-protected-resource'

/** Returns the URL of a resource's metadata. The challenges of the resource contain this URL. RFC 9728 §5.1. */
export const resourceMetadataAddress = (resource: string): string => {
  const { origin, pathname, search } = new URL(resource)
  return `${origin}${resourceMetadataPath}${pathname === '/' ? '' : pathname}${search}`
}
