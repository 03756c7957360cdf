/** Something that tokens can be for (RFC 8707 §2): the whole application, or a part of it with an address of its own. */
export interface ProtectedResource {
  /** Its identifier: an https address without a fragment, which tokens name as their audience. */
  readonly resource: string
  /** What users know it as (RFC 9728 §2, `resource_name`). */
  readonly name?: string
  /** The scopes that matter there; without them, all that clients may ask for. */
  readonly scopes?: readonly string[]
  /** The ids of clients that serve it elsewhere, and may ask about any token that can be used there (RFC 7662). */
  readonly introspectionClients?: readonly string[]
  /** A page for developers (RFC 9728 §2, `resource_documentation`). */
  readonly documentation?: string
}

/**
 * The resource of this identifier. Identifiers are compared as they are written (RFC 3986 §6.2.1), but for the slash
 * that every URL parser puts behind an origin alone: `https://h` and `https://h/` are one.
 */
export const resourceNamed = (
  resources: readonly ProtectedResource[],
  identifier: string,
): ProtectedResource | undefined =>
  resources.find(({ resource }) => withPath(resource) === withPath(identifier))

const originAlone = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]+$/i

const withPath = (identifier: string): string =>
  originAlone.test(identifier) ? `${identifier}/` : identifier
