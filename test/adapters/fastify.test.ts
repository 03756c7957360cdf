import formbody from '@fastify/formbody'
import Fastify from 'fastify'
import { createApp } from '../../examples/fastify/src/app.ts'
import { describeAdapter, type Host, portOf } from './embed.ts'

const fastifyHost: Host = async (server, { basePath, parsesBodies }) => {
  const host = Fastify()
  if (parsesBodies) await host.register(formbody)
  createApp(server, basePath, host)
  await host.listen({ port: 0, host: '127.0.0.1' })
  return { port: portOf(host.server), close: () => host.close() }
}

describeAdapter('Fastify', fastifyHost)
