import CachePolicy from 'http-cache-semantics'
import { BoundedMap } from '../../model/bounded-map.ts'
import { siteNetworkOf } from '../../model/network.ts'
import { remoteAddressProblem } from '../../model/remote-address.ts'
import { FairQueue } from '../../queues/fair-queue.ts'
import type { Settings } from '../../settings/settings.ts'
import { createExchange, type Question } from './exchange.ts'
import {
  type Fetched,
  type Outbound,
  OutboundFailed,
  type OutboundOptions,
  type OutboundRequest,
} from './outbound.ts'

/** The maximum number of concurrent requests for which a caller waits, in total and to one host. */
const maxRequests = 50
const maxPerHost = 5
/** The maximum number of these requests that serve the same purpose, so that the others remain possible. */
const maxPerPurpose = 30
/** The maximum number of concurrent and of waiting requests in the background: logout notices and logos. */
const maxInBackground = 20
const maxWaitingInBackground = 200

/** The maximum number of cached documents of each purpose, so that documents of one purpose do not evict the others. */
const maxCachedDocuments = 500
const maxFailures = 500
/** The maximum cache lifetime in milliseconds, even if the host allows more. */
const maxLifetime = 86_400_000
/**
 * The minimum cache lifetime in milliseconds, if the host permits caching. One login to a client with a metadata
 * document needs the document several times.
 */
const minLifetime = 60_000
/** After a request for a document fails, the same request fails with the same error for this time in milliseconds. */
const retryDelay = 3_000

/** A cached document. */
interface CachedDocument {
  readonly text: string
  readonly policy: CachePolicy
  readonly fetchedAt: number
  readonly freshUntil: number
}

interface Failed {
  readonly error: unknown
  readonly until: number
}

type Request = OutboundRequest<unknown, string>

/** The properties of a request by which concurrent requests are limited. */
interface SentRequest {
  readonly host: string
  readonly network: string
  readonly purpose: string | undefined
}

const sentRequestOf = (
  { hostname }: URL,
  { requester = '', purpose }: Pick<Request, 'requester' | 'purpose'>,
): SentRequest => ({ host: hostname, network: siteNetworkOf(requester), purpose })

