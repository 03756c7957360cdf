import type { Ui } from '../../server-context.ts'

/** The addresses of the settings pages. */
export const addresses = ({ links }: Ui) => {
  const at = (...parts: readonly (string | number)[]): string =>
    `${links.applications}${parts.map((part) => `${encodeURIComponent(part)}/`).join('')}`
  return {
    applications: links.applications,
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
