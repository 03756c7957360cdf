import type { UserId } from './user.ts'

/** The possible details of an event, in addition to its subject. No detail contains a credential. */
interface Details {
  readonly scopes: readonly string[]
  /** The optional scopes that the user declined. */
  readonly declined: readonly string[]
  /** The `grant_type`, or `implicit`; undefined if code of the application issued the token. */
  readonly grant: string | undefined
  /** The reason, in one word. */
  readonly reason: string
  /** The names of the fields that changed. */
  readonly fields: readonly string[]
  /** The texts of the changed fields before and after the change, without secrets. Long texts are shortened. */
  readonly changes: Readonly<Record<string, readonly [before: string, after: string]>>
  /** The last four characters of a token; null if they are unknown. */
  readonly ending: string | null
  /** The seconds for which the former secret remains valid. */
  readonly overlap: number
  /** The expiry in milliseconds since the epoch; null: never. */
  readonly expires: number | null
  /** The number of objects or attempts. */
  readonly count: number
  /** The number of objects that were checked. */
  readonly checked: number
  /** The time of the first look-up that did not find the user, in milliseconds since the epoch. */
  readonly since: number
  /** How the client was created: `owner`, `registration` or `metadata_document`. */
  readonly origin: string
  /** The former client ID. */
  readonly former: string
}

interface EventDescription {
  readonly sentence: string
  readonly details: readonly (keyof Details)[]
}

/** All built-in audit events. `npm run reference` documents this table. */
export const auditEvents = {
  'login.succeeded': { sentence: 'A user logged in on the login page.', details: [] },
  'login.failed': {
    sentence:
      'A login with e-mail address and password was refused. If the e-mail address belongs to a user, the event names this user. The event never contains the submitted values. The first failure for a user is recorded immediately. Further failures within the hour are combined in one event. This event contains the `count` of these failures, and the time, IP address and browser of the latest failure.',
    details: ['count'],
  },
  'session.ended': {
    sentence:
      'Sessions of a user were ended before their expiry. Reasons: `logout`, `elsewhere` (the user ended the session in the list of sessions), `login` (a new login in the same browser), `password` (the password was changed), `administrator` (an administrator logged the user out), `limit` (a new login exceeded the maximum number of sessions).',
    details: ['reason', 'count'],
  },
  'consent.given': {
    sentence: 'A user gave consent to a client, on the consent page or the device page.',
    details: ['scopes', 'declined'],
  },
  'consent.withdrawn': {
    sentence:
      'A user withdrew all consent from a client, or from all clients if the event names no client. `count` is the number of revoked authorizations.',
    details: ['count'],
  },
  'token.issued': {
    sentence: 'A client received a token.',
    details: ['grant', 'scopes'],
  },
  'id_token.issued': {
    sentence:
      'A client received an ID token from the authorization endpoint, with which the user logged in to the client.',
    details: ['scopes'],
  },
  'token.refreshed': { sentence: 'A refresh token was redeemed.', details: ['scopes'] },
  'token.revoked': {
    sentence:
      'A token was revoked, for instance by a client, by a user or by code of the application. Usually, the authorization of the token was revoked too. `ending` contains the last four characters of the token; null if only the authorization is known.',
    details: ['ending'],
  },
  'token.deleted': {
    sentence:
      'An administrator deleted a token. `ending` contains the last four characters of the token.',
    details: ['ending'],
  },
  'refresh_token.reused': {
    sentence: 'A rotated refresh token was presented again, so its authorization was revoked.',
    details: [],
  },
  'authorization_code.reused': {
    sentence:
      'An authorization code was redeemed twice, so the tokens issued from it were revoked.',
    details: [],
  },
  'device_code.reused': {
    sentence: 'A device code was redeemed twice, so the tokens issued from it were revoked.',
    details: [],
  },
  'personal_token.created': {
    sentence: 'A personal token was created.',
    details: ['scopes', 'expires', 'ending'],
  },
  'personal_token.edited': {
    sentence: 'Fields of a personal token were changed.',
    details: ['fields', 'changes'],
  },
  'personal_token.rotated': {
    sentence: 'A personal token was replaced by a new value.',
    details: ['overlap', 'ending'],
  },
  'personal_token.deleted': {
    sentence: 'A personal token was deleted.',
    details: ['ending'],
  },
  'personal_token.restored': {
    sentence: 'A user undid the deletion of a personal token within a few seconds.',
    details: [],
  },
  'client.created': {
    sentence: 'A client was registered, or registered itself.',
    details: ['origin'],
  },
  'client.edited': {
    sentence: 'Fields of a client were changed.',
    details: ['fields', 'changes'],
  },
  'client.deleted': { sentence: 'A client was deleted with all its tokens.', details: [] },
  'client.secret_reset': { sentence: 'A client received a new secret.', details: ['overlap'] },
  'client.registration_token_leaked': {
    sentence:
      'The token with which a client manages its own registration was reported as leaked and was revoked. The client can no longer change or delete its registration.',
    details: [],
  },
  'client.secret_leaked': {
    sentence:
      'A client secret was reported as leaked and was revoked. If the current secret leaked, the client has no valid secret until the secret is reset.',
    details: [],
  },
  'client.tokens_ended': {
    sentence:
      'All tokens of a client, and all consents to the client, were revoked. The client secret remains valid.',
    details: [],
  },
  'client.id_reset': { sentence: 'A client received a new ID.', details: ['former'] },
  'client.verified': { sentence: 'An administrator marked a client as verified.', details: [] },
  'client.unverified': {
    sentence: 'An administrator removed the verified mark of a client.',
    details: [],
  },
  'client.logo_changed': {
    sentence: 'The server fetched a new logo of a verified client. Pages show the image to users.',
    details: [],
  },
  'client.disabled': { sentence: 'An administrator disabled a client.', details: [] },
  'client.enabled': { sentence: 'A disabled client was enabled again.', details: [] },
  'client.pinned': {
    sentence:
      'An administrator pinned a client: the server uses the stored copy of its metadata document and does not fetch it again.',
    details: [],
  },
  'client.unpinned': {
    sentence: 'An administrator unpinned a client: the server fetches its metadata document again.',
    details: [],
  },
  'user.created': { sentence: 'A user was created.', details: [] },
  'user.activated': { sentence: 'A user was activated and may log in again.', details: [] },
  'user.deactivated': {
    sentence: 'A user was deactivated. The server refuses the tokens and clients of this user.',
    details: [],
  },
  'user.tokens_ended': {
    sentence:
      'All personal tokens of a user, and the tokens that clients of the user requested on their own behalf, were revoked. `count` is the number of personal tokens.',
    details: ['count'],
  },
  'user.admin_granted': { sentence: 'A user became an administrator.', details: [] },
  'user.admin_withdrawn': { sentence: 'A user is no longer an administrator.', details: [] },
  'user.password_changed': { sentence: 'A user received a new password.', details: [] },
  'user.email_verified': {
    sentence: 'A user or the application confirmed the e-mail address of the user.',
    details: [],
  },
  'user.email_changed': {
    sentence: 'A user received another e-mail address. `former` is the address before.',
    details: ['former'],
  },
  'user.deleted': {
    sentence: 'A user was deleted, with the data of that user. The audit log remains.',
    details: [],
  },
  'user.vanished': {
    sentence:
      'Two look-ups, at least a day apart, did not find a user in the application, and the sweeper removed the data of the user.',
    details: ['since'],
  },
  'users.missing': {
    sentence:
      'Suspiciously many of the checked users are missing in the application, so the sweeper did not remove their data. Recorded at most once a day.',
    details: ['count', 'checked'],
  },
  'secret_key.rotated': {
    sentence: 'Rows were sealed again under the current secret key. `count` is the number of rows.',
    details: ['count'],
  },
  'signing_key.created': { sentence: 'A key pair for signing tokens was created.', details: [] },
} as const satisfies Readonly<Record<string, EventDescription>>

