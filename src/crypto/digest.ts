import { hash, timingSafeEqual } from 'node:crypto'

declare const brand: unique symbol

/** The SHA-256 digest of a secret in base64url, which the database stores instead of the secret. */
export type Digest = string & { readonly [brand]: 'Digest' }

/** The type of an opaque value. The digest includes the type, so that a code is never accepted as a token. */
export type SecretKind =
  | 'access_token'
  | 'refresh_token'
  | 'client_secret'
  | 'authorization_code'
  | 'authorization_request'
  | 'session'
  | 'settings_notice'
  | 'settings_form'
  | 'form_draft'
  | 'refused_redirect'
  | 'ended_tokens'
  | 'deleted_token'
  | 'client_refusals'
  | 'pushed_request'
  | 'used_pushed_request'
  | 'device_code'
  | 'user_code'
  | 'device_confirmation'
  | 'client_assertion'
  | 'request_object'
  | 'dpop_proof'
  | 'registration_token'
  | 'leaked_credential'
  | 'looked_up'
  | 'user_link'
  | OwnKind

/**
 * A secret type that an extension defines: the name of the extension, a slash, and a name. Built-in types do not
 * contain a slash.
 */
export type OwnKind = `${string}/${string}`

/**
 * Returns the digest by which a secret is looked up. One round of SHA-256 is enough for a secret with at least 128
 * random bits. Shorter values, such as user codes, need a keyed digest (`KeyRing.lookupDigests`).
 */
export const digestOf = (kind: SecretKind, secret: string): Digest =>
  hash('sha256', `${kind}:${secret}`, 'base64url') as Digest

/** Returns the SHA-256 digest of a text in base64url, as in RFC 7636 §4.2. */
export const sha256 = (text: string): string => hash('sha256', text, 'base64url')

/** Returns whether two texts are equal. For texts of the same length, the comparison takes constant time. */
export const constantTimeEqual = (a: string, b: string): boolean => {
  const left = Buffer.from(a)
  const right = Buffer.from(b)
  return left.length === right.length && timingSafeEqual(left, right)
}
