import { join } from 'node:path'
import { createAuthorizationServer } from 'svc-oauth2server'
import { closeOnSignal, fromEnvironment, listen, startProblem } from 'svc-oauth2server/environment'
import { createApp } from './app.ts'
import { demoData, greet } from './first-start.ts'
import { openNotes } from './notes.ts'
import type { Demo } from './start-page/routes.ts'
import { brand } from './start-page/shell.ts'

// The program of `npm start`: a small REST API with the embedded authorization server.
try {
  const { options, port, host, dataFolder } = await fromEnvironment(process.env)
  const server = await createAuthorizationServer({
    // Other applications can log users in with their account here.
    openidConnect: true,
    applicationName: brand,
    ...options,
    // The package.json declares the scopes of this example as entry points.
    applicationRoot: join(import.meta.dirname, '../..'),
  })
  const notes = openNotes(dataFolder)
  let demo: Demo | undefined
  const http = await listen(
    createApp(server, notes, () => demo),
    { port, host },
  )
  const close = async () => {
    notes.close()
    await server.close()
  }
  closeOnSignal(http, close, { drain: server.drain })
  // Create the demo data only after the server listens: a failed start must not create a user whose password is never
  // shown.
  const found = await demoData(server, notes)
  demo = found.demo
  greet(server, found.created)
} catch (error) {
  console.error(startProblem(error) ?? error)
  process.exit(1)
}
