// RFC 7636: Proof Key for Code Exchange

import { constantTimeEqual, sha256 } from '../../crypto/digest.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import { anyParameter } from '../../model/parameters.ts'
import { returnsCode } from '../../model/response-type.ts'
import type { Extension } from '../plug-ins.ts'

interface Challenge {
  readonly codeChallenge: string
}

const verifierSyntax = /^[A-Za-z0-9\-._~]{43,128}$/
const challengeSyntax = /^[A-Za-z0-9\-_]{43}$/

const refused = (): OAuthError => new OAuthError('invalid_grant', 'The code verifier is not valid.')

/** Binds a code to the client instance that requested it. Rejects the method `plain`, which exposes the verifier. */
export const pkce: Extension = {
  name: 'pkce',
  authorizationParameters: {
    code_challenge: { ...anyParameter, description: 'RFC 7636 §4.3.' },
    code_challenge_method: { ...anyParameter, description: 'S256.' },
  },
  metadata: () => ({ code_challenge_methods_supported: ['S256'] }),

  // RFC 7636 §4.3, §4.4.1
  onAuthorizationRequest(params, { client, responseType }, { settings }): Challenge | undefined {
    if (!returnsCode(responseType)) return undefined
    const codeChallenge = params.optional('code_challenge')
    const method = params.optional('code_challenge_method')
    if (codeChallenge === undefined) {
      const required =
        settings.requirePkce === 'always' ||
        (settings.requirePkce === 'public' && !client.isConfidential)
      if (required || method !== undefined)
        throw new OAuthError('invalid_request', 'code_challenge is missing.')
      return undefined
    }
    if (method !== 'S256')
      throw new OAuthError('invalid_request', 'code_challenge_method must be S256.')
    if (!challengeSyntax.test(codeChallenge))
      throw new OAuthError('invalid_request', 'code_challenge is malformed.')
    return { codeChallenge }
  },

  // RFC 7636 §4.6. A verifier without a challenge indicates a downgrade attack (RFC 9700 §4.8.2).
  onCodeRedemption(params, { extensions }) {
    const challenge = extensions[pkce.name] as Challenge | undefined
    const verifier = params.optional('code_verifier')
    if (challenge === undefined && verifier === undefined) return
    if (challenge === undefined || verifier === undefined || !verifierSyntax.test(verifier))
      throw refused()
    if (!constantTimeEqual(sha256(verifier), challenge.codeChallenge)) throw refused()
  },
}
