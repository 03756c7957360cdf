import { expect } from 'vitest'
import type { HttpResponse } from './world.ts'

// The responses of a guarded resource that decision §3 defines.

export const identified = (body: unknown, status = 200): HttpResponse => ({
  status,
  challenge: 'none',
  body,
})

/** Returns an error response with a challenge (RFC 6750 §3.1). */
export const refused = (
  status: number,
  error: string,
  more: Record<string, string> = {},
): HttpResponse => ({
  status,
  challenge: expect.objectContaining({ error, error_description: expect.any(String), ...more }),
  body: { error, error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/) },
})

const jwtError = (status: number, message: string, more: object = {}): HttpResponse =>
  identified({ status, message, ...more }, status)

export const twoCredentials: HttpResponse = refused(400, 'invalid_request')
export const invalidToken: HttpResponse = refused(401, 'invalid_token')
export const bare: HttpResponse = {
  status: 401,
  challenge: 'bare',
  body: { status: 401, message: expect.any(String) },
}
export const decodeError: HttpResponse = jwtError(400, 'The JWT token has invalid format.')
export const expiredToken: HttpResponse = jwtError(403, 'The JWT token is expired.')
export const invalidIssuer: HttpResponse = jwtError(403, 'The JWT token is not valid.')
export const noAuthorization: HttpResponse = jwtError(400, 'The JWT token is not valid.')
export const missingHeader: HttpResponse = jwtError(400, 'Missing required header argument.', {
  errors: [{ header: 'Authorization', type: 'Bearer' }],
})
export const anonymous: HttpResponse = identified({ kind: 'anonymous', user: null })

export const insufficient = (scope: string): HttpResponse =>
  refused(403, 'insufficient_scope', { scope })
