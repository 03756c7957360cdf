// oidc-provider: https://github.com/panva/node-oidc-provider. The router of oidc-provider serves all endpoints except
// the resource, which looks up the token with the model's `find`, as in the documentation.
import { generateKeyPairSync } from 'node:crypto'
import type { RequestListener } from 'node:http'
import Provider, { type Adapter, type AdapterPayload } from 'oidc-provider'
import { basic, form, place, refreshTokenCount, serve } from '../../support/serve.ts'
import type { Works } from '../../support/works.ts'
import { answer, bearerOf, notes } from './http.ts'
import { openSql } from './sql.ts'

const now = (): number => Math.floor(Date.now() / 1000)

const grantable = new Set([
  'AccessToken',
  'AuthorizationCode',
  'RefreshToken',
  'DeviceCode',
  'BackchannelAuthenticationRequest',
])

/** The in-memory adapter of oidc-provider's examples, without eviction. */
const inMemory = () => {
  const rows = new Map<string, AdapterPayload>()
  const byGrant = new Map<string, string[]>()
  return class implements Adapter {
    readonly #name: string
    constructor(name: string) {
      this.#name = name
    }
    async upsert(id: string, payload: AdapterPayload) {
      const key = `${this.#name}:${id}`
      rows.set(key, payload)
      const { grantId } = payload
      if (!grantId || !grantable.has(this.#name)) return
      const known = byGrant.get(grantId)
      if (known) known.push(key)
      else byGrant.set(grantId, [key])
    }
    async find(id: string) {
      return rows.get(`${this.#name}:${id}`)
    }
    async findByUid() {
      return undefined
    }
    async findByUserCode() {
      return undefined
    }
    async consume(id: string) {
      const payload = await this.find(id)
      if (payload) payload.consumed = now()
    }
    async destroy(id: string) {
      rows.delete(`${this.#name}:${id}`)
    }
    async revokeByGrantId(grantId: string) {
      for (const key of byGrant.get(grantId) ?? []) rows.delete(key)
      byGrant.delete(grantId)
    }
  }
}

/** The PostgreSQL adapter of oidc-provider's examples, with prepared statements. */
const inPostgres = async () => {
  const sql = openSql()
  await sql.script(`create table if not exists oidc (
    name text not null, id text not null, payload json not null, grant_id text, user_code text, uid text,
    expires_at bigint, consumed_at bigint, primary key (name, id))`)
  await sql.script(
    'create index if not exists oidc_grant_id on oidc (grant_id) where grant_id is not null',
  )
  await sql.script(
    'create index if not exists oidc_user_code on oidc (user_code) where user_code is not null',
  )
  await sql.script('create index if not exists oidc_uid on oidc (uid) where uid is not null')
  const select = 'select payload, consumed_at from oidc where name = $1 and'
  const first = async (text: string, values: readonly string[]) => {
    const [row] = await sql.rows(`${select} ${text}`, values)
    if (!row) return undefined
    const payload = row.payload as AdapterPayload
    return row.consumed_at ? { ...payload, consumed: Number(row.consumed_at) } : payload
  }
  return class implements Adapter {
    readonly #name: string
    constructor(name: string) {
      this.#name = name
    }
    async upsert(id: string, payload: AdapterPayload, expiresIn: number) {
      await sql.rows(
        `insert into oidc (name, id, payload, grant_id, user_code, uid, expires_at) values ($1, $2, $3, $4, $5, $6, $7)
         on conflict (name, id) do update set payload = excluded.payload, grant_id = excluded.grant_id,
         user_code = excluded.user_code, uid = excluded.uid, expires_at = excluded.expires_at`,
        [
          this.#name,
          id,
          JSON.stringify(payload),
          payload.grantId ?? null,
          payload.userCode ?? null,
          payload.uid ?? null,
          expiresIn ? now() + expiresIn : null,
        ],
      )
    }
    find(id: string) {
      return first('id = $2', [this.#name, id])
    }
    findByUid(uid: string) {
      return first('uid = $2', [this.#name, uid])
    }
    findByUserCode(userCode: string) {
      return first('user_code = $2', [this.#name, userCode])
    }
    async consume(id: string) {
      await sql.rows('update oidc set consumed_at = $1 where name = $2 and id = $3', [
        now(),
        this.#name,
        id,
      ])
    }
    async destroy(id: string) {
      await sql.rows('delete from oidc where name = $1 and id = $2', [this.#name, id])
    }
    async revokeByGrantId(grantId: string) {
      await sql.rows('delete from oidc where grant_id = $1', [grantId])
    }
  }
}

const clientId = 'bench'
const clientSecret = 'a-secret-of-the-client-32-bytes-and-more'
const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ format: 'jwk' })

const provider = new Provider('http://localhost:3000', {
  adapter: place.kind === 'postgres' ? await inPostgres() : inMemory(),
  clients: [
    {
      client_id: clientId,
      client_secret: clientSecret,
      grant_types: ['authorization_code', 'client_credentials', 'refresh_token'],
      redirect_uris: ['https://client.example/cb'],
      scope: 'openid offline_access notes:read notes:write',
      id_token_signed_response_alg: 'ES256',
    },
  ],
  scopes: ['openid', 'offline_access', 'notes:read', 'notes:write'],
  features: {
    devInteractions: { enabled: false },
    clientCredentials: { enabled: true },
    introspection: { enabled: true },
    revocation: { enabled: true },
  },
  rotateRefreshToken: true,
  findAccount: (_context, accountId) => ({ accountId, claims: async () => ({ sub: accountId }) }),
  cookies: { keys: ['a key for cookies, 32 bytes and more'] },
  jwks: { keys: [{ ...key, use: 'sig' }] },
  ttl: {
    AccessToken: 3600,
    ClientCredentials: 3600,
    Grant: 30 * 86_400,
    RefreshToken: 30 * 86_400,
  },
})

const listener = provider.callback()
const respond: RequestListener = async (request, response) => {
  if (request.url !== '/notes') return listener(request, response)
  const value = bearerOf(request) ?? ''
  const token =
    (await provider.AccessToken.find(value)) ?? (await provider.ClientCredentials.find(value))
  if (!token?.isValid) return answer(response, 401, { error: 'invalid_token' })
  if (!token.scopes.has('notes:read')) return answer(response, 403, { error: 'insufficient_scope' })
  answer(response, 200, notes)
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const seed = async (): Promise<Works> => {
  const client = await provider.Client.find(clientId)
  if (!client) throw new Error('There is no client.')
  const about = async (scope: string) => {
    const grant = new provider.Grant({ accountId: 'user', clientId })
    grant.addOIDCScope(scope)
    const grantId = await grant.save()
    return { accountId: 'user', client, grantId, gty: 'authorization_code', scope }
  }
  const accessToken = await new provider.AccessToken(await about('notes:read')).save()
  const withoutScope = await new provider.AccessToken(await about('notes:write')).save()
  const refreshTokens: string[] = []
  for (let count = 0; count < refreshTokenCount; count += 1)
    refreshTokens.push(await new provider.RefreshToken(await about('notes:read')).save())

  const asClient = { authorization: basic(clientId, clientSecret), ...form }
  const unknown = { authorization: basic(clientId, 'wrong'), ...form }
  return {
    token: {
      method: 'POST',
      path: '/token',
      headers: asClient,
      body: 'grant_type=client_credentials&scope=notes%3Aread',
      unknown,
    },
    resource: {
      method: 'GET',
      path: '/notes',
      headers: bearer(accessToken),
      unknown: bearer('unknown'),
      withoutScope: bearer(withoutScope),
    },
    introspect: {
      method: 'POST',
      path: '/token/introspection',
      headers: asClient,
      body: `token=${accessToken}&token_type_hint=access_token`,
      unknown,
    },
    refresh: {
      method: 'POST',
      path: '/token',
      headers: asClient,
      body: 'grant_type=refresh_token&refresh_token=',
      refreshTokens,
      unknown,
    },
  }
}

await serve(respond, seed)
