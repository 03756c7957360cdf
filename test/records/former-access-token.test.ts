import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digestOf } from '../../src/crypto/digest.ts'
import {
  type AttackedServer,
  startAttacked,
  storeNames,
} from '../attacks/support/database-writer.ts'
import { basicOf, postForm } from '../support/form.ts'
import { secretKey, startServer } from '../support/server.ts'
import { ping, TestClient, UserAgent } from '../support/user-agent.ts'

const both = { scope: 'notes:read notes:write' }

describe.each(
  storeNames.flatMap((store) => [
    { store, tokenExchange: false },
    { store, tokenExchange: true },
  ]),
)(
  'a replaced access token on $store, with tokenExchange: $tokenExchange',
  ({ store, ...settings }) => {
    let it: AttackedServer
    let client: TestClient
    beforeAll(async () => {
      it = await startAttacked(store, settings)
      client = await TestClient.register(it.app, new UserAgent())
    })
    afterAll(() => it.close())

    /** Refreshes a new token. */
    const refreshed = async (given: Record<string, string> = {}) => {
      const first = await client.tokens(both)
      const { body: next } = await client.refresh(first.refresh_token, given)
      return { first, next }
    }

    const introspect = async (token: string) =>
      (await postForm(`${it.app.issuer}/oauth/introspect`, { token }, basicOf(client))).body

    test('remains valid for the leeway, and introspection agrees [T2600]', async () => {
      const { first, next } = await refreshed()
      const end = it.app.now() / 1000 + 60
      expect(await ping(it.app, first.access_token)).toBe(200)
      const described = await introspect(first.access_token)
      expect(described).toMatchObject({ active: true, exp: end, scope: both.scope })
      expect(described).not.toHaveProperty('iat')
      it.app.advance(59)
      expect(await ping(it.app, first.access_token)).toBe(200)
      it.app.advance(1)
      expect(await ping(it.app, first.access_token)).toBe(401)
      expect(await introspect(first.access_token)).toEqual({ active: false })
      expect(await ping(it.app, next.access_token)).toBe(200)
    })

    test('expires at its own expiry if that is earlier [T2601]', async () => {
      const first = await client.tokens(both)
      it.app.advance(3_570)
      await client.refresh(first.refresh_token)
      it.app.advance(29)
      expect(await ping(it.app, first.access_token)).toBe(200)
      it.app.advance(1)
      expect(await ping(it.app, first.access_token)).toBe(401)
    })

    test('is not revived by a refresh after its expiry [T2602]', async () => {
      const first = await client.tokens(both)
      it.app.advance(3_600)
      await client.refresh(first.refresh_token)
      expect(await ping(it.app, first.access_token)).toBe(401)
    })

    test('is rejected after the next refresh [T2603]', async () => {
      const { first, next } = await refreshed()
      await client.refresh(next.refresh_token)
      expect(await ping(it.app, first.access_token)).toBe(401)
      expect(await ping(it.app, next.access_token)).toBe(200)
    })

    test('is rejected immediately if the new access token has other scopes [T2604]', async () => {
      const { first, next } = await refreshed({ scope: 'notes:read' })
      expect(await ping(it.app, first.access_token)).toBe(401)
      expect((await client.refresh(next.refresh_token)).body.scope).toBe(both.scope)
      expect(await ping(it.app, next.access_token)).toBe(401)
    })

    test('is rejected immediately if its authorization is revoked, its client deleted or its user deactivated [T2605]', async () => {
      const { server, user } = it.app
      const revoked = await refreshed()
      await postForm(
        `${it.app.issuer}/oauth/revoke`,
        { token: revoked.next.refresh_token },
        basicOf(client),
      )
      expect(await ping(it.app, revoked.first.access_token)).toBe(401)

      const { first } = await refreshed()
      await server.users.setActive(user.id, false)
      expect(await ping(it.app, first.access_token)).toBe(401)
      await server.users.setActive(user.id, true)
      expect(await ping(it.app, first.access_token)).toBe(200)
      await server.authorizedApplications.revoke(user.id, client.clientId)
      expect(await ping(it.app, first.access_token)).toBe(401)

      const other = await TestClient.register(it.app, client.agent)
      const tokens = await other.tokens(both)
      await other.refresh(tokens.refresh_token)
      expect(await ping(it.app, tokens.access_token)).toBe(200)
      await server.clients.delete(other.clientId)
      expect(await ping(it.app, tokens.access_token)).toBe(401)
    })

    test('is rejected after its refresh token is reused [T2606]', async () => {
      const { first, next } = await refreshed()
      const third = (await client.refresh(next.refresh_token)).body
      await client.refresh(first.refresh_token)
      for (const { access_token: token } of [first, next, third])
        expect(await ping(it.app, token)).toBe(401)
    })

    test('can be revoked alone, and the new tokens remain valid [T2607]', async () => {
      const { first, next } = await refreshed()
      const { access_token: token } = first
      for (let time = 0; time < 2; time += 1) {
        const { status } = await postForm(
          `${it.app.issuer}/oauth/revoke`,
          { token },
          basicOf(client),
        )
        expect(status).toBe(200)
        expect(await ping(it.app, token)).toBe(401)
      }
      expect(await ping(it.app, next.access_token)).toBe(200)
      expect((await client.refresh(next.refresh_token)).status).toBe(200)
    })

    test('a refresh does not accept a digest that an attacker wrote into the row [T2608]', async () => {
      const first = await client.tokens(both)
      const chosen = 'aValueThatTheAttackerChose'
      await it.db.run(
        `update oauth2server_token set access_token_digest = '${digestOf('access_token', chosen)}'
      where access_token_digest = '${digestOf('access_token', first.access_token)}'`,
      )
      expect((await client.refresh(first.refresh_token)).status).toBe(200)
      expect(await ping(it.app, chosen)).toBe(401)
    })

    test('a refresh concurrent with the revocation of the access token does not revive it [T2609]', async () => {
      const first = await client.tokens(both)
      const { access_token: accessToken, refresh_token: refreshToken } = first
      const found = await it.app.server.tokens.find({ accessToken })
      const current = await it.app.server.tokens.find({ refreshToken })
      if (!found || !current) throw new Error('The token does not exist.')
      expect(await it.app.server.tokens.revokeAccess(found, accessToken)).toBe(true)
      const registered = await it.app.server.clients.find(client.clientId)
      if (!registered) throw new Error('The client does not exist.')
      const issued = await it.app.server.tokens.issue({
        type: 'refresh',
        client: registered,
        presented: refreshToken,
        parameters: '',
        current: { found: current, scopes: current.token.scopes },
      })
      expect(await ping(it.app, issued.accessToken)).toBe(200)
      expect(await ping(it.app, accessToken)).toBe(401)
    })
  },
)

