import type { AuthorizationServer, User } from 'svc-oauth2server'
import { type SampleClock, sampleScopes } from './sample.ts'

/** Creates a user with several pages of tokens and applications. The rows are older than other rows of a sample. */
export const createCollector = async (
  server: AuthorizationServer,
  clock: SampleClock,
): Promise<User> => {
  clock.daysAgo(500)
  const collector = await server.users.create({
    email: 'mary@example.com',
    password: 'as many as I can',
  })
  await server.transaction(async (tx) => {
    for (let row = 1; row <= 60; row += 1) {
      clock.daysAgo(500 - row)
      await tx.tokens.createPersonal(`Script ${row}`, collector.id, {
        scopes: sampleScopes.slice(0, 1 + (row % 3)),
        ...(row % 4 > 0 && { expiresIn: 86_400 * (440 + row) }),
      })
      if (row % 2 > 0) continue
      const redirectUris = [`https://tool-${row}.example/callback`]
      const { client } = await tx.clients.create({
        name: `Tool ${row}`,
        userId: collector.id,
        redirectUris,
      })
      await tx.consents.grant(collector.id, client.clientId, ['notes:read'])
    }
  })
  return collector
}
