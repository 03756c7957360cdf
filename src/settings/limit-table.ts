/** A limit of `points` events within `seconds`. */
export interface Limit {
  readonly name: string
  readonly points: number
  readonly seconds: number
}

/** The maximum points and seconds of a limit. */
export const maxPoints = 1_000_000_000
export const maxSeconds = 86_400

/** A row of the table of limits. */
interface Row {
  readonly points: number
  readonly seconds: number
  /** The key of the counters: for `address`, each IP address has a separate counter. */
  readonly per: string
  readonly sentence: string
}

const tenMinutes = 600
const oneMinute = 60

/** Every limit with its default values. The setting `limits` overrides these values. */
export const limitTable = {
  wrongPasswordsOfAccount: {
    points: 10,
    seconds: tenMinutes,
    per: 'network and account',
    sentence:
      'Wrong passwords at the login page and in the password grant, from one network (/24, IPv6: /48).',
  },
  guessesOfAccount: {
    points: 16,
    seconds: tenMinutes,
    per: 'account',
    sentence:
      'Wrong passwords from all networks together, at most 96 per hour. `checkPassword` has a separate counter.',
  },
  wrongPasswordsOfKnownBrowser: {
    points: 10,
    seconds: tenMinutes,
    per: 'browser and account',
    sentence:
      'Wrong passwords from a browser in which the account was logged in before. No other limit on wrong passwords applies to such a browser.',
  },
  wrongPasswords: {
    points: 200,
    seconds: tenMinutes,
    per: 'address',
    sentence: 'Wrong passwords for any account.',
  },
  wrongPasswordsOfNetwork: {
    points: 400,
    seconds: tenMinutes,
    per: 'network',
    sentence: 'Wrong passwords for any account, from one network (/24, IPv6: /48).',
  },
  userLinks: {
    points: 5,
    seconds: tenMinutes,
    per: 'account',
    sentence:
      'Requests for a link by e-mail, for one e-mail address: password reset, verification, sign-up.',
  },
  userLinksOfAddress: {
    points: 30,
    seconds: tenMinutes,
    per: 'address',
    sentence: 'Requests for a link by e-mail, for any e-mail address.',
  },
  drafts: {
    points: 20,
    seconds: tenMinutes,
    per: 'account',
    sentence:
      'Forms that were sent after the session had ended. Their content is stored for a limited time, for the next login.',
  },
  changes: {
    points: 600,
    seconds: tenMinutes,
    per: 'account',
    sentence:
      'Forms that a user sends on settings pages, and the same requests of scripts. Each can add a row to the audit log.',
  },
  wrongSecretsOfClient: {
    points: 100,
    seconds: oneMinute,
    per: 'address and client',
    sentence:
      'Failed client authentications, at every endpoint that authenticates clients, and refused request objects.',
  },
  wrongSecrets: {
    points: 1_000,
    seconds: oneMinute,
    per: 'address',
    sentence:
      'Failed client authentications and refused request objects for all clients, including unknown clients.',
  },
  wrongGrants: {
    points: 1_000,
    seconds: oneMinute,
    per: 'address and client',
    sentence:
      'Authorization codes, refresh tokens, device codes and DPoP proofs that are not valid.',
  },
  wrongTokens: {
    points: 1_000,
    seconds: oneMinute,
    per: 'address',
    sentence: 'Access tokens and personal tokens that were never issued or no longer exist.',
  },
  wrongIntrospections: {
    points: 600,
    seconds: oneMinute,
    per: 'address and client',
    sentence: 'Introspection requests whose token is not active for the client.',
  },
  deviceRequests: {
    points: 100,
    seconds: oneMinute,
    per: 'address',
    sentence: 'Device authorization requests.',
  },
  pushedRequests: {
    points: 600,
    seconds: oneMinute,
    per: 'client',
    sentence: 'Pushed authorization requests of a confidential client.',
  },
  pushedRequestsOfAddress: {
    points: 60,
    seconds: oneMinute,
    per: 'address and client',
    sentence: 'Pushed authorization requests of a public client.',
  },
  signedByClient: {
    points: 6_000,
    seconds: oneMinute,
    per: 'client',
    sentence:
      'Client assertions, request objects with `jti` and used pushed requests, which the server stores until they expire.',
  },
  usedProofs: {
    points: 120_000,
    seconds: oneMinute,
    per: 'address and client',
    sentence: 'DPoP proofs, which the server stores until they expire.',
  },
  clientDocuments: {
    points: 60,
    seconds: oneMinute,
    per: 'address',
    sentence:
      'Requests that make the server fetch a URL of a client: a metadata document, a `jwks_uri`, a request object or a `sector_identifier_uri`.',
  },
  registrations: {
    points: 300,
    seconds: tenMinutes,
    per: 'address',
    sentence: 'Clients that register themselves or change their registration.',
  },
  registrationsOfNetwork: {
    points: 600,
    seconds: tenMinutes,
    per: 'network',
    sentence: 'Clients that register themselves, from one network (/24, IPv6: /48).',
  },
  unsignedLeakReports: {
    points: 60,
    seconds: oneMinute,
    per: 'address',
    sentence: 'Reports of leaked credentials without a valid signature.',
  },
} as const satisfies Readonly<Record<string, Row>>

/** The name of a limit of the limit table. */
export type LimitName = keyof typeof limitTable

export const limitNames = Object.keys(limitTable) as readonly LimitName[]

/** The name of a limit that an extension declares, such as `magic-link/mails`. */
export type OwnLimitName = `${string}/${string}`

/** The points and seconds that override the defaults of the table, or the numbers of an extension's limit. */
export type LimitNumbers = Readonly<
  Partial<Record<LimitName | OwnLimitName, Readonly<Pick<Limit, 'points' | 'seconds'>>>>
>
