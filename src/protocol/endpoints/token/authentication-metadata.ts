import type { ServerContext } from '../../server-context.ts'

const ofTokenEndpoint = /^token_endpoint_/

/**
 * How clients authenticate at another endpoint than the token endpoint: by the same methods, but for some.
 * RFC 8414 §2
 */
export const authenticationMetadata = (
  endpoint: 'revocation_endpoint' | 'introspection_endpoint',
  methods: ServerContext['clientAuthentication'],
): Readonly<Record<string, unknown>> => {
  const further = Object.entries(Object.assign({}, ...methods.map(({ metadata }) => metadata)))
  return {
    [`${endpoint}_auth_methods_supported`]: methods.map(({ name }) => name),
    ...Object.fromEntries(
      further
        .filter(([name]) => ofTokenEndpoint.test(name))
        .map(([name, value]) => [name.replace(ofTokenEndpoint, `${endpoint}_`), value]),
    ),
  }
}
