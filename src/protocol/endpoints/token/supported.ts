import type { ResponseType } from '../../../model/client.ts'
import type { Configuration, Identity, PlugIns, ServerContext } from '../../server-context.ts'

/** Returns the grant types that are switched on. RFC 8414 §2. */
export const supportedGrantTypes = ({ grants }: Pick<ServerContext, 'grants'>): readonly string[] =>
  grants.map(({ type }) => type)

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

/** Returns the response types that lead to a token. RFC 8414 §2. */
export const supportedResponseTypes = (
  server: Pick<ServerContext, 'settings' | 'grants'>,
): readonly ResponseType[] =>
  server.settings.allowedResponseTypes.filter((type) =>
    type === 'code'
      ? // A code that no grant redeems is not issued.
        supportedGrantTypes(server).includes('authorization_code')
      : // A token that a browser is given is bound to no key.
        server.settings.dpop !== 'required',
  )
