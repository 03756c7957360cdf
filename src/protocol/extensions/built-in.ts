import type { Extension } from '../plug-ins.ts'
import { authorizationServerMetadata } from './authorization-server-metadata.ts'
import { clientIdMetadataDocuments } from './client-id-metadata-documents.ts'
import { deviceAuthorization } from './device-authorization.ts'
import { dpop } from './dpop.ts'
import { dynamicClientRegistration } from './dynamic-client-registration.ts'
import { introspection } from './introspection.ts'
import { issuerIdentification } from './issuer-identification.ts'
import { leakReports } from './leak-reports.ts'
import { openidConnect } from './openid-connect.ts'
import { openidConnectLogout } from './openid-connect-logout.ts'
import { pkce } from './pkce.ts'
import { protectedResourceMetadata } from './protected-resource-metadata.ts'
import { publishedKeys } from './published-keys.ts'
import { pushedAuthorizationRequests } from './pushed-authorization-requests.ts'
import { requestObjects } from './request-objects.ts'
import { resourceIndicators } from './resource-indicators.ts'
import { revocation } from './revocation.ts'
import { uiLocales } from './ui-locales.ts'

/** The built-in extensions, including the extensions that the settings disable. */
export const builtInExtensions: readonly Extension[] = [
  pkce,
  issuerIdentification,
  authorizationServerMetadata,
  protectedResourceMetadata,
  resourceIndicators,
  dpop,
  // `requestObjects` must precede `pushedAuthorizationRequests`, which refuses the URL of a request object.
  requestObjects,
  pushedAuthorizationRequests,
  revocation,
  introspection,
  publishedKeys,
  openidConnect,
  openidConnectLogout,
  deviceAuthorization,
  dynamicClientRegistration,
  clientIdMetadataDocuments,
  leakReports,
  uiLocales,
]
