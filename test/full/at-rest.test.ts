import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { User } from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import {
  createUserAndClient,
  email,
  type HttpResponse,
  type Node,
  type NodeClient,
  openRecords,
  password,
  redirectUri,
  secretKey,
  send,
  startNode,
} from '../support/nodes.ts'
import { temporaryFolder } from '../support/processes.ts'
import { formIn, UserAgent } from '../support/user-agent.ts'

const issuer = 'http://localhost:8080'

/** Returns three Base64 strings. The Base64 of any longer text that contains the given text contains one of them. */
const base64Inside = (text: string): string[] =>
  [0, 1, 2].map((offset) => {
    const padded = Buffer.concat([Buffer.alloc(offset), Buffer.from(text)])
    const whole = Math.floor(padded.length / 3) * 3
    return padded.subarray(offset === 0 ? 0 : 3, whole).toString('base64')
  })

/** Returns the secret in every encoding that an attacker could read. */
const writings = (secret: string): readonly Buffer[] => {
  const base64 = base64Inside(secret)
  const texts = [
    secret,
    encodeURIComponent(secret),
    new URLSearchParams({ secret }).toString().slice('secret='.length),
    JSON.stringify(secret).slice(1, -1),
    ...base64,
    ...base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_')),
    Buffer.from(secret).toString('hex'),
    Buffer.from(secret).toString('hex').toUpperCase(),
  ]
  return [
    ...[...new Set(texts)].map((text) => Buffer.from(text)),
    Buffer.from(secret, 'utf16le'),
    Buffer.from(secret, 'utf16le').swap16(),
  ]
}

/**
 * Returns the unsalted digests of a password. A dictionary attack on an unsalted digest can reveal the password.
 */
const guessable = (secret: string): readonly string[] =>
  ['md5', 'sha1', 'sha256', 'sha512'].flatMap((algorithm) => [
    hash(algorithm, secret, 'hex'),
    hash(algorithm, secret, 'base64url'),
  ])

const filesIn = async (folder: string): Promise<ReadonlyMap<string, Buffer>> => {
  const names = (await readdir(folder)).sort()
  return new Map(
    await Promise.all(
      names.map(async (name) => [name, await readFile(join(folder, name))] as const),
    ),
  )
}

/** Returns the name and the place of each secret that is readable in one of the places. */
const leaks = (
  places: ReadonlyMap<string, Buffer>,
  secrets: ReadonlyMap<string, string>,
): readonly string[] =>
  [...places].flatMap(([place, bytes]) =>
    [...secrets]
      .filter(([, secret]) => writings(secret).some((writing) => bytes.includes(writing)))
      .map(([name]) => `${name} stands in ${place}`),
  )

