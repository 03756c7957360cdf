import type { AbstractHttpAdapter } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import express from 'express'
import { createApp } from '../../../examples/nest/src/app.ts'
import { describeAdapter, type Host, type Variant } from '../embed.ts'

const nestHost =
  (adapter: (variant: Variant) => AbstractHttpAdapter): Host =>
  async (server, variant) => {
    const app = await createApp(server, variant.basePath, adapter(variant))
    await app.listen(0, '127.0.0.1')
    return { port: app.getHttpServer().address().port, close: () => app.close() }
  }

const onExpress = ({ parsesBodies }: Variant): ExpressAdapter => {
  const host = express()
  if (parsesBodies) host.use(express.json(), express.urlencoded({ extended: true }))
  return new ExpressAdapter(host)
}

describeAdapter('Nest on Express', nestHost(onExpress))
describeAdapter(
  'Nest on Fastify',
  nestHost(() => new FastifyAdapter({ routerOptions: { ignoreTrailingSlash: true } })),
)
