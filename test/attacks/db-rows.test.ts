import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { digestOf } from '../../src/crypto/digest.ts'
import { systemRandom } from '../../src/crypto/random.ts'
import { KeyRing } from '../../src/crypto/sealed.ts'
import { TransientValues } from '../../src/records/transient-values.ts'
import { storeOf } from '../support/internals.ts'
import { secretKey } from '../support/server.ts'
import { logIn } from '../support/session.ts'
import { authorizationOf, clientOf } from '../support/tokens.ts'
import { tokenRequest } from '../support/user-agent.ts'
import {
  type Attack,
  attacksOn,
  type Column,
  type Kind,
  partlyCopied,
  schemaOf,
} from './support/columns.ts'
import {
  type AttackedServer,
  literal,
  type Row,
  startAttacked,
  storeNames,
} from './support/database-writer.ts'

// Each row of most tables has a seal, which binds the values of the row to the secret key. The tests change, clear,
// copy and swap each column of these tables, alone and together with other columns. The server must reject the changed
// rows. The exceptions are listed with their reasons: tables without a seal, and columns that the seal does not
// protect.

const unsealed: Readonly<Record<string, string>> = {
  oauth2server_audit: '`audit verify` detects changes: test/records/audit-chain.test.ts',
  oauth2server_audit_checkpoint: '`audit verify` detects changes: test/records/audit-chain.test.ts',
  oauth2server_audit_count: 'counts routine events, and decides nothing',
  oauth2server_client_logo: 'the seal of the client covers the digest of the image',
  oauth2server_client_login: 'only decides which clients learn of a logout',
  oauth2server_logout_notice: 'only decides which clients learn of a logout',
  oauth2server_sweeper_note: 'cannot cause the deletion of an existing user',
  oauth2server_removal: 'lists rows to delete, which a database writer can delete directly',
  oauth2server_secret_key: 'an unknown key ID prevents the start of the server',
  oauth2server_migration: 'names of migrations',
  oauth2server_migration_lock: 'the lock of migrations',
  oauth2server_migration_online: 'names of migrations',
}

const chosen = 'aValueThatTheAttackerChose'
const ofList = 'is only displayed'
const ofRefresh = 'is overwritten by a refresh and not read'
const ofAccess = 'does not affect the access token'
const ofForm = 'is neither displayed by the form nor saved'
const ofToken = 'is not used, because the sealed token contains the same value'
const ofLookup = 'is not read by token look-ups; a look-up of the client rejects the row'
const ofLogin = 'the password is only read at the login, and the time never'
const ofSweep = 'is only read by the sweeper, which can delete the row'

const valuesOf = ({ app }: AttackedServer): TransientValues<string> =>
  new TransientValues<string>('authorization_code', {
    transients: storeOf(app.server).transients,
    keys: new KeyRing([secretKey]),
    clock: app.now,
    random: systemRandom,
  } as ConstructorParameters<typeof TransientValues>[1])

