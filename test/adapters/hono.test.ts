import type { Server } from 'node:http'
import { serve } from '@hono/node-server'
import { Hono } from 'hono'
import { mount } from 'svc-oauth2server/hono'
import { createApp } from '../../examples/hono/src/app.ts'
import { describeAdapter, type Host, listening } from './embed.ts'

const honoHost: Host = (server, { basePath, parsesBodies, mountsInside }) => {
  const host = new Hono({ strict: false })
  if (parsesBodies) {
    host.use(async ({ req }, next) => {
      if (req.method === 'POST') await req.parseBody()
      await next()
    })
  }
  if (mountsInside) {
    host.route(basePath, createApp(server))
    // Serves the well-known URLs, which are at the root.
    host.use(mount(server))
  } else createApp(server, basePath || '/', host)
  return listening(serve({ fetch: host.fetch, port: 0, hostname: '127.0.0.1' }) as Server)
}

describeAdapter('Hono', honoHost)
