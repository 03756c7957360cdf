/** The kinds of applications that a user can register. */
export const applicationKinds = ['web', 'spa', 'native', 'machine'] as const

/** A kind of application, which determines its type, its grants and its redirect URIs. */
export type ApplicationKind = (typeof applicationKinds)[number]

interface KindRules {
  readonly isConfidential: boolean
  /** Null: the kind sets no limit. */
  readonly grantTypes: readonly string[] | null
  readonly responseTypes: readonly string[] | null
  readonly redirectUris: 'required' | 'optional' | 'forbidden'
}

/** The rules of each kind. */
export const rulesOfKind: Readonly<Record<ApplicationKind, KindRules>> = {
  // A web application may also use `client_credentials`, and the owner may add the redirect URI later.
  web: { isConfidential: true, grantTypes: null, responseTypes: null, redirectUris: 'optional' },
  spa: {
    isConfidential: false,
    grantTypes: ['authorization_code', 'refresh_token'],
    responseTypes: ['code'],
    redirectUris: 'required',
  },
  // The device flow needs no redirect URI.
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
