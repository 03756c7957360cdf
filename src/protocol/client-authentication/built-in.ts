import type { ClientAuthenticationMethod } from '../plug-ins.ts'
import type { ServerContext } from '../server-context.ts'
import { clientSecretBasic, clientSecretPost } from './client-secret.ts'
import { privateKeyJwt } from './private-key-jwt.ts'
import { publicClient } from './public.ts'

export const builtInClientAuthentication = (
  settings: ServerContext['settings'],
): readonly ClientAuthenticationMethod[] => [
  clientSecretBasic,
  clientSecretPost,
  privateKeyJwt(settings),
  publicClient,
]
