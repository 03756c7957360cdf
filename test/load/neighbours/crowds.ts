import { argon2, randomBytes, randomInt } from 'node:crypto'
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import pLimit from 'p-limit'
import type { Abuse } from './abuses.ts'
import { redirectUri } from './remote-hosts.ts'
import type { Site } from './site.ts'

// Abuses with requests from many IP addresses. The requests contain the IP addresses in X-Forwarded-For.

const agent = new Agent({ keepAlive: true })

/** Returns a random IP address of a /48 network. Nearly all addresses belong to different /64 networks. */
const somewhere = (): string =>
  `2001:db8:1:${randomInt(65_536).toString(16)}::${randomInt(1, 65_536).toString(16)}`

interface HttpResponse {
  readonly body: string
  readonly cookie: string
}

/** Sends a request that appears to come from a random IP address. Returns an empty result if no response arrives. */
const ask = (
  { host }: Site,
  path: string,
  { cookie, body, type }: { cookie?: string; body?: string; type?: string } = {},
): Promise<HttpResponse> =>
  new Promise((resolve) => {
    const nothing = { body: '', cookie: '' }
    const sent = request(`${host.url}${path}`, {
      agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'x-forwarded-for': somewhere(),
        ...(cookie !== undefined && { cookie }),
        ...(type !== undefined && { 'content-type': type }),
      },
      timeout: 15_000,
    })
    sent.on('timeout', () => sent.destroy())
    sent.on('error', () => resolve(nothing))
    sent.on('response', (response) =>
      text(response).then(
        (answered) => {
          const [first = ''] = response.headers['set-cookie'] ?? []
          resolve({ body: answered, cookie: first.split(';')[0] ?? '' })
        },
        () => resolve(nothing),
      ),
    )
    sent.end(body)
  })

/** Returns the fields of the login form, and the cookie to which the form is bound. */
const loginForm = async (site: Site) => {
  const { body, cookie } = await ask(site, '/login')
  return { cookie, token: /name="csrf_token" value="([^"]+)"/.exec(body)?.[1] ?? '' }
}

const tryLogin = async (
  site: Site,
  { cookie, token }: { cookie: string; token: string },
  email: string,
): Promise<void> => {
  const body = new URLSearchParams({ email, password: 'a wrong guess', csrf_token: token })
  await ask(site, '/login', {
    cookie,
    body: body.toString(),
    type: 'application/x-www-form-urlencoded',
  })
}

/** Sends a request that has a constant response, for a control. */
const requestConstant = (site: Site): Promise<HttpResponse> => ask(site, '/health/live')

const hash = promisify(argon2)

/** Hashes `count` wrong passwords one after the other, as the server does, but in this process. */
const hashes = async (count: number): Promise<void> => {
  const one = pLimit(1)
  const parameters = { memory: 19_456, passes: 2, parallelism: 1, tagLength: 32 }
  const made = Array.from({ length: count }, () =>
    one(() =>
      hash('argon2id', { ...parameters, message: 'a wrong guess', nonce: randomBytes(16) }),
    ),
  )
  await Promise.all(made)
}

/** The number of wrong passwords that a network may try for one account, as in the table of limits. */
const triesOfAccount = 10

const logins = { kind: 'login', perSecond: 2 } as const

export const wrongLogins: Abuse = {
  name: 'wrong-logins',
  title: '120 strangers send wrong passwords concurrently',
  attacks: logins,
  async prepare(site) {
    const { email } = await site.abuser()
    const forms = await Promise.all(Array.from({ length: 120 }, () => loginForm(site)))
    return {
      async run() {
        await Promise.all(forms.map((form) => tryLogin(site, form, email)))
      },
    }
  },
  control: async (site) => ({
    async run() {
      const requests = Array.from({ length: 120 }, () => requestConstant(site))
      await Promise.all([...requests, hashes(triesOfAccount)])
    },
  }),
}

/** Milliseconds between a response and the next request of a worker. */
const pause = 100

/** Runs `width` concurrent workers, which repeat the work until the measured window ends. */
const repeat = async (
  width: number,
  isOver: () => boolean,
  work: (number: number) => Promise<unknown>,
): Promise<void> => {
  let number = 0
  const worker = async () => {
    while (!isOver()) {
      number += 1
      await work(number)
      await delay(pause)
    }
  }
  await Promise.all(Array.from({ length: width }, worker))
}

export const guesses: Abuse = {
  name: 'guesses',
  title: 'A whole network (/48) guesses the passwords of ten accounts',
  attacks: logins,
  async prepare(site) {
    // Attack the accounts of the well-behaved users, who log in concurrently.
    const { users } = site.innocents
    const form = await loginForm(site)
    const guess = (number: number) =>
      tryLogin(site, form, users[number % users.length]?.email ?? '')
    return { run: (isOver) => repeat(16, isOver, guess) }
  },
  control: async (site) => ({
    async run(isOver) {
      const requests = repeat(16, isOver, () => requestConstant(site))
      await Promise.all([requests, hashes(triesOfAccount * site.innocents.users.length)])
    },
  }),
}

/** The number of unused clients that exist when the abuse begins. */
const unused = 10_000

const register = (site: Site, number: number): Promise<HttpResponse> =>
  ask(site, '/oauth/register', {
    body: JSON.stringify({ client_name: `Stranger ${number}`, redirect_uris: [redirectUri] }),
    type: 'application/json',
  })

export const registrations: Abuse = {
  name: 'registrations',
  title: 'A network that has registered 10,000 clients registers more clients',
  env: { OAUTH2SERVER_DYNAMIC_REGISTRATION: 'open' },
  attacks: { kind: 'registration', perSecond: 2 },
  async prepare(site) {
    return {
      async arm() {
        const { client_id } = JSON.parse((await register(site, 0)).body)
        await site.database.copy({
          table: 'oauth2server_client',
          template: `t.client_id = '${client_id}'`,
          count: unused,
          columns: {
            client_key: 't.client_key + i',
            client_id: site.database.randomDigest,
            client_secret: site.database.randomDigest,
          },
        })
        await site.database.settle()
      },
      run: (isOver) => repeat(8, isOver, (number) => register(site, number)),
    }
  },
  control: async (site) => ({ run: (isOver) => repeat(8, isOver, () => requestConstant(site)) }),
}

export const silentHosts: Abuse = {
  name: 'silent-hosts',
  title: 'A network uses client IDs at 50 hosts that accept connections but never respond',
  env: {
    OAUTH2SERVER_CLIENT_ID_METADATA_DOCUMENTS: 'true',
    OAUTH2SERVER_DANGEROUSLY_ALLOW_PRIVATE_ADDRESSES: 'true',
  },
  attacks: { kind: 'document', perSecond: 2 },
  async prepare(site) {
    let hosts = 0
    const name = () => {
      hosts += 1
      const query = new URLSearchParams({
        response_type: 'code',
        client_id: site.remote.silentClientId(hosts),
        redirect_uri: redirectUri,
      })
      return ask(site, `/oauth/authorize?${query}`)
    }
    return { run: (isOver) => repeat(50, isOver, name) }
  },
  // Omit the workers that wait for unresponsive hosts, because waiting uses no processor time.
  control: async (site) => ({
    run: (isOver) => repeat(50 - 17, isOver, () => requestConstant(site)),
  }),
}
