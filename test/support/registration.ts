import { expect } from 'vitest'
import { redirectUri } from './redirect-uris.ts'
import type { TestServer } from './server.ts'
import { TestClient, type UserAgent } from './user-agent.ts'

/** The body of a registration response. Every member is declared, because the tests check which of them are present. */
export interface Information {
  readonly client_id: string
  readonly client_secret: string
  readonly client_id_issued_at: number
  readonly client_secret_expires_at: number
  readonly registration_access_token: string
  readonly registration_client_uri: string
  readonly [member: string]: unknown
}

export interface RegistrationResponse {
  readonly status: number
  readonly headers: Headers
  readonly body: Information
}

/** Sends a request with a JSON body. A body that is already a text is sent unchanged. */
export const sendJson = async (
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  url: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<RegistrationResponse> => {
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
    // Without the endpoint, the response is an HTML page.
    body: /^[{[]/.test(answer) ? JSON.parse(answer) : {},
  }
}

/** Sends a registration request. By default, the metadata contains only a redirect URI. */
export const register = (
  { issuer }: Pick<TestServer, 'issuer'>,
  metadata: unknown = { redirect_uris: [redirectUri] },
  headers: Record<string, string> = {},
): Promise<RegistrationResponse> => sendJson('POST', `${issuer}/oauth/register`, metadata, headers)

/** Registers a client. @returns the body of the successful response @throws Error if the registration fails */
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
  if (status !== 201) throw new Error(`The registration failed: ${JSON.stringify(body)}`)
  return body
}

/** Checks the form of an error response (RFC 7591 §3.2.2). @returns the status and the error code */
export const refusal = ({ status, headers, body }: RegistrationResponse): string => {
  expect(Object.keys(body).sort()).toEqual(['error', 'error_description'])
  // RFC 6749 §5.2 allows only printable ASCII characters except quotes and backslashes.
  expect(body.error_description).toMatch(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/)
  expect(headers.get('content-type')).toMatch(/^application\/json\b/)
  expect(headers.get('cache-control')).toBe('no-store')
  return `${status} ${body.error}`
}

/** Sends a request with the registration access token. */
export const manage = (
  method: 'GET' | 'PUT' | 'DELETE',
  { registration_client_uri: url, registration_access_token: token }: Information,
  body?: unknown,
): Promise<RegistrationResponse> =>
  sendJson(method, url, body, { authorization: `Bearer ${token}` })

/** Registers a client and returns it as a test client. */
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
