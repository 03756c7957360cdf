import 'reflect-metadata'
import type { IncomingMessage, ServerResponse } from 'node:http'
import {
  type ArgumentsHost,
  Catch,
  Controller,
  type ExceptionFilter,
  Get,
  HttpException,
  type INestApplication,
  Module,
  Req,
  type Type,
} from '@nestjs/common'
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import express from 'express'
import { type AuthorizationServer, type Auth as Caller, Scope } from 'svc-oauth2server'
import {
  Auth,
  AuthorizationServerModule,
  Page,
  pageOf,
  RequireAnyOauthScope,
  RequireApiAuth,
  RequireOauthScopes,
  Resource,
} from 'svc-oauth2server/nest'
import { actAs, createTestServer } from 'svc-oauth2server/testing'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { guardsContract, part, site } from '../../contracts/guards.ts'

@Controller()
@RequireApiAuth()
@RequireOauthScopes('notes:read')
class Scoped {
  @Get('class') one(@Auth() { scopes }: Caller) {
    return { scopes }
  }

  @Get('both')
  @RequireOauthScopes('notes:write')
  both() {
    return {}
  }
}

@Controller()
class Others {
  @Get('any') @RequireAnyOauthScope('notes:read', 'notes:write') any() {
    return {}
  }

  @Get('unguarded') unguarded(@Auth() auth: Caller) {
    return auth
  }

  @Get('page') @Page() page() {
    return { own: 1 }
  }

  @Get('text') @Page() text(@Req() request: Parameters<typeof pageOf>[0]) {
    return `${pageOf(request).user}`
  }

  @Get('nopage') nopage(@Req() request: Parameters<typeof pageOf>[0]) {
    return pageOf(request)
  }
}

@RequireApiAuth()
abstract class Steps {
  @Get('steps') @RequireOauthScopes('notes:write') steps() {
    return {}
  }
}

/** Guards on a class apply to its subclasses. */
@Controller()
@RequireOauthScopes('notes:read')
class Guarded extends Steps {
  @Get('site') @RequireOauthScopes('notes:write') site() {
    return {}
  }
}

@Controller('part')
@Resource(part)
class Part extends Guarded {}

@Controller('own')
@Resource(part, { requireAudience: true })
class Own extends Guarded {}

@Controller()
class Single {
  @Get('any') @RequireApiAuth() @RequireAnyOauthScope('notes:read', 'notes:write') any() {
    return {}
  }

  @Get('alone') @RequireAnyOauthScope('notes:read', 'notes:write') alone() {
    return {}
  }

  @Get('all') @RequireOauthScopes('notes:read', 'notes:write') all() {
    return {}
  }

  // In Nest, a guard cannot be misplaced, because it needs no REST extension. Here, `@Auth()` is misplaced: it
  // needs a guard.
  @Get('misplaced') misplaced(@Auth() auth: Caller) {
    return auth
  }
}

@Controller()
class Elsewhere {
  @Get('elsewhere') @Resource('https://nothing.example') @RequireApiAuth() elsewhere() {
    return {}
  }
}

const appOf = async (
  server: AuthorizationServer,
  controllers: Type[],
  adapter: AbstractHttpAdapter,
): Promise<INestApplication> => {
  @Module({ controllers, imports: [AuthorizationServerModule.register(server)] })
  class App {}
  return NestFactory.create(App, adapter, { logger: false, abortOnError: false })
}

/** A filter for all exceptions, which also receives refusals of guards. */
@Catch(HttpException)
class Filter implements ExceptionFilter {
  catch(exception: HttpException, host: ArgumentsHost): void {
    const response = host.switchToHttp().getResponse()
    const status = exception.getStatus()
    response.status(status).header('x-filter', 'seen').send(exception.getResponse())
  }
}

