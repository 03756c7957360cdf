import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digestOf } from '../../src/crypto/digest.ts'
import { execute, query } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { authorizationOf, clientOf, statusOf } from '../support/tokens.ts'
import { tokenRequest } from '../support/user-agent.ts'

type Credentials = { clientId: string; clientSecret: string }

const hour = 3_600

describe('resetting a client secret', () => {
  let app: TestServer
  beforeAll(async () => {
    app = await startServer()
  })
  afterAll(() => app.close())

  const clients = () => app.server.clients
  /** Returns for each secret whether the token endpoint accepts the secret with both authentication methods. */
  const accepted = async (clientId: string, ...secrets: string[]) => {
    const judge = async (clientSecret: string) => {
      const grant_type = 'client_credentials'
      const basic = await tokenRequest(
        app.issuer,
        { grant_type },
        { basic: { clientId, clientSecret } },
      )
      const post = await tokenRequest(app.issuer, {
        grant_type,
        client_id: clientId,
        client_secret: clientSecret,
      })
      expect(post.status).toBe(basic.status)
      if (basic.status !== 200)
        expect([basic.status, basic.body.error]).toEqual([401, 'invalid_client'])
      return basic.status === 200
    }
    return Promise.all(secrets.map(judge))
  }
  const reset = async (clientId: string, overlap?: number): Promise<string> => {
    const options = overlap === undefined ? {} : { overlap }
    return (await clients().resetClientSecret(clientId, options)).clientSecret
  }
  const row = (clientId: string) =>
    query(app.database, 'select * from oauth2server_client where client_id = ?', clientId)[0]

  test('leaves both secrets valid until the exact end of the overlap, and then only the new secret', async () => {
    const { clientId, clientSecret: old } = await app.client()
    const fresh = await reset(clientId, hour)
    expect(await accepted(clientId, old, fresh, 'neither')).toEqual([true, true, false])
    app.advance(hour - 0.001)
    expect(await accepted(clientId, old, fresh)).toEqual([true, true])
    app.advance(0.001)
    expect(await accepted(clientId, old, fresh)).toEqual([false, true])
  })

  test('allows refreshes with the former secret during the overlap', async () => {
    const basic = await app.client()
    const { accessToken, refreshToken } = await authorizationOf(app, basic.clientId)
    await reset(basic.clientId, hour)
    const grant = { grant_type: 'refresh_token', refresh_token: refreshToken }
    expect((await tokenRequest(app.issuer, grant, { basic })).status).toBe(200)
    app.advance(60)
    expect(await statusOf(app, accessToken)).toBe(401)
  })

  test('without an overlap, immediately invalidates all former secrets', async () => {
    const { clientId, clientSecret: first } = await app.client()
    const second = await reset(clientId, hour)
    const third = await reset(clientId)
    expect(await accepted(clientId, first, second, third)).toEqual([false, false, true])
    expect(row(clientId)).toMatchObject({
      previous_client_secret: null,
      previous_client_secret_expires: null,
    })
    const fourth = await reset(clientId, 0)
    expect(await accepted(clientId, third, fourth)).toEqual([false, true])
  })

  test('invalidates the oldest of three secrets, even during its overlap', async () => {
    const { clientId, clientSecret: first } = await app.client()
    const second = await reset(clientId, 30 * 24 * hour)
    const third = await reset(clientId, 60)
    expect(await accepted(clientId, first, second, third)).toEqual([false, true, true])
    app.advance(60)
    expect(await accepted(clientId, first, second, third)).toEqual([false, false, true])
  })

  test('is independent of resetting the ID, but resetting both credentials invalidates both secrets', async () => {
    const { clientId, clientSecret: old } = await app.client()
    const fresh = await reset(clientId, hour)
    const renewed = (await clients().resetClientId(clientId)).clientId
    expect(await accepted(renewed, old, fresh)).toEqual([true, true])
    expect(await accepted(clientId, old, fresh)).toEqual([false, false])
    const { client, clientSecret } = await clients().resetCredentials(renewed)
    expect(await accepted(client.clientId, old, fresh, clientSecret)).toEqual([false, false, true])
  })

  test('is independent of an update of other fields, which affects neither secret', async () => {
    const { clientId, clientSecret: old } = await app.client()
    const fresh = await reset(clientId, hour)
    await clients().update(clientId, { name: 'Renamed', optionalScopes: ['notes:read'] })
    await clients().mark(clientId, { isVerified: true })
    expect(await accepted(clientId, old, fresh)).toEqual([true, true])
    app.advance(hour)
    await clients().update(clientId, { name: 'Again' })
    expect(await accepted(clientId, old, fresh)).toEqual([false, true])
  })

  test('does not make the former secret valid for another client or for a public client', async () => {
    const { clientId, clientSecret: old } = await app.client()
    await reset(clientId, hour)
    const another = await app.client()
    expect(await accepted(another.clientId, old)).toEqual([false])
    await clients().update(clientId, { isConfidential: false })
    expect(await accepted(clientId, old)).toEqual([false])
  })

  test.each([-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2_592_001, '60', null])(
    'rejects the overlap %j, and changes nothing',
    async (overlap) => {
      const { clientId, clientSecret: old } = await app.client()
      const before = row(clientId)
      await expect(reset(clientId, overlap as number)).rejects.toThrow(
        expect.objectContaining({
          name: 'InvalidField',
          field: 'overlap',
          detail: { problem: 'overlapInvalid' },
        }),
      )
      expect(row(clientId)).toEqual(before)
      expect(await accepted(clientId, old)).toEqual([true])
    },
  )

  test('accepts an overlap of at most thirty days', async () => {
    const { clientId, clientSecret: old } = await app.client()
    const fresh = await reset(clientId, 2_592_000)
    app.advance(2_592_000 - 1)
    expect(await accepted(clientId, old, fresh)).toEqual([true, true])
    app.advance(1)
    expect(await accepted(clientId, old, fresh)).toEqual([false, true])
  })

  test('several times concurrently leaves the last secret current, and one former secret valid', async () => {
    const { clientId, clientSecret: old } = await app.client()
    const secrets = await Promise.all(Array.from({ length: 8 }, () => reset(clientId, hour)))
    const now = (await accepted(clientId, old, ...secrets)).filter(Boolean)
    expect(now).toHaveLength(2)
    app.advance(hour)
    expect((await accepted(clientId, old, ...secrets)).filter(Boolean)).toHaveLength(1)
  })

  test('decision §6.1 stores only a digest of the former secret', async () => {
    const { clientId, clientSecret: old } = await app.client()
    const fresh = await reset(clientId, hour)
    expect(row(clientId)?.previous_client_secret).toBe(digestOf('client_secret', old))
    const kept = JSON.stringify([row(clientId), await clientOf(app, clientId), app.log])
    for (const secret of [old, fresh]) expect(kept).not.toContain(secret)
  })

  describe('a client row that was altered without the key', () => {
    const alterations: readonly [string, Record<string, string | number | null>][] = [
      [
        'a former secret of the attacker',
        { previous_client_secret: digestOf('client_secret', 'mine') },
      ],
      [
        'a later expiry of the former secret',
        { previous_client_secret_expires: 9_000_000_000_000 },
      ],
      ['a former secret without an expiry', { previous_client_secret_expires: null }],
      [
        'a missing former secret',
        { previous_client_secret: null, previous_client_secret_expires: null },
      ],
    ]
    test.each(alterations)(
      'invalidates all secrets of the client if the altered row contains %s',
      async (_, columns) => {
        const { clientId, clientSecret: old } = await app.client()
        const fresh = await reset(clientId, hour)
        alter(app, clientId, columns)
        expect(await accepted(clientId, old, fresh, 'mine')).toEqual([false, false, false])
      },
    )

    test('invalidates all secrets of the client if a former secret was added', async () => {
      const { clientId, clientSecret } = (await app.client()) satisfies Credentials
      alter(app, clientId, {
        previous_client_secret: digestOf('client_secret', 'mine'),
        previous_client_secret_expires: app.now() + 1_000_000,
      })
      expect(await accepted(clientId, clientSecret, 'mine')).toEqual([false, false])
    })

    test('invalidates all secrets of the client if the expiry of an expired former secret was extended', async () => {
      const { clientId, clientSecret: old } = await app.client()
      const fresh = await reset(clientId, 60)
      app.advance(60)
      alter(app, clientId, { previous_client_secret_expires: app.now() + 60_000 })
      expect(await accepted(clientId, old, fresh)).toEqual([false, false])
    })
  })
})

const alter = (
  { database }: TestServer,
  clientId: string,
  columns: Readonly<Record<string, string | number | null>>,
): void => {
  const set = Object.keys(columns).map((column) => `${column} = ?`)
  const sql = `update oauth2server_client set ${set.join(', ')} where client_id = ?`
  expect(execute(database, sql, ...Object.values(columns), clientId)).toBe(1)
}
