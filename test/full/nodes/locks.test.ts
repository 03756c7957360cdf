import { setTimeout as delay } from 'node:timers/promises'
import {
  type AroundStore,
  type AuthorizationServer,
  createAuthorizationServer,
  InvalidField,
  type IssuedToken,
  StoreUnavailable,
  type User,
} from 'svc-oauth2server'
import { postgres } from 'svc-oauth2server/postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { storeOf } from '../../support/internals.ts'
import { lacks } from '../../support/needs.ts'
import { makeDatabase, type TestDatabase } from '../../support/postgres.ts'
import { redirectUri } from '../../support/redirect-uris.ts'
import { secretKey, testScopes } from '../../support/server.ts'

// In SQLite, one transaction writes at a time. In PostgreSQL, transactions write concurrently. So a transaction must
// lock the rows on which its writes depend. In these tests, two servers use one database, and the test can pause the
// second server inside a transaction.

const password = 'correct horse battery staple'

/** Pauses a server after a store operation until the test resumes the server. */
const newPause = () => {
  let at: string | undefined
  let time = 0
  let reached = () => {}
  let goOn: Promise<void> = Promise.resolve()
  const seen: string[] = []
  const aroundPause: AroundStore = async ({ name }, run) => {
    const result = await run()
    seen.push(name)
    if (name === at) {
      time -= 1
      if (time === 0) {
        reached()
        await goOn
      }
    }
    return result
  }
  return {
    around: aroundPause,
    /** Returns the names of the operations since the last call. */
    seen: () => seen.splice(0),
    /**
     * Pauses at occurrence `count` of an operation. `standing` resolves at the pause, and `release` resumes the server.
     */
    arm(operation: string, count: number) {
      at = operation
      time = count
      const standing = new Promise<void>((resolve) => {
        reached = resolve
      })
      let release = () => {}
      goOn = new Promise((resolve) => {
        release = () => {
          at = undefined
          resolve()
        }
      })
      return { standing, release: () => release() }
    },
  }
}

const errorOf = (result: PromiseSettledResult<unknown>): unknown =>
  result.status === 'rejected' ? result.reason : undefined

/** Milliseconds that suffice for work that waits for no lock. */
const meanwhile = 150

