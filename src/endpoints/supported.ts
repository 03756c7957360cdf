import type { GrantType, ResponseType } from '../model/client.ts'
import type { Settings } from '../options.ts'

type Configured = Pick<Settings, 'allowedGrantTypes' | 'allowedResponseTypes'>

// A code that nobody could redeem is not given out, and what is not given out cannot be redeemed.
const hasCodes = ({ allowedGrantTypes, allowedResponseTypes }: Configured): boolean =>
  allowedGrantTypes.includes('authorization_code') && allowedResponseTypes.includes('code')

/** The configured grant types that lead to a token. RFC 8414 §2. */
export const supportedGrantTypes = (settings: Configured): readonly GrantType[] =>
  settings.allowedGrantTypes.filter((type) => type !== 'authorization_code' || hasCodes(settings))

/** The configured response types that lead to a token. RFC 8414 §2. */
export const supportedResponseTypes = (settings: Configured): readonly ResponseType[] =>
  settings.allowedResponseTypes.filter((type) => type !== 'code' || hasCodes(settings))
