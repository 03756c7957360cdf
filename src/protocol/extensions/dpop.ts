// RFC 9449: OAuth 2.0 Demonstrating Proof of Possession (DPoP)
import { checkDpopProof, type DpopProof, InvalidProof } from '../../crypto/dpop-proof.ts'
import { signatureAlgorithms } from '../../crypto/jose.ts'
import type { HttpRequest } from '../../http/request.ts'
import type { PresentedToken } from '../../model/auth.ts'
import { hasImposed } from '../../model/client.ts'
import { foreignKeyProblem } from '../../model/foreign-key.ts'
import { OAuthError } from '../../model/oauth-error.ts'
import type { Redemption } from '../../model/redemption.ts'
import { returnsCode } from '../../model/response-type.ts'
import type { FoundToken } from '../../model/token.ts'
import type { Sender } from '../../records/transient-values.ts'
import type { TokenIssue } from '../plug-ins/extension.ts'
import type { Extension } from '../plug-ins.ts'
import type { ServerContext } from '../server-context.ts'
import { openHeld, sealHeld } from '../session/held-values.ts'

/** The key to which the code of an authorization request is bound. RFC 9449 §10. */
interface RememberedKey {
  readonly thumbprint: string
}

const thumbprintSyntax = /^[A-Za-z0-9_-]{43}$/
/** The lifetime of a nonce in milliseconds. */
const nonceLife = 300_000

/** Binds tokens to a key: a stolen token is useless without the private key. */
export const dpop: Extension = {
  name: 'dpop',
  isOn: ({ dpop }) => dpop !== 'off',
  authorizationParameters: ['dpop_jkt'],

  metadata: ({ settings }) => ({
    dpop_signing_alg_values_supported: signatureAlgorithms(settings),
  }),

  resourceMetadata: ({ settings }) => ({
    dpop_signing_alg_values_supported: signatureAlgorithms(settings),
    ...(settings.dpop === 'required' ? { dpop_bound_access_tokens_required: true } : {}),
  }),

  // RFC 9449 §10
  onAuthorizationRequest(params, { responseType }): RememberedKey | undefined {
    const thumbprint = params.optional('dpop_jkt')
    if (thumbprint === undefined) return undefined
    if (!thumbprintSyntax.test(thumbprint))
      throw new OAuthError('invalid_request', 'dpop_jkt must be the SHA-256 thumbprint of a key.')
    if (!returnsCode(responseType)) throw notBindable()
    return { thumbprint }
  },

  // RFC 9449 §10.1
  async onPushedRequest(params, http, server) {
    const proof = await proofOf(http, server)
    if (!proof) return {}
    if (!returnsCode(params.required('response_type'))) throw notBindable()
    const named = params.optional('dpop_jkt')
    if (named !== undefined && named !== proof.thumbprint)
      throw refused('The DPoP proof uses another key than dpop_jkt.', server)
    await useOnce(proof, { clientId: params.required('client_id'), address: http.address }, server)
    return { dpop_jkt: proof.thumbprint }
  },

  // Report a missing proof even if the credentials of the client are also wrong.
  onTokenRequest(http, server) {
    if (server.settings.dpop === 'required' && http.header('dpop') === null)
      throw refused(needsProof, server)
  },

  onTokenIssue: bind,

  responseHeaders: (http, server) => (http.header('dpop') === null ? {} : nonceHeader(server)),

  onProtectedRequest(presented, found, server) {
    if (found.token.keyThumbprint === null) return undefined
    return checkHolder(presented, found, server)
  },
}

const notBindable = (): OAuthError =>
  new OAuthError('invalid_request', 'Only a code can be bound to a key.')

// RFC 9449 §5
async function bind(
  { redemption, params, http, remembered }: TokenIssue,
  server: ServerContext,
): Promise<Redemption> {
  // A request without a grant type comes from the authorization endpoint. The browser that sent the request has no key.
  if (params.optional('grant_type') === undefined) return redemption
  const proof = await proofOf(http, server)
  const { isBound, key } = boundKey(redemption, remembered)
  if (!proof) {
    const isNeeded = isBound || hasImposed(redemption.client, 'dpop_bound_access_tokens')
    if (isNeeded) throw refused(needsProof, server)
    return redemption
  }
  if (key !== undefined && key !== proof.thumbprint)
    throw new OAuthError('invalid_grant', 'The grant is bound to another key.')
  // Record the use last, so that a rejected request does not consume its proof.
  await useOnce(proof, { clientId: redemption.client.clientId, address: http.address }, server)
  return { ...redemption, keyThumbprint: proof.thumbprint }
}

