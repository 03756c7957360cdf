import type { LogLevel } from '../../model/log.ts'

/** An event of the log: its levels, and its meaning for the operator. */
export interface LogEvent {
  readonly levels: readonly LogLevel[]
  readonly sentence: string
}

const outage = 'The store, Redis or password hashing is overloaded or unavailable.'
const tampered =
  'A row was changed outside of this server, or was sealed under a secret key that is not configured. The server refuses the row.'

/** The meaning of each log event for the operator, by the levels of the event. */
const sentences: readonly (readonly [readonly LogLevel[], Readonly<Record<string, string>>])[] = [
  [
    ['debug'],
    {
      'http.request':
        'One entry for each request that the server handles. The events metric does not count these entries.',
    },
  ],
  [
    ['info'],
    {
      'clock.agrees': 'The clock of this machine agrees with the clock of the database again.',
      'health.ready': 'The database responds and accepts writes again.',
      'migration.waiting':
        'A starting node waits for another node that migrates the database, or for a long transaction on its tables.',
      'request.refused':
        'A request was refused for a cause that the response does not contain. The entry contains the cause.',
      'transients.back': 'Redis responds again.',
    },
  ],
  [
    ['warn'],
    {
      'address.missing':
        'Requests have no IP address, as on a Unix socket, so limits that count only IP addresses do not apply. If a trusted proxy sends the requests, add `unix` to `trustedProxies`.',
      'audit.late':
        'The counts of routine events could not be written yet, or were lost because too many counts were waiting. `lost` is the number of lost events.',
      'audit.lost':
        'Events are missing from the audit log: too many occurred at the same time, or a write failed.',
      'authorization_code.reused':
        'A code was stolen, or a client sent a code twice. The tokens issued for the code are revoked.',
      'client_refusals.lost':
        'The last refusals of clients could not be written. No request is affected.',
      'clock.differs':
        'The clock of this machine differs by more than 5 s from the clock of the database.',
      'credential.leaked':
        'A secret scanner found a token or a client secret. The server revoked the credential, and calls `onLeaked`.',
      'device_code.reused':
        'A device code was stolen, or a device sent a code twice. The tokens issued for the code are revoked.',
      'health.unready':
        '`/health/ready` responds with 503: the database does not respond, or rejects writes.',
      'limit.reached':
        'Somebody guesses credentials or floods the server, or a program retries in a loop. Further requests get 429. `limit` identifies the limit, and `address` is the IP address or network of the sender. If the sender is a proxy, add its IP address to `trustedProxies`.',
      'login.guessed':
        'Within an hour, 20 logins of one user failed in this process: somebody may be guessing the password. `userId` identifies the user.',
      'logout.not_delivered':
        'A client did not receive a logout token: five attempts failed, the client rejected the token, or too many logouts of one user were waiting. `clientId` and `host` identify the client. The client may keep the user logged in.',
      'refresh_token.reused':
        'A refresh token was stolen, or a client sent a refresh token that had been replaced. The authorization is revoked.',
      'registration.full':
        'Too many self-registered clients have no tokens. The server deletes the oldest of these clients. The cause is a flood of registrations, or a sweeper that does not run.',
      'request.unavailable': `${outage} The response had the status 503.`,
      'schema.newer':
        'At start-up: a newer version has migrated the database. This version can use the newer schema, for instance during a rolling upgrade or after a rollback.',
      'session.moved':
        'A session cookie came from another network or browser, and was refused. The cookie was stolen, or the user changed networks or updated the browser.',
      'settings.loosened':
        'At start-up: a setting makes the server less strict than possible. The implicit grant and tokens in the query are reported too, although both are enabled by default.',
      'sweeper.held':
        'The sweeper is paused, because the clock of this machine may be wrong. The message contains the reason.',
      'token_uses.lost': 'The last uses of tokens could not be written. No request is affected.',
      'user.email_kept':
        'The e-mail address of a user is not in normal form, and remains unchanged: it contains invisible characters, or another user has the normal form. `users set-email` changes the address.',
      'user.vanished':
        'Two look-ups, at least a day apart, did not find a user in the application, or found a newer user with the same ID: the rows of the deleted user are removed.',
      'user_code.guessed':
        'Within ten minutes, 50 wrong user codes were entered on the device page: somebody may be guessing codes.',
      'users.reusable_ids':
        'The server cannot recognize a new user who has the ID of a deleted user: there are no foreign keys, and no creation time of the users. If the option `users` consists of callbacks, the server checks the first user that `users.find` returns.',
    },
  ],
  [
    ['warn', 'error'],
    {
      'client_logo.failed':
        'The logo of a verified client could not be fetched or stored. The message contains the reason. Pages show the client without a logo, or with the former logo.',
      'removal.failed':
        'Rows of a deleted client or user were not removed. The sweeper tries again.',
      'secret_key.not_noted':
        'The node could not record which secret key it uses, or read which keys other nodes use. The node tries again within a minute.',
      'sweeper.failed':
        'Expired rows, or the oldest tokens beyond a limit, were not removed. The server tries again.',
      'transients.away':
        'Redis does not respond. Requests that need Redis fail with 503. The level is error if Redis has not responded since start-up: check the URL of Redis.',
    },
  ],
  [
    ['error'],
    {
      'audit.tampered':
        'A row or a checkpoint of the audit log was changed, removed or inserted outside of this server. `audit verify` lists every defect.',
      'client.tampered': tampered,
      'clock.wrong':
        'The clock of this machine differs by more than 30 s from the clock of the database: `/health/ready` responds with 503, and this node does not sweep.',
      'consent.tampered': tampered,
      'hook.failed':
        'A hook for audit events failed. The request that caused the event is not affected.',
      'leak_hook.failed':
        'The function `onLeaked` of the application failed, so the owner of a leaked credential may not have been informed.',
      'request.failed':
        'An unexpected error, which is a bug of the server or of a function of the application. The response had the status 500.',
      'secret_key.unreadable_rows':
        'A key rotation found rows that are sealed under a key that is not configured, or that were changed.',
      'session.tampered': tampered,
      'signing_key.tampered': tampered,
      'token.tampered': tampered,
      'user.tampered': tampered,
      'user_link.failed':
        'The function `sendUserLink` of the application failed, so the user did not receive the link.',
      'users.missing':
        'More than 10 users, and more than a tenth of the checked users, were not found in the application. The rows of these users are not removed. The look-up is broken, or the users were deleted without `users.deleted(id)`.',
    },
  ],
]

/** The log events. The log reference and the counters of the events metric are generated from this table. */
export const events: Readonly<Record<string, LogEvent>> = Object.fromEntries(
  sentences
    .flatMap(([levels, ofLevels]) =>
      Object.entries(ofLevels).map(([event, sentence]) => [event, { levels, sentence }] as const),
    )
    .sort(([a], [b]) => (a < b ? -1 : 1)),
)
