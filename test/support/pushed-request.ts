import { expect } from 'vitest'
import { basicOf, type FormResponse, postForm } from './form.ts'
import type { TestClient } from './user-agent.ts'

type Given = Record<string, string | undefined>

/** Returns the parameters of an authorization request; undefined omits a parameter. */
export const requestOf = (client: TestClient, given: Given = {}): Record<string, string> =>
  Object.fromEntries(new URL(client.url(given)).searchParams)

/**
 * Pushes an authorization request with Basic authentication, or only with the client ID if the client has no secret.
 */
export const push = (
  client: TestClient,
  given: Given = {},
  {
    isPublic = false,
    headers = {},
  }: { readonly isPublic?: boolean; readonly headers?: Record<string, string> } = {},
): Promise<FormResponse> =>
  postForm(`${client.app.issuer}/oauth/par`, requestOf(client, given), {
    ...(isPublic ? {} : basicOf(client)),
    ...headers,
  })

/** Pushes a request that must succeed, and returns the request URI. */
export const pushed = async (...given: Parameters<typeof push>): Promise<string> => {
  const { status, body } = await push(...given)
  expect(body).toEqual({ request_uri: expect.any(String), expires_in: expect.any(Number) })
  expect(status).toBe(201)
  return String(body.request_uri)
}

/** Returns the authorization URL for a pushed request. `given` adds parameters, as an attacker may do. */
export const referenceUrl = (client: TestClient, requestUri: string, given: Given = {}): string => {
  const pairs = Object.entries({ client_id: client.clientId, request_uri: requestUri, ...given })
  const query = new URLSearchParams(
    pairs.filter((pair) => pair[1] !== undefined) as [string, string][],
  )
  return `${client.app.issuer}/oauth/authorize?${query}`
}
