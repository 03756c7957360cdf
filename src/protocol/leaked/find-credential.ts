import { digestOf, type SecretKind } from '../../crypto/digest.ts'
import type { Credential } from '../../model/credential.ts'
import type { CredentialKind } from '../../model/leak-report.ts'
import type { FoundToken } from '../../model/token.ts'
import { earliestRowOf, type UserId } from '../../model/user.ts'
import { findByRegistrationToken, findBySecret } from '../../records/clients/client-rows.ts'
import { deviceAuthorizations } from '../../records/device-authorizations.ts'
import { authorizationOfRotated } from '../../records/tokens/end-tokens.ts'
import { findEnded } from '../../records/tokens/ended-tokens.ts'
import type { ServerContext } from '../server-context.ts'

/** The search for each kind of secret that gives access. The others need a session, or are no secrets. */
const searches = {
  access_token: ofAccessToken,
  refresh_token: ofRefreshToken,
  rotated_refresh_token: ofRotatedToken,
  client_secret: ofClientSecret,
  authorization_code: (value, server) => ofCode('authorization_code', value, server),
  device_code: (value, server) => ofCode('device_code', value, server),
  session: ofSession,
  registration_token: ofRegistrationToken,
  user_link: ofUserLink,
} as const satisfies Partial<Record<SecretKind | 'rotated_refresh_token', Search>>

type Search = (value: string, server: ServerContext) => Promise<Found | undefined>

/**
 * Finds the credential with this value, also among the values that are valid for a short time only and the values that
 * can still be restored. Returns undefined for an unknown value or an invalid credential.
 */
export const findCredential = async (
  value: string,
  server: ServerContext,
): Promise<Credential | undefined> => {
  // Search all tables, so that the response time does not reveal which table contains the value.
  const [first] = (
    await Promise.all(Object.values<Search>(searches).map((search) => search(value, server)))
  ).filter((found) => found !== undefined)
  const found = first ?? (await ofDeletedToken(value, server))
  return found && { ...nothing, ...found, ending: value.slice(-4) }
}

/** Returns whether this server issued a value that `findCredential` does not find: of a revoked authorization. */
export const wasOurs = async (value: string, server: ServerContext): Promise<boolean> => {
  const { store } = server
  if (await authorizationOfRotated(value, server.records)) return true
  for (const kind of ['authorization_code', 'device_code'] as const)
    if (await store.authorizations.find({ codeDigest: digestOf(kind, value) })) return true
  return false
}

type Found = Pick<Credential, 'kind'> & Partial<Credential>

const nothing = {
  name: '',
  userId: null,
  clientId: null,
  tokenId: null,
  authorizationId: null,
  digest: null,
} as const

const ofToken = ({ token, client, user }: FoundToken, kind: CredentialKind): Found => ({
  kind,
  name: client.name,
  userId: user?.id ?? null,
  clientId: token.isPersonal ? null : client.clientId,
  tokenId: token.id,
  authorizationId: token.authorizationId,
})

async function ofAccessToken(value: string, { tokens }: ServerContext): Promise<Found | undefined> {
  const found = await tokens.find({ accessToken: value })
  if (!found?.token.isPersonal) return found && ofToken(found, 'access_token')
  return { ...ofToken(found, 'personal_token'), digest: found.accessDigest }
}

async function ofRefreshToken(
  value: string,
  { tokens }: ServerContext,
): Promise<Found | undefined> {
  const found = await tokens.find({ refreshToken: value })
  return found && ofToken(found, 'refresh_token')
}

async function ofRotatedToken(value: string, server: ServerContext): Promise<Found | undefined> {
  const found = await authorizationOfRotated(value, server.records)
  return found && ofAuthorization(found, 'refresh_token', server)
}

async function ofClientSecret(
  value: string,
  { records }: ServerContext,
): Promise<Found | undefined> {
  const digest = digestOf('client_secret', value)
  const client = await findBySecret(digest, records)
  return (
    client && {
      kind: 'client_secret' as const,
      name: client.name,
      userId: client.owner?.id ?? null,
      clientId: client.clientId,
      digest,
    }
  )
}

/** Finds a code of the authorization endpoint, or of a device. */
async function ofCode(
  kind: 'authorization_code' | 'device_code',
  value: string,
  server: ServerContext,
): Promise<Found | undefined> {
  const { shortLived, store } = server
  const digest = digestOf(kind, value)
  // A redeemed code may still be stored, so look for its authorization first.
  const redeemed = await store.authorizations.find({ codeDigest: digest })
  if (redeemed) {
    const found = await ofAuthorization(redeemed, kind, server)
    return found && { ...found, digest }
  }
  const code =
    kind === 'authorization_code'
      ? await shortLived.codes.get(value)
      : await deviceAuthorizations(server).find(value)
  const name = code && (await server.clients.find(code.clientId))?.name
  return (
    code && {
      kind,
      name: name ?? '',
      userId: 'userId' in code ? (code.userId as UserId) : null,
      clientId: code.clientId,
      digest,
    }
  )
}

const ofAuthorization = async (
  authorization: Awaited<ReturnType<typeof authorizationOfRotated>> & object,
  kind: CredentialKind,
  { clients, users, store }: ServerContext,
): Promise<Found | undefined> => {
  const { id, clientId, userId, revokedAt, createdAt } = authorization
  const isOfFormer = userId !== null && createdAt < earliestRowOf(await users.find(userId))
  if (revokedAt !== null || isOfFormer) return undefined
  const token = await store.tokens.find({ authorizationId: id }, { lock: 'change' })
  const name = (await clients.find(clientId))?.name ?? ''
  return { kind, name, userId, clientId, authorizationId: id, tokenId: token?.fields.id ?? null }
}

async function ofSession(value: string, { sessions }: ServerContext): Promise<Found | undefined> {
  const session = await sessions.findByValue(value)
  return session && { kind: 'session', userId: session.userId, digest: session.id }
}

/** Finds the token with which a client manages its own registration (RFC 7592). */
async function ofRegistrationToken(
  value: string,
  { records }: ServerContext,
): Promise<Found | undefined> {
  const digest = digestOf('registration_token', value)
  const client = await findByRegistrationToken(digest, records)
  return (
    client && {
      kind: 'registration_token',
      name: client.name,
      userId: client.owner?.id ?? null,
      clientId: client.clientId,
      digest,
    }
  )
}

async function ofUserLink(value: string, { userLinks }: ServerContext): Promise<Found | undefined> {
  const found = await userLinks.find(value)
  return (
    found && { kind: 'user_link', userId: found.userId, name: found.email, digest: found.digest }
  )
}

/**
 * Finds a deleted personal token that its user can still restore, or that the user deleted and restored during the search
 * of the tables.
 */
async function ofDeletedToken(value: string, server: ServerContext): Promise<Found | undefined> {
  const found = await findEnded(value, server.records)
  if (!found) return undefined
  return (await ofAccessToken(value, server)) ?? { kind: 'personal_token', ...found }
}