/** Runs every flow, including failing flows, and returns each secret that occurred. */
const useEverything = async (
  node: Node,
  data: string,
  client: NodeClient,
): Promise<ReadonlyMap<string, string>> => {
  const secrets = new Map<string, string>([
    ['secret key', secretKey],
    ['password', password],
    ['client secret', client.clientSecret],
    ['code verifier', client.pkce.verifier],
  ])
  const keep = <T>(name: string, value: T): T => {
    expect(value, name).toMatch(/^.{16,}$/s)
    secrets.set(name, String(value))
    return value
  }
  const status = async (response: Promise<HttpResponse>) => (await response).status
  const cookieOf = async ({ jar }: UserAgent) => {
    const [cookie] = await jar.getCookies(node.url)
    return cookie?.value
  }
  const keepResponse = (name: string, { status, body }: HttpResponse): HttpResponse['body'] => {
    expect(status, name).toBe(200)
    keep(`${name}: access token`, body.access_token)
    if (body.refresh_token !== undefined) keep(`${name}: refresh token`, body.refresh_token)
    return body
  }

  // Log in with a wrong password, with a wrong CSRF token, and successfully.
  const agent = new UserAgent()
  const login = await agent.browse(`${node.url}/login`)
  const { hidden } = formIn(await login.clone().text())
  keep('login page: cookie', await cookieOf(agent))
  keep('login page: CSRF token', hidden.csrf_token)
  const wrong = keep('wrong password', 'wrong “password” of-somebody & 100%')
  expect((await agent.submit(login.clone() as never, { email, password: wrong })).status).toBe(403)
  const stale = { email, password, csrf_token: keep('wrong CSRF token', 'not-the-CSRF-token') }
  expect((await agent.submit(login.clone() as never, stale)).status).toBe(403)
  const loggedIn = await agent.submit(login as never, { email, password })
  expect(loggedIn.status).toBe(303)
  keep('session identifier', await cookieOf(agent))

  // Abandon one authorization request, deny another, and grant a third.
  const secretInUrl = keep('client secret in the address', 'a-secret-that-some-clients-send-along')
  const state = keep('state', 'state-that-protects-the-client')
  const url = new URL(client.authorizeUrl(node, 'notes:read user:email'))
  url.searchParams.set('client_secret', secretInUrl)
  url.searchParams.set('state', state)
  for (const [round, confirm] of ['', 'no', 'yes'].entries()) {
    const page = await agent.browse(url)
    const fields = formIn(await page.clone().text()).hidden
    keep(`consent page ${round}: pending request`, fields.authorization_request)
    keep(`consent page ${round}: CSRF token`, fields.csrf_token)
    if (confirm === '') continue
    const response = await agent.submit(page, { confirm })
    const location = new URL(response.headers.get('location') ?? '')
    if (confirm === 'yes') keep('code', location.searchParams.get('code'))
  }
  const stranger = new UserAgent()
  await stranger.browse(url)
  keep('cookie of a stranger', await cookieOf(stranger))

  // Fail to redeem the code, redeem it, and replay it. Never redeem another code.
  const code = secrets.get('code') ?? ''
  const redemption = client.redemption(node, code)
  const wrongVerifier = keep('wrong code verifier', 'wrong-verifier-wrong-verifier-wrong-verifier')
  const wrongSecret = keep('wrong client secret', 'wrong-client-secret')
  const withWrongVerifier = { ...redemption.fields, code_verifier: wrongVerifier }
  expect(await status(send({ ...redemption, fields: withWrongVerifier }))).toBe(400)
  const basic = Buffer.from(`${client.clientId}:${wrongSecret}`).toString('base64')
  expect(await status(send({ ...redemption, authorization: `Basic ${basic}` }))).toBe(401)
  keepResponse('exchange', await send(redemption))
  expect(await status(send(redemption))).toBe(400)
  keep('unused code', await client.code(node, agent))

  // Refresh the token, and reuse the old refresh token, which revokes the authorization.
  const fresh = await send(client.redemption(node, await client.code(node, agent)))
  const first = keepResponse('fresh', fresh)
  const second = keepResponse('refresh', await send(client.refreshForm(node, first.refresh_token)))
  keepResponse('second refresh', await send(client.refreshForm(node, second.refresh_token)))
  expect(await status(send(client.refreshForm(node, first.refresh_token)))).toBe(400)
  const living = keepResponse(
    'living',
    await send(client.redemption(node, await client.code(node, agent))),
  )

  // Use the grants that need no browser, and the implicit grant.
  const byPassword = { grant_type: 'password', username: email, scope: 'user:email' }
  const grant = client.form(node, { ...byPassword, password })
  keepResponse('password grant', await send(grant))
  expect(await status(send(client.form(node, { ...byPassword, password: wrong })))).toBe(400)
  const byClient = { grant_type: 'client_credentials' }
  keepResponse('client credentials', await send(client.form(node, byClient)))
  const implicit = new URL(client.authorizeUrl(node))
  implicit.searchParams.set('response_type', 'token')
  for (const name of ['code_challenge', 'code_challenge_method']) implicit.searchParams.delete(name)
  const response = await agent.browse(implicit)
  const fragment = new URL(response.headers.get('location') ?? '').hash.slice(1)
  keep('implicit: access token', new URLSearchParams(fragment).get('access_token'))

  // Send the JWT of the session, an invalid JWT, and tokens in every part of a request that may contain a token.
  const home = await (await agent.fetch(`${node.url}/`)).text()
  const jwt = keep('JWT', /name="authorized_token" value="([^"]+)"/.exec(home)?.[1])
  keep('JWT: signature', jwt?.split('.')[2])
  const use = (path: string, headers: Record<string, string> = {}) =>
    agent.fetch(`${node.url}${path}`, { headers })
  expect((await use('/api/me', { authorization: `Bearer ${jwt}` })).status).toBe(200)
  const forged = keep('forged JWT', `${jwt?.slice(0, -8)}AAAAAAAA`)
  expect((await use('/api/me', { authorization: `Bearer ${forged}` })).status).toBe(400)
  const living_ = String(living.access_token)
  expect((await use(`/api/notes?access_token=${living_}`)).status).toBe(200)
  const unknown = keep('unknown token', 'A0'.repeat(20))
  expect((await use(`/api/notes?access_token=${unknown}`)).status).toBe(401)
  expect((await use('/api/notes', { authorization: `Bearer ${unknown}` })).status).toBe(401)

  // Act as an operator in another process.
  const records = await openRecords({ data, issuer })
  const user = (await records.users.findByEmail(email)) as User
  const personal = await records.tokens.createPersonal('Laptop', user.id, {
    scopes: ['notes:read'],
  })
  keep('personal token', personal.accessToken)
  const { clientSecret } = await records.clients.resetClientSecret(client.clientId)
  client.clientSecret = keep('new client secret', clientSecret)
  await records.users.setPassword(
    user.id,
    keep('new password', 'another horse’s battery, also a staple'),
  )
  await records.close()
  expect((await use('/api/me', { authorization: `Bearer ${personal.accessToken}` })).status).toBe(
    200,
  )

  // Cause errors during requests, which the server logs with their details.
  const broken = client.refreshForm(node, living.refresh_token)
  for (const at of ['before tokens.rotate', 'after tokens.findByRefresh', 'after tokens.rotate']) {
    await node.order({ at, does: 'fail' })
    expect(await status(send(broken))).toBe(500)
  }
  await node.order({ at: 'after users.find', does: 'fail' })
  expect(await status(send(client.form(node, grant.fields)))).toBe(500)
  await node.order({ at: 'after tokens.findByAccess', does: 'fail' })
  expect((await use(`/oauth/ping?access_token=${living_}`)).status).toBe(500)
  // A retry within the leeway returns the same tokens as the failed request.
  keepResponse('after the faults', await send(broken))

  // Create a session that still exists when the test reads the files.
  const last = new UserAgent()
  const again = { issuer: node.url, user, password: secrets.get('new password') ?? '' }
  expect((await last.logIn(again)).status).toBe(303)
  keep('living session identifier', await cookieOf(last))
  return secrets
}

