// The stores of oidc-provider.
import type { Adapter, AdapterPayload } from 'oidc-provider'
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
export const inMemory = () => {
  const rows = new Map<string, AdapterPayload>()
  const byGrant = new Map<string, string[]>()
  const byUid = new Map<string, string>()
  return class implements Adapter {
    readonly #name: string
    constructor(name: string) {
      this.#name = name
    }
    async upsert(id: string, payload: AdapterPayload) {
      const key = `${this.#name}:${id}`
      rows.set(key, payload)
      const { grantId, uid } = payload
      if (uid) byUid.set(uid, key)
      if (!grantId || !grantable.has(this.#name)) return
      const known = byGrant.get(grantId)
      if (known) known.push(key)
      else byGrant.set(grantId, [key])
    }
    async find(id: string) {
      return rows.get(`${this.#name}:${id}`)
    }
    async findByUid(uid: string) {
      return rows.get(byUid.get(uid) ?? '')
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

/** The PostgreSQL adapter of oidc-provider's examples, with prepared statements. Also runs on SQLite. */
export const inDatabase = async () => {
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
    // SQLite stores JSON as text.
    const payload: AdapterPayload =
      typeof row.payload === 'string' ? JSON.parse(row.payload) : row.payload
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
