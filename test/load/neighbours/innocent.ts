/**
 * A well-behaved caller in a separate process. The caller sends requests at fixed times, even if responses are late,
 * and measures each request from its scheduled time.
 */
import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type { InnocentOptions, RequestKind, Sample } from './caller.ts'
import { redirectUri } from './remote-hosts.ts'

// The number of connections is unlimited, so that no request waits for another request in this process. Close idle
// connections before the server closes them, because a request on a closed connection would fail.
const agent = new Agent({ keepAlive: true, timeout: 2_000 })
/** The timeout of a response in milliseconds. */
const responseTimeout = 10_000

interface Call {
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly form?: Readonly<Record<string, string>>
  readonly json?: object
}

interface HttpResponse {
  readonly status: number | 'reset' | 'silence'
  readonly body: string
  readonly cookies: readonly string[]
}

const send = (url: string, { path, headers = {}, form, json }: Call): Promise<HttpResponse> =>
  new Promise((resolve) => {
    const end = (status: HttpResponse['status'], body = '', cookies: readonly string[] = []) => {
      clearTimeout(timer)
      resolve({ status, body, cookies })
    }
    const body = form ? new URLSearchParams(form).toString() : json && JSON.stringify(json)
    const type = form ? 'application/x-www-form-urlencoded' : 'application/json'
    const sent = request(`${url}${path}`, {
      agent,
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        ...headers,
        ...(body !== undefined && { 'content-type': type, 'content-length': body.length }),
      },
    })
    const timer = setTimeout(() => {
      end('silence')
      sent.destroy()
    }, responseTimeout)
    sent.on('error', () => end('reset'))
    sent.on('response', (response) =>
      text(response).then(
        (body) => end(response.statusCode ?? 0, body, response.headers['set-cookie']),
        () => end('reset'),
      ),
    )
    sent.end(body)
  })

const basic = ({ clientId, clientSecret }: InnocentOptions['clients'][number]): string =>
  `Basic ${btoa(`${clientId}:${clientSecret}`)}`

