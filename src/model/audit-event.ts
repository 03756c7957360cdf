import type { UserId } from './user.ts'

/** The details that an event may have, besides its subject. They never contain a credential. */
interface Details {
  readonly scopes: readonly string[]
  /** Optional scopes that the user refused. */
  readonly declined: readonly string[]
  /** A `grant_type`, or `implicit`; missing where code of the application issued the token. */
  readonly grant: string | undefined
  /** Why it happened, in a word. */
  readonly reason: string
  /** The names of the fields that have other values now. */
  readonly fields: readonly string[]
  /** Seconds for which the former secret stays valid. */
  readonly overlap: number
  /** Milliseconds since the epoch; null: never. */
  readonly expires: number | null
  /** How many of them. */
  readonly count: number
  /** Among how many that were looked at. */
  readonly checked: number
  /** Milliseconds since the epoch: when it was first so. */
  readonly since: number
  /** How a client came: `owner`, `registration` or `metadata_document`. */
  readonly origin: string
  /** The former client id. */
  readonly former: string
}

interface Kind {
  readonly sentence: string
  readonly details: readonly (keyof Details)[]
}

/** Every event once: what changes who may do what. The reference is written from it. */
export const auditEvents = {
  'login.succeeded': { sentence: 'A user logged in on the login page.', details: [] },
  'login.failed': {
    sentence:
      'An e-mail address and a password were refused. It names the user, if there is one of that address, and never what was typed. The first of a user is recorded at once, the others of that hour as one event with their `count`, with time, address and browser of the latest.',
    details: ['count'],
  },
  'session.ended': {
    sentence:
      'Sessions of a user ended before their time. Reasons: `logout`, `elsewhere` (in the list of sessions), `login` (in the same browser), `password` (it was changed).',
    details: ['reason', 'count'],
  },
  'consent.given': {
    sentence: 'A user let a client act, by the consent page or that for devices.',
    details: ['scopes', 'declined'],
  },
  'consent.withdrawn': {
    sentence:
      'A user took everything back from a client, or, where it names none, from all. It counts the authorizations that ended.',
    details: ['count'],
  },
  'token.issued': {
    sentence: 'A client got a token.',
    details: ['grant', 'scopes'],
  },
  'token.refreshed': { sentence: 'A refresh token was redeemed.', details: ['scopes'] },
  'token.revoked': {
    sentence:
      'A token was ended, with its authorization where it has one: by its client, its user, or code of the application.',
    details: [],
  },
  'token.deleted': { sentence: 'An administrator ended a token.', details: [] },
  'refresh_token.reused': {
    sentence: 'A rotated refresh token was presented again; its authorization ended.',
    details: [],
  },
  'authorization_code.reused': {
    sentence: 'A code was redeemed twice; what was issued from it ended.',
    details: [],
  },
  'device_code.reused': {
    sentence: 'A device code was redeemed twice; what was issued from it ended.',
    details: [],
  },
  'personal_token.created': {
    sentence: 'A personal token was created.',
    details: ['scopes', 'expires'],
  },
  'personal_token.edited': {
    sentence: 'Name or scopes of a personal token were changed.',
    details: ['fields'],
  },
  'personal_token.rotated': {
    sentence: 'A personal token got another value.',
    details: ['overlap'],
  },
  'personal_token.deleted': { sentence: 'A personal token was deleted.', details: [] },
  'client.created': {
    sentence: 'A client was registered, or registered itself.',
    details: ['origin'],
  },
  'client.edited': { sentence: 'Fields of a client were changed.', details: ['fields'] },
  'client.deleted': { sentence: 'A client was deleted with all its tokens.', details: [] },
  'client.secret_reset': { sentence: 'A client got another secret.', details: ['overlap'] },
  'client.secret_leaked': {
    sentence:
      'A client secret was reported as leaked, and ended; the client has none until it is reset.',
    details: [],
  },
  'client.id_reset': { sentence: 'A client got another id.', details: ['former'] },
  'client.verified': { sentence: 'An administrator marked a client as verified.', details: [] },
  'client.unverified': { sentence: 'That mark was taken back.', details: [] },
  'client.disabled': { sentence: 'An administrator disabled a client.', details: [] },
  'client.enabled': { sentence: 'A disabled client was enabled again.', details: [] },
  'user.created': { sentence: 'A user was created.', details: [] },
  'user.activated': { sentence: 'A user may log in again.', details: [] },
  'user.deactivated': {
    sentence: 'A user was made inactive, with all tokens and clients.',
    details: [],
  },
  'user.admin_granted': { sentence: 'A user became an administrator.', details: [] },
  'user.admin_withdrawn': { sentence: 'A user is no administrator any more.', details: [] },
  'user.password_changed': { sentence: 'A user got another password.', details: [] },
  'user.deleted': { sentence: 'A user was deleted with all that was theirs.', details: [] },
  'user.vanished': {
    sentence:
      'The application did not find a user twice, at least a day apart, and the sweeper removed what was theirs.',
    details: ['since'],
  },
  'users.missing': {
    sentence:
      'The application did not find so many of the users that were checked that the sweeper removed nothing of theirs; recorded once a day.',
    details: ['count', 'checked'],
  },
  'secret_key.rotated': {
    sentence: 'Rows were sealed anew under the current secret key; it counts them.',
    details: ['count'],
  },
  'signing_key.created': { sentence: 'A key pair that signs tokens was made.', details: [] },
} as const satisfies Readonly<Record<string, Kind>>

