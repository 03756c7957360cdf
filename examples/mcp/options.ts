import type { AuthorizationServerOptions } from 'svc-oauth2server'

const scopes = ['notes:read', 'notes:write']

/** Where the MCP server stands, which is also what tokens for it name as their audience. */
export const mcpAddress = (issuer: string): string => `${issuer.replace(/\/$/, '')}/mcp`

/** What lets AI clients in that nobody has registered: they are told of the resource, and introduce themselves. */
export const mcpOptions = (issuer: string) =>
  ({
    resources: [{ resource: mcpAddress(issuer), name: 'Notes', scopes }],
    clientIdMetadataDocuments: true,
    dynamicRegistration: 'open',
    // The MCP SDK registers with the scopes of the first challenge, and asks for others once a tool needs them.
    registerClient: () => ({ scope: scopes.join(' ') }),
  }) satisfies Partial<AuthorizationServerOptions>
