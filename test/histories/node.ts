import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { createAuthorizationServer, StoreUnavailable } from 'svc-oauth2server'
import { closeOnSignal, fromEnvironment, listen } from 'svc-oauth2server/environment'
import { chain, mount } from 'svc-oauth2server/node'
import { testScopes } from '../support/scopes.ts'

// Runs an authorization server as one of several nodes. Operators and logins use `/operate`, so that a fault of the
// node also affects them.

// Exit when the parent process exits.
process.once('disconnect', () => process.exit(1))

const { options, port, host } = await fromEnvironment(process.env)
const server = await createAuthorizationServer({ ...options, scopes: testScopes })
const { users, clients, consents, authorizedApplications, sessions } = server

/** The parameters of an operation. */
export interface Given {
  readonly do: keyof typeof operations
  readonly user: number
  readonly client: string
  readonly name: string
  readonly cookie: string
}

const browserWith = (cookie: string | null) => ({
  cookie,
  address: '127.0.0.1',
  userAgent: 'histories',
  raw: undefined,
})

const operations = {
  'create user': async ({ name }: Given) => {
    const { id } = await users.create({ email: `${name}@example.org`, password: null })
    return { id }
  },
  'create client': async ({ user }: Given) => {
    const redirectUris = ['https://client.example.org/callback']
    const input = { name: 'Client', userId: user, redirectUris }
    const { client, clientSecret } = await clients.create(input)
    return { id: client.clientId, secret: clientSecret }
  },
  activate: async ({ user }: Given) => ({ changed: await users.setActive(user, true) }),
  deactivate: async ({ user }: Given) => ({ changed: await users.setActive(user, false) }),
  enable: async ({ client }: Given) => {
    await clients.mark(client, { isDisabled: false })
    return {}
  },
  disable: async ({ client }: Given) => {
    await clients.mark(client, { isDisabled: true })
    return {}
  },
  reset: async ({ client }: Given) => ({
    secret: (await clients.resetClientSecret(client)).clientSecret,
  }),
  grant: async ({ user, client }: Given) => {
    await consents.grant(user, client, ['notes:read'])
    return {}
  },
  withdraw: async ({ user, client }: Given) => ({
    changed: await authorizedApplications.revoke(user, client),
  }),
  'sign in': async ({ user }: Given) => ({
    cookie: (await sessions.signIn(user, browserWith(null))).split(';')[0],
  }),
  'sign out': async ({ cookie }: Given) => {
    await sessions.signOut(browserWith(cookie))
    return {}
  },
}

const operate = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const respond = (status: number, body: object) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }
  try {
    const fields = Object.fromEntries(new URLSearchParams(await text(request)))
    const given = { ...fields, user: Number(fields.user) } as unknown as Given
    respond(200, await operations[given.do](given))
  } catch (error) {
    if (error instanceof StoreUnavailable) respond(503, {})
    // The user of a new session was deactivated.
    else if ((error as Error).name === 'ReferenceNotFound') respond(409, {})
    else respond(500, { message: String(error) })
  }
}

const handler = chain((request, response, next) => {
  if (request.url === '/operate') void operate(request, response)
  else next()
}, mount(server))
const http = await listen(handler, { port, host })
closeOnSignal(http, () => server.close(), { drain: server.drain })
console.log('serving')
