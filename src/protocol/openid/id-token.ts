import { hash } from 'node:crypto'
import type { Client } from '../../model/client.ts'
import { keptMetadata } from '../../model/client-metadata.ts'
import { subjectIn } from '../../model/sector.ts'
import type { UserId } from '../../model/user.ts'
import type { SigningAlgorithm } from '../../records/keys/signing-keys.ts'
import type { Configuration, ServerContext } from '../server-context.ts'
import { claimsOfUser } from './claims-of-user.ts'
import type { OpenIdGrant } from './openid-request.ts'
import { sidOf } from './sid.ts'

/** The values from which an ID token is created. */
export interface AboutLogin {
  readonly client: Client
  readonly userId: UserId
  /** The sector of the subject; null: the subject is the ID of the user. */
  readonly sector: string | null
  readonly scopes: readonly string[]
  readonly grant: OpenIdGrant | undefined
  /**
   * The claims about the user: `granted` adds all claims of the granted scopes, and `none` adds no claims. Default: the
   * claims that the request names, or all granted claims if the setting `userClaimsInIdToken` is on.
   */
  readonly userClaims?: 'granted' | 'none' | undefined
  /** The values that the ID token is bound to, by a hash of each value. */
  readonly bound?: { readonly accessToken?: string | undefined; readonly code?: string | undefined }
}

/** Returns the algorithm that signs the ID tokens of a client. */
export const idTokenAlgorithmOf = (
  client: Pick<Client, 'metadata'>,
  { settings }: Configuration,
): SigningAlgorithm =>
  keptMetadata(client).id_token_signed_response_alg ?? settings.idTokenSigningAlgorithm

/** Creates an ID token. OpenID Connect Core §2. */
export const createIdToken = async (
  { client, userId, sector, scopes, grant, userClaims, bound = {} }: AboutLogin,
  server: ServerContext,
): Promise<string> => {
  const algorithm = idTokenAlgorithmOf(client, server)
  const now = Math.floor(server.clock() / 1000)
  const { nonce, authTime, amr, acr, session, sid } = grant ?? {}
  const { accessToken, code } = bound
  const claims = {
    ...(await claimsAbout({ userId, scopes, grant, userClaims }, server)),
    iss: server.issuer,
    sub: await subjectIn(sector, userId, server),
    aud: client.clientId,
    exp: now + server.settings.tokenExpiresIn,
    iat: now,
    auth_time: authTime,
    nonce,
    acr,
    amr,
    sid: session === undefined ? undefined : (sid ?? sidOf(session, null)),
    at_hash: accessToken === undefined ? undefined : leftHalf(accessToken, algorithm),
    c_hash: code === undefined ? undefined : leftHalf(code, algorithm),
  }
  return server.signingKeys.sign(claims, 'JWT', algorithm)
}

// Usually, only the userinfo response contains claims about the user. The ID token contains them if the client receives
// no access token (§5.4), if the request names claims for the ID token (§5.5), or if `userClaimsInIdToken` is on.
const claimsAbout = async (
  { userId, scopes, grant, userClaims }: Omit<AboutLogin, 'client' | 'sector' | 'bound'>,
  server: ServerContext,
): Promise<Readonly<Record<string, unknown>>> => {
  if (userClaims === 'none') return {}
  const names = Object.keys(grant?.claims?.id_token ?? {})
  const isComplete = userClaims === 'granted' || server.settings.userClaimsInIdToken
  const user = isComplete || names.length > 0 ? await server.users.find(userId) : undefined
  if (!user) return {}
  const claims = await claimsOfUser(user, scopes, grant, server.hostHooks)
  if (isComplete) return claims
  return Object.fromEntries(Object.entries(claims).filter(([name]) => names.includes(name)))
}

/** Returns the left half of the hash of a value. OpenID Connect Core §3.1.3.6; for EdDSA, RFC 8032 §5.1 uses SHA-512. */
const leftHalf = (value: string, algorithm: SigningAlgorithm): string => {
  const digest = hash(algorithm === 'EdDSA' ? 'sha512' : 'sha256', value, 'buffer')
  return digest.subarray(0, digest.length / 2).toString('base64url')
}
