import type { LookupAddress } from 'node:dns'
import http, { type ClientRequest, type IncomingMessage } from 'node:http'
import https from 'node:https'
import type { LookupFunction } from 'node:net'
import { nameServerLookup, systemLookup } from './host-names.ts'
import { OutboundFailed, type OutboundOptions, type OutboundRequest } from './outbound.ts'
import { isPublic } from './public-address.ts'

/** The timeout in milliseconds from the look-up of the host name to the last byte of the response. */
const exchangeTimeout = 5_000

/** An accepted response: a document, or the confirmation that the cached one is still valid. */
export interface Answer {
  readonly status: 200 | 304
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

export interface Question extends Pick<OutboundRequest<unknown>, 'accept' | 'largest'> {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Whether 304 is accepted. */
  readonly isConditional: boolean
}

/** A request that was sent. */
export interface Sent {
  /** @throws OutboundFailed */
  readonly answer: Promise<Answer>
  /** Resolves when all work has ended: a look-up may take longer than the timeout of the response. */
  readonly ended: Promise<unknown>
}

/** Sends one GET request. */
export type Exchange = (question: Question) => Sent

/**
 * Creates a function that sends one request. It ignores proxies in the environment, follows no redirects, and connects
 * only to addresses that were checked before.
 */
export const createExchange = (
  { resolve, certificateAuthorities }: OutboundOptions,
  { allowPrivate }: { readonly allowPrivate: boolean },
): Exchange => {
  // Only the system's look-up knows local names, which have private addresses.
  const lookUp = resolve ?? (allowPrivate ? systemLookup : nameServerLookup())
  // Use separate agents: no connection is reused, no TLS session resumed, and no proxy of the environment used.
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
    { url, headers, accept }: Question,
    addresses: readonly LookupAddress[],
    signal: AbortSignal,
  ): ClientRequest => {
    const isHttp = url.protocol === 'http:'
    return (isHttp ? http : https).request(url, {
      agent: agents[isHttp ? 'http:' : 'https:'],
      headers: {
        accept: accept.join(', '),
        'accept-encoding': 'identity',
        'user-agent': 'svc-oauth2server',
        ...headers,
      },
      lookup: pinnedTo(addresses),
      signal,
    })
  }

  const answerFrom = async (
    lookup: Promise<readonly LookupAddress[]>,
    question: Question,
    timeout: AbortSignal,
  ): Promise<Answer> => {
    try {
      const sent = request(question, await orAborted(lookup, timeout), timeout)
      try {
        return await read(await responseTo(sent), question)
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
    const answer = answerFrom(lookup, question, timeout)
    return { answer, ended: Promise.allSettled([lookup, answer]) }
  }
}

const hostOf = ({ hostname }: URL): string => hostname.replace(/^\[|\]$/g, '')

// Give the same error for an unknown name; otherwise it would reveal the names in a private network.
const unresolved = (cause: unknown): OutboundFailed =>
  new OutboundFailed('Its host has no public address.', { cause, isOutage: true })

const tooSlow = (cause: unknown): OutboundFailed =>
  new OutboundFailed(`It was not there after ${exchangeTimeout / 1000} seconds.`, {
    cause,
    isOutage: true,
  })

// Resolve a host name only once: a second look-up could return an address that was not checked.
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

const responseTo = (sent: ClientRequest): Promise<IncomingMessage> =>
  new Promise((resolve, reject) => {
    sent.on('response', resolve)
    // Keep this listener; errors after the response has begun are reported by the response.
    sent.on('error', reject)
    sent.on('upgrade', (_response, socket) => {
      socket.destroy()
      reject(new OutboundFailed('It answered with another protocol.'))
    })
    sent.end()
  })

const read = async (response: IncomingMessage, question: Question): Promise<Answer> => {
  const { accept, largest, isConditional } = question
  const headers = Object.fromEntries(
    Object.entries(response.headers).flatMap(([name, value]) =>
      typeof value === 'string' ? [[name, value]] : [],
    ),
  )
  const { statusCode: status = 0 } = response
  if (status === 304 && isConditional) return { status, headers, text: '' }
  if (status !== 200) throw unexpected(status)
  if (!isAccepted(headers['content-type'] ?? '', accept))
    throw new OutboundFailed('Its content type must be application/json, or of that kind.')
  if ((headers['content-encoding'] ?? 'identity').toLowerCase() !== 'identity')
    throw new OutboundFailed('It is compressed, which was not asked for.')
  return { status, headers, text: await bodyOf(response, largest) }
}

const unexpected = (status: number): OutboundFailed => {
  if (status >= 300 && status < 400)
    return new OutboundFailed('It leads elsewhere by a redirect, which is not followed.')
  const isOutage = status >= 500 || status === 429
  return new OutboundFailed(`It was answered with the status ${status}.`, { isOutage })
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

const bodyOf = async (response: IncomingMessage, largest: number): Promise<string> => {
  const tooLarge = () => new OutboundFailed(`It is larger than ${largest} bytes.`)
  if (Number(response.headers['content-length'] ?? 0) > largest) throw tooLarge()
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    size += chunk.byteLength
    if (size > largest) throw tooLarge()
    chunks.push(chunk)
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(chunks))
  } catch (cause) {
    throw new OutboundFailed('It is not in UTF-8.', { cause })
  }
}

/** Error codes of Node and OpenSSL for an invalid certificate. */
const ofCertificate = /CERT|SIGNATURE|^ERR_TLS_|^ERR_SSL_/

const asFailure = (error: unknown): OutboundFailed => {
  if (error instanceof OutboundFailed) return error
  const code = error instanceof Error && 'code' in error ? String(error.code) : ''
  return ofCertificate.test(code)
    ? new OutboundFailed('Its certificate is not valid.', { cause: error })
    : new OutboundFailed('Its host could not be reached, or broke off.', {
        cause: error,
        isOutage: true,
      })
}
