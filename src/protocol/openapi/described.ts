import type { Settings } from '../../settings/settings.ts'

/** The properties of a server that determine its OpenAPI document. */
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
    | 'openapiPath'
    | 'openidConnect'
    | 'pushedAuthorizationRequests'
    | 'requestObjects'
    | 'revocation'
    | 'settingsPrefix'
    | 'tokenPersonalMaxExpiresIn'
  >
  readonly grantTypes: readonly string[]
  /** The parameters of the enabled grants. */
  readonly grantParameters: readonly string[]
  readonly responseTypes: readonly string[]
  /** The metadata members that endpoints and extensions add. */
  readonly metadata: Readonly<Record<string, unknown>>
  readonly resourceMetadata: Readonly<Record<string, unknown>>
  /** The name of the session cookie; null if the application has its own login. */
  readonly sessionCookie: string | null
  /** Whether the server manages the passwords of the users. */
  readonly hasPasswords: boolean
  /** Whether users can verify their e-mail addresses with links. */
  readonly hasUserLinks: boolean
}
