import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { execute, query } from '../support/database.ts'
import type { TestServer } from '../support/server.ts'
import { type AttackServer, startAttackServer, type Tokens } from './support/attack-server.ts'
import { audit } from './support/auditor.ts'

// An attacker with write access to the database but without a key breaks each invariant by hand.

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

/** The server on a copy of its database, which a test may corrupt. */
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

test('finds nothing in an intact database', async () => {
  expect(await findings()).toEqual([])
})

describe('I1 at most one live family per code', () => {
  test('a second authorization of the same code', async () => {
    sql(
      // The copied table has no unique index.
      `create table copy as select * from ${authorization}`,
      `drop table ${authorization}`,
      `alter table copy rename to ${authorization}`,
      `update ${authorization} set code_digest = (select max(code_digest) from ${authorization})`,
    )
    expect(await findings()).toEqual([expect.stringMatching(/^I1: the code /)])
  })

  test('a second pair of tokens of one authorization', async () => {
    sql(
      `update ${token} set authorization_id = (select min(id) from ${authorization}), client_key = (select client_key from ${authorization} order by id) where authorization_id is not null`,
    )
    expect(await findings()).toContainEqual(
      expect.stringMatching(/^I1: the authorization \d+ has more than one current token/),
    )
  })
})

describe('I2 consumed where its successor exists, and only there', () => {
  test('a code was redeemed into nothing', async () => {
    sql(`delete from ${token} where authorization_id = (select min(id) from ${authorization})`)
    expect(await findings()).toEqual([expect.stringMatching(/^I2: the authorization /)])
  })

  test('a refresh token was rotated into nothing', async () => {
    sql(`update ${rotated} set successor = 'nothing'`)
    expect(await findings()).toEqual([expect.stringMatching(/^I2: .* rotated into nothing/)])
  })

  test('a rotation is of no authorization', async () => {
    sql(`update ${rotated} set authorization_id = 4711`)
    expect(await findings()).toEqual([expect.stringMatching(/^I2: .* rotated into nothing/)])
  })
})

describe('I3 what was revoked or rotated never becomes valid again', () => {
  test('a revoked authorization has tokens', async () => {
    sql(
      `update ${authorization} set revoked_at = 1 where id = (select min(id) from ${authorization})`,
    )
    expect(await findings()).toEqual([
      expect.stringMatching(/^I3: the authorization \d+ is revoked/),
    ])
  })

  test('a rotated refresh token is the current one again', async () => {
    sql(
      `update ${token} set refresh_token_digest = (select digest from ${rotated}) where authorization_id = (select authorization_id from ${rotated})`,
    )
    expect(await findings()).toContainEqual(expect.stringMatching(/^I3: .* was rotated/))
  })
})

describe('I4 every live token has a live user, a live client, and no more than they agreed to', () => {
  const ofConf = `authorization_id = (select min(id) from ${authorization})`
  test.each([
    ['no user', `update ${token} set user_id = 4711 where ${ofConf}`, 'has no user'],
    ['no client', `update ${token} set client_key = 4711 where ${ofConf}`, 'has no client'],
    [
      'another client than granted',
      `update ${token} set client_key = (select client_key from oauth2server_client where name = 'Spa') where ${ofConf}`,
      'is of another client',
    ],
    [
      'another user than granted',
      `update ${token} set user_id = (select max(u.id) from oauth2server_user as u where u.id <> ${token}.user_id) where ${ofConf}`,
      'is of another user',
    ],
    [
      'no authorization',
      `update ${token} set authorization_id = 4711 where ${ofConf}`,
      'has no authorization',
    ],
    [
      'more than was granted',
      `update ${token} set scopes = 'r w' where ${ofConf}`,
      'more than was granted',
    ],
    [
      'no consent',
      "delete from oauth2server_consent where client_key = (select client_key from oauth2server_client where name = 'Conf')",
      'has no consent',
    ],
    [
      'more than was agreed to',
      "update oauth2server_consent set scopes = ''",
      'more than was agreed to',
    ],
    [
      'an internal scope',
      `update ${token} set scopes = 'r sys:internal' where ${ofConf}`,
      'has an internal scope',
    ],
  ])('%s', async (_, statement, finding) => {
    sql(statement)
    expect(await findings()).toContainEqual(
      expect.stringMatching(new RegExp(`^I4: the token \\d+ .*${finding}`)),
    )
  })
})

describe('I5 no credential in plain text', () => {
  test('in a row of the database', async () => {
    sql(
      `update oauth2server_user set email_verified = 0`,
      `update oauth2server_client set description = '${tokens.accessToken}' where name = 'Conf'`,
    )
    expect(await findings()).toEqual([expect.stringMatching(/^I5: .* in copy-\d+\.sqlite/)])
  })

  test.each(['refreshToken', 'accessToken'] as const)(
    '%s in a value that was deleted',
    async (kind) => {
      const secret = tokens[kind]
      sql(
        `insert into oauth2server_transient values ('x', '${secret}', 0, 0)`,
        'delete from oauth2server_transient',
      )
      expect(await findings()).toContainEqual(expect.stringMatching(/^I5: /))
    },
  )

  test('in a line of the log', async () => {
    const entry = {
      level: 'info',
      event: 'x',
      message: `Basic ${attack.clients.conf.clientSecret}`,
    }
    ;(broken.log as unknown[]).push(entry)
    expect(await findings()).toEqual([expect.stringMatching(/^I5: .* in the log/)])
  })

  test('a secret that the test names', async () => {
    attack.saw('a secret of the test itself')
    sql(`update oauth2server_client set description = 'this is a secret of the test itself'`)
    expect(await findings()).toContainEqual(expect.stringMatching(/^I5: a secr/))
  })
})

describe('I6 personal tokens change only through their own settings page', () => {
  const personal = 'is_personal = 1'
  test.each([
    ['more scopes', `update ${token} set scopes = 'r w rw:all' where ${personal}`],
    ['another life', `update ${token} set expires = 4711 where ${personal}`],
    ['another value', `update ${token} set access_token_digest = 'x' where ${personal}`],
    ['another user', `update ${token} set user_id = 2 where ${personal}`],
    ['a refresh token', `update ${token} set refresh_token_digest = 'x' where ${personal}`],
    ['none at all', `delete from ${token} where ${personal}`],
    [
      'another client',
      `update ${token} set client_key = (select client_key from oauth2server_client where name = 'Conf') where ${personal}`,
    ],
    [
      'other scopes of its client',
      `update oauth2server_client set default_scopes = '' where ${personal}`,
    ],
    ['an authorization', `update ${token} set authorization_id = 1 where ${personal}`],
    [
      'another token of its client',
      `update ${token} set client_key = (select client_key from oauth2server_client where ${personal}) where authorization_id is not null`,
    ],
  ])('%s', async (_, statement) => {
    sql(statement)
    expect(await findings()).toContainEqual(expect.stringMatching(/^I6: /))
  })

  test('ignores changes that the test itself makes', async () => {
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

test('runs at the end of a test', async () => {
  const own = await startAttackServer()
  await own.grant()
  execute(own.server.database, `delete from ${token} where authorization_id is not null`)
  await expect(own.close()).rejects.toThrow(/I2: the authorization \d+ was granted/)
})
