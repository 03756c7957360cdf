import type { Extension } from '../extension.ts'
import { authorizationServerMetadata } from './authorization-server-metadata.ts'
import { issuerIdentification } from './issuer-identification.ts'
import { pkce } from './pkce.ts'
import { protectedResourceMetadata } from './protected-resource-metadata.ts'

export const builtInExtensions: readonly Extension[] = [
  pkce,
  issuerIdentification,
  authorizationServerMetadata,
  protectedResourceMetadata,
]
