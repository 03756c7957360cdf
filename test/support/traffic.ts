import { setTimeout as delay } from 'node:timers/promises'
import { digestOf } from '../../src/crypto/digest.ts'
import { call, each, kinds, type Outcome, post } from './load.ts'
import type { Node } from './nodes.ts'
import type { Site } from './site.ts'

/** The kinds of requests that are sent to the nodes continuously. */
export type Kind = 'look-up' | 'client' | 'refresh' | 'authorize' | 'code'

export interface Sample extends Outcome {
  readonly kind: Kind
  readonly port: number
}

/**
 * Milliseconds that a worker waits between two requests. The load is so low that three test files can run concurrently.
 * `npm run test:nodes` sends three times as many requests.
 */
const rest = process.env.NODES === 'whole' ? 10 : 30

/** Milliseconds for which requests may still fail after a fault. */
export const recoveryLimit = 5_000

/** The nodes have recovered after this number of milliseconds without a failure. `npm run test:nodes` waits longer. */
const quietPeriod = process.env.NODES === 'whole' ? recoveryLimit + 500 : 1_500

/** Continuous requests of every kind. Successive requests go to different nodes. */
export interface Traffic {
  readonly samples: readonly Sample[]
  /** Waits for the given time in milliseconds while the requests continue. */
  flow(milliseconds: number): Promise<void>
  /** Waits until no request has failed for `quietPeriod`, but at most until the recovery limit. */
  recover(): Promise<void>
  stop(): Promise<HeldCredentials>
}

/** The tokens and codes that clients have received by the end of the traffic. */
export interface HeldCredentials {
  /** Access tokens that clients have not replaced by a refresh. */
  readonly tokens: readonly string[]
  /** Codes that were redeemed successfully. */
  readonly redeemed: readonly string[]
  /** Codes whose first redemption returned 503 or no response, and a repeated one no token. */
  readonly undecided: readonly string[]
}

export const startTraffic = async (site: Site): Promise<Traffic> => {
  const { client, agent } = site
  const samples: Sample[] = []
  const tokens = new Set<string>()
  const redeemed: string[] = []
  const undecided = new Set<string>()
  let turn = 0
  let isOver = false

  // Like a load balancer, `site.node` returns only running nodes.
  const ask = async (kind: Kind, send: (node: Node) => Promise<Outcome>): Promise<Outcome> => {
    turn += 1
    const node = site.node(turn)
    const outcome = await send(node)
    samples.push({ ...outcome, kind, port: node.port })
    return outcome
  }

  const lasting = await Promise.all(
    [1, 2, 3].map(
      async () => (await site.records.tokens.createPersonal('Lasting', site.user.id)).accessToken,
    ),
  )
  await client.code(site.node(0), agent)
  const headers = await site.browserHeaders()

  const lookUp = async (index: number) => {
    const token = lasting[index % lasting.length]
    await ask('look-up', ({ url }) =>
      call({
        url: `${url}/oauth/ping`,
        headers: { authorization: `Bearer ${token}` },
      }),
    )
  }

  const machine = async () => {
    const { status, body } = await ask('client', (node) =>
      post(client.form(node, { grant_type: 'client_credentials' })),
    )
    if (status === 200) tokens.add(String(body.access_token))
  }

  /** Refreshes one authorization repeatedly. After a failed request, sends the same refresh token again. */
  const refreshing = async () => {
    let pair = await client.tokens(site.node(0), agent)
    tokens.add(String(pair.access_token))
    return async () => {
      const { status, body } = await ask('refresh', (node) =>
        post(client.refreshForm(node, pair.refresh_token)),
      )
      if (status !== 200) return
      tokens.delete(String(pair.access_token))
      pair = body
      tokens.add(String(pair.access_token))
    }
  }

  const newCode = async (): Promise<string | undefined> => {
    const { headers: received } = await ask('authorize', (node) =>
      call({ url: client.authorizeUrl(node), headers }),
    )
    const location = String(received.location ?? '')
    return URL.canParse(location)
      ? (new URL(location).searchParams.get('code') ?? undefined)
      : undefined
  }

  /**
   * Redeems one code after another. After a redemption with an unknown outcome, sends the same code again at once,
   * because the store keeps only the newest codes of a user.
   */
  const redeeming = () => {
    let unknown: string | undefined
    return async () => {
      const code = unknown ?? (await newCode())
      if (code === undefined) return
      const send = (node: Node) => post(client.redemption(node, code))
      turn += 1
      const { status, body } = await (unknown ? send(site.node(turn)) : ask('code', send))
      if (status === 200) {
        redeemed.push(code)
        tokens.add(String(body.access_token))
      } else if (!unknown) undecided.add(code)
      if (status === 200 && unknown) undecided.delete(code)
      unknown = status === 200 || status === 400 ? undefined : code
    }
  }

  const steps = [
    ...[0, 1, 2].map((index) => () => lookUp(index)),
    ...[0, 1].map(() => machine),
    ...(await Promise.all([0, 1, 2].map(refreshing))),
    ...[0, 1, 2, 3].map(redeeming),
  ]
  const workers = steps.map(async (step) => {
    while (!isOver) {
      await step()
      await delay(rest)
    }
  })
  return {
    samples,
    flow: async (milliseconds) => {
      await delay(milliseconds)
    },
    async recover() {
      const began = performance.now()
      const isQuiet = () => {
        const failed = samples.findLast((sample) => !succeeded(sample))
        return performance.now() - Math.max(began, failed?.ended ?? began) > quietPeriod
      }
      while (!isQuiet() && performance.now() - began < recoveryLimit + 500) await delay(50)
    },
    async stop() {
      isOver = true
      await Promise.all(workers)
      return { tokens: [...tokens, ...lasting], redeemed, undecided: [...undecided] }
    },
  }
}

