/** A limit of `points` events within `seconds`. */
export interface Limit {
  /** The name of the limit. */
  readonly name: string
  readonly points: number
  readonly seconds: number
}

/** A row of the table of limits. */
interface Row {
  readonly points: number
  readonly seconds: number
  /** The values that share a counter, such as an address. */
  readonly per: string
  readonly sentence: string
}

const ten = 600
const one = 60

/** Every limit with its default. The setting `limits` overrides them. */
export const limitTable = {
  wrongPasswordsOfAccount: {
    points: 10,
    seconds: ten,
    per: 'network and account',
    sentence:
      'Wrong passwords at the login page and in the password grant, from one network (/24, IPv6: /48).',
  },
  guessesOfAccount: {
    points: 16,
    seconds: ten,
    per: 'account',
    sentence:
      'Wrong passwords from all networks together, at most 96 per hour. Passwords that code of the application checks have a separate counter.',
  },
  wrongPasswordsOfKnownBrowser: {
    points: 10,
    seconds: ten,
    per: 'browser and account',
    sentence:
      'Wrong passwords from a browser in which the account was logged in before. No other limit on wrong passwords applies to such a browser.',
  },
  wrongPasswords: {
    points: 200,
    seconds: ten,
    per: 'address',
    sentence: 'Wrong passwords for any account.',
  },
  wrongPasswordsOfNetwork: {
    points: 400,
    seconds: ten,
    per: 'network',
    sentence: 'Wrong passwords for any account, from one network (/24, IPv6: /48).',
  },
  wrongSecretsOfClient: {
    points: 100,
    seconds: one,
    per: 'address and client',
    sentence: 'Failed client authentications, at every endpoint that authenticates clients.',
  },
  wrongSecrets: {
    points: 1_000,
    seconds: one,
    per: 'address',
    sentence: 'Failed client authentications for all clients, including unknown clients.',
  },
  wrongGrants: {
    points: 1_000,
    seconds: one,
    per: 'address and client',
    sentence: 'Authorization codes, refresh tokens and device codes that are not valid.',
  },
  wrongTokens: {
    points: 1_000,
    seconds: one,
    per: 'address',
    sentence: 'Access tokens and personal tokens that were never issued or no longer exist.',
  },
  wrongIntrospections: {
    points: 600,
    seconds: one,
    per: 'address and client',
    sentence: 'Introspections of tokens that are not active for the client.',
  },
  deviceRequests: {
    points: 100,
    seconds: one,
    per: 'address',
    sentence: 'Device authorization requests.',
  },
  pushedRequests: {
    points: 600,
    seconds: one,
    per: 'client',
    sentence: 'Pushed authorization requests of a confidential client.',
  },
  pushedRequestsOfAddress: {
    points: 60,
    seconds: one,
    per: 'address and client',
    sentence: 'Pushed authorization requests of a public client, which has many installations.',
  },
  clientDocuments: {
    points: 60,
    seconds: one,
    per: 'address',
    sentence:
      'Requests that make the server fetch a client metadata document, or keys from a `jwks_uri`.',
  },
  registrations: {
    points: 300,
    seconds: ten,
    per: 'address',
    sentence: 'Clients that register themselves or change their registration.',
  },
  registrationsOfNetwork: {
    points: 600,
    seconds: ten,
    per: 'network',
    sentence: 'Clients that register themselves, from one network (/24, IPv6: /48).',
  },
  unsignedLeakReports: {
    points: 60,
    seconds: one,
    per: 'address',
    sentence: 'Reports of leaked credentials without a valid signature.',
  },
} as const satisfies Readonly<Record<string, Row>>

export type LimitName = keyof typeof limitTable

export const limitNames = Object.keys(limitTable) as readonly LimitName[]

/** Numbers that override the numbers of the table. */
export type LimitNumbers = Readonly<
  Partial<Record<LimitName, Readonly<Pick<Limit, 'points' | 'seconds'>>>>
>
