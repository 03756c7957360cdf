import type { ClientAuthenticationMethod } from '../extension.ts'
import { clientSecretBasic, clientSecretPost } from './client-secret.ts'
import { publicClient } from './public.ts'

export const builtInClientAuthentication: readonly ClientAuthenticationMethod[] = [
  clientSecretBasic,
  clientSecretPost,
  publicClient,
]
