import assert from 'node:assert/strict'
import type { Target } from './target.ts'
import type { Call } from './works.ts'

interface HttpResponse {
  readonly status: number
  readonly body: Readonly<Record<string, unknown>>
}

const send = async (
  target: Target,
  { method, path, headers, body, tokens }: Call,
  otherwise: Partial<Pick<Call, 'headers' | 'body'>> = {},
): Promise<HttpResponse> => {
  const response = await fetch(target.origin + path, {
    method,
    headers: otherwise.headers ?? (tokens ? bearer(tokens[0]) : headers),
    ...(body !== undefined && { body: otherwise.body ?? body }),
    redirect: 'manual',
  })
  const text = await response.text()
  return { status: response.status, body: isJson(response) && text ? JSON.parse(text) : {} }
}

const isJson = (response: Response): boolean =>
  (response.headers.get('content-type') ?? '').includes('json')

const expect = ({ status }: HttpResponse, expected: number, what: string): void =>
  assert.equal(status, expected, `${what}: status ${status} instead of ${expected}`)

const bearer = (token: unknown) => ({ authorization: `Bearer ${token}` })

/**
 * Verifies that a server really does the measured work: the server must store the issued tokens, and refuse invalid
 * requests.
 * @throws Error with the actual behaviour
 */
export const check = async (target: Target): Promise<void> => {
  const { token, resource, introspect, refresh, key } = target.works
  assert.ok(token && resource && refresh, 'token, resource and refresh are required')

  const issued = await send(target, token)
  expect(issued, 200, 'token')
  assert.match(String(issued.body.access_token), /^.{20,}$/, 'token: no access_token')
  const again = await send(target, token)
  assert.notEqual(issued.body.access_token, again.body.access_token, 'token: the same value twice')
  const withIssuedToken = { headers: bearer(issued.body.access_token) }
  expect(await send(target, resource, withIssuedToken), 200, 'resource with the new token')
  await refused(target, token, 'token')

  expect(await send(target, resource), 200, 'resource')
  await refused(target, resource, 'resource')
  assert.ok(resource.withoutScope, 'resource: no token without the scope')
  const outside = await send(target, resource, { headers: resource.withoutScope })
  expect(outside, 403, 'resource without the scope')

  if (introspect) await checkIntrospection(target, introspect, String(issued.body.access_token))
  await checkRefresh(target, refresh, resource)

  if (!key) return
  expect(await send(target, key), 200, 'key')
  await refused(target, key, 'key')
}

const refused = async (target: Target, call: Call, what: string): Promise<void> => {
  assert.ok(call.unknown, `${what}: no unknown credentials`)
  expect(
    await send(target, call, { headers: call.unknown }),
    401,
    `${what} with unknown credentials`,
  )
}

const checkIntrospection = async (target: Target, call: Call, issued: string): Promise<void> => {
  const known = await send(target, call)
  expect(known, 200, 'introspect')
  assert.equal(known.body.active, true, 'introspect: a live token is not active')
  assert.match(String(known.body.scope), /notes:read/, 'introspect: no scope')
  const ofIssued = await send(target, call, { body: `token=${issued}` })
  assert.equal(ofIssued.body.active, true, 'introspect: the new token is not active')
  const unknown = await send(target, call, { body: 'token=unknownunknownunknownunknownunknown' })
  assert.equal(unknown.body.active, false, 'introspect: an unknown token is active')
  await refused(target, call, 'introspect')
}

const checkRefresh = async (target: Target, call: Call, resource: Call): Promise<void> => {
  // Remove the refresh token from the list, because this check reuses it. Some servers then revoke the user's tokens.
  const [refreshToken] = call.refreshTokens?.splice(0, 1) ?? []
  const body = `${call.body}${refreshToken}`
  await refused(target, { ...call, body }, 'refresh')
  const rotated = await send(target, call, { body })
  expect(rotated, 200, 'refresh')
  assert.notEqual(rotated.body.refresh_token, refreshToken, 'refresh: no rotation')
  const headers = bearer(rotated.body.access_token)
  expect(await send(target, resource, { headers }), 200, 'resource with the refreshed token')
  const next = await send(target, call, { body: `${call.body}${rotated.body.refresh_token}` })
  expect(next, 200, 'refresh with the next token')
  expect(await send(target, call, { body }), 400, 'refresh with a used token')
}
