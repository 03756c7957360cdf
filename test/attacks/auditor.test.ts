import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { execute, query } from '../support/database.ts'
import type { TestServer } from '../support/server.ts'
import { type AttackServer, startAttackServer, type Tokens } from './support/attack-server.ts'
import { audit } from './support/auditor.ts'

// The auditor checks the invariants I1 to I6 after each test of this directory. Each test of this file copies the
// database, breaks an invariant in the copy by SQL, and expects that the auditor reports the broken invariant.

let attack: AttackServer
let tokens: Tokens
let copies = 0
beforeAll(async () => {
  attack = await startAttackServer()
  tokens = await attack.grant()
  const asking = { client: 'conf2' } as const
  const other = await attack.grant({}, asking)
  await attack.refresh(other.refreshToken, {}, asking)
})
afterAll(() => attack.close())

/** The server with a copy of its database. Each test corrupts the copy. */
let broken: TestServer
beforeEach(() => {
  copies += 1
  const database = join(attack.server.folder, `copy-${copies}.sqlite`)
  execute(attack.server.database, `vacuum into '${database}'`)
  broken = {
    ...attack.server,
    database,
    log: [...attack.server.log],
    query: async (sql) => query(database, sql),
  }
})

const sql = (...statements: readonly string[]): void => {
  for (const statement of statements) execute(broken.database, statement)
}
const findings = async (): Promise<readonly string[]> => {
  const error: unknown = await audit(broken).then(
    () => undefined,
    (reason: unknown) => reason,
  )
  return error instanceof Error ? error.message.split('\n').slice(1) : []
}

const authorization = 'oauth2server_authorization'
const token = 'oauth2server_token'
const rotated = 'oauth2server_rotated_refresh_token'

test('reports nothing for an intact database', async () => {
  expect(await findings()).toEqual([])
})

describe('I1 a code has at most one authorization with tokens', () => {
  test('reports a second authorization for the same code', async () => {
    sql(
      // A copied table has no unique index, so it accepts the duplicate.
      `create table copy as select * from ${authorization}`,
      `drop table ${authorization}`,
      `alter table copy rename to ${authorization}`,
      `update ${authorization} set code_digest = (select max(code_digest) from ${authorization})`,
    )
    expect(await findings()).toEqual([expect.stringMatching(/^I1: the code /)])
  })

  test('reports a second pair of tokens for the same authorization', async () => {
    sql(
      `update ${token} set authorization_id = (select min(id) from ${authorization}), client_key = (select client_key from ${authorization} order by id) where authorization_id is not null`,
    )
    expect(await findings()).toContainEqual(
      expect.stringMatching(/^I1: the authorization \d+ has more than one current token/),
    )
  })
})

describe('I2 a consumed credential has a successor', () => {
  test('reports a redeemed code without tokens', async () => {
    sql(`delete from ${token} where authorization_id = (select min(id) from ${authorization})`)
    expect(await findings()).toEqual([expect.stringMatching(/^I2: the authorization /)])
  })

  test('reports a rotated refresh token without a successor', async () => {
    sql(`update ${rotated} set successor = 'nothing'`)
    expect(await findings()).toEqual([
      expect.stringMatching(/^I2: .* was rotated but has no successor/),
    ])
  })

  test('reports a rotated refresh token without an authorization', async () => {
    sql(`update ${rotated} set authorization_id = 4711`)
    expect(await findings()).toEqual([
      expect.stringMatching(/^I2: .* was rotated but has no successor/),
    ])
  })
})

describe('I3 a revoked or rotated token remains invalid', () => {
  test('reports a revoked authorization with tokens', async () => {
    sql(
      `update ${authorization} set revoked_at = 1 where id = (select min(id) from ${authorization})`,
    )
    expect(await findings()).toEqual([
      expect.stringMatching(/^I3: the authorization \d+ is revoked/),
    ])
  })

  test('reports a rotated refresh token that is current again', async () => {
    sql(
      `update ${token} set refresh_token_digest = (select digest from ${rotated}) where authorization_id = (select authorization_id from ${rotated})`,
    )
    expect(await findings()).toContainEqual(expect.stringMatching(/^I3: .* was rotated/))
  })
})