const everyKind = async (it: AttackedServer): Promise<readonly (readonly [string, Kind])[]> => {
  const { app, db } = it
  const { server } = app
  const pair = async <T>(make: (which: 0 | 1) => Promise<T>): Promise<readonly [T, T]> => [
    await make(0),
    await make(1),
  ]
  const row = async (table: string, where: string): Promise<Row> => {
    const rows = await db.run(`select * from oauth2server_${table} where ${where}`)
    if (rows.length !== 1 || !rows[0]) throw new Error(`${rows.length} rows of ${table}: ${where}`)
    return rows[0]
  }
  const users = await pair((which) => app.newUser({ email: `user-${which}@example.org` }))
  const clients = await pair((which) =>
    app.client({
      name: `Client ${which}`,
      userId: users[which].id,
      allowedScopes: which === 0 ? ['notes:read'] : ['notes:read', 'notes:write'],
    }),
  )
  const issue = async (which: 0 | 1) => {
    const user = users[which]
    const scopes = which === 0 ? ['notes:read'] : ['notes:read', 'notes:write']
    return authorizationOf({ ...app, user }, clients[which].clientId, { scopes })
  }
  const issued = await pair(issue)
  const tokens = await pair((which) => row('token', `id = ${issued[which].token.id}`))
  const findsAccess = async () => {
    for (const accessToken of [issued[0].accessToken, issued[1].accessToken, chosen])
      if (await server.tokens.find({ accessToken })) return true
    return false
  }
  const findsRefresh = async () => {
    for (const refreshToken of [issued[0].refreshToken, issued[1].refreshToken, chosen])
      if (await server.tokens.find({ refreshToken })) return true
    return false
  }
  const findsFormer = async () => {
    for (const accessToken of [rotated[0].accessToken, rotated[1].accessToken, chosen])
      if (await server.tokens.find({ accessToken })) return true
    return false
  }
  const digests = {
    former_digest: digestOf('access_token', chosen),
    access_token_digest: digestOf('access_token', chosen),
    refresh_token_digest: digestOf('refresh_token', chosen),
  }
  const always = {
    id: 'is only a row number; the authorization has its own seal',
    ends_at: ofSweep,
    last_used_at: ofList,
    last_used_address: ofList,
    used_scopes: 'only suggests scopes that the user could remove',
  }
  const free = (reason: string, ...names: readonly string[]) =>
    Object.fromEntries(names.map((name) => [name, reason]))

  const personal = await pair((which) =>
    server.tokens.createPersonal(`Token ${which}`, users[which].id, {
      scopes: which === 0 ? ['notes:read'] : ['notes:write'],
    }),
  )
  const rotated = await pair(async (which) => {
    const { token, accessToken, refreshToken } = await issue(which)
    const ask = () =>
      tokenRequest(
        app.issuer,
        { grant_type: 'refresh_token', refresh_token: refreshToken },
        { basic: clients[which] },
      )
    await ask()
    const digest = digestOf('refresh_token', refreshToken)
    const current = await row('token', `id = ${token.id}`)
    return {
      ask,
      accessToken,
      current,
      row: await row('rotated_refresh_token', `digest = '${digest}'`),
    }
  })
  await pair((which) =>
    server.consents.grant(users[which].id, clients[which].clientId, [`notes:${which}`]),
  )
  const keyOf = async (which: 0 | 1) => (await clientOf(app, clients[which].clientId)).clientKey
  const consents = await pair(async (which) => row('consent', `client_key = ${await keyOf(which)}`))
  const sessions = await pair(async (which) => {
    const { cookie, identifier } = await logIn({ ...app, user: users[which] })
    const { address } = await row('session', `id = '${digestOf('session', identifier)}'`)
    // Use another IP address for the second browser.
    return {
      cookie,
      row: await row('session', `id = '${digestOf('session', identifier)}'`),
      address,
    }
  })
  const values = valuesOf(it)
  const names = await pair((which) =>
    values.put(`value ${which}`, app.now() + 86_400_000 + which, 'owner'),
  )
  const transient = await pair((which) =>
    row('transient', `key = 'authorization_code:${values.digest(names[which])}'`),
  )
  const clientRows = await pair((which) =>
    row('client', `client_id = '${clients[which].clientId}'`),
  )
  const signingKeys = await db.run('select * from oauth2server_signing_key order by created_at')

  const any = async (checks: readonly Promise<unknown>[]) =>
    (await Promise.all(checks)).some((found) => found !== undefined && found !== false)
  const userRows = await pair((which) => row('user', `id = ${users[which].id}`))
  const findsSession: Kind['accepts'] = (changed) =>
    any(
      sessions.flatMap(({ cookie, row: { address, user_agent: userAgent } }) =>
        [...changed, { address, user_agent: userAgent }].map((from) =>
          server.sessions.signedIn({
            cookie,
            address: String(from.address ?? address),
            userAgent: String(from.user_agent ?? userAgent),
            raw: undefined,
          }),
        ),
      ),
    )
  return [
    [
      'user',
      {
        table: 'user',
        rows: userRows,
        accepts: async (changed) => {
          for (const { email, id } of [...users, ...changed]) {
            const isThere =
              (await server.users.find(Number(id))) &&
              (await server.users.findByEmail(String(email)))
            // Verify the password only for an existing user, because verification is slow.
            if (isThere && (await server.users.withPassword(String(email), app.password)))
              return true
          }
          return false
        },
        free: { created_at: 'is never read' },
      },
    ],
    [
      'user, joined by a token look-up',
      {
        table: 'user',
        rows: userRows,
        accepts: findsAccess,
        free: free(ofLogin, 'created_at', 'password_hash'),
      },
    ],
    [
      'user, joined by a session look-up',
      {
        table: 'user',
        rows: userRows,
        accepts: findsSession,
        free: free(ofLogin, 'created_at', 'password_hash'),
      },
    ],
    [
      'client',
      {
        table: 'client',
        rows: clientRows,
        accepts: (changed) =>
          any(
            [...clientRows, ...changed].map(({ client_id: id }) => server.clients.find(String(id))),
          ),
        chosen: {
          client_secret: digestOf('client_secret', chosen),
          registration_token: digestOf('registration_token', chosen),
        },
        free: {
          state_seal: 'is read only by token look-ups, which the next test covers',
          own_tokens_until: 'revokes client_credentials tokens early; otherwise they expire',
        },
      },
    ],
    [
      'client, joined by a token look-up',
      {
        table: 'client',
        rows: clientRows,
        accepts: findsAccess,
        free: free(
          ofLookup,
          ...Object.keys(clientRows[0]).filter(
            (name) =>
              !['client_key', 'client_id', 'name', 'user_id', 'is_disabled'].includes(name) &&
              !['allowed_scopes', 'state_seal'].includes(name),
          ),
        ),
      },
    ],
    [
      'token, found by its access token',
      {
        table: 'token',
        rows: tokens,
        accepts: findsAccess,
        chosen: digests,
        free: {
          ...always,
          ...free(ofAccess, 'refresh_token', 'refresh_token_digest', 'refresh_expires'),
        },
      },
    ],
    [
      'token, found by a replaced access token',
      {
        table: 'token',
        rows: [rotated[0].current, rotated[1].current],
        accepts: findsFormer,
        chosen: digests,
        free: {
          ...always,
          ...free(ofAccess, 'refresh_token', 'refresh_token_digest', 'refresh_expires'),
        },
      },
    ],
    [
      'token, found by its refresh token',
      {
        table: 'token',
        rows: tokens,
        accepts: findsRefresh,
        chosen: digests,
        free: {
          ...always,
          ...free(ofRefresh, 'access_token', 'access_token_digest', 'expires', 'scopes'),
          ...free(ofRefresh, 'token_type', 'created_at', 'resources'),
          ...free(ofRefresh, 'former_digest', 'former_expires'),
          successor_id: 'exists only in personal tokens, which have no refresh token',
        },
      },
    ],
    [
      'personal token, read by its form',
      {
        table: 'token',
        rows: await pair((which) => row('token', `id = ${personal[which].id}`)),
        accepts: (changed) =>
          any(
            users.flatMap((user) =>
              [...personal, ...changed].map(({ id }) =>
                server.personalTokens.find(user.id, Number(id)),
              ),
            ),
          ),
        chosen: digests,
        free: {
          ...always,
          ...free(ofForm, 'refresh_token', 'refresh_token_digest', 'refresh_expires'),
        },
      },
    ],
    [
      'authorization, read by a refresh',
      {
        table: 'authorization',
        rows: await pair((which) =>
          row('authorization', `id = ${issued[which].token.authorizationId}`),
        ),
        accepts: findsRefresh,
        free: {
          ...free(ofToken, 'client_key', 'user_id'),
          code_digest: 'detects a replay of the code; a change is like the deletion of the row',
          code_binding: 'decides who can revoke the authorization by a replay',
          user_agent: ofList,
          expires_at: ofSweep,
          revoked_at: 'revoked authorizations have no token row',
        },
      },
    ],
    [
      'rotated refresh token',
      {
        table: 'rotated_refresh_token',
        rows: [rotated[0].row, rotated[1].row],
        accepts: () => any(rotated.map(async ({ ask }) => (await ask()).status === 200)),
        free: {},
      },
    ],
    [
      'consent',
      {
        table: 'consent',
        rows: consents,
        accepts: () =>
          any(
            users.flatMap(({ id }) =>
              clients.map(({ clientId }) => server.consents.find(id, clientId)),
            ),
          ),
        free: {},
      },
    ],
    [
      'session',
      {
        table: 'session',
        rows: [sessions[0].row, sessions[1].row],
        accepts: findsSession,
        free: {},
      },
    ],
    [
      'short-lived value',
      {
        table: 'transient',
        rows: transient,
        accepts: () => any(names.map((name) => values.get(name))),
        free: {
          count: 'is used only by counters, which have no value',
          expires_at: 'can only shorten the lifetime, which the sealed value limits',
          owner: 'can only remove values early, like a deletion of the row',
        },
      },
    ],
    [
      'signing key',
      {
        table: 'signing_key',
        rows: signingKeys as unknown as Kind['rows'],
        accepts: async (changed) => {
          // The server reads the table every 30 seconds.
          app.advance(31)
          const response = await fetch(`${app.issuer}/oauth/jwks`)
          const { keys: published } = (await response.json()) as { keys: { kid: string }[] }
          const ids = new Set([...signingKeys, ...changed].map(({ id }) => id))
          return published.some(({ kid }) => ids.has(kid))
        },
        free: {},
      },
    ],
  ]
}