/** The name of a built-in audit event. */
export type BuiltInEventName = keyof typeof auditEvents

/**
 * The name of an extension's event: the name of the extension, a slash, and a name that the extension chooses.
 * Built-in names do not contain a slash.
 */
export type OwnEventName = `${string}/${string}`

/** The name of an audit event, built-in or of an extension. */
export type AuditEventName = BuiltInEventName | OwnEventName

/** The details of an extension's event. Administrators can read the details, so they must not contain secrets. */
export type OwnDetails = Readonly<
  Record<string, string | number | boolean | null | readonly string[]>
>

/** The details of the event with this name. */
export type AuditDetails<Name extends AuditEventName> = {
  [Each in Name]: Each extends BuiltInEventName
    ? Pick<Details, (typeof auditEvents)[Each]['details'][number]>
    : OwnDetails
}[Name]

/** Returns whether a built-in audit event has this name. */
export const isBuiltInEventName = (text: string): text is BuiltInEventName =>
  Object.hasOwn(auditEvents, text)

/**
 * The actor of an event: a user, a client, an operator at the command line, the application or the server itself
 * (`system`), or an unknown actor.
 */
export type AuditActor = 'user' | 'client' | 'command_line' | 'system' | 'unknown'

/** The actor of an event, and the request in which the actor performed the action. */
export interface AuditOrigin {
  readonly actor: AuditActor
  readonly actorId: UserId | null
  /** The e-mail address of a user; empty for other actors. */
  readonly actorEmail: string
  /** The IP address of the sender; empty if unknown. */
  readonly address: string
  /** The `User-Agent` of the request. */
  readonly userAgent: string
  readonly requestId: string | null
}

/** The objects that an action affected. */
export interface AuditSubject {
  /** The user whose account the event is about. */
  readonly userId: UserId | null
  readonly userEmail: string | null
  readonly clientId: string | null
  /** The ID of the token's row, never its value. */
  readonly tokenId: number | null
  readonly authorizationId: number | null
  /** The name of the client or the personal token at the time of the event. */
  readonly subject: string
}

/** An audit event with this name. */
interface AuditEventOf<Name extends AuditEventName> extends AuditOrigin, AuditSubject {
  readonly event: Name
  /** Milliseconds since the epoch. */
  readonly at: number
  /** Whether the event is very frequent, such as a refresh. The settings pages do not show routine events to users. */
  readonly isRoutine: boolean
  readonly details: AuditDetails<Name>
}

/**
 * An audit event, such as a login or a change of permissions. An event never contains a complete token, a code, a
 * password or a session identifier.
 */
export type AuditEvent<Name extends AuditEventName = AuditEventName> = {
  [Each in Name]: AuditEventOf<Each>
}[Name]

/** An event with the seal of its row. */
export type SealedAuditEvent = AuditEvent & { readonly seal: string }

/** A stored event. If another version of this package wrote the event, this version may not know its name. */
export interface AuditRecord extends AuditOrigin, AuditSubject {
  readonly id: number
  readonly at: number
  readonly isRoutine: boolean
  readonly event: string
  readonly details: Readonly<Record<string, unknown>>
}
