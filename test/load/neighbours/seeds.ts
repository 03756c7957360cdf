import type { Abuser, Site } from './site.ts'

// The abuses only count, change or delete these rows. So the rows need no valid seals, and can be copies of a real row.

/** The number of users who have tokens of the client. */
const holders = 1_000

/** Returns the SQL condition for the first row of the abuser in a table. */
const firstOf = (table: string, { userId }: Abuser): string =>
  `t.id = (select min(id) from oauth2server_${table} where user_id = ${userId})`

/** Returns the greatest ID of a table. */
const lastId = async ({ database }: Site, table: string): Promise<number> => {
  const [row] = await database.query(`select max(id) as last from oauth2server_${table}`)
  return Number(row?.last ?? 0)
}

interface Grants {
  /** The number of tokens of the abuser's client. Every third token belongs to an authorization. */
  readonly tokens: number
  /** Whether the tokens are expired. */
  readonly areExpired?: boolean
}

/** Creates tokens of a thousand users for the client of the abuser. @returns the SQL condition for the tokens */
export const seedTokens = async (
  site: Site,
  abuser: Abuser,
  { tokens, areExpired = false }: Grants,
): Promise<string> => {
  const { database, scale } = site
  const count = Math.round(tokens * scale)
  const user = await lastId(site, 'user')
  await database.copy({
    table: 'oauth2server_user',
    template: `t.id = ${abuser.userId}`,
    count: holders,
    columns: { id: `${user} + i`, email: `'holder-' || (${user} + i) || '@example.org'` },
  })
  const authorization = await lastId(site, 'authorization')
  const holder = `${user} + 1 + i % ${holders}`
  const ends = (columns: readonly string[]) =>
    areExpired ? Object.fromEntries(columns.map((column) => [column, '1'])) : {}
  await database.copy({
    table: 'oauth2server_authorization',
    template: firstOf('authorization', abuser),
    count: Math.floor(count / 3),
    columns: { id: `${authorization} + i`, user_id: holder, ...ends(['expires_at']) },
  })
  await database.copy({
    table: 'oauth2server_token',
    template: firstOf('token', abuser),
    count,
    columns: {
      user_id: holder,
      authorization_id: `case when i % 3 = 0 then ${authorization} + i / 3 end`,
      access_token_digest: database.randomDigest,
      refresh_token_digest: database.randomDigest,
      ...ends(['expires', 'refresh_expires', 'ends_at']),
    },
  })
  const last = await lastId(site, 'token')
  return `id between ${last - count + 1} and ${last}`
}

/** The number of authorizations that have rotated refresh tokens. */
const devices = 500

/**
 * Creates rotated refresh tokens for the abuser, as copies of a row that a refresh over HTTP created.
 * @returns the SQL condition for the rows
 */
export const seedTombstones = async (
  site: Site,
  abuser: Abuser,
  tombstones: number,
): Promise<string> => {
  const { database, host, scale } = site
  const response = await fetch(`${host.url}/oauth/token`, {
    method: 'POST',
    headers: { authorization: `Basic ${btoa(`${abuser.clientId}:${abuser.clientSecret}`)}` },
    body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: abuser.refresh }),
  })
  if (response.status !== 200) throw new Error(`A refresh returned ${response.status}`)
  await response.arrayBuffer()
  const authorization = await lastId(site, 'authorization')
  await database.copy({
    table: 'oauth2server_authorization',
    template: firstOf('authorization', abuser),
    count: devices,
    columns: { id: `${authorization} + i` },
  })
  await database.copy({
    table: 'oauth2server_rotated_refresh_token',
    template: `t.authorization_id = (select min(id) from oauth2server_authorization where user_id = ${abuser.userId})`,
    count: Math.round(tombstones * scale),
    columns: {
      digest: database.randomDigest,
      authorization_id: `${authorization} + 1 + i % ${devices}`,
    },
  })
  return `authorization_id between ${authorization + 1} and ${authorization + devices}`
}
