import 'reflect-metadata'
import { createServer, type RequestListener, type Server } from 'node:http'
import { serve } from '@hono/node-server'
import { NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import express, { type RequestHandler } from 'express'
import Fastify, { type FastifyInstance, type FastifyServerOptions } from 'fastify'
import { Hono, type MiddlewareHandler } from 'hono'
import type { AuthorizationServer } from 'svc-oauth2server'
import * as onExpress from 'svc-oauth2server/express'
import * as onFastify from 'svc-oauth2server/fastify'
import * as onHono from 'svc-oauth2server/hono'
import * as onNest from 'svc-oauth2server/nest'
import * as onNode from 'svc-oauth2server/node'
import { type Listening, listening } from '../embed.ts'

// The smallest application of each adapter: middleware, and then the general extension.

const listen = (listener: RequestListener): Promise<Listening> =>
  listening(createServer(listener).listen(0, '127.0.0.1'))

export const mountedOnExpress = (
  server: AuthorizationServer,
  ...before: readonly RequestHandler[]
): Promise<Listening> => {
  const app = express()
  for (const step of before) app.use(step)
  return listen(app.use(onExpress.mount(server)))
}

export const mountedOnNode = (
  server: AuthorizationServer,
  ...before: readonly onNode.Middleware[]
): Promise<Listening> => listen(onNode.chain(...before, onNode.mount(server)))

export const mountedOnFastify = async (
  server: AuthorizationServer,
  prepare: (app: FastifyInstance) => void = () => undefined,
  options: FastifyServerOptions = {},
): Promise<Listening> => {
  const app = Fastify(options)
  prepare(app)
  await app.register(onFastify.mount(server)).listen({ port: 0, host: '127.0.0.1' })
  const { port } = app.server.address() as { port: number }
  return { port, close: () => app.close() }
}

export const mountedOnHono = (
  server: AuthorizationServer,
  ...before: readonly MiddlewareHandler[]
): Promise<Listening> => {
  const app = new Hono().use(...before, onHono.mount(server))
  return listening(serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }) as Server)
}

/** Nest runs middleware of `app.use` on Express, and by `@fastify/middie` on Fastify. */
export const mountedOnNest = async (
  server: AuthorizationServer,
  adapter: ExpressAdapter | FastifyAdapter,
  ...before: readonly RequestHandler[]
): Promise<Listening> => {
  const module = onNest.AuthorizationServerModule.register(server)
  const app = await NestFactory.create(module, adapter as ExpressAdapter, { logger: false })
  for (const step of [...before, onNest.mount(server)]) app.use(step)
  await app.listen(0, '127.0.0.1')
  return { port: app.getHttpServer().address().port, close: () => app.close() }
}

/** Starts an application that embeds the server. */
export type Mounted = (server: AuthorizationServer) => Promise<Listening>

/** Every adapter, without middleware. */
export const mounted: Readonly<Record<string, Mounted>> = {
  'node:http': mountedOnNode,
  Express: mountedOnExpress,
  Fastify: (server) => mountedOnFastify(server),
  Hono: mountedOnHono,
  'Nest on Express': (server) => mountedOnNest(server, new ExpressAdapter()),
  'Nest on Fastify': (server) => mountedOnNest(server, new FastifyAdapter()),
}
