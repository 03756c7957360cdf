import type { Grant } from '../plug-ins.ts'
import { authorizationCode } from './authorization-code.ts'
import { clientCredentials } from './client-credentials.ts'
import { password } from './password.ts'
import { refreshToken } from './refresh-token.ts'

export const builtInGrants: readonly Grant[] = [
  authorizationCode,
  clientCredentials,
  refreshToken,
  password,
]
