import type { ServerContext } from '../extension.ts'
import type { ResponseType } from '../model/client.ts'

type Configured = Pick<ServerContext, 'settings' | 'extensions'>

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

/** The configured response types that lead to a token. RFC 8414 §2. */
export const supportedResponseTypes = (server: Configured): readonly ResponseType[] =>
  server.settings.allowedResponseTypes.filter((type) =>
    // A token that a browser is given is bound to no key.
    type === 'code' ? hasCodes(server) : server.settings.dpop !== 'required',
  )
