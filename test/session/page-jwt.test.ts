import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { Hono } from 'hono'
import {
  type AuthorizationServer,
  type AuthorizationServerOptions,
  InvalidSettings,
  JWTExpiredToken,
  type VerifyJwt,
} from 'svc-oauth2server'
import { authOf, requireApiAuth, rest } from 'svc-oauth2server/hono'
import { createTestServer } from 'svc-oauth2server/testing'
import { jwtVerifyToken } from 'svc-oauth2server/utils'
import { describe, expect, test, vi } from 'vitest'

// The JWT with which a page calls the API: its verification, its header, and the script that sends it.

const start = async (
  options: Partial<AuthorizationServerOptions>,
): Promise<AuthorizationServer> => {
  const resourceOwner = () => id
  const server = await createTestServer({ loginUrl: '/enter', resourceOwner, ...options })
  const { id } = await server.users.create({ email: 'a@example.org', password: null })
  return server
}

const jwtOf = async (server: AuthorizationServer): Promise<string> =>
  (await server.pageSession({ cookie: null, address: '', userAgent: '', raw: {} })).jwtToken()

const ask = async (server: AuthorizationServer, headers: Record<string, string>) => {
  const app = new Hono()
  app.get('/', rest(server), requireApiAuth(), (c) => c.json(authOf(c).kind))
  const response = await app.request('/', { headers })
  return [response.status, await response.text()]
}

describe("the application's own verification of the JWT", () => {
  test('receives the request headers, and can extend the built-in verification', async () => {
    const verify = vi.fn<VerifyJwt>(async (headers, context) => {
      if (headers.get('x-tab') === 'old') throw new JWTExpiredToken({ errors: ['old tab'] })
      return jwtVerifyToken(headers, context)
    })
    const server = await start({ jwtVeryficationFactory: verify })
    const authorization = `Bearer ${await jwtOf(server)}`
    expect(await ask(server, { authorization, 'x-tab': 'new' })).toEqual([200, '"session"'])
    const [status, body] = await ask(server, { authorization, 'x-tab': 'old' })
    expect([status, JSON.parse(String(body))]).toEqual([
      403,
      { status: 403, message: 'The JWT token is expired.', errors: ['old tab'] },
    ])
    expect(verify.mock.lastCall?.[1]).toMatchObject({
      userId: expect.any(Number),
      audience: server.issuer,
    })
    await server.close()
  })

  test('returns 500 and rejects the request if it throws another error or returns no claims', async () => {
    vi.spyOn(console, 'error').mockReturnValue()
    for (const verify of [() => undefined, () => Promise.reject(new Error('Out.'))]) {
      const server = await start({ jwtVeryficationFactory: verify as unknown as VerifyJwt })
      const authorization = `Bearer ${await jwtOf(server)}`
      expect((await ask(server, { authorization }))[0]).toBe(500)
      await server.close()
    }
    vi.restoreAllMocks()
  })

  test('can be an import path relative to the root of the application', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'oauth2server-jwt-'))
    try {
      const module = 'export const verify_token = async () => ({ sub: "anybody" })'
      await writeFile(join(folder, 'jwt.mjs'), module)
      await writeFile(join(folder, 'package.json'), '{}')
      const server = await start({
        applicationRoot: folder,
        jwtVeryficationFactory: './jwt.mjs:verify_token',
      })
      expect(await ask(server, { authorization: 'Bearer a.b.c' })).toEqual([200, '"session"'])
      await server.close()
      const missing = { applicationRoot: folder, jwtVeryficationFactory: './jwt.mjs:verify' }
      await expect(start(missing)).rejects.toThrow(InvalidSettings)
    } finally {
      await rm(folder, { recursive: true })
    }
  })
})

/** Runs the script like a browser. Returns a function that sends a request and returns its headers. */
const browserOf = async (server: AuthorizationServer, field: string | undefined) => {
  const response = await server.fetch(new Request('http://localhost/oauth/session.js'))
  const sent: Request[] = []
  const window = { fetch: async (request: Request) => void sent.push(request) }
  const location = new URL('https://app.example/page')
  class PageRequest extends Request {
    constructor(input: string | URL | Request, init?: RequestInit) {
      super(typeof input === 'string' ? new URL(input, location) : input, init)
    }
  }
  const document = {
    querySelector: (selector: string) => {
      expect(selector).toBe('input[name="authorized_token"]')
      return field === undefined ? null : { value: field }
    },
  }
  runInNewContext(await response.text(), { window, location, document, Request: PageRequest, URL })
  const fetch = window.fetch as unknown as (input: unknown, init?: RequestInit) => Promise<void>
  return {
    headersOf: async (input: unknown, init?: RequestInit) => {
      await fetch(input, init)
      return Object.fromEntries(sent.at(-1)?.headers ?? [])
    },
    response,
  }
}

describe('the script of a page', () => {
  test('adds the JWT only to requests of the page to its own origin', async () => {
    const server = await start({})
    const { headersOf, response } = await browserOf(server, 'the.page.jwt')
    const added = { authorization: 'Bearer the.page.jwt' }
    expect(await headersOf('/api/notes')).toEqual(added)
    expect(await headersOf(new URL('https://app.example/api'))).toEqual(added)
    expect(await headersOf(new Request('https://app.example/api'))).toEqual(added)
    expect(await headersOf('/api', { headers: { 'x-a': '1' } })).toEqual({ ...added, 'x-a': '1' })
    for (const elsewhere of [
      'https://other.example/api',
      'http://app.example/',
      '//app.example:8443/',
    ])
      expect(await headersOf(elsewhere)).toEqual({})
    const own = { headers: { authorization: 'Bearer a-token' } }
    expect(await headersOf('/api', own)).toEqual({ authorization: 'Bearer a-token' })
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    await server.close()
  })

  test('sends a request unchanged if no user is logged in', async () => {
    const server = await start({})
    expect(await (await browserOf(server, undefined)).headersOf('/api')).toEqual({})
    await server.close()
  })

  test('uses the configured header and type, as the guard does', async () => {
    const server = await start({ jwtAuthHeader: 'X-Page-JWT', jwtAuthHeaderType: null })
    const jwt = await jwtOf(server)
    const { headersOf } = await browserOf(server, jwt)
    const headers = await headersOf('/api')
    expect(headers).toEqual({ 'x-page-jwt': jwt })
    expect(await ask(server, headers)).toEqual([200, '"session"'])
    expect((await ask(server, { authorization: `Bearer ${jwt}` }))[0]).toBe(401)
    await server.close()
  })
})
