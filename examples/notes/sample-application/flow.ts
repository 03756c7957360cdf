import { createHash, randomBytes } from 'node:crypto'
import type { Call } from '../start-page/call.ts'

/** An authorization request whose response has not arrived yet. */
export interface Pending {
  /** Binds the response to the browser that started the flow. */
  readonly state: string
  /** The PKCE verifier (RFC 7636), which only this application knows. */
  readonly verifier: string
}

const random = (): string => randomBytes(32).toString('base64url')

export const newPending = (): Pending => ({ state: random(), verifier: random() })

/** Returns the URL to which the browser is sent. */
export const authorizationUrl = (
  endpoint: string,
  { state, verifier }: Pending,
  params: Readonly<Record<string, string>>,
): string => {
  const challenge = createHash('sha256').update(verifier).digest('base64url')
  const query = new URLSearchParams({
    response_type: 'code',
    ...params,
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
  })
  return `${endpoint}?${query}`
}

/** The members of a successful token response that the application uses. */
export interface Tokens {
  readonly access_token: string
  readonly scope: string
  readonly expires_in: number
  readonly user: { readonly id: string | number; readonly email?: string }
}

/** Sends the token request. Returns the tokens, or the description of the error. */
export const redeem = async (
  call: Call,
  path: string,
  fields: Readonly<Record<string, string>>,
): Promise<Tokens | string> => {
  const body = new URLSearchParams({ grant_type: 'authorization_code', ...fields })
  const { status, text } = await call(path, { method: 'POST', body })
  const response = JSON.parse(text) as Tokens & { readonly error_description?: string }
  return status === 200 ? response : (response.error_description ?? text)
}