export type BuiltInEventName = keyof typeof auditEvents

/** An event of an extension: the name of the extension, a slash, and the name that it gave. No name of ours has a slash. */
export type OwnEventName = `${string}/${string}`

export type AuditEventName = BuiltInEventName | OwnEventName

/** What an event of an extension says besides whose it is. Never a secret: administrators read it, and backups keep it. */
export type OwnDetails = Readonly<
  Record<string, string | number | boolean | null | readonly string[]>
>

/** What an event of that name tells besides whose it is. */
export type AuditDetails<Name extends AuditEventName> = {
  [Each in Name]: Each extends BuiltInEventName
    ? Pick<Details, (typeof auditEvents)[Each]['details'][number]>
    : OwnDetails
}[Name]

export const isBuiltInEventName = (text: string): text is BuiltInEventName =>
  Object.hasOwn(auditEvents, text)

/**
 * Who did it: a user; a client, by a request of its own; an operator at the command line; code of the
 * application, or the server by itself; or nobody knows.
 */
export type AuditActor = 'user' | 'client' | 'command_line' | 'system' | 'unknown'

/** Who did something, and from where. */
export interface AuditOrigin {
  readonly actor: AuditActor
  readonly actorId: UserId | null
  /** Empty where it was no user. */
  readonly actorEmail: string
  /** Empty where it was no request. */
  readonly address: string
  /** The `User-Agent` of the request. */
  readonly userAgent: string
  readonly requestId: string | null
}

/** What it was done to. */
export interface AuditSubject {
  /** Whose account it is about. */
  readonly userId: UserId | null
  readonly userEmail: string | null
  readonly clientId: string | null
  /** The id of the token's row, never its value. */
  readonly tokenId: number | null
  readonly authorizationId: number | null
  /** The name of the client or the personal token, as it was then. */
  readonly subject: string
}

interface AuditEventOf<Name extends AuditEventName> extends AuditOrigin, AuditSubject {
  readonly event: Name
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Whether it is one of very many: a refresh, or a token that a client got for itself or narrowed. */
  readonly isRoutine: boolean
  readonly details: AuditDetails<Name>
}

/** Something that changed who may do what. It has no secret in it: neither token, code, password nor session. */
export type AuditEvent<Name extends AuditEventName = AuditEventName> = {
  [Each in Name]: AuditEventOf<Each>
}[Name]

/** The same with the seal of its row. */
export type SealedAuditEvent = AuditEvent & { readonly seal: string }

/** The same as it was kept. Keys of users are text then, and an older version may have known other events. */
export interface AuditRecord extends AuditOrigin, AuditSubject {
  readonly id: number
  readonly at: number
  readonly isRoutine: boolean
  readonly event: string
  readonly details: Readonly<Record<string, unknown>>
}
