import type { LogLevel } from '../../model/log.ts'

/** An event of the log: its levels, and its meaning for the operator. */
export interface LogEvent {
  readonly levels: readonly LogLevel[]
  readonly sentence: string
}

const outage = 'The store, Redis or password hashing is overloaded or unavailable.'
const tampered =
  'A row was changed outside of this server, or was sealed under a secret key that is not configured. The server refuses the row.'

/** The log events. The log reference and the counters of the events metric are generated from this table. */
export const events: Readonly<Record<string, LogEvent>> = {
  'address.missing': {
    levels: ['warn'],
    sentence:
      'Requests have no IP address, as on a Unix socket, so limits that count only IP addresses do not apply. If a trusted proxy sends the requests, add `unix` to `trustedProxies`.',
  },
  'audit.late': {
    levels: ['warn'],
    sentence:
      'The counts of routine events could not be written yet, or were lost because too many counts were waiting. `lost` is the number of lost events.',
  },
  'audit.lost': {
    levels: ['warn'],
    sentence:
      'Events are missing from the audit log: too many occurred at the same time, or a write failed.',
  },
  'audit.tampered': {
    levels: ['error'],
    sentence:
      'A row or a checkpoint of the audit log was changed, removed or inserted outside of this server. `audit verify` lists every defect.',
  },
  'authorization_code.reused': {
    levels: ['warn'],
    sentence:
      'A code was stolen, or a client sent a code twice. The tokens issued for the code are revoked.',
  },
  'clock.agrees': {
    levels: ['info'],
    sentence: 'The clock of this machine agrees with the clock of the database again.',
  },
  'clock.differs': {
    levels: ['warn'],
    sentence: 'The clock of this machine differs by more than 5 s from the clock of the database.',
  },
  'clock.wrong': {
    levels: ['error'],
    sentence:
      'The clock of this machine differs by more than 30 s from the clock of the database: `/health/ready` responds with 503, and this node does not sweep.',
  },
  'client.tampered': { levels: ['error'], sentence: tampered },
  'client_logo.failed': {
    levels: ['warn', 'error'],
    sentence:
      'The logo of a verified client could not be fetched or stored. The message contains the reason. Pages show the client without a logo, or with the former logo.',
  },
  'client_refusals.lost': {
    levels: ['warn'],
    sentence: 'The last refusals of clients could not be written. No request is affected.',
  },
  'consent.tampered': { levels: ['error'], sentence: tampered },
  'credential.leaked': {
    levels: ['warn'],
    sentence:
      'A secret scanner found a token or a client secret. The server revoked the credential, and calls `onLeaked`.',
  },
  'device_code.reused': {
    levels: ['warn'],
    sentence:
      'A device code was stolen, or a device sent a code twice. The tokens issued for the code are revoked.',
  },
  'health.ready': { levels: ['info'], sentence: 'The database responds and accepts writes again.' },
  'health.unready': {
    levels: ['warn'],
    sentence:
      '`/health/ready` responds with 503: the database does not respond, or rejects writes.',
  },
  'hook.failed': {
    levels: ['error'],
    sentence: 'A hook for audit events failed. The request that caused the event is not affected.',
  },
  'http.request': {
    levels: ['debug'],
    sentence:
      'One entry for each request that the server handles. The events metric does not count these entries.',
  },
  'leak_hook.failed': {
    levels: ['error'],
    sentence:
      'The function `onLeaked` of the application failed, so the owner of a leaked credential may not have been informed.',
  },
  'limit.reached': {
    levels: ['warn'],
    sentence:
      'Somebody guesses credentials or floods the server, or a program retries in a loop. Further requests get 429. `limit` identifies the limit, and `address` is the IP address or network of the sender. If the sender is a proxy, add its IP address to `trustedProxies`.',
  },
  'login.guessed': {
    levels: ['warn'],
    sentence:
      'Within an hour, 20 logins of one user failed in this process: somebody may be guessing the password. `userId` identifies the user.',
  },
  'logout.not_delivered': {
    levels: ['warn'],
    sentence:
      'A client did not receive a logout token: five attempts failed, the client rejected the token, or too many logouts of one user were waiting. `clientId` and `host` identify the client. The client may keep the user logged in.',
  },
  'migration.waiting': {
    levels: ['info'],
    sentence:
      'A starting node waits for another node that migrates the database, or for a long transaction on its tables.',
  },
  'refresh_token.reused': {
    levels: ['warn'],
    sentence:
      'A refresh token was stolen, or a client sent a refresh token that had been replaced. The authorization is revoked.',
  },
  'registration.full': {
    levels: ['warn'],
    sentence:
      'Too many self-registered clients have no tokens. The server deletes the oldest of these clients. The cause is a flood of registrations, or a sweeper that does not run.',
  },
  'removal.failed': {
    levels: ['warn', 'error'],
    sentence: 'Rows of a deleted client or user were not removed. The sweeper tries again.',
  },
  'request.failed': {
    levels: ['error'],
    sentence:
      'An unexpected error, which is a bug of the server or of a function of the application. The response had the status 500.',
  },
  'request.refused': {
    levels: ['info'],
    sentence:
      'A request was refused for a cause that the response does not contain. The entry contains the cause.',
  },
  'request.unavailable': {
    levels: ['warn'],
    sentence: `${outage} The response had the status 503.`,
  },
  'schema.newer': {
    levels: ['warn'],
    sentence:
      'At start-up: a newer version has migrated the database. This version can use the newer schema, for instance during a rolling upgrade or after a rollback.',
  },
  'secret_key.not_noted': {
    levels: ['warn', 'error'],
    sentence:
      'The node could not record which secret key it uses, or read which keys other nodes use. The node tries again within a minute.',
  },
  'secret_key.unreadable_rows': {
    levels: ['error'],
    sentence:
      'A key rotation found rows that are sealed under a key that is not configured, or that were changed.',
  },
  'session.moved': {
    levels: ['warn'],
    sentence:
      'A session cookie came from another network or browser, and was refused. The cookie was stolen, or the user changed networks or updated the browser.',
  },
  'session.tampered': { levels: ['error'], sentence: tampered },
  'settings.loosened': {
    levels: ['warn'],
    sentence:
      'At start-up: a setting makes the server less strict than possible. The implicit grant and tokens in the query are reported too, although both are enabled by default.',
  },
  'signing_key.tampered': { levels: ['error'], sentence: tampered },
  'sweeper.failed': {
    levels: ['warn', 'error'],
    sentence:
      'Expired rows, or the oldest tokens beyond a limit, were not removed. The server tries again.',
  },
  'sweeper.held': {
    levels: ['warn'],
    sentence:
      'The sweeper is paused, because the clock of this machine may be wrong. The message contains the reason.',
  },
  'token.tampered': { levels: ['error'], sentence: tampered },
  'transients.away': {
    levels: ['warn', 'error'],
    sentence:
      'Redis does not respond. Requests that need Redis fail with 503. The level is error if Redis has not responded since start-up: check the URL of Redis.',
  },
  'transients.back': { levels: ['info'], sentence: 'Redis responds again.' },
  'token_uses.lost': {
    levels: ['warn'],
    sentence: 'The last uses of tokens could not be written. No request is affected.',
  },
  'user.email_kept': {
    levels: ['warn'],
    sentence:
      'The e-mail address of a user is not in normal form, and remains unchanged: it contains invisible characters, or another user has the normal form. `users set-email` changes the address.',
  },
  'user.tampered': { levels: ['error'], sentence: tampered },
  'user_code.guessed': {
    levels: ['warn'],
    sentence:
      'Within ten minutes, 50 wrong user codes were entered on the device page: somebody may be guessing codes.',
  },
  'user_link.failed': {
    levels: ['error'],
    sentence:
      'The function `sendUserLink` of the application failed, so the user did not receive the link.',
  },
  'user.vanished': {
    levels: ['warn'],
    sentence:
      'Two look-ups, at least a day apart, did not find a user in the application, or found a newer user with the same ID: the rows of the deleted user are removed.',
  },
  'users.missing': {
    levels: ['error'],
    sentence:
      'More than 10 users, and more than a tenth of the checked users, were not found in the application. The rows of these users are not removed. The look-up is broken, or the users were deleted without `users.deleted(id)`.',
  },
  'users.reusable_ids': {
    levels: ['warn'],
    sentence:
      'The server cannot recognize a new user who has the ID of a deleted user: there are no foreign keys, and no creation time of the users. If the option `users` consists of callbacks, the server checks the first user that `users.find` returns.',
  },
}
