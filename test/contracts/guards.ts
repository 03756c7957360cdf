import { type AuthorizationServer, Scope } from 'svc-oauth2server'
import { actAs, createTestServer } from 'svc-oauth2server/testing'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'

/** A resource that is a part of the application, with its own URL. */
export const part = 'https://api.example/notes'
/** A resource that is not part of the application. */
const other = 'https://api.example/mail'
const metadataOfPart = 'https://api.example/.well-known/oauth-protected-resource/notes'
const metadataOfAll = 'http://localhost/.well-known/oauth-protected-resource'

/** The value of the CORS header that the application itself sets at `/site`. */
export const site = 'https://spa.example'

export type Ask = (
  path: string,
  headers?: Readonly<Record<string, string>>,
  method?: 'GET' | 'HEAD',
) => Promise<{ readonly status: number; readonly headers: Headers }>

/** An application with all types of guards. */
export interface Guarded {
  readonly ask: Ask
  /**
   * Whether the REST extension knows which guards follow on a route. Its challenges then contain the scopes of these
   * guards.
   */
  readonly restLooksAhead: boolean
  close?(): Promise<void>
}

/**
 * Defines tests of routes with several guards. The application has these routes:
 * - `/steps` has three guards, which require a caller, the scope `notes:read` and the scope `notes:write`.
 * - `/part/steps` has the guards of `/steps`, and belongs to the resource `part`.
 * - `/own/steps` has the guards of `/steps`, and accepts only tokens that were issued for `part`.
 * - `/site` has the guards of `/steps`, but the application sets `Access-Control-Allow-Origin` to `site` before the guards run.
 * - `/any` requires a caller with `notes:read` or `notes:write`.
 * - `/all` has only one guard, which requires both scopes.
 * - `/alone` has only one guard, which requires one of the scopes.
 * - `/misplaced` has a guard, but no REST extension.
 */
