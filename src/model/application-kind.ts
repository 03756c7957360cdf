/** The kinds of applications that a user can register. */
export const applicationKinds = ['web', 'spa', 'native', 'machine'] as const

/** A kind of application. The kind determines the client type, and limits the grants and the redirect URIs. */
export type ApplicationKind = (typeof applicationKinds)[number]

interface KindRules {
  readonly isConfidential: boolean
  /** The permitted grant types; null: no limit. */
  readonly grantTypes: readonly string[] | null
  /** The permitted response types; null: no limit. */
  readonly responseTypes: readonly string[] | null
  readonly redirectUris: 'required' | 'optional' | 'forbidden'
}

/** The rules of each kind. */
export const rulesOfKind: Readonly<Record<ApplicationKind, KindRules>> = {
  // The redirect URI is optional, because a web application may use only `client_credentials`.
  web: { isConfidential: true, grantTypes: null, responseTypes: null, redirectUris: 'optional' },
  spa: {
    isConfidential: false,
    grantTypes: ['authorization_code', 'refresh_token'],
    responseTypes: ['code'],
    redirectUris: 'required',
  },
  // The redirect URI is optional, because a native application may use only the device flow.
  native: {
    isConfidential: false,
    grantTypes: [
      'authorization_code',
      'refresh_token',
      'urn:ietf:params:oauth:grant-type:device_code',
    ],
    responseTypes: ['code'],
    redirectUris: 'optional',
  },
  machine: {
    isConfidential: true,
    grantTypes: ['client_credentials'],
    responseTypes: [],
    redirectUris: 'forbidden',
  },
}