/** Returns a function for each kind of request. The function throws unless the response has the expected status. */
const errands = ({ clients, pairs, users, remote }: InnocentOptions) => {
  // A refresh invalidates the access token. So use one half of the pairs for refreshes, and the other half for checks.
  const checked = pairs.slice(pairs.length / 2)
  const free = [...pairs.slice(0, pairs.length / 2).keys()]
  const jars = users.map(() => new Map<string, string>())
  const clientOf = (number: number) => {
    const client = clients[number % clients.length]
    if (!client) throw new Error('There are no clients.')
    return client
  }
  const pairIn = (some: InnocentOptions['pairs'], index: number) => {
    const pair = some[index % some.length]
    if (!pair) throw new Error('There are no tokens.')
    return pair
  }
  const keep = (jar: Map<string, string>, { cookies }: HttpResponse) => {
    for (const cookie of cookies) {
      const [name = '', value = ''] = (cookie.split(';')[0] ?? '').split(/=(.*)/s)
      jar.set(name, value)
    }
  }
  const token = (url: string, number: number, form: Record<string, string>) =>
    send(url, { path: '/oauth/token', headers: { authorization: basic(clientOf(number)) }, form })

  const all: Record<RequestKind, (url: string, number: number) => Promise<[HttpResponse, number]>> =
    {
      async bearer(url, number) {
        const { access } = pairIn(checked, number * 7919)
        const headers = { authorization: `Bearer ${access}` }
        return [await send(url, { path: '/oauth/ping', headers }), 200]
      },
      async client(url, number) {
        return [await token(url, number, { grant_type: 'client_credentials' }), 200]
      },
      async introspection(url, number) {
        const { access, client } = pairIn(checked, number * 7919)
        const headers = { authorization: basic(clientOf(client)) }
        return [
          await send(url, { path: '/oauth/introspect', headers, form: { token: access } }),
          200,
        ]
      },
      async refresh(url) {
        // Select a pair that no concurrent request refreshes.
        const index = free.shift() ?? 0
        const pair = pairIn(pairs, index)
        const form = { grant_type: 'refresh_token', refresh_token: pair.refresh }
        const answer = await token(url, pair.client, form)
        if (answer.status === 200) {
          const { access_token, refresh_token } = JSON.parse(answer.body)
          Object.assign(pair, { access: access_token, refresh: refresh_token })
        }
        free.push(index)
        return [answer, 200]
      },
      /** Sends the correct password from a known browser. */
      async login(url, number) {
        const index = number % users.length
        const [jar, user] = [jars[index], users[index]]
        if (!jar || !user) throw new Error('There are no users.')
        const headers = () => ({ cookie: [...jar].map((pair) => pair.join('=')).join('; ') })
        const page = await send(url, { path: '/login?prompt=login', headers: headers() })
        if (page.status !== 200) return [page, 200]
        keep(jar, page)
        const csrf_token = /name="csrf_token" value="([^"]+)"/.exec(page.body)?.[1] ?? ''
        const form = { ...user, csrf_token }
        const answer = await send(url, { path: '/login', headers: headers(), form })
        keep(jar, answer)
        return [answer, 303]
      },
      async registration(url, number) {
        const json = { client_name: `Innocent ${number}`, redirect_uris: [redirectUri] }
        const headers = { 'x-forwarded-for': `198.51.100.${number % 250}` }
        return [await send(url, { path: '/oauth/register', headers, json }), 201]
      },
      async document(url, number) {
        const query = new URLSearchParams({
          response_type: 'code',
          client_id: remote.replace('good-0', `good-${number}`),
          redirect_uri: redirectUri,
          code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
          code_challenge_method: 'S256',
        })
        const headers = { 'x-forwarded-for': `198.51.100.${number % 250}` }
        const answer = await send(url, { path: `/oauth/authorize?${query}`, headers })
        return [answer, 303]
      },
    }
  return all
}

/** The mixed requests. Most of them check tokens. */
const mix: readonly RequestKind[] = [
  ...['bearer', 'client', 'bearer', 'bearer', 'introspection'],
  ...['bearer', 'bearer', 'refresh', 'bearer', 'bearer'],
  ...['client', 'bearer', 'bearer', 'introspection', 'bearer'],
] as readonly RequestKind[]

const run = async (innocents: InnocentOptions): Promise<void> => {
  const { urls, rate, extra } = innocents
  const all = errands(innocents)
  const samples: Sample[] = []
  const underWay = new Set<Promise<void>>()
  const begun = performance.now()
  const one = async (kind: RequestKind, number: number, due: number): Promise<void> => {
    const [{ status }, expected] = await all[kind](urls[number % urls.length] ?? '', number)
    samples.push({
      kind,
      at: performance.timeOrigin + due,
      took: performance.now() - due,
      ...(status !== expected && { failed: status }),
    })
  }
  let isOver = false
  process.once('message', () => {
    isOver = true
  })
  process.send?.('ready')
  const arrivals = async (perSecond: number, kindOf: (number: number) => RequestKind) => {
    for (let number = 0; !isOver; await delay(1)) {
      for (; performance.now() - begun >= (number * 1000) / perSecond; number += 1) {
        const request = one(kindOf(number), number, begun + (number * 1000) / perSecond)
        underWay.add(request)
        void request.finally(() => underWay.delete(request))
      }
    }
  }
  await Promise.all([
    arrivals(rate, (number) => mix[number % mix.length] ?? 'bearer'),
    ...extra.map(({ kind, perSecond }) => arrivals(perSecond, () => kind)),
  ])
  await Promise.all(underWay)
  process.send?.(samples, () => process.exit(0))
}

// Exit if the parent process exits or is killed.
process.once('disconnect', () => process.exit())
process.once('message', (innocents: InnocentOptions) => void run(innocents))
