import { getRequestListener } from '@hono/node-server'
import {
  type AuthInfo,
  createMcpHandler,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import express, { type Express, type RequestHandler } from 'express'
import type { AuthorizationServer } from 'svc-oauth2server'
import { authOf, requireApiAuth, requireOauthScopes, rest } from 'svc-oauth2server/express'
import { may } from '../notes/access.ts'
import { createApp } from '../notes/app.ts'
import type { Notes } from '../notes/notes.ts'
import type { Demo } from '../notes/start-page/routes.ts'
import { mcpAddress } from './options.ts'
import { notesTools } from './tools.ts'

/** Creates the notes application with an MCP server, which must be one of the authorization server's resources. */
export const createMcpApp = (
  server: AuthorizationServer,
  notes: Notes,
  demo?: () => Demo | undefined,
): Express => {
  const resource = mcpAddress(server.issuer)
  const app = express()
  app.disable('x-powered-by')
  app.all(
    new URL(resource).pathname,
    // Refuse tokens that were not issued for this resource, as the MCP specification requires. Challenges link to the
    // metadata of the resource.
    rest(server, { resource, requireAudience: true }),
    requireApiAuth(),
    requireOauthScopes('notes:read'),
    may('read'),
    toMcp(new URL(resource), notes),
  )
  app.use(createApp(server, notes, demo))
  return app
}

const toMcp = (resource: URL, notes: Notes): RequestHandler => {
  // Create one MCP server per request, so that its tools use the notes of the user who sent the request.
  const mcp = createMcpHandler(({ authInfo }) => notesTools(notes, String(authInfo?.extra?.owner)))
  return (req, res) => {
    const { user, client, scopes } = authOf(req)
    const authInfo: AuthInfo = {
      // Omit the token, so that no tool can leak it. No tool needs the token.
      token: '',
      clientId: client?.clientId ?? '',
      // The scopes of a session are null, because a session may do everything that its user may do.
      scopes: [...(scopes ?? ['notes:read', 'notes:write'])],
      resource,
      extra: { owner: user?.id },
    }
    const response = (request: Request) =>
      originValidationResponse(request, [resource.hostname]) ?? mcp.fetch(request, { authInfo })
    return getRequestListener(response, { overrideGlobalObjects: false })(req, res)
  }
}
