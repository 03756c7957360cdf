import 'reflect-metadata'
import { Controller, Get, type INestApplication, Module, Req } from '@nestjs/common'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter, type NestFastifyApplication } from '@nestjs/platform-fastify'
import express from 'express'
import type { FastifyRequest } from 'fastify'
import type { AuthorizationServer, Auth as Caller } from 'svc-oauth2server'
import { mount as mountOnFastify } from 'svc-oauth2server/fastify'
import {
  Auth,
  AuthorizationServerModule,
  mount,
  Page,
  pageOf,
  RequireApiAuth,
} from 'svc-oauth2server/nest'
import { hostLoginContract, type Owner, ownerIn } from '../../contracts/host-login.ts'

@Controller()
class Api {
  @Get('api/me') @RequireApiAuth() me(@Auth() { user, kind }: Caller) {
    return { id: user?.id, kind }
  }

  @Get() @Page() home(@Req() request: Parameters<typeof pageOf>[0]) {
    return pageOf(request).jwtToken()
  }
}

const appOf = (server: AuthorizationServer) => {
  @Module({ controllers: [Api], imports: [AuthorizationServerModule.register(server)] })
  class App {}
  return App
}

const listen = async (app: INestApplication) => {
  await app.listen(0, '127.0.0.1')
  return { port: app.getHttpServer().address().port, close: () => app.close() }
}

const ownerOf = (request: { readonly headers: { readonly cookie?: string | undefined } }) => ({
  owner: () => ownerIn(request.headers.cookie),
})

hostLoginContract(
  'Nest on Express, whose middleware finds the session',
  (request: express.Request & { readonly owner: () => Owner }) => request.owner(),
  async (server) => {
    const host = express().use((request, _response, next) => {
      Object.assign(request, ownerOf(request))
      next()
    })
    const app = await NestFactory.create(appOf(server), new ExpressAdapter(host), { logger: false })
    app.use(mount(server))
    return listen(app)
  },
)

hostLoginContract(
  'Nest on Fastify, whose hook finds the session',
  (request: FastifyRequest & { readonly owner: () => Owner }) => request.owner(),
  async (server) => {
    const adapter = new FastifyAdapter()
    adapter.getInstance().addHook('onRequest', async (request) => {
      Object.assign(request, ownerOf(request))
    })
    const app = await NestFactory.create<NestFastifyApplication>(appOf(server), adapter, {
      logger: false,
    })
    // Fastify itself mounts the server, because its request contains the session.
    await app.register(mountOnFastify(server))
    return listen(app)
  },
)