/** Returns whether a request succeeded: with the status 200, or with a redirect that contains a code. */
export const succeeded = ({ status, headers }: Outcome): boolean =>
  status === 200 || (status === 303 && /[?&]code=/.test(String(headers.location)))

/**
 * Returns whether the server asks the client to retry: with 503 and Retry-After, or with a redirect that contains
 * temporarily_unavailable (RFC 6749 §4.1.2.1).
 */
export const isPostponed = ({ status, headers, error }: Outcome): boolean =>
  status === 503
    ? /^\d+$/.test(String(headers['retry-after'])) &&
      (error === undefined || error === 'temporarily_unavailable')
    : status === 303 && /[?&]error=temporarily_unavailable/.test(String(headers.location))

/** Returns counts and durations of the requests, in milliseconds. */
export const figures = (samples: readonly Sample[], recovered: number) => {
  const failed = samples.filter((sample) => !succeeded(sample))
  const slowest = samples.reduce((max, { began, ended }) => Math.max(max, ended - began), 0)
  const last = Math.max(...failed.map(({ ended }) => ended), Number.NEGATIVE_INFINITY)
  return {
    requests: samples.length,
    kinds: kinds(samples),
    failed: failed.length,
    slowest: Math.round(slowest),
    /** Milliseconds from the end of the fault to the last failure; 0 without a failure. */
    recovery: failed.length === 0 ? 0 : Math.max(0, Math.round(last - recovered)),
  }
}

/** Sends the tokens and codes of the clients again after the recovery, and counts the responses. */
export const settle = async (site: Site, { tokens, redeemed, undecided }: HeldCredentials) => {
  const statuses: Outcome[] = []
  await each(tokens, 10, async (token, index) => {
    const { url } = site.node(index)
    const headers = { authorization: `Bearer ${token}` }
    statuses.push(await call({ url: `${url}/oauth/ping`, headers }))
  })
  const digests = [...redeemed, ...undecided].map((code) => digestOf('authorization_code', code))
  const rows = await site.database.query(
    `select code_digest, count(*) as families, count(revoked_at) as revoked
     from oauth2server_authorization where code_digest = any($1) group by code_digest`,
    [digests],
  )
  const spent = new Set(rows.map(({ code_digest }) => code_digest))
  const isSpent = (code: string) => spent.has(digestOf('authorization_code', code))
  // Retry redemptions with an unknown outcome: if the database contains no authorization, the code must still be valid.
  const retried: Record<string, number> = {}
  await each(undecided, 5, async (code, index) => {
    const { status, error } = await post(site.client.redemption(site.node(index), code))
    const kind = `${isSpent(code) ? 'spent' : 'unspent'}: ${status} ${error ?? 'ok'}`
    retried[kind] = (retried[kind] ?? 0) + 1
  })
  // Redeem codes again. The server must not issue tokens for a code twice.
  const again: Outcome[] = []
  await each(redeemed.slice(-50), 5, async (code, index) => {
    again.push(await post(site.client.redemption(site.node(index), code)))
  })
  return {
    tokens: kinds(statuses),
    redeemed: redeemed.length,
    families: redeemed.filter(isSpent).length,
    doubled: rows.filter(({ families }) => Number(families) !== 1).length,
    retried,
    again: kinds(again),
  }
}
