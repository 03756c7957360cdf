import type { LookupAddress } from 'node:dns'
import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import { nameServerLookup, systemLookup } from './host-names.ts'
import { OutboundFailed, type OutboundOptions, type OutboundRequest } from './outbound.ts'
import { isPublic } from './public-address.ts'

/** The timeout in milliseconds from the look-up of the host name to the last byte of the response. */
const exchangeTimeout = 5_000

/** An accepted response: 200, or 304 if the cached document is still valid. The response to a form has no body. */
export interface OutboundResponse {
  readonly status: 200 | 304
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface Question extends Pick<OutboundRequest<unknown>, 'accept' | 'largest'> {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Whether a response with the status 304 is accepted. */
  readonly isConditional: boolean
  /** The body of a POST request; undefined for a GET request. */
  readonly form?: string
}

/** A request that was sent. */
export interface Sent {
  /** @throws OutboundFailed */
  readonly response: Promise<OutboundResponse>
  /** Resolves when both the response and the look-up have ended. After a timeout, the look-up may still be running. */
  readonly ended: Promise<unknown>
}

/** Sends one GET request, or a POST request with a form. */
export type Exchange = (question: Question) => Sent

/**
 * Creates a function that sends one request. The function ignores proxies in the environment, does not follow
 * redirects, and connects only to IP addresses that it has checked.
 */
export const createExchange = (
  { resolve, certificateAuthorities }: OutboundOptions,
  { allowPrivate }: { readonly allowPrivate: boolean },
): Exchange => {
  // The look-up of the operating system also resolves local names, so use it only if private addresses are allowed.
  const lookUp = resolve ?? (allowPrivate ? systemLookup : nameServerLookup())
  // Use separate agents. They do not reuse connections and TLS sessions, and ignore a proxy of the environment.
  const agents = {
    'http:': new http.Agent({ keepAlive: false }),
    'https:': new https.Agent({
      keepAlive: false,
      maxCachedSessions: 0,
      rejectUnauthorized: true,
      ...(certificateAuthorities ? { ca: [...certificateAuthorities] } : {}),
    }),
  }

  const addressesOf = async (
    hostname: string,
    signal: AbortSignal,
  ): Promise<readonly LookupAddress[]> => {
    const addresses = await lookUp(hostname, signal).catch((cause: unknown) => {
      throw unresolved(cause)
    })
    const isAllowed = allowPrivate || addresses.every(({ address }) => isPublic(address))
    if (addresses.length === 0 || !isAllowed) throw unresolved(addresses)
    return addresses
  }

  const request = (
    { url, headers, accept, form }: Question,
    addresses: readonly LookupAddress[],
    signal: AbortSignal,
  ): ClientRequest => {
    const isHttp = url.protocol === 'http:'
    return (isHttp ? http : https).request(url, {
      agent: agents[isHttp ? 'http:' : 'https:'],
      method: form === undefined ? 'GET' : 'POST',
      headers: {
        accept: accept.join(', '),
        'accept-encoding': 'identity',
        'user-agent': 'svc-oauth2server',
        ...(form === undefined
          ? {}
          : {
              'content-type': 'application/x-www-form-urlencoded',
              'content-length': Buffer.byteLength(form),
            }),
        ...headers,
      },
      lookup: pinnedTo(addresses),
      signal,
    })
  }

  const responseFrom = async (
    lookup: Promise<readonly LookupAddress[]>,
    question: Question,
    timeout: AbortSignal,
  ): Promise<OutboundResponse> => {
    try {
      const sent = request(question, await orAborted(lookup, timeout), timeout)
      try {
        return await read(await responseTo(sent, question), question)
      } finally {
        sent.destroy()
      }
    } catch (error) {
      throw timeout.aborted ? tooSlow(error) : asFailure(error)
    }
  }

  return (question) => {
    const timeout = AbortSignal.timeout(exchangeTimeout)
    const lookup = addressesOf(hostOf(question.url), timeout)
    const response = responseFrom(lookup, question, timeout)
    return { response, ended: Promise.allSettled([lookup, response]) }
  }
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

// Throw the same error for unknown names and private addresses, to hide which names exist in a private network.
const unresolved = (cause: unknown): OutboundFailed =>
  new OutboundFailed('Its host has no public address.', { cause, isOutage: true })

const tooSlow = (cause: unknown): OutboundFailed =>
  new OutboundFailed(`It did not arrive within ${exchangeTimeout / 1000} seconds.`, {
    cause,
    isOutage: true,
  })

// Use the addresses of the first look-up, because a second look-up could return an unchecked address.
const pinnedTo =
  (addresses: readonly LookupAddress[]): LookupFunction =>
  (_hostname, options, callback) => {
    if (options.all) callback(null, [...addresses])
    else callback(null, addresses[0]?.address ?? '', addresses[0]?.family)
  }

const orAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    work.then(resolve, reject)
  })

const responseTo = (sent: ClientRequest, { form }: Question): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    sent.on('response', resolve)
    // Do not remove this listener, because an unhandled error event would end the process.
    sent.on('error', reject)
    sent.on('upgrade', (_response, socket) => {
      socket.destroy()
      reject(new OutboundFailed('Its host switched to another protocol.'))
    })
    sent.end(form)
  })

const read = async (response: IncomingMessage, question: Question): Promise<OutboundResponse> => {
  const { accept, largest, isConditional } = question
  const headers = Object.fromEntries(
    Object.entries(response.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  )
  const { statusCode: status = 0 } = response
  if (status === 304 && isConditional) return { status, headers, body: nothing }
  if (question.form !== undefined && status >= 200 && status < 300)
    return { status: 200, headers, body: nothing }
  if (status !== 200) throw unexpected(status)
  if (!isAccepted(headers['content-type'] ?? '', accept))
    throw new OutboundFailed(`Its content type is not ${accept.join(' or ')}.`)
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity')
    throw new OutboundFailed('It is compressed, although the request did not allow compression.')
  return { status, headers, body: await bodyOf(response, largest) }
}

const nothing = Buffer.alloc(0)

const unexpected = (status: number): OutboundFailed => {
  if (status >= 300 && status < 400)
    return new OutboundFailed('It is a redirect, which the server does not follow.')
  const isOutage = status >= 500 || status === 429
  return new OutboundFailed(`Its host responded with the status ${status}.`, { isOutage })
}

const isAccepted = (contentType: string, accept: readonly string[]): boolean => {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase() ?? ''
  return accept.some((accepted) => {
    const [before = '', behind] = accepted.split('*')
    return behind === undefined
      ? type === accepted
      : type.startsWith(before) && type.endsWith(behind)
  })
}

const bodyOf = async (response: IncomingMessage, largest: number): Promise<Buffer> => {
  const tooLarge = () => new OutboundFailed(`It is larger than ${largest} bytes.`)
  if (Number(response.headers['content-length'] ?? 0) > largest) throw tooLarge()
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.byteLength
    if (size > largest) throw tooLarge()
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

/** Matches the error codes of Node and OpenSSL for an invalid certificate. */
const certificateErrorCode = /CERT|SIGNATURE|^ERR_TLS_|^ERR_SSL_/

const asFailure = (error: unknown): OutboundFailed => {
  if (error instanceof OutboundFailed) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return certificateErrorCode.test(code)
    ? new OutboundFailed('Its certificate is not valid.', { cause: error })
    : new OutboundFailed('Its host could not be reached, or closed the connection.', {
        cause: error,
        isOutage: true,
      })
}
