import { getRequestListener } from '@hono/node-server'
import {
  type AuthInfo,
  createMcpHandler,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import express, { type Express, type RequestHandler } from 'express'
import type { AuthorizationServer } from 'svc-oauth2server'
import { requireApiAuth, requireOauthScopes, rest } from 'svc-oauth2server/express'
import { may } from '../notes/access.ts'
import { createApp } from '../notes/app.ts'
import type { Notes } from '../notes/notes.ts'
import { mcpAddress } from './options.ts'
import { notesTools } from './tools.ts'

/** The notes application, and beside its REST API an MCP server. It has to be among the server's resources. */
export const createMcpApp = (server: AuthorizationServer, notes: Notes): Express => {
  const resource = mcpAddress(server.issuer)
  const app = express()
  app.disable('x-powered-by')
  app.all(
    new URL(resource).pathname,
    // As MCP demands, tokens that were not issued for it are refused; challenges lead to the metadata of this resource.
    rest(server, { resource, requireAudience: true }),
    requireApiAuth(),
    requireOauthScopes('notes:read'),
    may('read'),
    toMcp(new URL(resource), notes),
  )
  app.use(createApp(server, notes))
  return app
}

const toMcp = (resource: URL, notes: Notes): RequestHandler => {
  // One MCP server for each request, so that each knows whose notes it is about.
  const mcp = createMcpHandler(({ authInfo }) => notesTools(notes, String(authInfo?.extra?.owner)))
  return (req, res) => {
    const { user, client, scopes } = req.auth
    const authInfo: AuthInfo = {
      // No tool needs it, and none may send it on to anybody.
      token: '',
      clientId: client?.clientId ?? '',
      // A session has none, since scopes do not limit it.
      scopes: [...(scopes ?? ['notes:read', 'notes:write'])],
      resource,
      extra: { owner: user?.id },
    }
    const answer = (request: Request) =>
      originValidationResponse(request, [resource.hostname]) ?? mcp.fetch(request, { authInfo })
    return getRequestListener(answer, { overrideGlobalObjects: false })(req, res)
  }
}
