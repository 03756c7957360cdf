import { createAuthorizationServer, emailScope } from 'svc-oauth2server'
import { closeOnSignal, fromEnvironment, listen, startProblem } from 'svc-oauth2server/environment'
import { createApp } from './app.ts'
import { greet } from './first-start.ts'
import { openNotes } from './notes.ts'
import { notesRead, notesWrite, testScope } from './scopes.ts'

// The program of `npm start`: a small REST API with the embedded authorization server.
try {
  const { options, port, host, dataFolder } = await fromEnvironment(process.env)
  const server = await createAuthorizationServer({
    ...options,
    scopes: [emailScope, notesRead, notesWrite, testScope],
  })
  const notes = openNotes(dataFolder)
  const http = await listen(createApp(server, notes), { port, host })
  const close = async () => {
    notes.close()
    await server.close()
  }
  closeOnSignal(http, close, { drain: server.drain })
  await greet(server)
} catch (error) {
  console.error(startProblem(error) ?? error)
  process.exit(1)
}
