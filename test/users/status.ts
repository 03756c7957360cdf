import { Hono } from 'hono'
import type { AuthorizationServer } from 'svc-oauth2server'
import { requireApiAuth, rest } from 'svc-oauth2server/hono'

/** Returns the status of the response of a guarded endpoint to a token. */
export const statusOf = async (
  server: AuthorizationServer,
  accessToken: string,
): Promise<number> => {
  const app = new Hono()
  app.get('/', rest(server), requireApiAuth(), (c) => c.json({}))
  const headers = { authorization: `Bearer ${accessToken}` }
  return (await app.request('/', { headers })).status
}
