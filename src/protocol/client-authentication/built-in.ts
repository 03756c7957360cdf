import type { ClientAuthenticationMethod } from '../plug-ins.ts'
import type { ServerContext } from '../server-context.ts'
import { clientSecretBasic, clientSecretPost, publicClient } from './client-secret.ts'
import { privateKeyJwt } from './private-key-jwt.ts'

export const builtInClientAuthentication = (
  settings: ServerContext['settings'],
): readonly ClientAuthenticationMethod[] => [
  clientSecretBasic,
  clientSecretPost,
  privateKeyJwt(settings),
  publicClient,
]
