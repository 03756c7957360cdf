import { OAuthError } from './oauth-error.ts'
import { maxParameters } from './parameters.ts'

/**
 * The maximum lengths of the parts of a request. The server checks them before any other code reads a part, because the
 * time to read a text grows with its length.
 */
export const bounds = {
  /**
   * Characters of the path, with the scheme and the host if the client sends them. The longest path contains the URL of a
   * client, percent-encoded.
   */
  path: 4_096,
  /**
   * Characters of the query, which equals Node's limit for the headers of a request. A lower limit could break the login,
   * because the redirect to the login page may contain a query that is percent-encoded twice.
   */
  query: 16_384,
  /** Parameters of a query or of a form of the protocol. */
  parameters: maxParameters,
  /** Characters of the value of a header. */
  header: 16_384,
  /** Bytes of a body. */
  body: 65_536,
} as const

/**
 * The headers of which the server reads only the beginning, with the number of characters. A longer value is not an
 * error, because the browser or a proxy determines it.
 */
const beginnings: Readonly<Record<string, number>> = {
  accept: 1_000,
  'accept-language': 500,
  'access-control-request-headers': 2_000,
  'if-none-match': 1_000,
  origin: 2_000,
  baggage: 8_192,
  traceparent: 500,
  tracestate: 2_000,
  'user-agent': 512,
  'x-request-id': 100,
}

/** Returns the part of a header value that the server reads. @param name in lower case */
export const readablePart = (name: string, value: string | null): string | null => {
  const most = beginnings[name]
  return most === undefined || value === null || value.length <= most ? value : value.slice(0, most)
}

/** Truncates a `User-Agent` for storage, and for comparison with a stored `User-Agent`. */
export const storedUserAgent = (userAgent: string): string =>
  userAgent.slice(0, beginnings['user-agent'])

/** Refuses a path or a query that is too long. @throws OAuthError 414 */
export const checkTargetLength = (target: string): void => {
  const mark = target.indexOf('?')
  const end = mark < 0 ? target.length : mark
  if (end > bounds.path) throw tooLong('The path', bounds.path, 414)
  if (target.length - end > bounds.query + 1) throw tooLong('The query', bounds.query, 414)
}

/** Refuses a header value that is too long. @throws OAuthError 431 (RFC 6585 §5) */
export const checkHeaderLengths = (values: Iterable<string>): void => {
  for (const { length } of values)
    if (length > bounds.header) throw tooLong('A header', bounds.header, 431)
}

const tooLong = (part: string, most: number, status: number): OAuthError =>
  new OAuthError('invalid_request', `${part} is longer than ${most} characters.`, { status })
