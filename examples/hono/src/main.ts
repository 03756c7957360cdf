import { serve } from '@hono/node-server'
import { createAuthorizationServer, Scope } from 'svc-oauth2server'
import { fromEnvironment } from 'svc-oauth2server/environment'
import { createApp } from './app.ts'

const { options, port, host: hostname } = await fromEnvironment(process.env)
const scopes = [new Scope('notes:read'), new Scope('notes:write')]
const server = await createAuthorizationServer({ ...options, scopes })
serve({ fetch: createApp(server).fetch, port, hostname }, () => {
  console.log(`Open ${server.issuer}/`)
})
