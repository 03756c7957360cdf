import type { Credential } from '../../../../model/credential.ts'
import type { User } from '../../../../model/user.ts'
import type { ServerContext } from '../../../server-context.ts'
import type { SettingsRequest } from '../settings-request.ts'
import type { LeakAct, LeakFacts } from './facts.ts'

/** Performs an action on a credential. Returns the sentence that confirms the action. */
export const carryOut = async (
  act: LeakAct,
  facts: LeakFacts,
  request: SettingsRequest,
): Promise<string> => {
  const { server, signedIn, texts } = request
  const { credential, user, client } = facts
  const viewer = signedIn.user
  const name = user?.email || String(user?.id ?? '')
  const isOwn = user?.id === viewer.id
  if (act === 'end') {
    await endCredential(credential, facts, viewer, server)
    return texts.done.credentialEnded
  }
  if (act === 'disable') {
    await server.clients.mark(client?.clientId ?? '', { isDisabled: true })
    return texts.done.clientDisabled(client?.name ?? '')
  }
  if (act === 'end_application') {
    const { clientId, name } = { clientId: '', name: '', ...client }
    if (viewer.isAdmin || client?.owner?.id === viewer.id) {
      await server.clients.endTokens(clientId)
      return texts.done.applicationTokensEnded(name)
    }
    await server.authorizedApplications.revoke(viewer.id, clientId)
    return texts.done.revoked(name)
  }
  if (!user) return ''
  if (act === 'end_user') {
    await server.administration.endAllAccess(user)
    return isOwn ? texts.done.ownTokensEnded : texts.done.userTokensEnded(name)
  }
  if (isOwn) await server.sessions.endOthers(signedIn)
  else await server.sessions.endAll(user)
  return isOwn ? texts.done.otherSessionsEnded : texts.done.loggedOut(name)
}

const endCredential = async (
  { kind, tokenId, authorizationId, digest }: Credential,
  { user }: LeakFacts,
  viewer: User,
  server: ServerContext,
): Promise<void> => {
  const { tokens, personalTokens, clients, sessions, shortLived, store } = server
  if (kind === 'session') {
    if (user && digest) await sessions.endOne(user.id, digest)
    return
  }
  if (kind === 'client_secret') {
    if (digest) await clients.endLeakedDigest(digest)
    return
  }
  if (kind === 'authorization_code') {
    if (!digest) return
    await shortLived.codes.deleteDigest(digest)
    // The client may have redeemed the code before the deletion.
    const redeemed = await store.authorizations.findByCode(digest)
    if (redeemed) await tokens.revokeAuthorization(redeemed.id)
    return
  }
  const event = viewer.isAdmin && user?.id !== viewer.id ? 'token.deleted' : undefined
  const row = tokenId === null ? undefined : await store.tokens.find(tokenId)
  const token = tokenId === null ? undefined : await tokens.get(tokenId)
  if (row && token) {
    // Only the former value of a personal token leaked, so the current value remains valid.
    if (row.successorId === null) await tokens.revoke(token, event)
    else await personalTokens.endFormer(token, (await clients.find(token.clientId))?.name ?? '')
  } else if (authorizationId !== null) {
    await tokens.revokeAuthorization(authorizationId)
  }
}
