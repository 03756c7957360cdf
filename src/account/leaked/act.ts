import { endCredential } from '../../protocol/leaked/end-credential.ts'
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
    const event = viewer.isAdmin && !isOwn ? 'token.deleted' : undefined
    await endCredential(credential, server, event)
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