/** Returns whether a grant is bound to a key, and that key. `key` is undefined if the client may use any key. */
const boundKey = (
  redemption: Redemption,
  remembered: TokenIssue['remembered'],
): { readonly isBound: boolean; readonly key?: string | undefined } => {
  if (redemption.type === 'client') return { isBound: false }
  if (redemption.type === 'user') {
    const named = remembered[dpop.name] as RememberedKey | undefined
    return { isBound: named !== undefined, key: named?.thumbprint }
  }
  const { token } =
    redemption.type === 'narrowing' ? redemption.parent : (redemption.current?.found ?? {})
  const key = token?.keyThumbprint ?? undefined
  // A confidential client may replace its key, because its credentials protect its refresh token (RFC 9449 §5).
  const mayChange = redemption.type === 'refresh' && redemption.client.isConfidential
  return { isBound: key !== undefined, key: mayChange ? undefined : key }
}

// RFC 9449 §7.1
const checkHolder = async (
  { accessToken, credentials }: PresentedToken,
  { token, client }: FoundToken,
  server: ServerContext,
): Promise<void> => {
  const { method, path, resource } = credentials
  const refuse = (
    code: 'invalid_token' | 'invalid_dpop_proof' | 'use_dpop_nonce',
    description: string,
  ) => server.resourceServer.dpopRefusal(code, description, credentials, nonceHeader(server))
  const text = credentials.headers().get('dpop')
  if (text === null) throw refuse('invalid_dpop_proof', needsProof)
  const { origin } = new URL(resource ?? server.issuer)
  const proof = await checkDpopProof(text, {
    method,
    uri: `${origin}${path}`,
    now: server.clock(),
    algorithms: signatureAlgorithms(server.settings),
    keyProblem: foreignKeyProblem,
    accessToken,
  }).catch((error: unknown) => {
    if (error instanceof InvalidProof) throw refuse('invalid_dpop_proof', error.message)
    throw error
  })
  if (proof.thumbprint !== token.keyThumbprint)
    throw refuse('invalid_token', 'The access token is bound to another key.')
  if (!hasNonce(proof, server)) throw refuse('use_dpop_nonce', needsNonce)
  const sender = { clientId: client.clientId, address: credentials.address }
  if (!(await isFirstUse(proof, sender, server))) throw refuse('invalid_dpop_proof', wasUsed)
}

/**
 * Returns the verified proof of a request, or undefined if the request contains no proof. The caller must record that
 * the proof was used. @throws OAuthError if the proof is not valid
 */
const proofOf = async (
  http: HttpRequest,
  server: ServerContext,
): Promise<DpopProof | undefined> => {
  const text = http.header('dpop')
  if (text === null) return undefined
  // Take the origin from the issuer, because the sender of a request can forge the Host header.
  const { origin } = new URL(server.issuer)
  const proof = await checkDpopProof(text, {
    method: http.method,
    uri: `${origin}${http.path}`,
    now: server.clock(),
    algorithms: signatureAlgorithms(server.settings),
    keyProblem: foreignKeyProblem,
  }).catch((error: unknown) => {
    if (error instanceof InvalidProof) throw refused(error.message, server, error.cause)
    throw error
  })
  if (!hasNonce(proof, server))
    throw new OAuthError('use_dpop_nonce', needsNonce, { headers: nonceHeader(server) })
  return proof
}

const refused = (description: string, server: ServerContext, cause?: unknown): OAuthError =>
  new OAuthError('invalid_dpop_proof', description, {
    headers: nonceHeader(server),
    ...(cause === undefined ? {} : { cause }),
  })

const needsProof = 'A DPoP proof is needed.'
const wasUsed = 'The DPoP proof was used before.'
const needsNonce = 'The DPoP proof needs the nonce of this response.'

const useOnce = async (proof: DpopProof, sender: Sender, server: ServerContext): Promise<void> => {
  if (!(await isFirstUse(proof, sender, server))) throw refused(wasUsed, server)
}

// RFC 9449 §11.1. The store ensures that only one node accepts a proof.
const isFirstUse = (
  { thumbprint, jti, expiresAt }: DpopProof,
  sender: Sender,
  server: ServerContext,
): Promise<boolean> =>
  server
    .transientValues<true>('dpop_proof')
    .claimOnce(`${thumbprint} ${jti}`, true, expiresAt, sender)

/**
 * Returns a header with a new nonce; empty if the settings do not require nonces. RFC 9449 §8.2. Each node can open the
 * nonces of all nodes.
 */
const nonceHeader = (server: ServerContext): Readonly<Record<string, string>> => {
  if (!server.settings.requireDpopNonce) return {}
  const until = server.clock() + nonceLife
  return { 'dpop-nonce': sealHeld('dpop_nonce', [server.issuer], { until }, server) }
}

const hasNonce = ({ nonce }: DpopProof, server: ServerContext): boolean =>
  !server.settings.requireDpopNonce ||
  openHeld('dpop_nonce', [server.issuer], nonce, server) !== undefined
