import { StoreUnavailable } from 'svc-oauth2server'
import { afterAll, expect, test } from 'vitest'
import type { RawResponse } from '../support/raw-http.ts'
import { EveryEndpoint, type Operation } from './every-endpoint.ts'

// Fails each operation of the store that a request runs, one at a time. A store that is not available rejects no
// credentials, and an internal error tells the caller nothing (decision §6.4).

let failing: { readonly operation: string; readonly error: Error } | undefined
let hasFailed = false
const run: string[] = []
const world = await EveryEndpoint.start(({ name }, operation) => {
  run.push(name)
  if (failing?.operation !== name) return operation()
  hasFailed = true
  throw failing.error
})
afterAll(() => world.app.close())

const named = world.operations
  // This endpoint reports the state of the store in its own way.
  .filter(({ pattern }) => pattern !== '/health/ready')
  .map((operation) => [operation.name, operation] as const)

/**
 * Sends accepted requests: one that shows which operations run, then one for each operation, which fails. Returns the
 * responses in whose request an operation failed.
 */
const failEach = async (one: Operation, newError: () => Error) => {
  const first = await world.accepted(one)
  run.length = 0
  await world.sendAs(one, first)
  const responses: (readonly [operation: string, RawResponse])[] = []
  for (const operation of new Set(run)) {
    const accepted = await world.accepted(one)
    hasFailed = false
    failing = { operation, error: newError() }
    const response = await world.sendAs(one, accepted)
    failing = undefined
    if (hasFailed) responses.push([operation, response])
  }
  return responses
}

/** Operations without which a request succeeds. */
const dispensable = [
  'audit.list latest', // a download, which has already begun
  'clientLogins.take', // the logout at other sites
  'clients.countExpired', // rooms for further clients
  'logoutNotices.add', // the logout at other sites
  'removals.removeSome', // the sweeper completes the deletion
  'tokens.touch', // the last use of a token
  'transients.counts', // limits
  'transients.increment',
]
/** The answers to forms and the notices of pages are stored for a short time. Without them, a page works as well. */
const isForPages = (one: Operation, operation: string): boolean =>
  one.endpoint.errors === 'page' && /^(?:transients|transaction)\b/.test(operation)

/** Expects that a response reveals nothing about the error, starts no session and sends no challenge. */
const expectSafe = ({ headers, text }: RawResponse): void => {
  expect(headers.get('www-authenticate')).toBeNull()
  expect(headers.getSetCookie()).toEqual([])
  expect(headers.get('cache-control')).toBe('no-store')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
  expect(text).not.toMatch(/\/var\/lib|SQLITE|\bat .*:\d+|node_modules/)
}

const errorIn = ({ headers }: RawResponse): string | null =>
  URL.parse(headers.get('location') ?? '')?.searchParams.get('error') ?? null

/** Returns the number of responses with the status. */
const check = async (one: Operation, error: Error, status: number, code: string) => {
  let failed = 0
  for (const [operation, response] of await failEach(one, () => error)) {
    const { headers, text } = response
    const hasSucceeded = response.status < 400 && errorIn(response) === null
    if (hasSucceeded) {
      const isDispensable = dispensable.includes(operation) || isForPages(one, operation)
      expect([operation, isDispensable]).toEqual([operation, true])
      continue
    }
    expectSafe(response)
    // The client may learn of the error after its redirect URI has been verified.
    if (response.status === 303) {
      expect([one.pattern, errorIn(response)]).toEqual(['/oauth/authorize', code])
      continue
    }
    expect([operation, response.status]).toEqual([operation, status])
    failed += 1
    expect(headers.get('location')).toBeNull()
    if (status === 503) expect(headers.get('retry-after')).toMatch(/^\d+$/)
    if (one.endpoint.errors === 'page') expect(headers.get('content-type')).toMatch(/^text\/html;/)
    else expect(JSON.parse(text).error).toBe(code)
  }
  return failed
}

test.each(named)('%s returns 503 with Retry-After during an outage', async (_, one) => {
  await check(one, new StoreUnavailable('/var/lib is gone'), 503, 'temporarily_unavailable')
})

test.each(named)(
  '%s returns 500 without details of an internal error, and logs it',
  async (_, one) => {
    const logged = () => world.app.log.filter(({ event }) => event === 'request.failed').length
    const before = logged()
    const failed = await check(one, new Error('SQLITE_CORRUPT in /var/lib'), 500, 'server_error')
    expect(logged() - before).toBeGreaterThanOrEqual(failed)
  },
)
