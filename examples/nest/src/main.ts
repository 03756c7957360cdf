import { createAuthorizationServer, Scope } from 'svc-oauth2server'
import { fromEnvironment } from 'svc-oauth2server/environment'
import { createApp } from './app.ts'

const { options, port, host } = await fromEnvironment(process.env)
const scopes = [new Scope('notes:read'), new Scope('notes:write')]
const server = await createAuthorizationServer({ ...options, scopes })
const app = await createApp(server)
await app.listen(port, host)
console.log(`Open ${server.issuer}/`)
