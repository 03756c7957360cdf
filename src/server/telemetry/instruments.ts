/** One thing that is measured: the name, and what each of its attributes tells apart. */
export interface Instrument {
  readonly name: string
  readonly kind: 'counter' | 'histogram' | 'gauge'
  /** In the notation of UCUM; what is counted stands in braces. */
  readonly unit: string
  readonly sentence: string
  readonly attributes: Readonly<Record<string, string>>
  /** The upper ends of a histogram's buckets. */
  readonly boundaries?: readonly number[]
}

/** Seconds, as the conventions for HTTP have them. */
const ofRequests = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10]
const ofOperations = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]
const ofRuns = [0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300]

/**
 * Every instrument once: the code records by these rows, and the reference is written from them. An
 * attribute never has a value that somebody outside could choose: there would be no end of them.
 */
export const instruments = {
  requestDuration: {
    name: 'oauth2server.request.duration',
    kind: 'histogram',
    unit: 's',
    sentence: "Requests to the server's own addresses, and how long each took.",
    attributes: {
      'http.request.method': 'the method; `_OTHER` for one that HTTP does not know',
      'http.route':
        'the pattern of the address, such as `/oauth/token`; absent where there is nothing',
      'http.response.status_code': 'the status',
    },
    boundaries: ofRequests,
  },
  grants: {
    name: 'oauth2server.grants',
    kind: 'counter',
    unit: '{grant}',
    sentence: 'Token requests that were granted or refused.',
    attributes: {
      'oauth2server.grant_type':
        'the `grant_type`; `implicit` at the authorization endpoint; `_OTHER` for one that is not known',
      'oauth2server.outcome':
        '`ok`, or the error code of the answer, such as `invalid_grant`; `server_error` for a fault of ours',
    },
  },
  tokenLookups: {
    name: 'oauth2server.token_lookups',
    kind: 'counter',
    unit: '{lookup}',
    sentence: 'Access tokens that were presented, to guards of the application too.',
    attributes: {
      'oauth2server.outcome':
        '`valid`; `unknown` (never issued, revoked, or altered); `expired`; `inactive` (of a user, owner or client that is out of action)',
    },
  },
  storeOperationDuration: {
    name: 'oauth2server.store.operation.duration',
    kind: 'histogram',
    unit: 's',
    sentence: 'Operations of the database and of Redis, including the wait for a connection.',
    attributes: {
      'oauth2server.store.operation':
        'such as `tokens.findByAccess`, `transients.take`, `transaction`',
      'error.type': 'the name of the error; absent where there was none',
    },
    boundaries: ofOperations,
  },
  poolConnections: {
    name: 'db.client.connection.count',
    kind: 'gauge',
    unit: '{connection}',
    sentence: 'Connections of this process to PostgreSQL.',
    attributes: {
      'db.client.connection.pool.name': '`svc-oauth2server`',
      'db.client.connection.state': '`idle` or `used`',
    },
  },
  poolPending: {
    name: 'db.client.connection.pending_requests',
    kind: 'gauge',
    unit: '{request}',
    sentence: 'Operations that wait for a connection to PostgreSQL.',
    attributes: { 'db.client.connection.pool.name': '`svc-oauth2server`' },
  },
  sweeperRunDuration: {
    name: 'oauth2server.sweeper.run.duration',
    kind: 'histogram',
    unit: 's',
    sentence: 'Runs of the sweeper, and how long each took.',
    attributes: { 'error.type': 'the name of the error; absent where there was none' },
    boundaries: ofRuns,
  },
  sweeperRows: {
    name: 'oauth2server.sweeper.rows',
    kind: 'counter',
    unit: '{row}',
    sentence: 'Expired rows that the sweeper removed.',
    attributes: {},
  },
  events: {
    name: 'oauth2server.events',
    kind: 'counter',
    unit: '{event}',
    sentence: 'Entries of the log from level `info` on, whether or not they were written.',
    attributes: {
      'oauth2server.event': 'the event, such as `token.tampered`',
      'oauth2server.level': '`info`, `warn` or `error`',
    },
  },
} as const satisfies Record<string, Instrument>

/** The attributes of a measurement: no others than the instrument has. */
export type AttributesOf<I extends Instrument> = {
  readonly [Name in keyof I['attributes']]?: string | number
}
