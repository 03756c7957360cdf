import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  applyDecorators,
  type CallHandler,
  type CanActivate,
  createParamDecorator,
  type DynamicModule,
  type ExecutionContext,
  HttpException,
  Inject,
  Injectable,
  mixin,
  type NestInterceptor,
  type Type,
  UseGuards,
  UseInterceptors,
} from '@nestjs/common'
import { map, type Observable } from 'rxjs'
import type { Auth as AuthOfCaller } from '../model/auth.ts'
import { flag, onlyMembers } from '../model/members.ts'
import type { ScopeName } from '../model/scope.ts'
import type { PageSession } from '../protocol/session/page-session.ts'
import type { AuthorizationServer } from '../server/authorization-server.ts'
import { askedBy, asking } from './asked-scopes.ts'
import {
  apiAuth,
  type Caller,
  type Guard,
  identifyAt,
  mustBeIdentified,
  oauthScopes,
  type RequireApiAuthOptions,
  type RestOptions,
  refusalBy,
  refusalHeaders,
} from './caller.ts'
import * as node from './node.ts'
import { credentialsOf } from './node-http.ts'

/** The general extension for `app.use(mount(server))`, on Express and Fastify. */
export const mount: typeof node.mount = node.mount

/** The injection token of the server. Guards use this token, so that they work without decorator metadata. */
export const AUTHORIZATION_SERVER: unique symbol = Symbol('svc-oauth2server')

