import type { LogLevel } from '../../model/log.ts'

/** An event of the log: its levels, and its meaning for the operator. */
export interface LogEvent {
  readonly levels: readonly LogLevel[]
  readonly sentence: string
}

const outage = 'The store, Redis or the hashing of passwords cannot keep up, or is away.'
const tampered =
  'Somebody wrote to the database past this server, or a secret key is missing; the row is refused.'

/** Every event once: the reference is written from it, and what was not yet is counted as 0. */
export const events: Readonly<Record<string, LogEvent>> = {
  'address.missing': {
    levels: ['warn'],
    sentence:
      'Requests come without the address of their sender, as on a Unix socket: limits for each address are off. `trustedProxies` accepts `unix`.',
  },
  'audit.lost': {
    levels: ['warn'],
    sentence:
      'Events are missing in the audit log: too many events at once, or the store was away.',
  },
  'audit.tampered': {
    levels: ['error'],
    sentence:
      'A row or a checkpoint of the audit log was changed, removed or inserted past this server; `audit verify` lists all of them.',
  },
  'authorization_code.reused': {
    levels: ['warn'],
    sentence: 'A code was stolen, or a client sends codes twice; what was issued is revoked.',
  },
  'clock.agrees': {
    levels: ['info'],
    sentence: "The clock of this machine agrees with the database's again.",
  },
  'clock.differs': {
    levels: ['warn'],
    sentence: "The clock of this machine differs by more than 5 s from the database's.",
  },
  'clock.wrong': {
    levels: ['error'],
    sentence:
      "The clock of this machine differs by more than 30 s from the database's: `/health/ready` answers 503, and this node removes nothing.",
  },
  'client.tampered': { levels: ['error'], sentence: tampered },
  'consent.tampered': { levels: ['error'], sentence: tampered },
  'credential.leaked': {
    levels: ['warn'],
    sentence:
      'A secret scanner found a token or a client secret; it has ended, and its owner is told.',
  },
  'device_code.reused': {
    levels: ['warn'],
    sentence: 'A device code was stolen, or a device sends it twice; what was issued is revoked.',
  },
  'health.ready': { levels: ['info'], sentence: '`/health/ready` answers 200 again.' },
  'health.unready': {
    levels: ['warn'],
    sentence: '`/health/ready` answers 503: the database does not answer, or takes no writes.',
  },
  'hook.failed': {
    levels: ['error'],
    sentence: 'A hook of the application failed; no request depends on it.',
  },
  'http.request': {
    levels: ['debug'],
    sentence: 'One for each request to an address of the server; not counted as an event.',
  },
  'leak_hook.failed': {
    levels: ['error'],
    sentence:
      'The function `onLeaked` of the application failed: the owner of a leaked credential was perhaps not told.',
  },
  'limit.reached': {
    levels: ['warn'],
    sentence:
      'Somebody guesses, or floods, or a program goes round in circles; more of it is answered by 429. `limit` names which, `address` who. Where that is the address of a proxy, `trustedProxies` lacks it.',
  },
  'login.guessed': {
    levels: ['warn'],
    sentence:
      'Within an hour, 20 logins of one user failed at this process: somebody may be guessing the password. `userId` names the user.',
  },
  'migration.waiting': {
    levels: ['info'],
    sentence:
      'A start waits for another node that migrates the database, or for a long transaction on its tables.',
  },
  'refresh_token.reused': {
    levels: ['warn'],
    sentence:
      'A refresh token was stolen, or a client keeps old ones; its authorization is revoked.',
  },
  'registration.full': {
    levels: ['warn'],
    sentence:
      'So many clients registered themselves and were never used that the oldest of them are deleted: a flood, or nothing removes them.',
  },
  'removal.failed': {
    levels: ['warn', 'error'],
    sentence: 'Rows of a deleted client or user were not removed; the sweeper tries again.',
  },
  'request.failed': { levels: ['error'], sentence: 'A fault of the server; it answered 500.' },
  'request.refused': {
    levels: ['info'],
    sentence: 'A refusal whose reason the caller is not told.',
  },
  'request.unavailable': { levels: ['warn'], sentence: `${outage} The server answered 503.` },
  'schema.newer': {
    levels: ['warn'],
    sentence:
      'At the start: a newer version has migrated the database. This one serves from it, as in the middle of an upgrade, or after one that was taken back.',
  },
  'secret_key.not_noted': {
    levels: ['warn', 'error'],
    sentence: 'Which secret keys are in use could not be looked up; the next minute tries again.',
  },
  'secret_key.unreadable_rows': {
    levels: ['error'],
    sentence:
      'A rotation found rows under a key that is not configured, or not as they were sealed.',
  },
  'session.moved': {
    levels: ['warn'],
    sentence: 'A session cookie came from another machine or browser: stolen, or the user moved.',
  },
  'session.tampered': { levels: ['error'], sentence: tampered },
  'settings.loosened': {
    levels: ['warn'],
    sentence:
      'At the start: a setting makes the server less strict than it can be. The implicit grant and tokens in the query, both on by default, are named too.',
  },
  'signing_key.tampered': { levels: ['error'], sentence: tampered },
  'sweeper.failed': {
    levels: ['warn', 'error'],
    sentence: 'Expired rows were not removed; the next run tries again.',
  },
  'sweeper.held': {
    levels: ['warn'],
    sentence:
      'Nothing is removed for now, since the clock of this machine differs from that of the database, or has jumped.',
  },
  'token.tampered': { levels: ['error'], sentence: tampered },
  'transients.away': {
    levels: ['warn', 'error'],
    sentence:
      'Redis does not answer; what needs it answers 503. An error where that is so since the start: is the address right?',
  },
  'transients.back': { levels: ['info'], sentence: 'Redis answers again.' },
  'token_uses.lost': {
    levels: ['warn'],
    sentence: 'When tokens were used last could not be written; no request depends on it.',
  },
  'user.tampered': { levels: ['error'], sentence: tampered },
  'user_code.guessed': {
    levels: ['warn'],
    sentence:
      'Within ten minutes, 50 wrong codes were entered on the page for devices: somebody guesses them.',
  },
  'user.vanished': {
    levels: ['warn'],
    sentence:
      'The application did not find a user twice, at least a day apart: what was theirs is removed.',
  },
  'users.missing': {
    levels: ['error'],
    sentence:
      'The application did not find more than 10, and more than a tenth, of the users that were checked: nothing of theirs is removed. The look-up is wrong, or they were deleted without `users.deleted(id)`.',
  },
}
