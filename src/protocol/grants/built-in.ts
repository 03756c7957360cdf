import type { BuiltInGrant } from '../plug-ins.ts'
import { authorizationCode } from './authorization-code.ts'
import { clientCredentials } from './client-credentials.ts'
import { deviceCode } from './device-code.ts'
import { password } from './password.ts'
import { refreshToken } from './refresh-token.ts'
import { tokenExchange } from './token-exchange.ts'

/** Every grant of this package, in the order in which the metadata lists them. */
export const builtInGrants: readonly BuiltInGrant[] = [
  clientCredentials,
  refreshToken,
  authorizationCode,
  password,
  deviceCode,
  tokenExchange,
]