describe.each(storeNames)('on %s', (name) => {
  let it: AttackedServer
  let schema: ReadonlyMap<string, readonly Column[]>
  let kinds: ReadonlyMap<string, Kind>
  beforeAll(async () => {
    it = await startAttacked(name, { accessTokenFormat: 'jwt', refreshTokenLeeway: 3_600 })
    await fetch(`${it.app.issuer}/oauth/jwks`)
    it.app.advance(7_776_001)
    await fetch(`${it.app.issuer}/oauth/jwks`)
    schema = await schemaOf(it.db)
    kinds = new Map(await everyKind(it))
  })
  afterAll(() => it.close())

  const columnsOf = ({ table }: Kind): readonly Column[] =>
    schema.get(`oauth2server_${table}`) ?? []

  const replaceAll = async (table: string, rows: readonly Row[]): Promise<void> => {
    const values = rows.map((row) => `(${Object.values(row).map(literal).join(', ')})`)
    await it.db.run(`delete from ${table}`)
    if (values.length > 0)
      await it.db.run(
        `insert into ${table} (${Object.keys(rows[0] ?? {}).join(', ')}) values ${values.join(', ')}`,
      )
  }

  /** Replaces the two rows of a kind. Returns whether the server then accepts a credential of the changed rows. */
  const accepts = async (kind: Kind, { rows }: Pick<Attack, 'rows'>): Promise<boolean> => {
    const table = `oauth2server_${kind.table}`
    const before = await it.db.run(`select * from ${table}`)
    const own = new Set(kind.rows.map((row) => JSON.stringify(row)))
    const rest = before.filter((row) => !own.has(JSON.stringify(row)))
    expect(rest).toHaveLength(before.length - 2)
    try {
      await replaceAll(table, [...rest, ...rows])
    } catch {
      // The column does not accept null, so restore the rows.
      await replaceAll(table, before)
      return false
    }
    try {
      return await kind.accepts(rows)
    } finally {
      await replaceAll(table, before)
    }
  }

  test('DB-05 tests every table of the schema, or lists it as an exception [T604]', () => {
    const covered = [...kinds.values()].map(({ table }) => `oauth2server_${table}`)
    const listed = [...new Set([...covered, ...Object.keys(unsealed)])]
    expect(listed.filter((table) => schema.has(table)).sort()).toEqual([...schema.keys()].sort())
  })

  const names = [
    'user',
    'user, joined by a token look-up',
    'user, joined by a session look-up',
    'client',
    'client, joined by a token look-up',
    'token, found by its access token',
    'token, found by a replaced access token',
    'token, found by its refresh token',
    'personal token, read by its form',
    'authorization, read by a refresh',
    'rotated refresh token',
    'consent',
    'session',
    'short-lived value',
    'signing key',
  ]
  const kindOf = (of: string): Kind => {
    const kind = kinds.get(of)
    if (!kind) throw new Error(`The list has no ${of}.`)
    return kind
  }

  test('DB-05 tests every kind of row in the list', () => expect([...kinds.keys()]).toEqual(names))

  describe.each(names)('%s', (of) => {
    test('DB-05 rejects a change of any column that is not exempt [T603]', async () => {
      const kind = kindOf(of)
      expect(await accepts(kind, kind), 'unchanged rows').toBe(true)
      const columns = columnsOf(kind)
      expect(columns.length).toBeGreaterThan(3)
      expect(Object.keys(kind.free).filter((one) => !columns.some((c) => c.name === one))).toEqual(
        [],
      )
      const accepted = new Set<string>()
      for (const attack of attacksOn(kind, columns))
        if (await accepts(kind, attack)) accepted.add(attack.columns.join())
      const sealed = [...accepted].filter((column) => !(column in kind.free))
      expect(sealed, 'accepted although not exempt').toEqual([])
      const stale = Object.keys(kind.free).filter((column) => !accepted.has(column))
      expect(stale, 'exempt although rejected').toEqual([])
      expect(await accepts(kind, kind), 'restored rows').toBe(true)
    })

    test('DB-05 rejects a row with several columns of another row', async () => {
      const kind = kindOf(of)
      const [one, other] = kind.rows
      const differing = columnsOf(kind)
        .map((column) => column.name)
        .filter((column) => !(column in kind.free) && one[column] !== other[column])
      expect(differing.length).toBeGreaterThan(1)
      const some = fc
        .subarray(differing, { minLength: 1, maxLength: differing.length - 1 })
        .map((columns) => partlyCopied(kind, columns))
      await fc.assert(
        fc.asyncProperty(some, async (attack) => !(await accepts(kind, attack))),
        { numRuns: 15, seed: 17 },
      )
    })
  })

  test('DB-05 expires a short-lived value at its sealed time even if the column is changed', async () => {
    const values = valuesOf(it)
    const name = await values.put('a value', it.app.now() + 60_000, 'owner')
    await it.db.run('update oauth2server_transient set expires_at = expires_at + 100000000')
    expect(await values.get(name)).toBe('a value')
    it.app.advance(60)
    expect(await values.get(name)).toBeUndefined()
  })
})
