import type { User } from '../model/user.ts'
import { notFound } from '../protocol/endpoints/responses/problem.ts'
import type { Ui } from '../protocol/server-context.ts'
import type { SettingsRequest } from './settings-request.ts'

/** Returns the URLs of the settings pages. */
export const addresses = ({ links }: Ui) => {
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
  }
}

/** Parses the ID of a token. @throws OAuthError 404 if the text is not a valid ID */
export const asTokenId = (text: string): number => {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw notFound()
  return Number(text)
}

/** Returns the token ID in the path. @throws OAuthError 404 if the path does not contain a valid ID */
export const tokenIdOf = ({ http }: SettingsRequest): number => asTokenId(http.param('id'))

/** Returns the URL of the page on which administrators manage an application. */
export const adminApplicationAddress = ({ links }: Ui, clientId: string): string =>
  `${links.adminApplications}${encodeURIComponent(clientId)}/`

/** Returns the URL of the page on which administrators manage a user. */
export const userAddress = ({ links }: Ui, { id }: Pick<User, 'id'>): string =>
  `${links.adminUsers}${encodeURIComponent(id)}/`
