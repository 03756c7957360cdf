import express from 'express'
import { mount } from 'svc-oauth2server/express'
import { createApp } from '../../../examples/express/src/app.ts'
import { type Host, listening } from '../embed.ts'

/** Starts the example for Express. */
export const expressHost: Host = (server, { basePath, parsesBodies, mountsInside }) => {
  const host = express()
  if (parsesBodies) host.use(express.json(), express.urlencoded({ extended: true }))
  if (mountsInside) {
    host.use(basePath, createApp(server))
    // Serves the well-known URLs, which are at the root.
    host.use(mount(server))
  } else createApp(server, basePath || '/', host)
  return listening(host.listen(0, '127.0.0.1'))
}
