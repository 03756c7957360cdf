import { createAuthorizationServer, emailScope } from 'svc-oauth2server'
import { closeOnSignal, fromEnvironment, listen, startProblem } from 'svc-oauth2server/environment'
import { greet } from '../notes/first-start.ts'
import { openNotes } from '../notes/notes.ts'
import { notesRead, notesWrite } from '../notes/scopes.ts'
import { createMcpApp } from './app.ts'
import { mcpAddress, mcpOptions } from './options.ts'

// `node examples/mcp/main.ts` runs the notes application with an MCP server, to which AI clients can log in.
try {
  const { options, port, host, dataFolder } = await fromEnvironment(process.env)
  const server = await createAuthorizationServer({
    ...options,
    ...mcpOptions(options.issuer),
    scopes: [emailScope, notesRead, notesWrite],
  })
  const notes = openNotes(dataFolder)
  const http = await listen(createMcpApp(server, notes), { port, host })
  const close = async () => {
    notes.close()
    await server.close()
  }
  closeOnSignal(http, close, { drain: server.drain })
  await greet(server)
  console.log(`The MCP server: ${mcpAddress(server.issuer)}`)
} catch (error) {
  console.error(startProblem(error) ?? error)
  process.exit(1)
}
