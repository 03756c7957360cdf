import { setTimeout as delay } from 'node:timers/promises'
import { Client } from 'pg'
import { LoadClient } from '../client.ts'
import type { Variables } from '../servers.ts'
import type { InnocentOptions } from './caller.ts'
import { guesses, registrations, silentHosts, wrongLogins } from './crowds.ts'
import type { StoreName } from './database.ts'
import { redirectUri } from './remote-hosts.ts'
import { seedTokens, seedTombstones } from './seeds.ts'
import type { Abuser, Site } from './site.ts'

/** A prepared abuse. */
export interface Attack {
  /** Prepares the abuse immediately before the measurement. */
  arm?(): Promise<void>
  /** Runs the abuse until the abuse is complete or the measured window ends. */
  run(isOver: () => boolean): Promise<void>
  disarm?(): Promise<void>
}

/** An action of one user or client, or a state of one row or table, that could affect other users. */
export interface Abuse {
  readonly name: string
  /** The title in the table of docs/operations.md. */
  readonly title: string
  /** The stores in which the abuse is possible. Undefined means SQLite and PostgreSQL. */
  readonly stores?: readonly StoreName[]
  /** The settings that the abuse needs. */
  readonly env?: Variables
  /** The kind of request that the abuse attacks. The caller also sends requests of this kind, measured separately. */
  readonly attacks?: InnocentOptions['extra'][number]
  /** Creates an abuser and the data of the abuse. */
  prepare(site: Site): Promise<Attack>
  /**
   * Prepares the control: the same number of requests with a constant response, and equal hashes in another process.
   */
  readonly control?: (site: Site) => Promise<Attack>
}

const manyTokens = 300_000
/** Milliseconds between two polls. */
const pause = 250

const basic = ({ clientId, clientSecret }: Abuser): string =>
  `Basic ${btoa(`${clientId}:${clientSecret}`)}`

/** Sends a form as the client of the abuser. Ignores the response and lost connections. */
const post = async (
  { host }: Site,
  abuser: Abuser,
  form: Readonly<Record<string, string>>,
): Promise<void> => {
  const sent = { method: 'POST', headers: { authorization: basic(abuser) } }
  const body = new URLSearchParams(form)
  const response = await fetch(`${host.url}/oauth/token`, { ...sent, body }).catch(() => undefined)
  await response?.arrayBuffer().catch(() => undefined)
}

/** Sends a request that has a constant response. */
const askConstant = async (url: string): Promise<void> => {
  const response = await fetch(`${url}/health/live`).catch(() => undefined)
  await response?.arrayBuffer().catch(() => undefined)
}

/** Waits until the statement returns no row. Deletions in the background belong to the abuse. */
const untilGone = async ({ database }: Site, sql: string): Promise<void> => {
  while ((await database.query(sql)).length > 0) await delay(pause)
}

const withManyTokens = async (site: Site) => {
  const abuser = await site.abuser()
  const tokens = await seedTokens(site, abuser, { tokens: manyTokens })
  await site.database.settle()
  return { ...abuser, tokens }
}

const deleteClient: Abuse = {
  name: 'delete-client',
  title: 'A client with 300,000 tokens is deleted',
  async prepare(site) {
    const { clientId, tokens } = await withManyTokens(site)
    return {
      async run() {
        await site.host.order('clients.delete', clientId)
        await untilGone(site, `select 1 from oauth2server_token where ${tokens} limit 1`)
      },
    }
  },
}

const deleteUser: Abuse = {
  name: 'delete-user',
  title: 'A user with a million used refresh tokens is deleted',
  async prepare(site) {
    const abuser = await site.abuser()
    const tombstones = await seedTombstones(site, abuser, 1_000_000)
    await site.database.settle()
    return {
      async run() {
        await site.host.order('users.delete', abuser.userId)
        await untilGone(
          site,
          `select 1 from oauth2server_rotated_refresh_token where ${tombstones} limit 1`,
        )
      },
    }
  },
}

const makePublic: Abuse = {
  name: 'make-public',
  title: 'A client with 300,000 tokens becomes public',
  async prepare(site) {
    const { clientId } = await withManyTokens(site)
    return { run: () => site.host.order('clients.makePublic', clientId) }
  },
}

