import { authOf, requireApiAuth, requireOauthScopes } from 'svc-oauth2server/fetch'
import { meOf, Notes, publicOf } from './notes.ts'

/** Handlers for `fetch` requests, guarded by standard decorators. */
export class NotesApi {
  readonly #notes = new Notes()

  @requireApiAuth()
  @requireOauthScopes('notes:read')
  async list(request: Request): Promise<Response> {
    return Response.json(this.#notes.of(authOf(request)))
  }

  @requireApiAuth()
  @requireOauthScopes('notes:write')
  async add(request: Request): Promise<Response> {
    const { text } = (await request.json()) as { text: string }
    return Response.json(this.#notes.add(authOf(request), text), { status: 201 })
  }

  @requireApiAuth()
  async me(request: Request): Promise<Response> {
    return Response.json(meOf(authOf(request)))
  }

  @requireApiAuth({ allowAnonymous: true })
  async open(request: Request): Promise<Response> {
    return Response.json(publicOf(authOf(request)))
  }
}
