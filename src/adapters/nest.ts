import type { IncomingMessage } from 'node:http'
import {
  applyDecorators,
  type CanActivate,
  createParamDecorator,
  type DynamicModule,
  type ExecutionContext,
  HttpException,
  Inject,
  Injectable,
  mixin,
  type Type,
  UseGuards,
} from '@nestjs/common'
import type { AuthorizationServer } from '../authorization-server.ts'
import type { Auth as AuthOfCaller } from '../resource-server.ts'
import {
  apiAuth,
  type Caller,
  identify,
  type Judge,
  mustBeIdentified,
  oauthScopes,
  protectiveHeaders,
  type RequireApiAuthOptions,
} from './caller.ts'
import * as node from './node.ts'
import { credentialsOf } from './node-http.ts'

/** The general extension, for `app.use(mount(server))` on both platforms of Nest. */
export const mount: typeof node.mount = node.mount

/** For pages of the application, as a middleware: `pageOf(request)` then has the signed-in user and `jwt()`. */
export const page: typeof node.page = node.page

/** The token under which guards find the server; no decorator metadata is needed. */
export const AUTHORIZATION_SERVER: unique symbol = Symbol('svc-oauth2server')

/** Makes the server known to all guards. */
// biome-ignore lint/complexity/noStaticOnlyClass: a module is a class in Nest
export class AuthorizationServerModule {
  static register(server: AuthorizationServer): DynamicModule {
    const provider = { provide: AUTHORIZATION_SERVER, useValue: server }
    return {
      module: AuthorizationServerModule,
      global: true,
      providers: [provider],
      exports: [provider],
    }
  }
}

const callers = new WeakMap<IncomingMessage, Promise<Caller>>()

interface HttpResponse {
  header(name: string, value: string): unknown
}

// Express hands out Node's request, Fastify one that has it inside.
const rawRequest = (context: ExecutionContext): IncomingMessage => {
  const request = context
    .switchToHttp()
    .getRequest<IncomingMessage & { readonly raw?: IncomingMessage }>()
  return request.raw ?? request
}

const guard = (judge: Judge): Type<CanActivate> => {
  class CallerGuard implements CanActivate {
    readonly #server: AuthorizationServer

    constructor(server: AuthorizationServer) {
      this.#server = server
    }

    async canActivate(context: ExecutionContext): Promise<boolean> {
      const request = rawRequest(context)
      const response = context.switchToHttp().getResponse<HttpResponse>()
      try {
        const found =
          callers.get(request) ?? identify(this.#server, credentialsOf(request, this.#server))
        callers.set(request, found)
        const caller = await found
        const refusal = judge(caller)
        if (refusal) throw refusal
        Object.assign(request, { auth: caller.resolution.auth })
        for (const [name, value] of Object.entries(protectiveHeaders)) response.header(name, value)
        return true
      } catch (error) {
        const refusal = this.#server.refusalOf(error)
        if (!refusal) throw error
        for (const [name, value] of Object.entries({ ...protectiveHeaders, ...refusal.headers }))
          response.header(name, value)
        throw new HttpException(refusal.body, refusal.status)
      }
    }
  }
  Inject(AUTHORIZATION_SERVER)(CallerGuard, undefined, 0)
  Injectable()(CallerGuard)
  return mixin(CallerGuard)
}

/** Requires an authenticated caller: a session with its JWT, a personal token or an OAuth token. */
export const RequireApiAuth = (options?: RequireApiAuthOptions): ClassDecorator & MethodDecorator =>
  applyDecorators(UseGuards(guard(apiAuth(options))))

/**
 * Requires a token that holds all of these scopes; a session is not limited by scopes.
 * @throws TypeError without a scope
 */
export const RequireOauthScopes = (
  ...scopes: readonly string[]
): ClassDecorator & MethodDecorator => applyDecorators(UseGuards(guard(oauthScopes(scopes))))

/** Requires a token that holds one of these scopes at least. @throws TypeError without a scope */
export const RequireAnyOauthScope = (
  ...scopes: readonly string[]
): ClassDecorator & MethodDecorator =>
  applyDecorators(UseGuards(guard(oauthScopes(scopes, { any: true }))))

/** Who is asking, as a parameter of a method that a guard of ours protects. */
export const Auth: (...parts: unknown[]) => ParameterDecorator = createParamDecorator(
  async (_data: unknown, context: ExecutionContext): Promise<AuthOfCaller> =>
    mustBeIdentified(await callers.get(rawRequest(context))).resolution.auth,
)
