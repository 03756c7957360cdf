import {
  enabledResponseTypes,
  type ResponseType,
  returnsAccessToken,
  returnsCode,
} from '../../../model/response-type.ts'
import type { Configuration, Identity, PlugIns, ServerContext } from '../../server-context.ts'

/** Returns the enabled grant types. RFC 8414 §2. */
export const supportedGrantTypes = ({ grants }: Pick<ServerContext, 'grants'>): readonly string[] =>
  grants.map(({ type }) => type)

/**
 * Returns the grant types that work without the consent of a user, including types that the settings disable. Clients
 * cannot enable these grants for themselves.
 */
export const grantTypesWithoutConsent = ({
  knownGrants,
}: Pick<PlugIns, 'knownGrants'>): readonly string[] =>
  knownGrants
    .filter(({ worksWithoutConsent }) => worksWithoutConsent === true)
    .map(({ type }) => type)

/** Returns the grant types with which a client acts on its own behalf, including types that the settings disable. */
export const grantTypesOfClients = ({
  knownGrants,
}: Pick<PlugIns, 'knownGrants'>): readonly string[] =>
  knownGrants.filter(({ actsForClient }) => actsForClient === true).map(({ type }) => type)

type Metadata = Readonly<Record<string, unknown>>

/** Returns the endpoint URLs for the server's metadata. RFC 8414 §2. */
export const advertisedAddresses = ({
  issuer,
  settings,
  endpoints,
}: Identity & Configuration & PlugIns): Metadata =>
  Object.fromEntries(
    endpoints.flatMap(({ advertisedAs, path }) =>
      advertisedAs === undefined ? [] : [[advertisedAs, `${issuer}${path(settings)}`]],
    ),
  )

/** Returns the metadata members of client authentication methods and extensions. */
export const metadataOfExtensions = (server: ServerContext): Metadata =>
  Object.assign(
    {},
    ...server.clientAuthentication.map(({ metadata }) => metadata),
    ...server.extensions.map((extension) => extension.metadata?.(server)),
  )

/** Returns the metadata members that extensions add for protected resources. RFC 9728 §2. */
export const resourceMetadataOfExtensions = (server: ServerContext): Metadata =>
  Object.assign({}, ...server.extensions.map((extension) => extension.resourceMetadata?.(server)))

/** Returns the response types that clients can use. RFC 8414 §2. */
export const supportedResponseTypes = (
  server: Pick<ServerContext, 'settings' | 'grants'>,
): readonly ResponseType[] =>
  enabledResponseTypes(server.settings).filter(
    (type) =>
      // Do not issue codes that no grant can redeem.
      (!returnsCode(type) || supportedGrantTypes(server).includes('authorization_code')) &&
      // An access token in a redirect cannot be bound to a DPoP key.
      (!returnsAccessToken(type) || server.settings.dpop !== 'required'),
  )
