import { createAuthorizationServer, emailScope } from 'svc-oauth2server'
import { closeOnSignal, fromEnvironment, listen, startProblem } from 'svc-oauth2server/environment'
import { demoData, greet } from '../notes/first-start.ts'
import { openNotes } from '../notes/notes.ts'
import { notesRead, notesWrite } from '../notes/scopes.ts'
import type { Demo } from '../notes/start-page/routes.ts'
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
  let demo: Demo | undefined
  const http = await listen(
    createMcpApp(server, notes, () => demo),
    { port, host },
  )
  const close = async () => {
    notes.close()
    await server.close()
  }
  closeOnSignal(http, close, { drain: server.drain })
  const found = await demoData(server, notes)
  demo = found.demo
  greet(server, found.created)
  console.log(`The MCP server: ${mcpAddress(server.issuer)}`)
} catch (error) {
  console.error(startProblem(error) ?? error)
  process.exit(1)
}
