import { join } from 'node:path'
import { createAuthorizationServer } from 'svc-oauth2server'
import { closeOnSignal, fromEnvironment, listen, startProblem } from 'svc-oauth2server/environment'
import { createApp } from './app.ts'
import { greet } from './first-start.ts'
import { openNotes } from './notes.ts'

// The program of `npm start`: a small REST API with the embedded authorization server.
try {
  const { options, port, host, dataFolder } = await fromEnvironment(process.env)
  const server = await createAuthorizationServer({
    // Other applications can log users in with their account here.
    openidConnect: true,
    ...options,
    // The package.json declares the scopes of this example as entry points.
    applicationRoot: join(import.meta.dirname, '../..'),
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
