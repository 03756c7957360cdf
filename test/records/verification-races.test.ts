import { expect, test } from 'vitest'
import { identityDigest } from '../../src/records/clients/verified-identity.ts'
import { startWithSteps } from '../support/steps.ts'
import { clientOf } from '../support/tokens.ts'
import { databaseKinds } from '../users/databases.ts'

test.each(databaseKinds)(
  'on %s, a verification and an edit at the same time never verify what the administrator did not see [T4257]',
  async (kind) => {
    const { app, beside, during, close } = await startWithSteps(kind)
    const actor = {
      user: await app.newUser({ email: 'admin@example.org', isAdmin: true }),
      address: '192.0.2.1',
    }
    const outcomes = new Set<boolean>()
    for (const slow of ['edit', 'verification'] as const)
      for (let at = 0, count = 1; at < count; at += 1) {
        const { clientId } = await app.client({ name: 'Before' })
        const seen = identityDigest(await clientOf(app, clientId))
        const edit = ({ server }: typeof app) => server.clients.update(clientId, { name: 'After' })
        const verify = ({ server }: typeof app) =>
          server.administration
            .actOnClient(clientId, 'verify', actor, seen)
            .catch((error: unknown) => expect(String(error)).toContain('changed'))
        const [work, other] = slow === 'edit' ? [edit, verify] : [verify, edit]
        count = await during(
          () => work(beside),
          at,
          () => other(app),
        )
        const client = await clientOf(app, clientId)
        outcomes.add(client.isVerified)
        if (client.isVerified) expect([slow, at, client.name]).toEqual([slow, at, 'Before'])
      }
    // If the verification is first, the edit removes it.
    expect(outcomes.has(false)).toBe(true)
    await close()
  },
)