const resetClientId: Abuse = {
  name: 'reset-client-id',
  title: 'The ID of a client with 300,000 tokens is reset',
  async prepare(site) {
    const { clientId } = await withManyTokens(site)
    return { run: () => site.host.order('clients.resetClientId', clientId) }
  },
}

const lockedRow: Abuse = {
  name: 'locked-row',
  title:
    'Another connection locks the rows of a user and a client, and tokens are requested for both',
  // SQLite does not lock rows.
  stores: ['postgres'],
  async prepare(site) {
    const abuser = await site.abuser()
    return {
      async run(isOver) {
        const holder = new Client({ connectionString: site.database.url })
        await holder.connect()
        const waiting: Promise<void>[] = []
        try {
          await holder.query('begin')
          await holder.query(
            `select * from oauth2server_user where id = ${abuser.userId} for update`,
          )
          await holder.query(
            `select * from oauth2server_client where client_id = '${abuser.clientId}' for update`,
          )
          while (!isOver()) {
            const refresh_token = abuser.refresh
            waiting.push(post(site, abuser, { grant_type: 'client_credentials' }))
            waiting.push(post(site, abuser, { grant_type: 'refresh_token', refresh_token }))
            await delay(100)
          }
        } finally {
          await holder.end()
        }
        await Promise.all(waiting)
      },
    }
  },
}

const exchanges: Abuse = {
  name: 'exchanges',
  title: 'One user sends 800 concurrent token exchanges',
  env: { OAUTH2SERVER_TOKEN_EXCHANGE: 'true' },
  async prepare(site) {
    const abuser = await site.abuser()
    const form = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: abuser.access,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
    }
    return {
      async run() {
        await Promise.all(Array.from({ length: 800 }, () => post(site, abuser, form)))
      },
    }
  },
  control: async ({ host }) => ({
    async run() {
      await Promise.all(Array.from({ length: 800 }, () => askConstant(host.url)))
    },
  }),
}

const noStatistics: Abuse = {
  name: 'no-statistics',
  title: 'A client gets 150,000 tokens in a PostgreSQL that collects no statistics',
  stores: ['postgres'],
  async prepare(site) {
    const abuser = await site.abuser()
    const tables = ['user', 'client', 'authorization', 'token', 'rotated_refresh_token']
    for (const table of tables)
      await site.database.query(
        `alter table oauth2server_${table} set (autovacuum_enabled = false)`,
      )
    return {
      arm: async () => void (await seedTokens(site, abuser, { tokens: 150_000 })),
      async run(isOver) {
        while (!isOver()) await delay(pause)
      },
      disarm: () => site.database.settle(),
    }
  },
}

const pages: Abuse = {
  name: 'pages',
  title: 'The settings and administration pages of a client with 300,000 tokens are opened',
  async prepare(site) {
    const abuser = await withManyTokens(site)
    const { clientId } = abuser
    const { url } = site.host
    const browser = new LoadClient({ ...abuser, redirectUri })
    return {
      arm: () => browser.logIn(url),
      async run(isOver) {
        const failures = new Set<string>()
        while (!isOver()) {
          for (const path of [
            '/account/settings/applications/',
            `/account/settings/applications/clients/${clientId}/`,
            '/admin/applications/',
          ]) {
            const status = await browser.open(`${url}${path}`)
            if (status !== 200) failures.add(`${path} answered ${status}`)
          }
        }
        if (failures.size > 0) throw new Error([...failures].join(', '))
      },
    }
  },
  control: async ({ host }) => ({
    async run(isOver) {
      while (!isOver()) await askConstant(host.url)
    },
  }),
}

const sweep: Abuse = {
  name: 'sweep',
  title: 'A hundred thousand expired tokens are removed',
  async prepare(site) {
    await seedTokens(site, await site.abuser(), { tokens: 100_000, areExpired: true })
    await site.database.settle()
    return { run: () => site.host.order('sweep') }
  },
}

/** All abuses, in the order of the table. */
export const abuses: readonly Abuse[] = [
  deleteClient,
  deleteUser,
  makePublic,
  resetClientId,
  lockedRow,
  exchanges,
  noStatistics,
  pages,
  sweep,
  wrongLogins,
  guesses,
  registrations,
  silentHosts,
]
