import { digestOf } from '../../../../crypto/digest.ts'
import type { Credential, CredentialKind } from '../../../../model/credential.ts'
import type { FoundToken } from '../../../../model/token.ts'
import { authorizationOfRotated } from '../../../../records/tokens/end-tokens.ts'
import type { ServerContext } from '../../../server-context.ts'

/** Finds the credential with this value. Returns undefined for an unknown value or an invalid credential. */
export const findCredential = async (
  value: string,
  server: ServerContext,
): Promise<Credential | undefined> => {
  // Search all tables, so that the response time does not reveal which table contains the value.
  const [first] = (
    await Promise.all([
      ofAccessToken(value, server),
      ofRefreshToken(value, server),
      ofRotatedToken(value, server),
      ofClientSecret(value, server),
      ofCode(value, server),
      ofSession(value, server),
    ])
  ).filter((found) => found !== undefined)
  return first && { ...nothing, ...first, ending: value.slice(-4) }
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

const ofAccessToken = async (value: string, { tokens }: ServerContext) => {
  const found = await tokens.find({ accessToken: value })
  return found && ofToken(found, found.token.isPersonal ? 'personal_token' : 'access_token')
}

const ofRefreshToken = async (value: string, { tokens }: ServerContext) => {
  const found = await tokens.find({ refreshToken: value })
  return found && ofToken(found, 'refresh_token')
}

const ofRotatedToken = async (value: string, server: ServerContext) => {
  const found = await authorizationOfRotated(value, server)
  return found && ofAuthorization(found, 'refresh_token', server)
}

const ofClientSecret = async (value: string, { clients }: ServerContext) => {
  const client = await clients.findBySecret(value)
  return (
    client && {
      kind: 'client_secret' as const,
      name: client.name,
      userId: client.owner?.id ?? null,
      clientId: client.clientId,
      digest: digestOf('client_secret', value),
    }
  )
}

const ofCode = async (value: string, server: ServerContext): Promise<Found | undefined> => {
  const { shortLived, store } = server
  const digest = shortLived.codes.digest(value)
  // A redeemed code may still be stored, so look for its authorization first.
  const redeemed = await store.authorizations.findByCode(digest)
  if (redeemed) {
    const found = await ofAuthorization(redeemed, 'authorization_code', server)
    return found && { ...found, digest }
  }
  const code = await shortLived.codes.get(value)
  const name = code && (await server.clients.find(code.clientId))?.name
  return (
    code && {
      kind: 'authorization_code',
      name: name ?? '',
      userId: code.userId,
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
  const isOfFormer = userId !== null && createdAt < (await users.earliestRow(userId))
  if (revokedAt !== null || isOfFormer) return undefined
  const token = await store.tokens.ofAuthorization(id)
  const name = (await clients.find(clientId))?.name ?? ''
  return { kind, name, userId, clientId, authorizationId: id, tokenId: token?.fields.id ?? null }
}

const ofSession = async (
  value: string,
  { sessions }: ServerContext,
): Promise<Found | undefined> => {
  const session = await sessions.findByValue(value)
  return session && { kind: 'session', userId: session.userId, digest: session.id }
}
