import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../../support/server.ts'
import { browser, claimsOf, forgedJwt } from '../../support/session.ts'
import { authorizationOf } from '../../support/tokens.ts'
import { bearer, type Fields, type HttpResponse, read, Script, written } from './script.ts'
import {
  adminRequests,
  createUserObjects,
  generalRequests,
  requestsFor,
  type UserObjects,
} from './things.ts'

// A script can use the settings only with both the cookie and the JWT of a session.

let app: TestServer
let user: Script
let stranger: Script
let things: UserObjects
let theirs: UserObjects
let tokens: readonly string[]
beforeAll(async () => {
  app = await startServer()
  user = await Script.logIn(app)
  things = await createUserObjects(app)
  const other = await app.newUser({ email: 'user-b@example.org' })
  stranger = await Script.logIn(app, other)
  theirs = await createUserObjects(app, other)
  const { clientId } = await app.client()
  const { accessToken } = await authorizationOf(app, clientId, { scopes: ['notes:write'] })
  tokens = [accessToken, await app.personalToken(['notes:read', 'notes:write'])]
})
afterAll(() => app.close())

type Request = readonly [path: string, Fields?]

const send = async (
  [path, fields]: Request,
  headers: Readonly<Record<string, string>>,
  query = '',
): Promise<HttpResponse> =>
  read(
    await fetch(`${app.issuer}${path}${query}`, {
      redirect: 'manual',
      headers: { accept: 'application/json', 'content-type': 'application/json', ...headers },
      ...(fields && { method: 'POST', body: JSON.stringify(fields) }),
    }),
  )

const own = () => [...generalRequests, ...requestsFor(things), ...adminRequests(things)]

/** Returns the distinct responses to the requests. Expects that no request changed the database. */
const refusals = async (
  requests: readonly Request[],
  ask: (request: Request) => Promise<HttpResponse>,
): Promise<ReadonlySet<string>> => {
  const before = written(app)
  const responses = new Set<string>()
  for (const request of requests) {
    const { status, headers, text } = await ask(request)
    expect(headers.get('set-cookie')).toBeNull()
    responses.add(`${status} ${text.trimEnd()}`)
  }
  expect(written(app)).toEqual(before)
  return responses
}

const jwtProblem = (status: number, message: string, more = {}): ReadonlySet<string> =>
  new Set([`${status} ${JSON.stringify({ status, message, ...more })}`])

const missingHeader = jwtProblem(400, 'Missing required header argument.', {
  errors: [{ header: 'Authorization', type: 'Bearer' }],
})

const unauthenticated = jwtProblem(401, 'Authentication is needed.')
const notFound = new Set([
  '404 {"error":"invalid_request","error_description":"There is nothing at this address."}',
])

describe('the settings without a session', () => {
  test('rejects a request without credentials', async () => {
    const found = await refusals(own(), (request) => send(request, {}))
    expect(found).toEqual(unauthenticated)
  })

  test('return a challenge without an error code', async () => {
    const { headers } = await send([generalRequests[0]?.[0] ?? ''], {})
    expect(headers.get('www-authenticate')).toMatch(
      /^Bearer realm="[^"]+", resource_metadata="[^"]+"$/,
    )
    expect(headers.get('location')).toBeNull()
  })

  test('rejects a JWT without a cookie', async () => {
    const { authorization = '' } = user.headers
    const found = await refusals(own(), (request) => send(request, { authorization }))
    expect(found).toEqual(unauthenticated)
  })

  test('rejects the cookie and the JWT of another browser', async () => {
    const moved = { ...user.headers, 'user-agent': 'curl' }
    expect(await refusals(own(), (request) => send(request, moved))).toEqual(unauthenticated)
  })

  test('rejects an access token of a client and a personal token', async () => {
    for (const token of tokens) {
      const inHeader = await refusals(own(), (request) => send(request, bearer(token)))
      expect(inHeader).toEqual(unauthenticated)
      const inQuery = await refusals(own(), (request) =>
        send(request, {}, `?access_token=${token}`),
      )
      expect(inQuery).toEqual(unauthenticated)
    }
  })
})

