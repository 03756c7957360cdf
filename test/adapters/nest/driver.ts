import { ExpressAdapter } from '@nestjs/platform-express'
import { FastifyAdapter } from '@nestjs/platform-fastify'
import { createApp } from '../../../examples/nest/src/app.ts'
import { drive } from '../../contracts/adapter/drive.ts'

drive(async (server, prefix) => {
  const adapter =
    process.argv[2] === 'fastify'
      ? new FastifyAdapter({ routerOptions: { ignoreTrailingSlash: true } })
      : new ExpressAdapter()
  const app = await createApp(server, prefix, adapter)
  await app.listen(0, '127.0.0.1')
  return app.getHttpServer().address().port
})