/** Provides the server to all guards and to `@Page()`. */
// biome-ignore lint/complexity/noStaticOnlyClass: a module is a class in Nest
export class AuthorizationServerModule {
  /** Returns the module for the `imports` of the application. */
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

/** The request of Express, which is Node's request, or of Fastify, which contains Node's request. */
type HttpRequest = IncomingMessage & { readonly raw?: IncomingMessage }

interface HttpResponse {
  header(name: string, value: string): unknown
  getHeader(name: string): unknown
}

const requestOf = (context: ExecutionContext): HttpRequest =>
  context.switchToHttp().getRequest<HttpRequest>()

const rawRequest = (request: HttpRequest): IncomingMessage => request.raw ?? request

const responseOf = (context: ExecutionContext): HttpResponse =>
  context.switchToHttp().getResponse<HttpResponse>()

const setHeaders = (context: ExecutionContext, headers: Readonly<Record<string, string>>): void => {
  const response = responseOf(context)
  for (const [name, value] of Object.entries(headers)) response.header(name, value)
}

/**
 * Converts a refusal to an exception of Nest, which the exception filters of the application receive. Sets the headers
 * of the refusal.
 * @throws the error itself if it is not a refusal
 */
const asHttpException = (
  error: unknown,
  server: AuthorizationServer,
  context: ExecutionContext,
): HttpException => {
  const refusal = server.refusalOf(error)
  if (!refusal) throw error
  const isSet = (name: string) => responseOf(context).getHeader(name) !== undefined
  setHeaders(context, refusalHeaders(refusal, isSet))
  return new HttpException(refusal.body, refusal.status)
}

/** The constructor of a class. */
type Constructor = abstract new (...parts: never[]) => unknown

// Returns the objects whose decorators apply to a request: the method, its class and the base classes.
const places = (context: ExecutionContext): readonly object[] => {
  const found: object[] = [context.getHandler()]
  let place: Constructor | null = context.getClass()
  while (typeof place === 'function') {
    found.push(place)
    place = Object.getPrototypeOf(place)
  }
  return found
}

/** Creates a decorator that calls `note` with the decorated class or method. */
const decoratorCalling =
  (note: (place: object) => void): ClassDecorator & MethodDecorator =>
  (target: object, _name?: string | symbol, descriptor?: PropertyDescriptor): void =>
    note(descriptor?.value ?? target)

const resources = new WeakMap<object, RestOptions>()

const guard = (rule: Guard): Type<CanActivate> => {
  class CallerGuard implements CanActivate {
    readonly #server: AuthorizationServer

    constructor(server: AuthorizationServer) {
      this.#server = server
    }

    async canActivate(context: ExecutionContext): Promise<boolean> {
      const request = requestOf(context)
      const raw = rawRequest(request)
      try {
        const found = callers.get(raw) ?? this.#identify(context, raw, request)
        callers.set(raw, found)
        const caller = await found
        const refusal = refusalBy(rule, caller)
        if (refusal) throw refusal
        Object.assign(request, { auth: caller.result.auth })
        setHeaders(context, caller.headers)
        return true
      } catch (error) {
        throw asHttpException(error, this.#server, context)
      }
    }

    #identify(
      context: ExecutionContext,
      raw: IncomingMessage,
      request: HttpRequest,
    ): Promise<Caller> {
      const at = places(context)
      const part = at.map((place) => resources.get(place)).find((given) => given !== undefined)
      const identify = identifyAt(this.#server, part)
      // List the scopes of the class first, because guards of the class run before guards of the method.
      return identify(credentialsOf(raw, this.#server, request), () => askedBy(at.toReversed()))
    }
  }
  Inject(AUTHORIZATION_SERVER)(CallerGuard, undefined, 0)
  Injectable()(CallerGuard)
  return mixin(CallerGuard)
}

const guardedBy = (rule: Guard): ClassDecorator & MethodDecorator =>
  applyDecorators(
    UseGuards(guard(rule)),
    decoratorCalling((place) => asking(place, rule.scopes)),
  )

/** Requires an authenticated caller: a session with its JWT, a personal token or an OAuth token. */
export const RequireApiAuth = (options?: RequireApiAuthOptions): ClassDecorator & MethodDecorator =>
  guardedBy(apiAuth(options))

/**
 * Requires a session, or a token with all of these scopes.
 * @throws TypeError for an empty list or an empty scope ID
 */
export const RequireOauthScopes = (
  ...scopes: readonly ScopeName[]
): ClassDecorator & MethodDecorator => guardedBy(oauthScopes(scopes))

/**
 * Requires a session, or a token with at least one of these scopes.
 * @throws TypeError for an empty list or an empty scope ID
 */
export const RequireAnyOauthScope = (
  ...scopes: readonly ScopeName[]
): ClassDecorator & MethodDecorator => guardedBy(oauthScopes(scopes, { any: true }))

// Creates a guard whose constructor validates the resource. Nest creates guards when the application starts, so an
// unknown resource prevents the start.
const knownResource = (resource: string): Type<CanActivate> => {
  class ResourceGuard implements CanActivate {
    constructor(server: AuthorizationServer) {
      server.resourceNamed(resource)
    }

    canActivate(): boolean {
      return true
    }
  }
  Inject(AUTHORIZATION_SERVER)(ResourceGuard, undefined, 0)
  Injectable()(ResourceGuard)
  return mixin(ResourceGuard)
}

/**
 * Assigns a class or method to one of the server's `resources` (RFC 8707 §2). The guards then refuse tokens for other
 * resources, and with `requireAudience` also tokens for the whole application. For an unknown resource, the application
 * throws a TypeError at start-up.
 */
export const Resource = (
  resource: string,
  options: Pick<RestOptions, 'requireAudience'> = {},
): ClassDecorator & MethodDecorator => {
  checkOptions(options)
  return applyDecorators(
    UseGuards(knownResource(resource)),
    decoratorCalling((place) => resources.set(place, { ...options, resource })),
  )
}

const checkOptions = onlyMembers<Pick<RestOptions, 'requireAudience'>>('Resource()', {
  requireAudience: flag,
})

/** Injects the authenticated caller as a parameter of a guarded method. */
export const Auth: (...parts: unknown[]) => ParameterDecorator = createParamDecorator(
  async (_data: unknown, context: ExecutionContext): Promise<AuthOfCaller> =>
    mustBeIdentified(await callers.get(rawRequest(requestOf(context)))).result.auth,
)

const pages = new WeakMap<IncomingMessage, PageSession>()

/**
 * Returns the signed-in user, `jwt()` and `jwtToken()` for a page.
 * @throws Error if the method has no `@Page()` decorator
 */
export const pageOf = (request: HttpRequest): PageSession => {
  const session = pages.get(rawRequest(request))
  if (!session) throw new Error('The method has no @Page() decorator.')
  return session
}

class PageInterceptor implements NestInterceptor {
  readonly #server: AuthorizationServer

  constructor(server: AuthorizationServer) {
    this.#server = server
  }

  async intercept(context: ExecutionContext, next: CallHandler): Promise<Observable<unknown>> {
    const request = requestOf(context)
    const raw = rawRequest(request)
    try {
      const session = await this.#server.pageSession(credentialsOf(raw, this.#server, request))
      pages.set(raw, session)
      setHeaders(context, { 'cache-control': 'no-store' })
      if (session.setCookie !== undefined) addCookie(context, session.setCookie)
      return next.handle().pipe(map((model) => (isModel(model) ? { ...session, ...model } : model)))
    } catch (error) {
      throw asHttpException(error, this.#server, context)
    }
  }
}
Inject(AUTHORIZATION_SERVER)(PageInterceptor, undefined, 0)
Injectable()(PageInterceptor)

const isModel = (model: unknown): model is object | undefined =>
  model === undefined || (typeof model === 'object' && model !== null && !Array.isArray(model))

// In Express, `header` replaces existing cookies; in Fastify, it adds a cookie.
const addCookie = (context: ExecutionContext, cookie: string): void => {
  const response = context
    .switchToHttp()
    .getResponse<HttpResponse & Partial<Pick<ServerResponse, 'appendHeader'>>>()
  if (response.appendHeader) response.appendHeader('set-cookie', cookie)
  else response.header('set-cookie', cookie)
}

/** Adds the signed-in user, `jwt()` and `jwtToken()` to the model of a page's template. */
export const Page = (): MethodDecorator => applyDecorators(UseInterceptors(PageInterceptor))