describe('the settings with the cookie of a session', () => {
  const asked = (headers: Readonly<Record<string, string>>) => {
    const { cookie } = user.session
    const session = { cookie, 'user-agent': browser }
    return refusals(own(), (request) => send(request, { ...session, ...headers }))
  }
  const asking = (jwt: string) => asked(bearer(jwt))
  const forged = (claims: object, forgery = {}) =>
    forgedJwt({ ...claimsOf(user.session.jwt), ...claims }, forgery)

  test('rejects a request without a JWT', async () => {
    expect(await asked({})).toEqual(missingHeader)
    expect(await asked({ authorization: 'Basic eDp5' })).toEqual(missingHeader)
    expect(await asked({ authorization: 'Bearer' })).toEqual(missingHeader)
  })

  test('rejects a cross-site request without a JWT', async () => {
    const found = await asked({ origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' })
    expect(found).toEqual(missingHeader)
  })

  test('rejects an access token or a personal token instead of the JWT, or in addition to the JWT', async () => {
    const problem = jwtProblem(400, 'The JWT token has invalid format.')
    for (const token of tokens) {
      expect(await asking(token)).toEqual(problem)
      const both = `${bearer(user.session.jwt).authorization}, ${bearer(token).authorization}`
      expect(await asked({ authorization: both })).toEqual(problem)
    }
  })

  test('rejects a JWT that is malformed, unsigned, or signed with another key', async () => {
    const problem = jwtProblem(400, 'The JWT token has invalid format.')
    expect(await asking('a.b')).toEqual(problem)
    expect(await asking('a.b.c')).toEqual(problem)
    expect(await asking(forged({}, { key: 'x'.repeat(32) }))).toEqual(problem)
    expect(await asking(forged({}, { header: { alg: 'none' } }))).toEqual(problem)
  })

  test('rejects an expired JWT', async () => {
    const now = Math.floor(app.now() / 1000)
    expect(await asking(forged({ iat: now - 100, exp: now - 1 }))).toEqual(
      jwtProblem(403, 'The JWT token is expired.'),
    )
  })

  test('rejects a JWT of another session of the same user or of another user', async () => {
    const problem = jwtProblem(403, 'The JWT token is not valid.')
    expect(await asking(stranger.session.jwt)).toEqual(problem)
    expect(await asking((await Script.logIn(app)).session.jwt)).toEqual(problem)
  })

  test('rejects a JWT with another type or audience, or without a session', async () => {
    const problem = jwtProblem(400, 'The JWT token is not valid.')
    expect(await asking(forged({}, { header: { typ: 'JWT' } }))).toEqual(problem)
    expect(await asking(forged({ aud: 'https://elsewhere.example' }))).toEqual(problem)
    expect(await asking(forged({ sid: undefined }))).toEqual(problem)
  })

  test('ignores an access token in the query', async () => {
    const [token] = tokens
    const [path] = generalRequests[0] ?? ['']
    const { status } = await user.get(`${path}?access_token=${token}`)
    expect(status).toBe(200)
  })
})

describe('objects that the user may not access', () => {
  test('returns 404 for an object of another user', async () => {
    expect(await refusals(requestsFor(theirs), (request) => send(request, user.headers))).toEqual(
      notFound,
    )
  })

  test('returns 404 for the ID of an object of another type', async () => {
    const { clientId, tokenId, deviceId } = things
    const personal = await app.server.tokens.get(tokenId)
    const swapped: UserObjects = {
      ...things,
      clientId: personal?.clientId ?? '',
      tokenId: deviceId,
      deviceId: tokenId,
      authorizedId: clientId,
      sessionId: 'nothing',
    }
    expect(await refusals(requestsFor(swapped), (request) => send(request, user.headers))).toEqual(
      notFound,
    )
  })

  test('returns 404 for an internal token of the user', async () => {
    const { id } = await app.server.tokens.createPersonal('Internal', app.user.id, {
      isInternal: true,
    })
    const hidden = requestsFor({ ...things, tokenId: id }).filter(([path]) =>
      path.includes(`/${id}/`),
    )
    expect(hidden.length).toBe(6)
    expect(await refusals(hidden, (request) => send(request, user.headers))).toEqual(notFound)
  })

  test('returns 404 for the administration if the user is not an administrator', async () => {
    expect(await refusals(adminRequests(things), (request) => send(request, user.headers))).toEqual(
      notFound,
    )
    expect(await refusals(adminRequests(theirs), (request) => send(request, user.headers))).toEqual(
      notFound,
    )
  })

  test('rejects the session of a deactivated user', async () => {
    const inactive = await app.server.users.create({
      email: 'user-c@example.org',
      password: app.password,
    })
    const script = await Script.logIn(app, inactive)
    await app.server.users.setActive(inactive.id, false)
    expect(await refusals(own(), (request) => send(request, script.headers))).toEqual(
      unauthenticated,
    )
  })
})

test('accepts the JWT in the header that the settings define', async () => {
  await using other = await startServer({ jwtAuthHeader: 'X-Session', jwtAuthHeaderType: null })
  const script = await Script.logIn(other)
  const { authorization: _, ...headers } = script.headers
  const ask = async (more: Readonly<Record<string, string>>) =>
    (await fetch(`${other.issuer}${generalRequests[0]?.[0]}`, { headers: { ...headers, ...more } }))
      .status
  expect(await ask({ 'x-session': script.session.jwt })).toBe(200)
  expect(await ask(bearer(script.session.jwt))).toBe(400)
})
