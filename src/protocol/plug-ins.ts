import type { ClientAuthenticationMethodFor } from './plug-ins/client-authentication-method.ts'
import type { EndpointFor } from './plug-ins/endpoint.ts'
import type { ExtensionFor } from './plug-ins/extension.ts'
import type { GrantFor } from './plug-ins/grant.ts'
import type { ServerContext } from './server-context.ts'

// The context lists the plug-ins that receive it. Type parameters keep the files free of import circles.

/** Redeems a token request. One per `grant_type`. */
export type Grant = GrantFor<ServerContext>
/** A grant of this package: it names the setting that switches it on. */
export type BuiltInGrant = Grant & Required<Pick<Grant, 'isOn'>>
/** One way for a client to authenticate at the token endpoint. */
export type ClientAuthenticationMethod = ClientAuthenticationMethodFor<ServerContext>
/** An address of the authorization server. */
export type Endpoint = EndpointFor<ServerContext>
/** One standard: what it adds to the protocol, phase by phase. */
export type Extension = ExtensionFor<ServerContext>
