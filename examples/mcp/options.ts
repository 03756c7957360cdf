import type { AuthorizationServerOptions } from 'svc-oauth2server'

const scopes = ['notes:read', 'notes:write']

/** Returns the address of the MCP server, which is also the audience of its tokens. */
export const mcpAddress = (issuer: string): string => `${issuer.replace(/\/$/, '')}/mcp`

/** Lets unregistered AI clients in: they discover the MCP server as a resource, and register themselves. */
export const mcpOptions = (issuer: string) =>
  ({
    resources: [{ resource: mcpAddress(issuer), name: 'Notes', scopes }],
    clientIdMetadataDocuments: true,
    dynamicRegistration: 'open',
    // The MCP SDK registers with the scopes of the first challenge, and requests others once a tool needs them.
    registerClient: () => ({ scope: scopes.join(' ') }),
  }) satisfies Partial<AuthorizationServerOptions>
