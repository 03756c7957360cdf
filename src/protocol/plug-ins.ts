import type { ClientAuthenticationMethodFor } from './plug-ins/client-authentication-method.ts'
import type { EndpointFor } from './plug-ins/endpoint.ts'
import type { ExtensionFor } from './plug-ins/extension.ts'
import type { GrantFor } from './plug-ins/grant.ts'
import type { ServerContext } from './server-context.ts'

// The plug-ins receive the server context, which lists the plug-ins. Type parameters avoid the circular import.

/** The code that redeems the token requests with one `grant_type`. */
export type Grant = GrantFor<ServerContext>
/** A grant of this package, which must define `isOn` and `worksWithoutConsent`. */
export type BuiltInGrant = Grant & Required<Pick<Grant, 'isOn' | 'worksWithoutConsent'>>
/** One way for a client to authenticate at the token endpoint. */
export type ClientAuthenticationMethod = ClientAuthenticationMethodFor<ServerContext>
/** An endpoint of the authorization server. */
export type Endpoint = EndpointFor<ServerContext>
/** A standard that adds endpoints, grants and hooks to the protocol. */
export type Extension = ExtensionFor<ServerContext>
