import type { ClientAuthenticationMethod, ServerContext } from '../extension.ts'
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