describe('ST-01 I5 stored data and logs', () => {
  test.each(['SIGKILL', 'SIGTERM'] as const)(
    'contain no usable credential after all flows and %s',
    async (signal) => {
      await using folder = await temporaryFolder()
      const shared = {
        data: folder.path,
        issuer,
        env: {
          OAUTH2SERVER_ALLOWED_GRANT_TYPES:
            'authorization_code,refresh_token,client_credentials,password',
          OAUTH2SERVER_ALLOWED_RESPONSE_TYPES: 'code,token',
          OAUTH2SERVER_LOG_LEVEL: 'debug',
        },
      }
      await using node = await startNode(shared)
      const records = await openRecords(shared)
      const { client } = await createUserAndClient(records, { name: 'A client that stands there' })
      await records.close()
      const secrets = await useEverything(node, folder.path, client)
      expect(secrets.size).toBeGreaterThan(40)

      const living = await filesIn(folder.path)
      expect([...living.keys()]).toEqual([
        'oauth2server.sqlite',
        'oauth2server.sqlite-shm',
        'oauth2server.sqlite-wal',
      ])
      node.program.kill(signal)
      await node.program.exited
      const ended = await filesIn(folder.path)
      const log = `${node.program.stdout}${node.program.stderr}`
      const places = new Map([
        ...[...living].map(([name, bytes]) => [`${name} of the running server`, bytes] as const),
        ...[...ended].map(([name, bytes]) => [`${name} of the ended server`, bytes] as const),
        ['the log', Buffer.from(log)],
      ])
      // Prove that the server wrote the data, and that the search finds values in the files.
      const there = new Map([
        ['name', 'A client that stands there'],
        ['redirect URI', redirectUri],
        ['address', email],
      ])
      expect(leaks(living, there)).toHaveLength(3)
      const events = log.split('\n').flatMap((line) => (line.startsWith('{') ? [line] : []))
      const names = events.map((line) => String(JSON.parse(line).event))
      expect(names).toEqual(
        expect.arrayContaining([
          'settings.loosened',
          'authorization_code.reused',
          'refresh_token.reused',
          'request.failed',
        ]),
      )
      expect(names.filter((name) => name === 'request.failed')).toHaveLength(5)

      expect(leaks(places, secrets)).toEqual([])
      const digests = [password, secrets.get('new password') ?? ''].flatMap(guessable)
      expect(leaks(places, new Map(digests.map((digest) => [digest, digest])))).toEqual([])
    },
  )

  test('leaks(), which searches the data for credentials, finds a secret in every encoding', () => {
    const secret = 'Geheim/nis+17 mit “Ä” & %'
    const blob = (text: string | Buffer) => new Map([['place', Buffer.from(text)]])
    const found = (text: string | Buffer) => leaks(blob(text), new Map([['it', secret]])).length
    const json = JSON.stringify({ a: 'x', it: secret, z: 'y' })
    for (const text of [
      `before ${secret} after`,
      encodeURIComponent(secret),
      new URLSearchParams({ secret }).toString(),
      json,
      Buffer.from(json).toString('base64'),
      Buffer.from(`${json} `).toString('base64url'),
      Buffer.from(`.${secret}.`).toString('base64url'),
      Buffer.from(`..${secret}..`).toString('base64'),
      Buffer.from(json).toString('hex'),
      Buffer.from(json, 'utf16le'),
    ]) {
      expect(found(text)).toBe(1)
    }
    expect(found('nothing of it')).toBe(0)
  })
})
