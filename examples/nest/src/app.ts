import 'reflect-metadata'
import { join } from 'node:path'
import {
  Body,
  Controller,
  Get,
  type INestApplication,
  Inject,
  Injectable,
  Module,
  Post,
  Render,
} from '@nestjs/common'
import { type AbstractHttpAdapter, NestFactory } from '@nestjs/core'
import { ExpressAdapter } from '@nestjs/platform-express'
import type { AuthorizationServer, Auth as Caller } from 'svc-oauth2server'
import * as oauth2 from 'svc-oauth2server/nest'
import { setViews } from './views.ts'

// The integration consists of the lines in this file and main.ts that use `oauth2`, or imports from svc-oauth2server.

interface Note {
  readonly id: number
  readonly text: string
  readonly created_at: string
}

@Injectable()
class Notes {
  readonly #stored = new Map<unknown, readonly Note[]>()

  of(owner: unknown): readonly Note[] {
    return this.#stored.get(owner) ?? []
  }

  add(owner: unknown, text: string): Note {
    const note = { id: this.of(owner).length + 1, text, created_at: new Date().toISOString() }
    this.#stored.set(owner, [...this.of(owner), note])
    return note
  }
}

@Controller('api')
@oauth2.RequireApiAuth()
class NotesController {
  readonly #notes: Notes

  constructor(@Inject(Notes) notes: Notes) {
    this.#notes = notes
  }

  @Get('notes')
  @oauth2.RequireOauthScopes('notes:read')
  list(@oauth2.Auth() { user }: Caller): readonly Note[] {
    return this.#notes.of(user?.id)
  }

  @Post('notes')
  @oauth2.RequireOauthScopes('notes:write')
  add(@oauth2.Auth() { user }: Caller, @Body() body: { text?: unknown } | undefined): Note {
    return this.#notes.add(user?.id, String(body?.text ?? ''))
  }

  @Get('me')
  me(@oauth2.Auth() { user, kind, scopes }: Caller) {
    // The scopes of a session are null, because a session may do everything that its user may do.
    const showsEmail = scopes === null || scopes.includes('user:email')
    return { id: user?.id, email: showsEmail ? user?.email : undefined, kind }
  }
}

@Controller()
class OpenController {
  @Get('api/public')
  @oauth2.RequireApiAuth({ allowAnonymous: true })
  open(@oauth2.Auth() { user, kind }: Caller) {
    return { kind, user: user && { id: user.id } }
  }

  @Get()
  @oauth2.Page()
  @Render('home')
  home() {}
}

@Module({ controllers: [NotesController, OpenController], providers: [Notes] })
class NotesModule {}

/** Creates a page and a REST API under a prefix, with the embedded authorization server. */
export const createApp = async (
  server: AuthorizationServer,
  prefix = '',
  adapter: AbstractHttpAdapter = new ExpressAdapter(),
): Promise<INestApplication> => {
  const imports = [NotesModule, oauth2.AuthorizationServerModule.register(server)]
  const app = await NestFactory.create({ module: class App {}, imports }, adapter, {
    logger: ['error'],
  })
  app.use(oauth2.mount(server))
  app.setGlobalPrefix(prefix)
  await setViews(app, join(import.meta.dirname, '../views'))
  return app
}
