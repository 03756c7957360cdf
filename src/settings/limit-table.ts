/** How often something may happen: so many times within so many seconds. */
export interface Limit {
  /** What is counted. */
  readonly name: string
  readonly points: number
  readonly seconds: number
}

/** A limit as the table has it. */
interface Row {
  readonly points: number
  readonly seconds: number
  /** What is counted for itself. */
  readonly per: string
  readonly sentence: string
}

const ten = 600
const one = 60

/** Every limit once, with its default; the setting `limits` has others. */
export const limitTable = {
  wrongPasswordsOfAccount: {
    points: 10,
    seconds: ten,
    per: 'network and account',
    sentence:
      'Wrong passwords, at the login page and in the password grant, from the whole network (/24, of IPv6 /48).',
  },
  guessesOfAccount: {
    points: 16,
    seconds: ten,
    per: 'account',
    sentence:
      'The same from all networks together, that is at most 96 in any hour; and, counted apart, wrong passwords that code of the application checks.',
  },
  wrongPasswordsOfKnownBrowser: {
    points: 10,
    seconds: ten,
    per: 'browser and account',
    sentence:
      'Wrong passwords from a browser in which the account was logged in before. No other limit of wrong passwords applies to it.',
  },
  wrongPasswords: {
    points: 200,
    seconds: ten,
    per: 'address',
    sentence: 'Wrong passwords for whatever accounts.',
  },
  wrongPasswordsOfNetwork: {
    points: 400,
    seconds: ten,
    per: 'network',
    sentence: 'The same from the whole network (/24, of IPv6 /48).',
  },
  wrongSecretsOfClient: {
    points: 100,
    seconds: one,
    per: 'address and client',
    sentence: 'Failed client authentications, at every endpoint that has them.',
  },
  wrongSecrets: {
    points: 1_000,
    seconds: one,
    per: 'address',
    sentence: 'The same, for whatever clients, also those that there are not.',
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
    sentence:
      'Access tokens and personal tokens that were never issued, or are not there any more.',
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
    sentence: 'Requests of devices for codes.',
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
      'Documents of clients, and keys at their `jwks_uri`, that are fetched because somebody names the client.',
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
    sentence: 'Clients that register themselves, from the whole network (/24, of IPv6 /48).',
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

/** Other numbers than the table has. */
export type LimitNumbers = Readonly<
  Partial<Record<LimitName, Readonly<Pick<Limit, 'points' | 'seconds'>>>>
>
