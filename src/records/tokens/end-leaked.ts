import type { LeakedCredential } from '../../model/leak-report.ts'
import type { FoundToken } from '../../model/token.ts'
import type { RecordsContext } from '../context.ts'
import type { Records } from '../records.ts'
import { authorizationOfRotated } from './end-tokens.ts'

/** A leaked credential, and whether this call revoked it. */
export interface EndedCredential {
  readonly credential: LeakedCredential
  readonly isEndedNow: boolean
}

type Server = Records & Pick<RecordsContext, 'keys' | 'clock'>

/**
 * Revokes a leaked credential: an access or refresh token with its whole authorization, a personal token, or a client
 * secret. Returns undefined for any other value.
 */
export const endLeaked = async (
  value: string,
  server: Server,
): Promise<EndedCredential | undefined> => {
  const { tokens } = server
  const access = await tokens.find({ accessToken: value })
  if (access)
    return endToken(access, access.token.isPersonal ? 'personal_token' : 'access_token', server)
  const refresh = await tokens.find({ refreshToken: value })
  if (refresh) return endToken(refresh, 'refresh_token', server)
  return (await endRotated(value, server)) ?? endSecret(value, server)
}

const endToken = async (
  { token, client }: FoundToken,
  kind: LeakedCredential['kind'],
  { tokens, personalTokens, store }: Server,
): Promise<EndedCredential> => {
  const { id, clientId, userId } = token
  // If a former value leaked, revoke only this value. The leak does not reveal the current value.
  const isFormer = (await store.tokens.find(id))?.successorId !== null
  const isEndedNow = isFormer
    ? await personalTokens.endFormer(token, client.name)
    : await tokens.revoke(token)
  return { credential: { kind, clientId, name: client.name, userId, tokenId: id }, isEndedNow }
}

const endRotated = async (value: string, server: Server): Promise<EndedCredential | undefined> => {
  const authorization = await authorizationOfRotated(value, server)
  if (!authorization) return undefined
  const { clientId, userId } = authorization
  const { clients, tokens } = server
  const name = (await clients.find(clientId))?.name ?? ''
  const isEndedNow = await tokens.revokeRotated(value, clientId)
  return {
    credential: { kind: 'refresh_token', clientId, name, userId, tokenId: null },
    isEndedNow,
  }
}

const endSecret = async (
  value: string,
  { clients }: Server,
): Promise<EndedCredential | undefined> => {
  const client = await clients.endLeakedSecret(value)
  if (!client) return undefined
  const { clientId, name, userId } = client
  return {
    credential: { kind: 'client_secret', clientId, name, userId, tokenId: null },
    isEndedNow: true,
  }
}
