/** A metric: its name, and the meaning of each of its attributes. */
export interface Instrument {
  readonly name: string
  readonly kind: 'counter' | 'histogram' | 'gauge'
  /** The unit in UCUM notation. Braces contain the counted thing, such as `{row}`. */
  readonly unit: string
  readonly sentence: string
  readonly attributes: Readonly<Record<string, string>>
  /** The upper bounds of a histogram's buckets. */
  readonly boundaries?: readonly number[]
}

/** Upper bounds in seconds, as the OpenTelemetry conventions for HTTP recommend. */
const requestBoundaries = [
  0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10,
]
const operationBoundaries = [
  0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5,
]
const runBoundaries = [0.01, 0.1, 0.5, 1, 5, 10, 30, 60, 300]

/**
 * Every metric. The reference is generated from this table. Clients must not be able to choose the value of an
 * attribute, because each value creates a time series.
 */
export const instruments = {
  requestDuration: {
    name: 'oauth2server.request.duration',
    kind: 'histogram',
    unit: 's',
    sentence: 'Duration of the requests that the server handles.',
    attributes: {
      'http.request.method': 'the method; `_OTHER` for a method that HTTP does not define',
      'http.route':
        'the pattern of the path, such as `/oauth/token`; absent if no endpoint has the path',
      'http.response.status_code': 'the status',
    },
    boundaries: requestBoundaries,
  },
  grants: {
    name: 'oauth2server.grants',
    kind: 'counter',
    unit: '{grant}',
    sentence: 'Token requests that were granted or refused.',
    attributes: {
      'oauth2server.grant_type':
        'the `grant_type`; `implicit` at the authorization endpoint; `_OTHER` for an unknown grant type',
      'oauth2server.outcome':
        '`ok`, or the error code of the response, such as `invalid_grant`; `server_error` for a bug of the server',
    },
  },
  tokenLookups: {
    name: 'oauth2server.token_lookups',
    kind: 'counter',
    unit: '{lookup}',
    sentence: 'Access tokens that were presented to this server or to guards of the application.',
    attributes: {
      'oauth2server.outcome':
        '`valid`; `unknown` (never issued, revoked, or altered); `expired`; `inactive` (its user, owner or client is inactive); `misplaced` (for another resource, or presented with the wrong scheme)',
    },
  },
  storeOperationDuration: {
    name: 'oauth2server.store.operation.duration',
    kind: 'histogram',
    unit: 's',
    sentence: 'Duration of database and Redis operations, including the wait for a connection.',
    attributes: {
      'oauth2server.store.operation':
        'such as `tokens.findByAccess`, `transients.take`, `transaction`',
      'error.type': 'the name of the error; absent without an error',
    },
    boundaries: operationBoundaries,
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
    sentence: 'Duration of the runs of the sweeper.',
    attributes: { 'error.type': 'the name of the error; absent without an error' },
    boundaries: runBoundaries,
  },
  sweeperRows: {
    name: 'oauth2server.sweeper.rows',
    kind: 'counter',
    unit: '{row}',
    sentence: 'Rows that the sweeper removed.',
    attributes: {},
  },
  events: {
    name: 'oauth2server.events',
    kind: 'counter',
    unit: '{event}',
    sentence:
      'Log entries of level `info` and above, including entries that `logLevel` suppresses.',
    attributes: {
      'oauth2server.event': 'the event, such as `token.tampered`',
      'oauth2server.level': '`info`, `warn` or `error`',
    },
  },
} as const satisfies Record<string, Instrument>

/** The attributes of a measurement, limited to the attributes that the instrument declares. */
export type AttributesOf<I extends Instrument> = {
  readonly [Name in keyof I['attributes']]?: string | number
}
