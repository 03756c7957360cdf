import type { ResponseType } from '../../../model/client.ts'
import type { Configuration, Identity, PlugIns, ServerContext } from '../../server-context.ts'

type Configured = Configuration & PlugIns

// A code that nobody could redeem is not given out, and what is not given out cannot be redeemed.
const hasCodes = ({ settings: { allowedGrantTypes, allowedResponseTypes } }: Configured): boolean =>
  allowedGrantTypes.includes('authorization_code') && allowedResponseTypes.includes('code')

/** The configured grant types that lead to a token, and those of the extensions. RFC 8414 §2. */
export const supportedGrantTypes = (server: Configured): readonly string[] => [
  ...server.settings.allowedGrantTypes.filter(
    (type) => type !== 'authorization_code' || hasCodes(server),
  ),
  ...server.extensions.flatMap(({ grants = [] }) => grants.map(({ type }) => type)),
]

type Metadata = Readonly<Record<string, unknown>>

/** The addresses that have a name in the server's metadata. RFC 8414 §2. */
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

/** What ways to authenticate and extensions say in the server's metadata. */
export const metadataOfExtensions = (server: ServerContext): Metadata =>
  Object.assign(
    {},
    ...server.clientAuthentication.map(({ metadata }) => metadata),
    ...server.extensions.map((extension) => extension.metadata?.(server)),
  )

/** What extensions say in the metadata of whatever is protected. RFC 9728 §2. */
export const resourceMetadataOfExtensions = (server: ServerContext): Metadata =>
  Object.assign({}, ...server.extensions.map((extension) => extension.resourceMetadata?.(server)))

/** The configured response types that lead to a token. RFC 8414 §2. */
export const supportedResponseTypes = (server: Configured): readonly ResponseType[] =>
  server.settings.allowedResponseTypes.filter((type) =>
    // A token that a browser is given is bound to no key.
    type === 'code' ? hasCodes(server) : server.settings.dpop !== 'required',
  )
