import type { OwnKind, SecretKind } from '../crypto/digest.ts'
import type { LimitName } from '../settings/limit-table.ts'

/** How many values of a kind may be stored, and how large a value may be. */
export type Bound = Counted | Single | Limited

/** A bound of the size of a value. */
interface Sized {
  /** The maximum number of characters of a value as JSON. */
  readonly size: number
  /** The purpose of the values, for the documentation. */
  readonly sentence: string
  /** The kind in the keys of the store, if it differs from the name in the table. */
  readonly storedAs?: SecretKind
}

/**
 * The maximum number of characters of the values that an owner has in a kind, if all values have the same size. An owner
 * of large values has fewer than `most` values.
 */
export const maxOwnerSize = 16_777_216

/** Each owner has at most `most` values. A further value removes the value of the same owner that expires first. */
export interface Counted extends Sized {
  /** The owner of a value, for instance the user. */
  readonly per: string
  readonly most: number
}

/** The name of a value derives from an object that has its own bound. An object has one value. */
export interface Single extends Sized {
  readonly each: string
}

/** Removing a value would do harm, so a limit of the limit table refuses further values. */
export interface Limited extends Sized {
  readonly limit: LimitName
}

/**
 * Every kind of short-lived values with its bound. Code can only store values of these kinds and of the kinds that
 * extensions declare.
 */
export const shortLivedKinds = {
  authorization_code: {
    per: 'user',
    most: 200,
    size: 65_536,
    sentence: 'Authorization codes',
  },
  authorization_request: {
    per: 'user',
    most: 100,
    size: 65_536,
    sentence: 'Authorization requests that wait for the decision on the consent page',
  },
  settings_notice: {
    per: 'user',
    most: 200,
    size: 4_096,
    sentence: 'Notices, possibly with a new secret, for the next page',
  },
  settings_form: {
    per: 'address and lifetime',
    most: 1_000,
    size: 32_768,
    sentence: 'Responses to submitted forms, for repetitions of these forms',
  },
  form_draft: {
    per: 'user',
    most: 20,
    size: 131_072,
    sentence: 'Fields of forms that were sent after the session had ended',
  },
  refused_redirect: {
    per: 'user',
    most: 20,
    size: 16_384,
    sentence: 'Redirect URIs that were refused, for the owner of the client',
  },
  looked_up: {
    per: 'user',
    most: 20,
    size: 131_072,
    sentence: 'Credentials that a user looked up, without their values',
  },
  ended_tokens: {
    per: 'user',
    most: 50,
    size: 2_097_152,
    sentence: 'Deleted personal tokens that their user can restore',
  },
  deleted_token: {
    each: 'deleted value of a personal token',
    size: 1_024,
    sentence: 'Names of deleted personal tokens, for leak reports',
  },
  user_link: {
    per: 'e-mail address',
    most: 30,
    size: 65_536,
    sentence: 'Links by e-mail: password reset, verification, sign-up',
  },
  pushed_request: {
    per: 'confidential client that is trusted; otherwise address',
    most: 5_000,
    size: 131_072,
    sentence: 'Pushed authorization requests; separately those that a browser has opened',
  },
  device_code: {
    per: 'address and client',
    most: 1_000,
    size: 65_536,
    sentence: 'Device authorization requests',
  },
  user_code: {
    per: 'address and client',
    most: 1_000,
    size: 1_024,
    sentence: 'User codes of devices',
  },
  device_decision: {
    each: 'device code',
    storedAs: 'device_code',
    size: 65_536,
    sentence: 'Decisions of users about devices',
  },
  device_interval: {
    each: 'device code',
    storedAs: 'device_code',
    size: 64,
    sentence: 'Intervals between the polls of devices',
  },
  device_poll: {
    each: 'device code',
    storedAs: 'device_code',
    size: 64,
    sentence: 'Last polls of devices',
  },
  wrong_user_codes: {
    each: 'ten minutes',
    storedAs: 'user_code',
    size: 64,
    sentence: 'Numbers of wrong user codes of all users',
  },
  device_confirmation: {
    per: 'user',
    most: 50,
    size: 65_536,
    sentence: 'Devices that wait for the decision on the consent page',
  },
  client_refusals: {
    each: 'client',
    size: 131_072,
    sentence: 'Latest refused requests of a client, and the clients with the most refusals',
  },
  leaked_credential: {
    each: 'credential of this server',
    size: 64,
    sentence: 'Results of leak reports',
  },
  client_assertion: {
    limit: 'signedByClient',
    size: 64,
    sentence: 'Used client assertions (`jti`)',
  },
  used_pushed_request: {
    limit: 'signedByClient',
    size: 64,
    sentence: 'Used pushed authorization requests',
  },
  request_object: {
    limit: 'signedByClient',
    size: 64,
    sentence: 'Used request objects (`jti`)',
  },
  dpop_proof: {
    limit: 'usedProofs',
    size: 64,
    sentence: 'Used DPoP proofs (`jti`)',
  },
} as const satisfies Readonly<Record<string, Bound>>

/** A built-in kind of short-lived values. */
export type ShortLivedKind = keyof typeof shortLivedKinds

/** The bound of a kind of an extension that declares no bound. */
export const defaultBound = { most: 100, size: 65_536 }

/** Returns the bound of a kind. The values of an extension are counted per owner, which the extension passes. */
export const boundOf = (
  kind: ShortLivedKind | OwnKind,
  own: Partial<Pick<Counted, 'most' | 'size'>> = {},
): Bound => {
  const known = (shortLivedKinds as Readonly<Record<string, Bound>>)[kind]
  return known ?? { per: 'owner', sentence: kind, ...defaultBound, ...own }
}

/** The prefixes of the other short-lived rows, with the reason why their number is bounded. */
export const otherShortLivedRows = {
  'limit:': 'Rate limits: for each address, account or client, as many as the limit has points',
  sweeper: 'The lease of the sweeper: one',
  'host_transaction:': 'Open transactions of the application: one for each transaction',
} as const