describe('I4 a valid token has an existing user and client, and only granted scopes', () => {
  const ofConf = `authorization_id = (select min(id) from ${authorization})`
  test.each([
    ['without a user', `update ${token} set user_id = 4711 where ${ofConf}`, 'has no user'],
    ['without a client', `update ${token} set client_key = 4711 where ${ofConf}`, 'has no client'],
    [
      'of another client',
      `update ${token} set client_key = (select client_key from oauth2server_client where name = 'Spa') where ${ofConf}`,
      'is of another client',
    ],
    [
      'of another user',
      `update ${token} set user_id = (select max(u.id) from oauth2server_user as u where u.id <> ${token}.user_id) where ${ofConf}`,
      'is of another user',
    ],
    [
      'without an authorization',
      `update ${token} set authorization_id = 4711 where ${ofConf}`,
      'has no authorization',
    ],
    [
      'with more scopes than its authorization',
      `update ${token} set scopes = 'r w' where ${ofConf}`,
      'has more scopes than its authorization',
    ],
    [
      'without a consent',
      "delete from oauth2server_consent where client_key = (select client_key from oauth2server_client where name = 'Conf')",
      'has no consent',
    ],
    [
      'with more scopes than the consent',
      "update oauth2server_consent set scopes = ''",
      'has more scopes than the consent',
    ],
    [
      'with an internal scope',
      `update ${token} set scopes = 'r sys:internal' where ${ofConf}`,
      'has an internal scope',
    ],
  ])('reports a token %s', async (_, statement, finding) => {
    sql(statement)
    expect(await findings()).toContainEqual(
      expect.stringMatching(new RegExp(`^I4: the token \\d+ .*${finding}`)),
    )
  })
})

describe('I5 no credential is stored or logged in plain text', () => {
  test('reports an access token in a row of the database', async () => {
    sql(
      `update oauth2server_user set email_verified = 0`,
      `update oauth2server_client set description = '${tokens.accessToken}' where name = 'Conf'`,
    )
    expect(await findings()).toEqual([expect.stringMatching(/^I5: .* in copy-\d+\.sqlite/)])
  })

  test.each(['refreshToken', 'accessToken'] as const)(
    'reports a deleted %s that is still in the database file',
    async (kind) => {
      const secret = tokens[kind]
      sql(
        `insert into oauth2server_transient (key, value, count, expires_at) values ('x', '${secret}', 0, 0)`,
        'delete from oauth2server_transient',
      )
      expect(await findings()).toContainEqual(expect.stringMatching(/^I5: /))
    },
  )

  test('reports a client secret in a line of the log', async () => {
    const entry = {
      level: 'info',
      event: 'x',
      message: `Basic ${attack.clients.conf.clientSecret}`,
    }
    ;(broken.log as unknown[]).push(entry)
    expect(await findings()).toEqual([expect.stringMatching(/^I5: .* in the log/)])
  })

  test('reports a secret that the test recorded with `saw`', async () => {
    attack.saw('a secret of the test itself')
    sql(`update oauth2server_client set description = 'this is a secret of the test itself'`)
    expect(await findings()).toContainEqual(expect.stringMatching(/^I5: a secr/))
  })
})

describe('I6 only the settings page changes a personal token', () => {
  const personal = 'is_personal = 1'
  test.each([
    ['with more scopes', `update ${token} set scopes = 'r w rw:all' where ${personal}`],
    ['with another expiry', `update ${token} set expires = 4711 where ${personal}`],
    ['with another value', `update ${token} set access_token_digest = 'x' where ${personal}`],
    ['of another user', `update ${token} set user_id = 2 where ${personal}`],
    ['with a refresh token', `update ${token} set refresh_token_digest = 'x' where ${personal}`],
    ['that was deleted', `delete from ${token} where ${personal}`],
    [
      'of another client',
      `update ${token} set client_key = (select client_key from oauth2server_client where name = 'Conf') where ${personal}`,
    ],
    [
      'of a client with other scopes',
      `update oauth2server_client set default_scopes = '' where ${personal}`,
    ],
    ['with an authorization', `update ${token} set authorization_id = 1 where ${personal}`],
    [
      'of a client with another token',
      `update ${token} set client_key = (select client_key from oauth2server_client where ${personal}) where authorization_id is not null`,
    ],
  ])('reports a personal token %s', async (_, statement) => {
    sql(statement)
    expect(await findings()).toContainEqual(expect.stringMatching(/^I6: /))
  })

  test('ignores a change that the test declared with `touched`', async () => {
    await using own = await startAttackServer()
    const { id } = await own.personalToken('b', ['r'])
    const { tokens } = own.server.server
    const token = await tokens.get(id)
    if (token) await tokens.revoke(token)
    await expect(audit(own.server)).rejects.toThrow(/I6: the personal token /)
    own.touched(id)
    await audit(own.server)
  })
})

test('checks the invariants when the server is closed, and reports a deleted token', async () => {
  const own = await startAttackServer()
  await own.grant()
  execute(own.server.database, `delete from ${token} where authorization_id is not null`)
  await expect(own.close()).rejects.toThrow(/I2: the authorization \d+ was granted/)
})
