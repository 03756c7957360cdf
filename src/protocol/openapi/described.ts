import type { Settings } from '../../settings/settings.ts'

/** What the document says of a server: what of it differs from one server to the next. */
export interface Described {
  readonly issuer: string
  readonly settings: Pick<
    Settings,
    | 'acceptQueryAccessToken'
    | 'acceptUnsignedLeakReports'
    | 'accessTokenFormat'
    | 'adminPrefix'
    | 'deviceAuthorization'
    | 'dynamicRegistration'
    | 'introspection'
    | 'jwtAuthHeader'
    | 'jwtAuthHeaderType'
    | 'leakReportKeys'
    | 'oauthPrefix'
    | 'pushedAuthorizationRequests'
    | 'revocation'
    | 'settingsPrefix'
    | 'tokenPersonalMaxExpiresIn'
  >
  readonly grantTypes: readonly string[]
  readonly responseTypes: readonly string[]
  /** Members of the metadata that come with an endpoint or an extension. */
  readonly metadata: Readonly<Record<string, unknown>>
  readonly resourceMetadata: Readonly<Record<string, unknown>>
  /** The name of the session's cookie; null where users log in at the application itself. */
  readonly sessionCookie: string | null
}
