import { expect } from 'vitest'
import { redirectUri } from './redirect-uris.ts'
import type { TestServer } from './server.ts'
import { TestClient, type UserAgent } from './user-agent.ts'

/** The answer to a client that registered; which members are there is what tests check. */
export interface Information {
  readonly client_id: string
  readonly client_secret: string
  readonly client_id_issued_at: number
  readonly client_secret_expires_at: number
  readonly registration_access_token: string
  readonly registration_client_uri: string
  readonly [member: string]: unknown
}

export interface RegistrationAnswer {
  readonly status: number
  readonly headers: Headers
  readonly body: Information
}

/** A request with a body of JSON; text goes as it is. */
export const sendJson = async (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<RegistrationAnswer> => {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  const hasBody = method === 'POST' || method === 'PUT'
  const response = await fetch(url, {
    method,
    headers: { ...(hasBody ? { 'content-type': 'application/json' } : {}), ...headers },
    ...(hasBody ? { body: text } : {}),
  })
  const answer = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    // A page, where there is no such address.
    body: /^[{[]/.test(answer) ? JSON.parse(answer) : {},
  }
}

/** Asks to be registered; without metadata, with a redirect URI alone. */
export const register = (
  { issuer }: Pick<TestServer, 'issuer'>,
  metadata: unknown = { redirect_uris: [redirectUri] },
  headers: Record<string, string> = {},
): Promise<RegistrationAnswer> => sendJson('POST', `${issuer}/oauth/register`, metadata, headers)

/** What was registered, of a request that has to succeed. */
export const registered = async (
  app: Pick<TestServer, 'issuer'>,
  metadata: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): Promise<Information> => {
  const { status, body } = await register(
    app,
    { redirect_uris: [redirectUri], ...metadata },
    headers,
  )
  if (status !== 201) throw new Error(`The registration was answered with ${JSON.stringify(body)}.`)
  return body
}

/** Status and code of a refusal, once its form was checked against RFC 7591 §3.2.2. */
export const refusal = ({ status, headers, body }: RegistrationAnswer): string => {
  expect(Object.keys(body).sort()).toEqual(['error', 'error_description'])
  // ASCII, without quotes.
  expect(body.error_description).toMatch(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/)
  expect(headers.get('content-type')).toMatch(/^application\/json\b/)
  expect(headers.get('cache-control')).toBe('no-store')
  return `${status} ${body.error}`
}

/** A request with the token that manages a registration. */
export const manage = (
  method: 'GET' | 'PUT' | 'DELETE',
  { registration_client_uri: url, registration_access_token: token }: Information,
  body?: unknown,
): Promise<RegistrationAnswer> => sendJson(method, url, body, { authorization: `Bearer ${token}` })

/** A client that registered itself, as a client of the tests. */
export const asTestClient = (
  app: TestServer,
  agent: UserAgent,
  information: Information,
): TestClient => {
  const { client_id: clientId, client_secret: clientSecret = '', redirect_uris: uris } = information
  const [uri = ''] = uris as readonly string[]
  const proof = { client_secret_basic: 'basic', client_secret_post: 'post', none: 'none' } as const
  const method = information.token_endpoint_auth_method as keyof typeof proof
  return new TestClient(app, agent, { clientId, clientSecret, redirectUri: uri }, proof[method])
}
