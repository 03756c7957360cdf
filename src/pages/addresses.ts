import type { UserId } from '../model/user.ts'
import type { FrameLinks } from './frame.ts'

/** Returns the URLs of the settings pages. */
export const addresses = (links: FrameLinks) => {
  const at = (...parts: readonly (string | number)[]): string =>
    `${links.applications}${parts.map((part) => `${encodeURIComponent(part)}/`).join('')}`
  return {
    applications: links.applications,
    tokens: links.tokens,
    clients: links.clients,
    authorized: links.authorized,
    selectedTokens: at('tokens', 'selected'),
    undo: at('tokens', 'undo'),
    selectedApplications: at('authorized', 'selected'),
    newClient: at('clients', 'new'),
    client: (clientId: string) => at('clients', clientId),
    reset: (clientId: string) => at('clients', clientId, 'reset'),
    newToken: at('tokens', 'new'),
    token: (id: number) => at('tokens', id),
    rotate: (id: number) => at('tokens', id, 'rotate'),
    view: (id: number) => at('tokens', id, 'view'),
    revoke: (id: number) => at('tokens', id, 'revoke'),
    revokeApplication: (clientId: string) => at('authorized', clientId, 'revoke'),
    revokeAll: at('authorized', 'revoke'),
    adminApplication: (clientId: string) =>
      `${links.adminApplications}${encodeURIComponent(clientId)}/`,
    adminUser: (id: UserId) => `${links.adminUsers}${encodeURIComponent(id)}/`,
  }
}
