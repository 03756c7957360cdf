import { readdir, readFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { createClient } from '@redis/client'
import type { TestServer } from '../../support/server.ts'

type Row = Readonly<Record<string, unknown>>

/** Collects what the auditor must check for a server. */
export interface Memory {
  /** Records secrets that must not be stored in plain text. */
  saw(...secrets: readonly unknown[]): void
  /** Records a personal token that must not change. */
  keep(id: number): Promise<void>
  /** Records that the test changes the personal token. */
  touched(id: number): void
}

interface Known {
  readonly secrets: Set<string>
  readonly personal: Map<number, string>
}

// The data that was collected for each issuer.
const known = new Map<string, Known>()

const knownOf = ({ issuer }: Pick<TestServer, 'issuer'>): Known =>
  known.get(issuer) ?? { secrets: new Set(), personal: new Map() }

/** Starts to collect data for a new server. */
export const remember = (server: TestServer): Memory => {
  const secrets = new Set<string>()
  const personal = new Map<number, string>()
  known.set(server.issuer, { secrets, personal })
  return {
    saw(...values) {
      // Ignore shorter texts, which could occur by chance.
      for (const value of values)
        if (typeof value === 'string' && value.length >= 16) secrets.add(value)
    },
    async keep(id) {
      const row = (await personalTokens(server)).find((token) => token.id === id)
      if (row) personal.set(id, JSON.stringify(row))
    },
    touched: (id) => void personal.delete(id),
  }
}

/**
 * Checks the invariants I1 to I6 in the database and the log of a server.
 * @throws Error that lists the broken invariants
 */
export const audit = async (server: TestServer): Promise<void> => {
  const rows = await read(server)
  const broken = [
    ...oneFamilyPerCode(rows),
    ...consumedWithSuccessor(rows, server.now()),
    ...neverValidAgain(rows),
    ...liveAndWithin(rows, server),
    ...(await nothingInPlainText(server)),
    ...(await personalAsTheyWere(rows, server)),
  ]
  if (broken.length > 0) throw new Error(`Broken invariants:\n${broken.join('\n')}`)
}

interface Rows {
  readonly users: readonly Row[]
  readonly clients: readonly Row[]
  readonly authorizations: readonly Row[]
  readonly tokens: readonly Row[]
  readonly rotated: readonly Row[]
  readonly consents: readonly Row[]
}

const read = async (server: TestServer): Promise<Rows> => {
  const all = (table: string) => server.query(`select * from oauth2server_${table}`)
  return {
    users: await all('user'),
    clients: await all('client'),
    authorizations: await all('authorization'),
    tokens: await all('token'),
    rotated: await all('rotated_refresh_token'),
    consents: await all('consent'),
  }
}

// PostgreSQL returns big integers as text.
const number = (value: unknown): number | null => (value === null ? null : Number(value))
const isPersonal = (row: Row): boolean => number(row.is_personal) === 1
const list = (text: unknown): readonly string[] => {
  const given = String(text ?? '')
  if (given.startsWith('[')) return JSON.parse(given) as string[]
  return given.split(/\s+/).filter((scope) => scope !== '')
}
const isWithin = (some: readonly string[], all: readonly string[]): boolean =>
  some.every((one) => all.includes(one))
const sameSet = (one: readonly string[], other: readonly string[]): boolean =>
  isWithin(one, other) && isWithin(other, one)

const tokensOf = ({ tokens }: Rows, { id }: Row): readonly Row[] =>
  tokens.filter(({ authorization_id }) => number(authorization_id) === number(id))

/** I1: a code has at most one authorization, and the authorization at most one pair of tokens. */
const oneFamilyPerCode = (rows: Rows): readonly string[] => {
  const live = rows.authorizations.filter(({ revoked_at }) => revoked_at === null)
  const digests = live.flatMap(({ code_digest }) => code_digest ?? [])
  const twice = digests.filter((digest, at) => digests.indexOf(digest) !== at)
  const pairs = rows.authorizations.filter((row) => tokensOf(rows, row).length > 1)
  return [
    ...twice.map((digest) => `I1: the code ${digest} has more than one valid authorization.`),
    ...pairs.map(({ id }) => `I1: the authorization ${id} has more than one current token.`),
  ]
}

/** I2: a consumed credential has a successor. */
const consumedWithSuccessor = (rows: Rows, now: number): readonly string[] => {
  const live = rows.authorizations.filter(
    ({ revoked_at, expires_at }) => revoked_at === null && Number(expires_at) > now,
  )
  const childless = live.filter((row) => tokensOf(rows, row).length === 0)
  const lost = live.flatMap((row) => {
    const current = tokensOf(rows, row).map(({ refresh_token_digest }) => refresh_token_digest)
    const family = rows.rotated.filter(
      ({ authorization_id }) => number(authorization_id) === number(row.id),
    )
    const there = [...current, ...family.map(({ digest }) => digest)]
    return family.filter(({ successor }) => !there.includes(successor))
  })
  const orphans = rows.rotated.filter(
    ({ authorization_id }) =>
      !rows.authorizations.some(({ id }) => number(id) === number(authorization_id)),
  )
  return [
    ...childless.map(({ id }) => `I2: the authorization ${id} was granted but has no token.`),
    ...[...lost, ...orphans].map(({ digest }) => `I2: ${digest} was rotated but has no successor.`),
  ]
}

/** I3: a revoked or rotated token remains invalid. */
const neverValidAgain = (rows: Rows): readonly string[] => {
  const revoked = rows.authorizations.filter(
    (row) => row.revoked_at !== null && tokensOf(rows, row).length > 0,
  )
  const rotated = rows.rotated.filter(({ digest }) =>
    rows.tokens.some(({ refresh_token_digest }) => refresh_token_digest === digest),
  )
  return [
    ...revoked.map(({ id }) => `I3: the authorization ${id} is revoked but has tokens.`),
    ...rotated.map(({ digest }) => `I3: ${digest} was rotated but is the current refresh token.`),
  ]
}

/** I4: a valid token has an existing user and client, and only granted scopes. */
const liveAndWithin = (rows: Rows, { now, server }: TestServer): readonly string[] => {
  const internal = server.scopes.all().flatMap(({ id, isInternal }) => (isInternal ? id : []))
  return rows.tokens
    .filter(({ ends_at }) => ends_at === null || Number(ends_at) > now())
    .flatMap((token) => {
      const problem = problemOf(token, rows, internal)
      return problem === undefined ? [] : [`I4: the token ${token.id} ${problem}`]
    })
}

const problemOf = (token: Row, rows: Rows, internal: readonly string[]): string | undefined => {
  const client = rows.clients.find(({ client_key }) => client_key === token.client_key)
  if (!client) return 'has no client.'
  const isOf = (user: Row) => String(user.id) === String(token.user_id)
  if (token.user_id !== null && !rows.users.some(isOf)) return 'has no user.'
  const scopes = list(token.scopes)
  if (!isPersonal(token) && scopes.some((scope) => internal.includes(scope)))
    return 'has an internal scope.'
  if (token.authorization_id === null) return undefined
  const authorization = rows.authorizations.find(
    ({ id }) => number(id) === number(token.authorization_id),
  )
  if (!authorization) return 'has no authorization.'
  if (authorization.client_key !== token.client_key) return 'is of another client than granted.'
  if (String(authorization.user_id) !== String(token.user_id))
    return 'is of another user than granted.'
  // The row may contain scopes that the client may no longer request, because look-ups ignore them.
  if (!isWithin(scopes, list(authorization.scopes)))
    return 'has more scopes than its authorization.'
  // An authorization without a code may have no consent, for example with the password grant.
  if (authorization.code_digest === null) return undefined
  const consent = rows.consents.find(
    ({ user_id, client_key }) =>
      client_key === token.client_key && String(user_id) === String(token.user_id),
  )
  if (!consent) return 'has no consent.'
  const granted = list(consent.scopes)
  if (!isWithin(list(authorization.scopes), granted)) return 'has more scopes than the consent.'
  return undefined
}

/** I5: no credential is stored or logged in plain text. */
const nothingInPlainText = async (server: TestServer): Promise<readonly string[]> => {
  const secrets = [...knownOf(server).secrets]
  const places = [
    ...(await storedIn(server)),
    ...server.log.map((entry) => ({ place: 'the log', text: JSON.stringify(entry) })),
  ]
  return places.flatMap(({ place, text }) =>
    secrets
      .filter((secret) => text.includes(secret))
      .map((secret) => `I5: ${secret.slice(0, 6)}… is stored in plain text in ${place}.`),
  )
}

interface Place {
  readonly place: string
  readonly text: string
}

const storedIn = async (server: TestServer): Promise<readonly Place[]> => {
  if (!server.database.startsWith('postgres')) {
    const folder = dirname(server.database)
    const names = (await readdir(folder)).filter((name) =>
      name.startsWith(basename(server.database)),
    )
    return Promise.all(
      names.map(async (place) => ({ place, text: await readFile(join(folder, place), 'latin1') })),
    )
  }
  const tables = await server.query(
    "select table_name as name from information_schema.tables where table_schema = 'public'",
  )
  const rows = await Promise.all(
    tables.map(async ({ name }) => ({
      place: String(name),
      text: JSON.stringify(await server.query(`select * from ${name}`)),
    })),
  )
  return [...rows, await redisContents(server)]
}

const redisContents = async ({ place }: TestServer): Promise<Place> => {
  const url = place.env.OAUTH2_CACHE_REDIS_URL
  if (url === undefined) return { place: 'Redis', text: '' }
  const redis = await createClient({ url, socket: { reconnectStrategy: false } })
    .on('error', () => undefined)
    .connect()
  const parts: string[] = []
  // Redis also contains values of other tests, but the search is only for secrets of this server.
  for await (const keys of redis.scanIterator({ COUNT: 1_000 })) {
    if (keys.length === 0) continue
    const values = await redis.mGet(keys)
    parts.push(...keys, ...values.flatMap((value) => value ?? []))
  }
  redis.destroy()
  return { place: 'Redis', text: parts.join('\n') }
}

interface PersonalRow {
  readonly id: number
  readonly client: unknown
  readonly user: string
  readonly digest: unknown
  readonly scopes: readonly string[]
  readonly expires: number | null
}

const personalRow = (row: Row): PersonalRow => ({
  id: Number(row.id),
  client: row.client_key,
  user: String(row.user_id),
  digest: row.access_token_digest,
  scopes: [...list(row.scopes)].sort(),
  expires: number(row.expires),
})

const personalTokens = async (server: TestServer): Promise<readonly PersonalRow[]> =>
  (await server.query('select * from oauth2server_token where is_personal = 1')).map(personalRow)

/** I6: only the settings page changes a personal token. */
const personalAsTheyWere = async (rows: Rows, server: TestServer): Promise<readonly string[]> => {
  const personal = rows.tokens.filter(isPersonal)
  const roots = personal.filter(({ parent_id }) => parent_id === null)
  const malformed = roots.flatMap((token) => {
    const client = rows.clients.find(({ client_key }) => client_key === token.client_key)
    const isSound =
      client !== undefined &&
      isPersonal(client) &&
      String(client.user_id) === String(token.user_id) &&
      token.authorization_id === null &&
      token.refresh_token_digest === null &&
      sameSet(list(token.scopes), list(client.default_scopes))
    return isSound ? [] : [`I6: the personal token ${token.id} does not match its client row.`]
  })
  const strangers = rows.tokens.filter((token) => {
    const client = rows.clients.find(({ client_key }) => client_key === token.client_key)
    return client && isPersonal(client) && !isPersonal(token)
  })
  const changed = [...knownOf(server).personal].flatMap(([id, before]) => {
    const { user } = JSON.parse(before) as PersonalRow
    // Ignore deleted users, because their tokens are deleted too.
    if (!rows.users.some((row) => String(row.id) === user)) return []
    const now = personal.find((row) => number(row.id) === id)
    return now && JSON.stringify(personalRow(now)) === before
      ? []
      : [`I6: the personal token ${id} changed without a request to its settings page.`]
  })
  return [
    ...malformed,
    ...strangers.map(({ id }) => `I6: the token ${id} belongs to the client of a personal token.`),
    ...changed,
  ]
}