/** Creates the functions that send requests to URLs of clients. The documents of `json` and `text` are cached in memory. */
export const createOutbound = (
  options: OutboundOptions = {},
  {
    settings,
    clock,
    maxCached = maxCachedDocuments,
  }: {
    readonly settings: Settings
    readonly clock: () => number
    /** Only tests set this option. */
    readonly maxCached?: number
  },
): Outbound => {
  const allowPrivate = settings.dangerouslyAllowPrivateAddresses
  const exchange = createExchange(options, { allowPrivate })
  const caches = new Map<Request['purpose'], BoundedMap<CachedDocument>>()
  const cacheOf = ({ purpose }: Pick<Request, 'purpose'>): BoundedMap<CachedDocument> => {
    const cache = caches.get(purpose) ?? new BoundedMap(maxCached)
    caches.set(purpose, cache)
    return cache
  }
  const failures = new BoundedMap<Failed>(maxFailures)
  const pending = new Map<string, Promise<string>>()
  /** Each unfinished request. An aborted request remains in the set until the look-up ends. */
  const unfinished = new Set<SentRequest>()
  const count = (isCounted: (sentRequest: SentRequest) => boolean): number =>
    [...unfinished].filter(isCounted).length
  const background = new FairQueue({
    maxRunning: maxInBackground,
    maxRunningOfLane: maxPerHost,
    maxWaiting: maxWaitingInBackground,
    full: () => new OutboundFailed('Too many requests are already waiting.', { isOutage: true }),
  })

  const isAllowed = ({ host, network, purpose }: SentRequest): boolean => {
    const free = maxRequests - unfinished.size
    if (free <= 0 || count((sentRequest) => sentRequest.host === host) >= maxPerHost) return false
    const isSame = (sentRequest: SentRequest) => sentRequest.purpose === purpose
    if (purpose !== undefined && count(isSame) >= maxPerPurpose) return false
    // Limit a network to half of the free capacity, so that requesters in other networks can send requests too.
    return network === '' || count((sentRequest) => sentRequest.network === network) < free / 2
  }

  const fresh = (key: string, request: Pick<Request, 'maxAge' | 'purpose'>): string | undefined => {
    const { maxAge } = request
    const cached = cacheOf(request).get(key)
    const now = clock()
    if (!cached || cached.freshUntil <= now) return undefined
    return maxAge !== undefined && cached.fetchedAt + maxAge * 1000 <= now ? undefined : cached.text
  }

  const fetched = async (key: string, url: URL, request: Request): Promise<string> => {
    const documents = cacheOf(request)
    const before = documents.get(key)
    const cacheRequest = { url: url.href, headers: { host: url.host } }
    const conditions = before ? conditionsOf(before.policy, cacheRequest) : {}
    const isConditional = Object.keys(conditions).length > 0
    const sent = exchange({ ...request, url, headers: conditions, isConditional })
    const sentRequest = sentRequestOf(url, request)
    unfinished.add(sentRequest)
    void sent.ended.then(() => unfinished.delete(sentRequest))
    const response = await sent.response
    const text = before && response.status === 304 ? before.text : textOf(response.body)
    request.read(text)
    const policy =
      before && response.status === 304
        ? before.policy.revalidatedPolicy(cacheRequest, response).policy
        : new CachePolicy(cacheRequest, response, { shared: false })
    const now = clock()
    const life = lifetimeOf(policy)
    if (life === undefined) documents.delete(key)
    else documents.set(key, { text, policy, fetchedAt: now, freshUntil: now + life })
    return text
  }

  /** Throws if the same request failed within `retryDelay`, or if too many requests are running. */
  const requireAllowed = (key: string, sentRequest: SentRequest): void => {
    const failed = failures.get(key)
    if (failed && failed.until > clock()) throw failed.error
    if (!isAllowed(sentRequest))
      throw new OutboundFailed('Too many requests are already running.', { isOutage: true })
  }

  // Concurrent callers that need the same document share one request.
  const shared = async (key: string, url: URL, request: Request): Promise<string> => {
    const running = pending.get(key)
    if (running) return running
    requireAllowed(key, sentRequestOf(url, request))
    const text = fetched(key, url, request)
      .catch((error: unknown) => {
        failures.set(key, { error, until: clock() + retryDelay })
        throw error
      })
      .finally(() => pending.delete(key))
    pending.set(key, text)
    return text
  }

  const isAvailable = (key: string, request: Pick<Request, 'maxAge' | 'purpose'>): boolean =>
    fresh(key, request) !== undefined || pending.has(key)

  /** Sends a request in the background, without caching its response. Waits until a place is free. */
  const sendOnce = async (
    url: string,
    question: Pick<Question, 'accept' | 'largest' | 'form'>,
  ): Promise<Buffer> => {
    const problem = remoteAddressProblem(url, { allowPrivate })
    if (problem !== undefined) throw new OutboundFailed(problem)
    const target = new URL(url)
    // Notices and logos alternate while both wait. Each host is a lane, so that slow hosts do not delay the others.
    const lane = { lane: target.hostname, isKnown: question.form !== undefined }
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    background
      .run(lane, async () => {
        const sent = exchange({ ...question, url: target, headers: {}, isConditional: false })
        sent.response.then(({ body }) => resolve(body), reject)
        // An aborted request holds its place until the look-up ends.
        await sent.ended
      })
      .catch(reject)
    return promise
  }

  const text: Outbound['text'] = async (request) => {
    const { url, beforeSending } = request
    const problem = remoteAddressProblem(url, { allowPrivate })
    if (problem !== undefined) throw new OutboundFailed(problem)
    const key = keyOf(request)
    if (!isAvailable(key, request)) {
      requireAllowed(key, sentRequestOf(new URL(url), request))
      await beforeSending?.()
    }
    return request.read(fresh(key, request) ?? (await shared(key, new URL(url), request)))
  }

  return {
    async post({ url, form }) {
      await sendOnce(url, { form, accept: ['*/*'], largest: 0 })
    },

    bytes: ({ url, ...fetched }) => sendOnce(url, fetched),

    wouldSend(request) {
      const key = keyOf(request)
      if (isAvailable(key, request)) return false
      requireAllowed(key, sentRequestOf(new URL(request.url), request))
      return true
    },

    json: (request) => text({ ...request, read: (content) => request.read(parsed(content)) }),

    text,
  }
}

/** Returns the key that identifies a document in the cache, and among the running requests. */
const keyOf = ({ url, accept, largest }: Fetched): string => JSON.stringify([url, accept, largest])

const conditions = ['if-none-match', 'if-modified-since']

const conditionsOf = (
  policy: CachePolicy,
  cacheRequest: CachePolicy.HttpRequest,
): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(policy.revalidationHeaders(cacheRequest)).filter(
      (entry): entry is [string, string] =>
        conditions.includes(entry[0]) && typeof entry[1] === 'string',
    ),
  )

/** Returns the cache lifetime in milliseconds; undefined if the response must not be cached. RFC 9111 §4.2. */
const lifetimeOf = (policy: CachePolicy): number | undefined => {
  if (!policy.storable()) return undefined
  if (/\bno-cache\b/i.test(String(policy.responseHeaders()['cache-control']))) return 0
  const life = (policy.maxAge() - policy.age()) * 1000
  return Math.min(maxLifetime, Math.max(minLifetime, life))
}

const textOf = (body: Buffer): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(body)
  } catch (cause) {
    throw new OutboundFailed('It is not in UTF-8.', { cause })
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new OutboundFailed('It is not JSON.', { cause })
  }
}
