import type { AuthorizationServerOptions } from 'svc-oauth2server'

const scopes = ['notes:read', 'notes:write']

/** Returns the URL of the MCP server, which is also the audience of its tokens. */
export const mcpAddress = (issuer: string): string => `${issuer.replace(/\/$/, '')}/mcp`

/**
 * Returns options that admit unregistered AI clients, which discover the MCP server as a resource and register
 * themselves.
 */
export const mcpOptions = (issuer: string) =>
  ({
    resources: [{ resource: mcpAddress(issuer), name: 'Notes', scopes }],
    clientIdMetadataDocuments: true,
    dynamicRegistration: 'open',
    // Register each client for all scopes. At registration, the MCP SDK sends only the scopes of the first challenge,
    // but later it requests more.
    registerClient: () => ({ scope: scopes.join(' ') }),
  }) satisfies Partial<AuthorizationServerOptions>