describe('a replaced access token', () => {
  test('is rejected immediately without a leeway [T2610]', async () => {
    await using app = await startServer({ refreshTokenLeeway: 0 })
    const client = await TestClient.register(app, new UserAgent())
    const first = await client.tokens(both)
    await client.refresh(first.refresh_token)
    expect(await ping(app, first.access_token)).toBe(401)
  })

  test('remains valid as a JWT, and introspection returns its claims [T2611]', async () => {
    await using app = await startServer({ accessTokenFormat: 'jwt' })
    const client = await TestClient.register(app, new UserAgent())
    const first = await client.tokens(both)
    const issuedAt = app.now() / 1000
    app.advance(10)
    await client.refresh(first.refresh_token)
    expect(await ping(app, first.access_token)).toBe(200)
    const token = first.access_token
    const claims = JSON.parse(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
    const { body } = await postForm(`${app.issuer}/oauth/introspect`, { token }, basicOf(client))
    expect(body).toMatchObject({ active: true, iat: issuedAt, exp: issuedAt + 70, jti: claims.jti })
  })

  test('remains sealed after a rotation of the secret key [T2612]', async () => {
    await using app = await startServer()
    const client = await TestClient.register(app, new UserAgent())
    const first = await client.tokens(both)
    await client.refresh(first.refresh_token)
    const secretKeys = ['a new secret key of more than 32 bytes', secretKey]
    await using rotated = await startServer({ beside: app, issuer: app.issuer, secretKeys })
    await rotated.server.rotateSecretKeys()
    expect(await ping(rotated, first.access_token)).toBe(200)
  })
})