describe.skipIf(await lacks('postgres'))('concurrent transactions in PostgreSQL', () => {
  let database: TestDatabase
  let fast: AuthorizationServer
  let slow: AuthorizationServer
  let user: User
  const brake = newPause()

  beforeAll(async () => {
    database = await makeDatabase()
    const open = (aroundStore?: AroundStore) =>
      createAuthorizationServer({
        issuer: 'http://localhost:8080',
        secretKeys: [secretKey],
        store: postgres(database.url, { poolSize: 12 }),
        scopes: testScopes,
        sweepInterval: 0,
        log: () => undefined,
        ...(aroundStore && { aroundStore }),
      })
    fast = await open()
    slow = await open(brake.around)
    user = await newUser()
  })
  afterAll(async () => {
    await fast?.close()
    await slow?.close()
    await database?.drop()
  })

  let made = 0
  const newUser = () => {
    made += 1
    return fast.users.create({ email: `user-${made}@example.org`, password: null })
  }
  const newClient = async (owner: User | null = null) =>
    (
      await fast.clients.create({
        name: 'Client',
        userId: owner?.id ?? null,
        redirectUris: [redirectUri],
      })
    ).client

  /** Runs `one`, and starts `other` while `one` is paused after the store operation. */
  const runInterleaved = async (
    one: () => Promise<unknown>,
    operation: string,
    time: number,
    other: () => Promise<unknown>,
  ) => {
    const { standing, release } = brake.arm(operation, time)
    const first = one()
    await Promise.race([standing, first.catch(() => undefined)])
    const second = other()
    // Fixed time: the second may wait for the first.
    await Promise.race([second.catch(() => undefined), delay(meanwhile)])
    release()
    return Promise.allSettled([first, second])
  }

  /** Calls runInterleaved() for each store operation of `one`. @returns the operations */
  const everywhere = async (
    prepare: () => Promise<{
      readonly one: () => Promise<unknown>
      readonly other: () => Promise<unknown>
      readonly check: (
        first: PromiseSettledResult<unknown>,
        second: PromiseSettledResult<unknown>,
        where: string,
      ) => Promise<void>
    }>,
  ): Promise<readonly string[]> => {
    brake.seen()
    await (await prepare()).one()
    const seen = brake.seen()
    for (const [index, operation] of seen.entries()) {
      const time = seen.slice(0, index + 1).filter((name) => name === operation).length
      const { one, other, check } = await prepare()
      const [first, second] = await runInterleaved(one, operation, time, other)
      await check(first, second, `behind ${operation}, ${time}`)
    }
    return seen
  }

  const grantedCode = async () => {
    const [granting, client] = [await newUser(), await newClient()]
    const consent = await fast.consents.grant(granting.id, client.clientId, ['notes:read'])
    made += 1
    const value = `code-${made}`
    const redeem = () =>
      slow.tokens.issue({
        type: 'user',
        client,
        subject: granting,
        scopes: ['notes:read'],
        refreshable: true,
        under: { consentId: consent.id, sessionId: null, userAgent: '' },
        code: {
          kind: 'authorization_code',
          value,
          binding: {
            clientId: client.clientId,
            redirectUri,
            redirectUriGiven: true,
            extensions: {},
          },
        },
      })
    return { granting, client, redeem }
  }

  const isAlive = async (issued: unknown) =>
    (await fast.tokens.find({ accessToken: (issued as IssuedToken).accessToken })) !== undefined

  describe('I3 no issued token is valid if, during the redemption of a code,', () => {
    const ends: Record<string, (of: Awaited<ReturnType<typeof grantedCode>>) => Promise<unknown>> =
      {
        'the application is revoked': ({ granting, client }) =>
          fast.authorizedApplications.revoke(granting.id, client.clientId),
        'every application is revoked': ({ granting }) =>
          fast.authorizedApplications.revokeAll(granting.id),
        'the client becomes public': ({ client }) =>
          fast.clients.update(client.clientId, { isConfidential: false }),
        'the client is deleted': ({ client }) => fast.clients.delete(client.clientId),
        'the user is deleted': ({ granting }) => fast.users.delete(granting.id),
        'the user was deleted by the application': ({ granting }) =>
          fast.users.deleted(granting.id),
      }
    test.each(Object.keys(ends))('%s', async (name) => {
      const end = ends[name] ?? (async () => undefined)
      const outcomes: string[] = []
      const seen = await everywhere(async () => {
        const of = await grantedCode()
        return {
          one: of.redeem,
          other: () => end(of),
          async check(first, second, where) {
            expect(errorOf(second), where).toBeUndefined()
            expect(errorOf(first), where).not.toBeInstanceOf(StoreUnavailable)
            outcomes.push(`${where}: ${first.status}`)
            if (first.status === 'fulfilled')
              expect(await isAlive(first.value), `${name} ${where}`).toBe(false)
          },
        }
      })
      expect(seen).toEqual(expect.arrayContaining(['authorizations.insertOnce', 'tokens.insert']))
    })
  })

  const issued = async () => {
    const [granting, client] = [await newUser(), await newClient()]
    const first = await fast.tokens.issue({
      type: 'user',
      client,
      subject: granting,
      scopes: ['notes:read'],
      refreshable: true,
    })
    const presented = first.refreshToken ?? ''
    const refresh = async () => {
      const found = await slow.tokens.find({ refreshToken: presented })
      return slow.tokens.issue({
        type: 'refresh',
        client,
        presented,
        parameters: '',
        ...(found && { current: { found, scopes: ['notes:read'] } }),
      } as Parameters<typeof slow.tokens.issue>[0])
    }
    return { granting, client, refresh, token: first.token }
  }

  describe('I3 no issued token is valid if, during the redemption of a refresh token,', () => {
    type Issued = Awaited<ReturnType<typeof issued>>
    const ends: Record<string, (of: Issued) => Promise<unknown>> = {
      'the token is revoked': ({ token }) => fast.tokens.revoke(token),
      'the application is revoked': ({ granting, client }) =>
        fast.authorizedApplications.revoke(granting.id, client.clientId),
      'the client becomes public': ({ client }) =>
        fast.clients.update(client.clientId, { isConfidential: false }),
      'the client is deleted': ({ client }) => fast.clients.delete(client.clientId),
      'the user is deleted': ({ granting }) => fast.users.delete(granting.id),
    }
    test.each(Object.keys(ends))('%s', async (name) => {
      const end = ends[name] ?? (async () => undefined)
      await everywhere(async () => {
        const of = await issued()
        return {
          one: of.refresh,
          other: () => end(of),
          async check(first, second, where) {
            expect(errorOf(second), where).toBeUndefined()
            expect(errorOf(first), where).not.toBeInstanceOf(StoreUnavailable)
            if (first.status === 'fulfilled')
              expect(await isAlive(first.value), `${name} ${where}`).toBe(false)
          },
        }
      })
    })
  })

  test('P-9 resetting the client ID during the redemption of a code does not invalidate the issued token', async () => {
    await everywhere(async () => {
      const { client, redeem } = await grantedCode()
      return {
        one: redeem,
        other: () => fast.clients.resetClientId(client.clientId),
        async check(first, second, where) {
          expect(errorOf(second), where).toBeUndefined()
          expect(errorOf(first), where).not.toBeInstanceOf(StoreUnavailable)
          if (first.status === 'fulfilled') expect(await isAlive(first.value), where).toBe(true)
        },
      }
    })
  })

  test('P-9 resetting the client ID during a refresh does not invalidate the issued token', async () => {
    await everywhere(async () => {
      const { client, refresh } = await issued()
      return {
        one: refresh,
        other: () => fast.clients.resetClientId(client.clientId),
        async check(first, second, where) {
          expect(errorOf(second), where).toBeUndefined()
          expect(errorOf(first), where).not.toBeInstanceOf(StoreUnavailable)
          if (first.status === 'fulfilled') expect(await isAlive(first.value), where).toBe(true)
        },
      }
    })
  })

  test('deleting an owner while a client is updated causes no deadlock', async () => {
    await everywhere(async () => {
      const owner = await newUser()
      const { clientId } = await newClient(owner)
      return {
        one: () => slow.clients.update(clientId, { name: 'Another name' }),
        other: () => fast.users.delete(owner.id),
        async check(first, second, where) {
          expect(errorOf(second), where).toBeUndefined()
          // Deleting the owner hides the client immediately. A later update does not find the client and changes
          // nothing.
          if (first.status === 'rejected')
            expect(first.reason, where).toEqual(
              new InvalidField('client_id', 'There is no such client.'),
            )
          expect(await fast.clients.find(clientId), where).toBeUndefined()
        },
      }
    })
  })

  test('one consent contains all scopes that were granted concurrently', async () => {
    const scopes = Array.from({ length: 8 }, (_, index) => `scope-${index}`)
    for (let round = 0; round < 20; round += 1) {
      const [granting, client] = [await newUser(), await newClient()]
      const consents = await Promise.all(
        scopes.map((scope, index) =>
          (index % 2 === 0 ? fast : slow).consents.grant(granting.id, client.clientId, [scope]),
        ),
      )
      const kept = await fast.consents.find(granting.id, client.clientId)
      expect(new Set(kept?.scopes)).toEqual(new Set(scopes))
      expect(new Set(consents.map(({ id }) => id))).toEqual(new Set([kept?.id]))
    }
  })

  test('concurrent updates store all changes to different fields of a client', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { clientId } = await newClient(user)
      const changes = {
        name: 'Another name',
        description: 'Another description',
        website: 'https://client.example',
        redirectUris: [redirectUri, 'https://client.example/other'],
        defaultScopes: ['notes:read'],
        allowedScopes: ['notes:read', 'notes:write'],
        optionalScopes: ['notes:write'],
        grantTypes: ['authorization_code'],
      }
      await Promise.all(
        Object.entries(changes).map(([field, value], index) =>
          (index % 2 === 0 ? fast : slow).clients.update(clientId, { [field]: value }),
        ),
      )
      expect(await fast.clients.find(clientId)).toMatchObject(changes)
    }
  })

  test('concurrently disabling and updating a client stores both changes', async () => {
    const actor = { user, address: '127.0.0.1' }
    await everywhere(async () => {
      const { clientId } = await newClient(user)
      return {
        one: () => slow.clients.update(clientId, { name: 'Another name' }),
        other: () => fast.administration.actOnClient(clientId, 'disable', actor),
        async check(first, second, where) {
          expect([errorOf(first), errorOf(second)], where).toEqual([undefined, undefined])
          const { name, isDisabled } = (await fast.clients.find(clientId)) ?? {}
          expect({ name, isDisabled }, where).toEqual({ name: 'Another name', isDisabled: true })
        },
      }
    })
    await everywhere(async () => {
      const { clientId } = await newClient(user)
      return {
        one: () => slow.administration.actOnClient(clientId, 'disable', actor),
        other: () => fast.clients.update(clientId, { name: 'Another name' }),
        async check(first, second, where) {
          expect([errorOf(first), errorOf(second)], where).toEqual([undefined, undefined])
          const { name, isDisabled } = (await fast.clients.find(clientId)) ?? {}
          expect({ name, isDisabled }, where).toEqual({ name: 'Another name', isDisabled: true })
        },
      }
    })
  })

  describe('personal tokens', () => {
    const works = async (accessToken: string) =>
      (await fast.tokens.find({ accessToken })) !== undefined

    test.each([0, 60])(
      'have one current value after ten concurrent rotations with an overlap of %i s',
      async (overlap) => {
        for (let round = 0; round < 5; round += 1) {
          const first = await fast.tokens.createPersonal('Laptop', user.id)
          const rotated = await Promise.all(
            Array.from({ length: 10 }, (_, index) =>
              (index % 2 === 0 ? fast : slow).personalTokens.rotate(first.id, { overlap }),
            ),
          )
          const values = [first, ...rotated].map(({ accessToken }) => accessToken)
          const living = []
          for (const value of values) if (await works(value)) living.push(value)
          // The last value is valid. With an overlap, the value before the last is also valid.
          expect(living).toHaveLength(overlap === 0 ? 1 : 2)
          const managed = await fast.personalTokens.find(user.id, first.id)
          expect(managed?.token.id).toBe(first.id)
        }
      },
    )

    test('lose removed scopes in the current and the former value, even during a concurrent rotation', async () => {
      await everywhere(async () => {
        const scopes = ['notes:read', 'notes:write']
        const first = await fast.tokens.createPersonal('Laptop', user.id, { scopes })
        const managed = await fast.personalTokens.find(user.id, first.id)
        if (!managed) throw new Error('There is no such token.')
        return {
          one: () => slow.personalTokens.rotate(first.id, { overlap: 60 }),
          other: () => fast.personalTokens.update(managed, { scopes: ['notes:read'] }),
          async check(one, two, where) {
            expect([errorOf(one), errorOf(two)], where).toEqual([undefined, undefined])
            const rows = await storeOf(fast).tokens.select(
              { clientId: first.clientId },
              { lock: 'change' },
            )
            const kept = rows.map(({ fields }) => fields.scopes.join(' '))
            expect(kept, where).toEqual(['notes:read', 'notes:read'])
          },
        }
      })
    })
  })

  test('changing the password during a login with the old password leaves no session', async () => {
    const browser = { cookie: null, address: '127.0.0.1', userAgent: 'a browser', raw: undefined }
    await everywhere(async () => {
      made += 1
      const email = `user-${made}@example.org`
      const { id } = await fast.users.create({ email, password })
      const checked = await storeOf(fast).users.find({ email })
      return {
        one: () => slow.sessions.signIn(id, browser, checked?.passwordHash ?? null),
        other: () => fast.users.setPassword(id, 'another horse battery staple'),
        async check(first, second, where) {
          expect(errorOf(second), where).toBeUndefined()
          expect(errorOf(first), where).not.toBeInstanceOf(StoreUnavailable)
          const { items } = await fast.sessions.listByUser(id, { after: null, limit: 10 })
          expect(items, where).toEqual([])
        },
      }
    })
  })

  test('two nodes that record uses of the same tokens in different order cause no deadlock', async () => {
    const ids: number[] = []
    for (let count = 0; count < 40; count += 1)
      ids.push((await fast.tokens.createPersonal('Laptop', user.id)).id)
    for (let round = 1; round <= 10; round += 1) {
      const uses = (order: readonly number[], at: number) =>
        new Map(order.map((id) => [id, { at, address: '127.0.0.1' }]))
      await Promise.all([
        storeOf(fast).transaction((tx) => tx.tokens.touch(uses(ids, round * 1000))),
        storeOf(slow).transaction((tx) => tx.tokens.touch(uses(ids.toReversed(), round * 1000))),
      ])
    }
  })
})