/** The platforms of Nest. On each, the application sets a cookie before the server handles a request. */
const platforms: [string, () => AbstractHttpAdapter][] = [
  [
    'Express',
    () =>
      new ExpressAdapter(
        express().use((_req, res, next) => {
          res.cookie('theme', 'dark')
          next()
        }),
      ),
  ],
  [
    'Fastify',
    () => {
      const adapter = new FastifyAdapter()
      adapter.getInstance().addHook('onRequest', async (_request, reply) => {
        reply.header('set-cookie', 'theme=dark; Path=/')
      })
      return adapter
    },
  ],
]

describe.each(platforms)('Nest on %s', (_, adapter) => {
  let server: AuthorizationServer
  let app: INestApplication
  beforeAll(async () => {
    const scopes = ['notes:read', 'notes:write', 'notes:share'].map((id) => new Scope(id))
    server = await createTestServer({ scopes })
    @Module({
      controllers: [Scoped, Others],
      imports: [AuthorizationServerModule.register(server)],
    })
    class App {}
    app = await NestFactory.create(App, adapter(), { logger: false })
    app.useGlobalFilters(new Filter())
    await app.listen(0, '127.0.0.1')
  })
  afterAll(async () => {
    await app.close()
    await server.close()
  })
  const ask = (path: string, headers: Record<string, string> = {}) =>
    fetch(`http://localhost:${app.getHttpServer().address().port}${path}`, { headers })
  const statuses = async (scopes: readonly string[]) => {
    const { headers } = await actAs(server, { scopes })
    return Promise.all(['/class', '/both', '/any'].map(async (p) => (await ask(p, headers)).status))
  }

  test('combines decorators of the class and of the method, and accepts any of several scopes', async () => {
    expect(await statuses(['notes:read', 'notes:write'])).toEqual([200, 200, 200])
    expect(await statuses(['notes:read'])).toEqual([200, 403, 200])
    expect(await statuses(['notes:write'])).toEqual([403, 403, 200])
    expect(await statuses(['notes:share'])).toEqual([403, 403, 403])
  })

  test('throws an exception of Nest, which filters of the application receive', async () => {
    const { status, headers } = await ask('/any')
    expect([status, headers.get('x-filter')]).toEqual([401, 'seen'])
    expect(headers.get('www-authenticate')).toMatch(/^Bearer realm="/)
  })

  test('returns 500 for @Auth() without a guard, and for pageOf() without @Page()', async () => {
    const { headers } = await actAs(server)
    expect((await ask('/unguarded', headers)).status).toBe(500)
    expect((await ask('/nopage', headers)).status).toBe(500)
  })

  test('@Page() extends the model of a page, and preserves text bodies and existing cookies', async () => {
    const page = await ask('/page')
    expect(await page.json()).toMatchObject({ own: 1, user: null, links: { login: '/login' } })
    expect(page.headers.get('cache-control')).toBe('no-store')
    expect(page.headers.getSetCookie()).toEqual([
      'theme=dark; Path=/',
      expect.stringContaining('oauth2server_session='),
    ])
    expect(await (await ask('/text')).text()).toBe('null')
  })
})

test('throws when a decorator without a scope is applied', () => {
  expect(() => RequireOauthScopes()).toThrow(TypeError)
  expect(() => RequireAnyOauthScope()).toThrow(TypeError)
})

for (const [platform, adapter] of platforms) {
  guardsContract(`Nest on ${platform}`, async (server) => {
    const app = await appOf(server, [Guarded, Part, Own, Single], adapter())
    app.use('/site', (_request: IncomingMessage, response: ServerResponse, next: () => void) => {
      response.setHeader('access-control-allow-origin', site)
      next()
    })
    await app.listen(0, '127.0.0.1')
    const { port } = app.getHttpServer().address()
    return {
      ask: (path, headers = {}, method = 'GET') =>
        fetch(`http://localhost:${port}${path}`, { headers, method }),
      restLooksAhead: true,
      close: () => app.close(),
    }
  })
}

test('does not start an application with a resource that the server does not protect', async () => {
  const server = await createTestServer()
  await expect(appOf(server, [Elsewhere], new ExpressAdapter())).rejects.toThrow(
    new TypeError(
      'There is no resource https://nothing.example. The resources of the server are: http://localhost.',
    ),
  )
  await server.close()
})
