import { expect } from 'vitest'
import type { Answer } from './world.ts'

// The responses of a guarded resource, as in decision §3.

export const identified = (body: unknown, status = 200): Answer => ({
  status,
  challenge: 'none',
  body,
})

/** An error in the form of RFC 6750 §3.1, with its challenge. */
export const refused = (
  status: number,
  error: string,
  more: Record<string, string> = {},
): Answer => ({
  status,
  challenge: expect.objectContaining({ error, error_description: expect.any(String), ...more }),
  body: { error, error_description: expect.stringMatching(/^[\x20-\x21\x23-\x5B\x5D-\x7E]+$/) },
})

const jwtError = (status: number, message: string): Answer =>
  identified({ status, message }, status)

export const twoCredentials: Answer = refused(400, 'invalid_request')
export const invalidToken: Answer = refused(401, 'invalid_token')
export const bare: Answer = {
  status: 401,
  challenge: 'bare',
  body: { status: 401, message: expect.any(String) },
}
export const decodeError: Answer = jwtError(400, 'The JWT token has invalid format.')
export const expiredToken: Answer = jwtError(403, 'The JWT token is expired.')
export const invalidIssuer: Answer = jwtError(403, 'The JWT token is not valid.')
export const noAuthorization: Answer = jwtError(400, 'The JWT token is not valid.')
export const missingHeader: Answer = jwtError(400, 'Missing required header argument.')
export const anonymous: Answer = identified({ kind: 'anonymous', user: null })

export const insufficient = (scope: string): Answer => refused(403, 'insufficient_scope', { scope })
