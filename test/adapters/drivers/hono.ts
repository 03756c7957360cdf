import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { createApp } from '../../../examples/hono/src/app.ts'
import { drive } from '../../contracts/adapter/drive.ts'

drive((server, prefix) => {
  // The page of a prefix is at its trailing slash, like the server's addresses.
  const app = createApp(server, prefix || '/', new Hono({ strict: false }))
  return new Promise((resolve) => {
    serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) => resolve(port))
  })
})
