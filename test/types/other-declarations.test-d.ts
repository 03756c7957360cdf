// Lines that must compile beside the declarations of other packages. `tsc -p tsconfig.test.json` checks them. The code
// never runs.

import type { Request } from 'express'
import type { FastifyRequest } from 'fastify'
import type { Context } from 'hono'
import { type AuthorizationServerOptions, createAuthorizationServer } from 'svc-oauth2server'
import * as onExpress from 'svc-oauth2server/express'
import * as onFastify from 'svc-oauth2server/fastify'
import { requireOauthScopes } from 'svc-oauth2server/fetch'
import * as onHono from 'svc-oauth2server/hono'

// Packages that check tokens of other servers declare such properties. A second declaration with another type would be an
// error.
declare global {
  // biome-ignore lint/style/noNamespace: Express requires a namespace to extend the type of a request
  namespace Express {
    interface Request {
      auth?: { readonly payload: Readonly<Record<string, unknown>> }
    }
  }
}
declare module 'fastify' {
  interface FastifyRequest {
    auth: (functions: readonly unknown[]) => void
  }
}
declare module 'hono' {
  interface ContextVariableMap {
    auth: { readonly userId: string }
  }
}

declare const given: AuthorizationServerOptions

export const callersHaveTheirType = (request: Request, reply: FastifyRequest, c: Context) => [
  onExpress.authOf(request).user?.email,
  onExpress.pageOf(request).jwtToken(),
  onFastify.authOf(reply).scopes?.includes('notes:read'),
  onHono.authOf(c).client?.clientId,
  request.auth?.payload,
  c.get('auth').userId,
]

export const resourceOwnerAcceptsTheRequestOfTheFramework = () => [
  createAuthorizationServer({ ...given, resourceOwner: (request) => request.session.userId }),
  createAuthorizationServer({ ...given, resourceOwner: (request: Request) => request.ip }),
  createAuthorizationServer({ ...given, resourceOwner: async (c: Context) => c.req.header('x') }),
  // @ts-expect-error a resource owner without the field `id`
  createAuthorizationServer({ ...given, resourceOwner: () => ({ email: 'ada@example.org' }) }),
]

class SentByNext extends globalThis.Request {
  readonly nextUrl = new URL(this.url)
}

export const guardsWrapFunctions = () => {
  const guard = requireOauthScopes('notes:read')
  const guarded = guard((request: SentByNext, { params }: { readonly params: { id: string } }) =>
    Response.json([request.nextUrl, params.id]),
  )
  const response: Promise<Response> = guarded(new SentByNext('http://localhost/'), {
    params: { id: '1' },
  })
  // @ts-expect-error the second argument of the handler is missing
  guarded(new SentByNext('http://localhost/'))
  // @ts-expect-error a handler that does not return a response
  guard(() => 'text')
  return response
}
