import type { AddressInfo } from 'node:net'
import { createApp } from '../../../examples/fastify/src/app.ts'
import { drive } from '../../contracts/adapter/drive.ts'

drive(async (server, prefix) => {
  const app = createApp(server, prefix)
  await app.listen({ port: 0, host: '127.0.0.1' })
  return (app.server.address() as AddressInfo).port
})