export const guardsContract = (
  title: string,
  build: (server: AuthorizationServer) => Guarded | Promise<Guarded>,
): void => {
  describe(title, () => {
    let server: AuthorizationServer
    let app: Guarded
    beforeAll(async () => {
      // Silence the console, on which frameworks print the error of a misplaced guard.
      vi.spyOn(console, 'error').mockReturnValue()
      const scopes = ['notes:read', 'notes:write', 'notes:share'].map((id) => new Scope(id))
      const resources = [{ resource: part }, { resource: other }]
      server = await createTestServer({ scopes, resources })
      app = await build(server)
    })
    afterAll(async () => {
      vi.restoreAllMocks()
      await app.close?.()
      await server.close()
    })
    const token = async (scopes: readonly string[], resources: readonly string[] = []) => {
      const email = `${crypto.randomUUID()}@example.org`
      const subject = await server.users.create({ email, password: null })
      const input = { name: 'Client', userId: subject.id, redirectUris: ['https://client.example'] }
      const { client } = await server.clients.create(input)
      const issued = await server.tokens.issue({
        type: 'user',
        client,
        subject,
        scopes,
        resources,
        refreshable: false,
      })
      return { authorization: `Bearer ${issued.accessToken}` }
    }
    const challenge = async (path: string, headers?: Readonly<Record<string, string>>) => {
      const response = await app.ask(path, headers)
      return [response.status, response.headers.get('www-authenticate')]
    }
    const bearer = (error: string, scope: string, metadata = metadataOfAll) =>
      `Bearer realm="http://localhost", ${error}${scope && `scope="${scope}", `}resource_metadata="${metadata}"`
    const both = 'notes:read notes:write'
    const insufficient =
      'error="insufficient_scope", error_description="The token lacks a required scope.", '
    const invalid = 'error="invalid_token", error_description="The access token is not valid.", '
    const misplaced = (resource: string) =>
      `error="invalid_token", error_description="The access token was not issued for this resource. Request a token with resource=${resource}", `

    describe('the challenge', () => {
      test('contains every required scope if the request has no credential', async () => {
        expect(await challenge('/steps')).toEqual([401, bearer('', both)])
        expect(await challenge('/any')).toEqual([401, bearer('', both)])
      })

      test('contains every required scope if the token lacks one of them', async () => {
        for (const scopes of [[], ['notes:share'], ['notes:read'], ['notes:write']])
          expect(await challenge('/steps', await token(scopes))).toEqual([
            403,
            bearer(insufficient, both),
          ])
        expect(await challenge('/any', await token([]))).toEqual([403, bearer(insufficient, both)])
        expect(await challenge('/steps', await token(both.split(' ')))).toEqual([200, null])
        expect(await challenge('/any', await token(['notes:write']))).toEqual([200, null])
      })

      test('contains the scopes for an invalid token if the REST extension knows the guards', async () => {
        const expected = bearer(invalid, app.restLooksAhead ? both : '')
        const headers = { authorization: `Bearer ${'A'.repeat(60)}` }
        expect(await challenge('/steps', headers)).toEqual([401, expected])
      })

      test('is the same for HEAD as for GET', async () => {
        const response = await app.ask('/steps', {}, 'HEAD')
        expect([response.status, response.headers.get('www-authenticate')]).toEqual([
          401,
          bearer('', both),
        ])
      })
    })

    describe('scopes', () => {
      const statuses = async (scopes: readonly string[]) => {
        const headers = await token(scopes)
        const paths = ['/any', '/all', '/alone']
        return Promise.all(paths.map(async (path) => (await app.ask(path, headers)).status))
      }

      test('a guard accepts any of its scopes, or requires all of its scopes [T636]', async () => {
        expect(await statuses(['notes:read', 'notes:write'])).toEqual([200, 200, 200])
        expect(await statuses(['notes:write'])).toEqual([200, 403, 200])
        expect(await statuses(['notes:share'])).toEqual([403, 403, 403])
        expect(await statuses([])).toEqual([403, 403, 403])
      })

      test('a scope guard without another guard rejects unauthenticated requests', async () => {
        for (const path of ['/all', '/alone'])
          expect(await challenge(path)).toEqual([401, bearer('', both)])
      })
    })

    describe('RFC 8707 §2 a part of the application', () => {
      test('accepts tokens for the part, and tokens without a resource', async () => {
        for (const resources of [[], [part], [other, part]])
          expect(await challenge('/part/steps', await token(both.split(' '), resources))).toEqual([
            200,
            null,
          ])
      })

      test('RFC 9068 §4 accepts a token for the whole application, with or without a requested resource', async () => {
        for (const resources of [[], ['http://localhost'], ['http://localhost', other]])
          for (const path of ['/steps', '/part/steps'])
            expect(await challenge(path, await token(both.split(' '), resources))).toEqual([
              200,
              null,
            ])
      })

      test('RFC 9068 §4 with requireAudience, rejects tokens that were not issued for the part', async () => {
        const scopes = both.split(' ')
        for (const resources of [[part], ['http://localhost', part]])
          expect(await challenge('/own/steps', await token(scopes, resources))).toEqual([200, null])
        const scope = app.restLooksAhead ? both : ''
        const refused = [401, bearer(misplaced(part), scope, metadataOfPart)]
        for (const resources of [[], ['http://localhost'], [other]])
          expect(await challenge('/own/steps', await token(scopes, resources))).toEqual(refused)
        const { headers } = await actAs(server, { scopes })
        expect(await challenge('/own/steps', headers)).toEqual(refused)
        expect(await challenge('/part/steps', headers)).toEqual([200, null])
      })

      test('RFC 9728 §5.1 returns the metadata URL of the part in challenges', async () => {
        expect(await challenge('/part/steps')).toEqual([401, bearer('', both, metadataOfPart)])
        expect(await challenge('/part/steps', await token(['notes:read'], [part]))).toEqual([
          403,
          bearer(insufficient, both, metadataOfPart),
        ])
      })

      test('rejects a token for another resource at the part, and a token for the part at other routes, and names the resource to request [T1417]', async () => {
        const [, there] = await challenge('/part/steps', await token([], [other]))
        expect(there).toContain(misplaced(part))
        expect(there).toContain(`resource_metadata="${metadataOfPart}"`)
        const [status, elsewhere] = await challenge('/steps', await token([], [part]))
        expect(status).toBe(401)
        expect(elsewhere).toContain(misplaced('http://localhost'))
        expect(elsewhere).toContain(`resource_metadata="${metadataOfAll}"`)
      })
    })

    describe('RFC 9728 §5.1 CORS headers for scripts of other sites', () => {
      const said = async (path: string, headers?: Readonly<Record<string, string>>) => {
        const response = await app.ask(path, { origin: 'https://evil.example', ...headers })
        return [
          response.status,
          response.headers.get('access-control-allow-origin'),
          response.headers.get('access-control-allow-credentials'),
        ]
      }

      test('allow any site to read a challenge, without browser credentials', async () => {
        const forged = { authorization: 'Bearer bad' }
        expect(await said('/steps')).toEqual([401, '*', null])
        expect(await said('/steps', forged)).toEqual([401, '*', null])
        expect(await said('/steps', await token([]))).toEqual([403, '*', null])
        const { headers } = await app.ask('/steps')
        expect(headers.get('access-control-expose-headers')).toBe(
          'WWW-Authenticate, DPoP-Nonce, Retry-After',
        )
      })

      test('do not replace the header that the application has set', async () => {
        expect(await said('/site')).toEqual([401, site, null])
        expect(await said('/site', { authorization: 'Bearer bad' })).toEqual([401, site, null])
        expect(await said('/site', await token([]))).toEqual([403, site, null])
      })

      test('are not added to a successful response', async () => {
        expect(await said('/steps', await token(both.split(' ')))).toEqual([200, null, null])
      })
    })

    test('a guard before rest(server) returns 500', async () => {
      expect((await app.ask('/misplaced', await token(both.split(' ')))).status).toBe(500)
    })
  })
}
