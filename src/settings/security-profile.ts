import type { Settings } from './settings.ts'

/** The requirement of a profile for one setting. */
export interface Requirement<V = unknown> {
  /** The default value in the profile. */
  readonly otherwise: V
  isMet(value: V): boolean
  /** The required value, for a start-up error. */
  readonly needs: string
}

type Requirements = { readonly [N in keyof Settings]?: Requirement<Settings[N]> }

const must = <V extends string | boolean>(value: V): Requirement<V> => ({
  otherwise: value,
  isMet: (given) => given === value,
  needs: `${value}`,
})

const within = <V extends string>(
  otherwise: readonly V[],
  allowed: readonly V[] = otherwise,
): Requirement<readonly V[]> => ({
  otherwise,
  isMet: (given) => given.every((one) => allowed.includes(one)),
  needs: `limited to ${allowed.join(', ')}`,
})

/** The rules of OAuth 2.1. */
const oauth21 = {
  requirePkce: must('always'),
  requireRedirectUri: must(true),
  allowedResponseTypes: within(['code']),
  allowFrontChannelIdTokens: must(false),
  allowedGrantTypes: within(['client_credentials', 'refresh_token', 'authorization_code']),
  acceptQueryAccessToken: must(false),
} satisfies Requirements

/** FAPI 2.0 Security Profile, §5.3.2 and §5.4. */
const fapi2 = {
  ...oauth21,
  pushedAuthorizationRequests: must('required'),
  dpop: must('required'),
  clientAuthentication: within(['private_key_jwt']),
  authorizationCodeExpiresIn: {
    otherwise: 60,
    isMet: (seconds) => seconds <= 60,
    needs: 'at most 60',
  },
  signingAlgorithm: {
    otherwise: 'ES256',
    isMet: (name) => name !== 'RS256',
    needs: 'ES256 or EdDSA',
  },
  idTokenSigningAlgorithm: {
    otherwise: 'ES256',
    isMet: (name) => name !== 'RS256',
    needs: 'ES256 or EdDSA',
  },
} satisfies Requirements

/** The requirements of each profile. A profile does not affect settings for which it has no requirement. */
export const securityProfiles: Readonly<Record<Settings['securityProfile'], Requirements>> = {
  specification: {},
  'oauth2.1': oauth21,
  fapi2,
}
