import type { INestApplication } from '@nestjs/common'
import type { NestExpressApplication } from '@nestjs/platform-express'
import type { NestFastifyApplication } from '@nestjs/platform-fastify'

/** Configures Handlebars for the platform of the Nest application, Express or Fastify. */
export const setViews = async (app: INestApplication, folder: string): Promise<void> => {
  if (app.getHttpAdapter().getType() === 'fastify') {
    const { default: handlebars } = await import('handlebars')
    const options = { engine: { handlebars }, root: folder, viewExt: 'hbs' }
    ;(app as NestFastifyApplication).setViewEngine(options as never)
    return
  }
  ;(app as NestExpressApplication).setBaseViewsDir(folder)
  ;(app as NestExpressApplication).setViewEngine('hbs')
}
