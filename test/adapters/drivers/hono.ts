import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { createApp } from '../../../examples/hono/src/app.ts'
import { drive } from '../../contracts/adapter/drive.ts'

drive((server, prefix) => {
  // The start page is at the prefix with a trailing slash, like the paths of the server.
  const app = createApp(server, prefix || '/', new Hono({ strict: false }))
  return new Promise((resolve) => {
    serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(port))
  })
})
