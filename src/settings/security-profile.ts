import type { Settings } from './settings.ts'

/** What a profile asks of one setting. */
export interface Requirement<V = unknown> {
  /** What the setting is where nothing was given. */
  readonly otherwise: V
  isMet(value: V): boolean
  /** What it has to be, as a start-up error says it. */
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
  needs: `none but ${allowed.join(', ')}`,
})

/** OAuth 2.1: what RFC 9700 advises, as a rule. */
const oauth21 = {
  requirePkce: must('always'),
  requireRedirectUri: must(true),
  allowedResponseTypes: within(['code']),
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
  // Refresh tokens rotate, so a client that lost an answer has to be able to ask again (§5.3.2.1, note 1).
  refreshTokenLeeway: {
    otherwise: 60,
    isMet: (seconds) => seconds > 0,
    needs: 'at least 1',
  },
  signingAlgorithm: {
    otherwise: 'ES256',
    isMet: (name) => name !== 'RS256',
    needs: 'ES256 or EdDSA',
  },
} satisfies Requirements

/** What each profile asks for; of every other setting, what was given or its default. */
export const securityProfiles: Readonly<Record<Settings['securityProfile'], Requirements>> = {
  specification: {},
  'oauth2.1': oauth21,
  fapi2,
}
