import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { dirname, join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setTimeout as wait } from 'node:timers/promises'
import * as dpop from 'dpop'
import { decodeJwt } from 'jose'
import pLimit from 'p-limit'
import { Scope, table, type User } from 'svc-oauth2server'
import { fromEnvironment } from 'svc-oauth2server/environment'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { openidScopes } from '../../src/model/openid-scopes.ts'
import {
  callerAt,
  type HostOptions,
  type HostProgram,
  opened,
  secretKey,
  startHostProgram,
  tokensOf,
} from '../support/host-programs.ts'
import { Assistant } from '../support/mcp-assistant.ts'
import { lacks } from '../support/needs.ts'
import { makeDatabase } from '../support/postgres.ts'
import {
  freePort,
  Program,
  runNode,
  type TemporaryFolder,
  temporaryFolder,
} from '../support/processes.ts'
import { startRedis } from '../support/redis.ts'
import { browser, logIn } from '../support/session.ts'
import { assertionOf, jwksOf, jwtBearer, newClientKey } from '../support/signing-client.ts'
import { authorizeUrl, newPkce, tokenRequest, UserAgent } from '../support/user-agent.ts'
import { asPattern, blocksOf, readPage, root } from './markdown.ts'

// Every `ts` block of a how-to page is a whole program, which these tests compile and run unchanged.

const pages = [
  'access-control',
  'audit',
  'built-in-users',
  'client-authentication',
  'configure',
  'device',
  'doctor',
  'express',
  'extensions',
  'fastify',
  'hono',
  'leaked-tokens',
  'mcp',
  'narrower-tokens',
  'nest',
  'node',
  'observability',
  'openid-connect',
  'own-users-and-login',
  'pages',
  'postgres',
  'redis',
  'registration',
  'resources',
  'rotate-secret-key',
  'security-profiles',
  'settings-api',
  'testing',
  'tokens-for-other-servers',
]
/** The pages with several files, which test/full/nextjs-sveltekit and test/full/pages/log-in-with run. */
const inSeveralFiles = ['log-in-with', 'nextjs', 'sveltekit']
const programs = pages.flatMap((page) =>
  blocksOf(readPage(`docs/how-to/${page}.md`))
    .filter(({ language }) => language === 'ts')
    .map(({ text }, index) => ({ page, text, name: index === 0 ? page : `${page}-${index + 1}` })),
)

const scopes = [
  '@casl',
  '@hono',
  '@modelcontextprotocol',
  '@nestjs',
  '@opentelemetry',
  '@redis',
  '@types',
]
const packages = [
  'express',
  'fastify',
  'hono',
  'jose',
  'pg',
  'pino',
  'reflect-metadata',
  'rxjs',
  'supertest',
  'zod',
]
const installed = [...scopes, ...packages]

const env = { PATH: `${dirname(process.execPath)}:${process.env.PATH}`, SECRET_KEY: secretKey }

let folder: TemporaryFolder
beforeAll(async () => {
  folder = await temporaryFolder()
  const modules = join(folder.path, 'node_modules')
  await mkdir(modules)
  await symlink(root, join(modules, 'svc-oauth2server'))
  for (const name of installed) await symlink(join(root, 'node_modules', name), join(modules, name))
  await writeFile(join(folder.path, 'package.json'), JSON.stringify({ type: 'module' }))
  for (const { name, text } of programs) await writeFile(join(folder.path, `${name}.ts`), text)
  const ofNest = programs.filter(({ page }) => page === 'nest')
  const others = programs.filter(({ page }) => page !== 'nest')
  await compile('others', others, {})
  // Nest uses the older form of decorators.
  await compile('nest', ofNest, { experimentalDecorators: true })
})
afterAll(() => folder[Symbol.asyncDispose]())

const compile = async (
  project: string,
  of: readonly { readonly name: string }[],
  options: object,
): Promise<void> => {
  const compilerOptions = {
    target: 'es2024',
    module: 'nodenext',
    types: ['node'],
    strict: true,
    skipLibCheck: true,
    rootDir: '.',
    outDir: '.',
    ...options,
  }
  const path = join(folder.path, `tsconfig.${project}.json`)
  const files = of.map(({ name }) => `${name}.ts`)
  await writeFile(path, JSON.stringify({ compilerOptions, files }))
  await using tsc = new Program(join(root, 'node_modules/.bin/tsc'), ['-p', path], { env })
  expect((await tsc.exited).code, tsc.stdout + tsc.stderr).toBe(0)
}

/** Runs the program of a page in a new folder until `use` ends. */
const running = async (
  name: string,
  use: (running: HostProgram) => Promise<void>,
  more: Readonly<Record<string, string>> = {},
): Promise<void> => {
  const cwd = join(folder.path, 'runs', name)
  await mkdir(cwd, { recursive: true })
  const own = { ...env, ADAS_PASSWORD: 'a long password', ...more }
  await using program = await startHostProgram([join(folder.path, `${name}.js`)], { cwd, env: own })
  await use(program)
}

test('every page has a program and a test', async () => {
  const there = await readdir(join(root, 'docs/how-to'))
  const tested = [...pages, ...inSeveralFiles].map((page) => `${page}.md`)
  expect(there.toSorted()).toEqual(tested.toSorted())
  expect(new Set(programs.map(({ page }) => page))).toEqual(new Set(pages))
})

const withoutPostgres = await lacks('postgres')
const withoutRedis = await lacks('redis')
/** A program that runs the script of the page with the few browser objects that the script needs. */
const runPageScript = `
const { PAGE_URL, COOKIE, JWT, USER_AGENT } = process.env
const send = globalThis.fetch
let reloads = 0
globalThis.location = { reload: () => { reloads += 1 } }
globalThis.document = { querySelector: () => ({ value: JWT }) }
globalThis.fetch = (path, init) => send(new URL(path, PAGE_URL), {
  ...init,
  headers: { ...init.headers, cookie: COOKIE, 'user-agent': USER_AGENT },
})
const page = await import('./public/settings.js')
const scopes = await page.scopes()
const created = await page.createToken('Laptop', scopes.map(({ id }) => id))
const tokens = await page.personalTokens()
const refused = await page.createToken('', []).catch(({ message, field }) => [message, field, reloads])
console.log(JSON.stringify({ created, scopes, tokens, refused }))
`

const twoAtOnce = pLimit(2)
const framework = ['express', 'fastify', 'hono', 'nest', 'node', 'node-2']

describe.concurrent('the programs of the pages run', { timeout: 600_000 }, () => {
  test.for(framework)(
    '%s: returns the documented responses without a token, with a token, and with a token that lacks the scope [T638]',
    (name, { expect }) =>
      twoAtOnce(() =>
        running(name, async ({ url, database }) => {
          const ask = callerAt(`${url}/api/notes`)
          const { reads, nothing } = await tokensOf(database)
          expect(await ask()).toEqual([401, null])
          expect(await ask(reads)).toEqual([
            200,
            [{ text: expect.stringMatching(/^A note of user \d+$/) }],
          ])
          expect(await ask(nothing)).toEqual([403, null])
          expect((await fetch(`${url}/login`)).status).toBe(200)
          expect((await fetch(`${url}/oauth/session.js`)).status).toBe(200)
          expect((await fetch(`${url}/elsewhere`)).status).toBe(404)
        }),
      ),
  )

  test('access-control: hides another user’s note', ({ expect }) =>
    twoAtOnce(() =>
      running('access-control', async ({ url, database }) => {
        const { reads, nothing } = await tokensOf(database)
        const mine = callerAt(`${url}/api/notes/1`)
        const theirs = callerAt(`${url}/api/notes/2`)
        expect(await mine()).toEqual([401, null])
        expect(await mine(nothing)).toEqual([403, null])
        expect(await mine(reads)).toEqual([
          200,
          { owner: 'reader@example.org', text: 'Of the reader' },
        ])
        expect(await theirs(reads)).toEqual([404, null])
      }),
    ))

  test('own-users-and-login: logs in, returns only to safe addresses, and deactivates a user', ({
    expect,
  }) =>
    twoAtOnce(() =>
      running('own-users-and-login', async ({ url, database }) => {
        const users = table('people', { id: 'id', email: 'email', active: 'enabled' })
        const own = { users, resourceOwner: () => null, loginUrl: '/enter' }
        const server = await opened(database, own)
        const redirectUris = ['https://client.example/cb']
        const { client } = await server.clients.create({ name: 'C', userId: 1, redirectUris })
        await server.close()

        const request = authorizeUrl(url, {
          client_id: client.clientId,
          code_challenge: newPkce().challenge,
          code_challenge_method: 'S256',
        })
        const sent = await fetch(request, { redirect: 'manual' })
        const login = new URL(sent.headers.get('location') ?? '', url)
        expect([sent.status, login.origin, login.pathname]).toEqual([303, url, '/enter'])
        const logIn = async (at: URL, password: string) => {
          const body = new URLSearchParams({ email: 'ada@example.org', password })
          const answer = await fetch(at, { method: 'POST', body, redirect: 'manual' })
          const [cookie = ''] = answer.headers.get('set-cookie')?.split(';') ?? []
          return { status: answer.status, to: answer.headers.get('location'), cookie }
        }
        expect((await logIn(login, 'wrong')).status).toBe(403)
        const { status, to, cookie } = await logIn(login, 'a long password')
        expect([status, to]).toEqual([303, request])
        const consent = await fetch(request, { headers: { cookie }, redirect: 'manual' })
        expect(consent.status).toBe(200)
        for (const next of ['https://evil.example/', '//evil.example', '/\\evil.example', 'a:b']) {
          const at = new URL(`${url}/enter?${new URLSearchParams({ next })}`)
          expect([next, (await logIn(at, 'a long password')).to]).toEqual([next, '/'])
        }
        const slashes = new URL(`${url}/enter?next=${url}//evil.example`)
        expect((await logIn(slashes, 'a long password')).to).toBe(`${url}//evil.example`)

        const { reads, nothing } = await tokensOf(database, 1, own)
        const ask = callerAt(`${url}/api/notes`)
        expect(await ask()).toEqual([401, null])
        expect(await ask(nothing)).toEqual([403, null])
        expect(await ask(reads)).toEqual([
          200,
          [{ text: expect.stringMatching(/^A note of user \d+$/) }],
        ])
        const db = new DatabaseSync(database, { timeout: 10_000 })
        db.exec('update people set enabled = 0')
        expect(await ask(reads)).toEqual([401, null])
        db.exec('update people set enabled = 1')
        expect((await ask(reads))[0]).toBe(200)
        db.close()
      }),
    ))

  test('extensions: sends a link, redeems the link once, and limits and records the requests', ({
    expect,
  }) =>
    twoAtOnce(() =>
      running('extensions', async ({ url, database }) => {
        const server = await opened(database)
        const user = await server.users.create({ email: 'ada@example.org', password: null })
        const [mine, other] = [
          await server.clients.create({ name: 'Notes', userId: user.id }),
          await server.clients.create({ name: 'Other', userId: user.id }),
        ]
        await server.close()

        const post = async (path: string, fields: Record<string, string>, by = mine) => {
          const basic = Buffer.from(`${by.client.clientId}:${by.clientSecret}`).toString('base64')
          const headers = { authorization: `Basic ${basic}` }
          const body = new URLSearchParams(fields)
          const answer = await fetch(`${url}${path}`, { method: 'POST', headers, body })
          return [answer.status, (await answer.json()) as Record<string, unknown>] as const
        }
        const ask = (email: string) => post('/oauth/magic_link', { email })
        const known = await ask('ada@example.org')
        expect(known).toEqual([202, {}])
        expect(await ask('nobody@example.org')).toEqual(known)
        const mails = join(dirname(database), 'mails.txt')
        await expect.poll(() => readFile(mails, 'utf8').catch(() => '')).toContain('#')
        const sent = (await readFile(mails, 'utf8')).trim().split('\n')
        expect(sent).toHaveLength(1)
        const link_token = /^ada@example\.org https:\S+#(\S+)$/.exec(sent[0] ?? '')?.[1] ?? ''

        const grant_type = 'https://notes.example.org/grants/magic-link'
        const redeem = (by = mine) => post('/oauth/token', { grant_type, link_token }, by)
        const refused = [
          400,
          { error: 'link_not_valid', error_description: 'The link is not valid.' },
        ]
        expect(await redeem(other)).toEqual(refused)
        const responses = await Promise.all([redeem(), redeem(), redeem()])
        expect(responses.map(([status]) => status).toSorted()).toEqual([200, 400, 400])
        expect(responses.find(([status]) => status === 200)?.[1].user).toMatchObject({
          id: user.id,
        })
        expect(await redeem()).toEqual(refused)

        expect((await ask('ada@example.org'))[0]).toBe(202)
        expect((await ask('ADA@example.org'))[0]).toBe(202)
        expect((await ask('ada@example.org'))[0]).toBe(429)

        const metadata = await fetch(`${url}/.well-known/oauth-authorization-server`)
        expect(await metadata.json()).toMatchObject({
          magic_link_endpoint: `${url}/oauth/magic_link`,
          magic_link_expires_in: 600,
          grant_types_supported: expect.arrayContaining([grant_type]),
        })
        const db = new DatabaseSync(database, { timeout: 10_000 })
        const rows = db.prepare('select event from oauth2server_audit order by id').all()
        db.close()
        const events = rows.map(({ event }) => event).filter((name) => String(name).includes('/'))
        expect(events.toSorted()).toEqual([
          'magic-link/redeemed',
          'magic-link/sent',
          'magic-link/sent',
          'magic-link/sent',
        ])
      }),
    ))

  test('device: issues codes to a device, and returns authorization_pending while it polls', ({
    expect,
  }) =>
    twoAtOnce(() =>
      running('device', async ({ url, database }) => {
        const server = await opened(database)
        const user = await server.users.create({ email: 'ada@example.org', password: null })
        const input = { name: 'Photo Frame', userId: user.id, isConfidential: false }
        const { client } = await server.clients.create(input)
        await server.close()

        const post = async (path: string, fields: Record<string, string>) => {
          const body = new URLSearchParams({ client_id: client.clientId, ...fields })
          return (await fetch(`${url}${path}`, { method: 'POST', body })).json()
        }
        const codes = await post('/oauth/device_authorization', {})
        expect(codes).toMatchObject({ verification_uri: `${url}/oauth/device`, interval: 5 })
        const { device_code } = codes as { readonly device_code: string }
        const grant_type = 'urn:ietf:params:oauth:grant-type:device_code'
        const answer = await post('/oauth/token', { grant_type, device_code })
        expect(answer).toMatchObject({ error: 'authorization_pending' })
      }),
    ))

  test('openid-connect: publishes the discovery document, and returns the claims of the function', ({
    expect,
  }) =>
    running('openid-connect', async ({ url, database }) => {
      const answer = await fetch(`${url}/.well-known/openid-configuration`)
      expect(await answer.json()).toMatchObject({
        userinfo_endpoint: `${url}/oauth/userinfo`,
        end_session_endpoint: `${url}/oauth/logout`,
      })
      const server = await opened(database, { scopes: openidScopes })
      const user = await server.users.create({ email: 'ada@example.org', password: null })
      const { client } = await server.clients.create({ name: 'C', userId: user.id })
      const scopes = ['openid', 'profile']
      const issued = await server.tokens.issue({
        type: 'user',
        client,
        subject: user,
        scopes,
        refreshable: false,
      })
      await server.close()
      const headers = { authorization: `Bearer ${issued.accessToken}` }
      const info = await fetch(`${url}/oauth/userinfo`, { headers })
      expect(await info.json()).toEqual({ sub: String(user.id), nickname: 'ada' })
    }))

  test('openid-connect-2: a client receives the login time of the application, and the logout revokes the access of the client [T2902]', ({
    expect,
  }) =>
    twoAtOnce(() =>
      running('openid-connect-2', async ({ url, database }) => {
        const home = 'https://client.example/'
        const ada = { id: 1, email: 'ada@example.org', emailVerified: true }
        const own = {
          openidConnect: true,
          users: { find: async () => ({ ...ada, active: true, isAdmin: false }) },
          resourceOwner: () => null,
          loginUrl: '/enter',
        }
        const server = await opened(database, own)
        const redirect_uri = `${home}cb`
        const { client, clientSecret } = await server.clients.create({
          name: 'C',
          userId: 1,
          redirectUris: [redirect_uri],
          openid: { post_logout_redirect_uris: [home] },
        })
        await server.close()
        const { clientId } = client
        const pkce = newPkce()
        const request = (given: Record<string, string>) =>
          authorizeUrl(url, {
            client_id: clientId,
            redirect_uri,
            scope: 'openid',
            code_challenge: pkce.challenge,
            code_challenge_method: 'S256',
            ...given,
          })
        const token = (given: Record<string, string>) =>
          tokenRequest(url, given, { basic: { clientId, clientSecret } })
        const agent = new UserAgent()
        const logIn = async (page: { readonly address: string }) => {
          const body = new URLSearchParams({ email: ada.email, password: 'a long password' })
          const answer = await agent.fetch(page.address, { method: 'POST', body })
          return answer.headers.get('location') ?? ''
        }
        const responseFrom = async (address: string) => {
          const page = await agent.browse(address)
          const redirect = page.status === 200 ? await agent.submit(page, { confirm: 'yes' }) : page
          return new URL(redirect.headers.get('location') ?? 'none:').searchParams
        }
        const tokensFrom = async (answer: URLSearchParams) => {
          const code = answer.get('code') ?? ''
          const given = { grant_type: 'authorization_code', code, redirect_uri }
          return (await token({ ...given, code_verifier: pkce.verifier })).body
        }
        const login = await agent.browse(request({ max_age: '3600' }))
        expect(new URL(login.address).pathname).toBe('/enter')
        const first = await tokensFrom(await responseFrom(await logIn(login)))
        const claims = decodeJwt(String(first.id_token))
        expect(claims).toMatchObject({ sub: '1', amr: ['pwd'], auth_time: expect.any(Number) })

        // Fixed time: the next login is in another second.
        await wait(1100)
        const again = await agent.browse(request({ prompt: 'login' }))
        const asked = new URL(again.address).searchParams
        expect(asked.get('prompt')).toBe('login')
        const unchanged = await responseFrom(`${new URL(asked.get('next') ?? '', url)}`)
        expect(unchanged.get('error')).toBe('login_required')
        const second = await tokensFrom(await responseFrom(await logIn(again)))
        const later = decodeJwt(String(second.id_token))
        expect(Number(later.auth_time)).toBeGreaterThan(Number(claims.auth_time))

        const end = { id_token_hint: String(second.id_token), post_logout_redirect_uri: home }
        const leave = await agent.browse(`${url}/oauth/logout?${new URLSearchParams(end)}`)
        expect(new URL(leave.address).pathname).toBe('/leave')
        const left = await agent.fetch(leave.address, { method: 'POST' })
        const back = await agent.browse(left.headers.get('location') ?? '')
        expect(back.headers.get('location')).toBe(home)
        for (const { refresh_token } of [first, second]) {
          const given = { grant_type: 'refresh_token', refresh_token: String(refresh_token) }
          expect((await token(given)).body.error).toBe('invalid_grant')
        }
      }),
    ))

  test('client-authentication: authenticates a client with keys, and publishes all methods in the metadata', ({
    expect,
  }) =>
    running('client-authentication', async ({ url, database }) => {
      const answer = await fetch(`${url}/.well-known/oauth-authorization-server`)
      expect(await answer.json()).toMatchObject({
        token_endpoint_auth_methods_supported: ['client_secret_basic', 'private_key_jwt', 'none'],
        client_id_metadata_document_supported: true,
      })
      const key = await newClientKey()
      const server = await opened(database)
      const user = await server.users.create({ email: 'ada@example.org', password: null })
      const { client } = await server.clients.create({
        name: 'Backup',
        userId: user.id,
        tokenEndpointAuthMethod: 'private_key_jwt',
        jwks: jwksOf(key),
      })
      await server.close()
      const place = { issuer: url, now: () => Date.now() }
      const token = await fetch(`${url}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_assertion_type: jwtBearer,
          client_assertion: await assertionOf(place, client.clientId, key),
        }),
      })
      expect(token.status).toBe(200)
    }))

  test('resources: accepts a token for one resource only at that resource', ({ expect }) =>
    running('resources', async ({ url, database }) => {
      const server = await opened(database, {
        scopes: [new Scope('notes:read'), new Scope('reports:read')],
      })
      const user = await server.users.create({ email: 'ada@example.org', password: null })
      const defaultScopes = ['notes:read', 'reports:read']
      const input = { name: 'Reader', userId: user.id, defaultScopes }
      const { client, clientSecret } = await server.clients.create(input)
      await server.close()

      const metadata = `${url}/.well-known/oauth-protected-resource/reports`
      const refused = await fetch(`${url}/reports`)
      expect(refused.headers.get('www-authenticate')).toContain(
        `scope="reports:read", resource_metadata="${metadata}"`,
      )
      const { resource } = (await (await fetch(metadata)).json()) as { readonly resource: string }
      const answer = await fetch(`${url}/oauth/token`, {
        method: 'POST',
        body: new URLSearchParams({
          grant_type: 'client_credentials',
          client_id: client.clientId,
          client_secret: clientSecret,
          resource,
        }),
      })
      const { access_token } = (await answer.json()) as { readonly access_token: string }
      expect((await callerAt(`${url}/reports`)(access_token))[0]).toBe(200)
      expect((await callerAt(`${url}/api/notes`)(access_token))[0]).toBe(401)
    }))

  test('registration: registers the client of the page within the limits of the application', ({
    expect,
  }) =>
    running('registration', async ({ url }) => {
      const [request] = blocksOf(readPage('docs/how-to/registration.md')).filter(
        ({ language }) => language === 'sh',
      )
      const given = { env: { ...env, BASE_URL: url } }
      await using shell = new Program('sh', ['-c', request?.text ?? ''], given)
      expect((await shell.exited).code, shell.stderr).toBe(0)
      expect(JSON.parse(shell.stdout)).toMatchObject({
        client_name: 'Desk Assistant',
        token_endpoint_auth_method: 'none',
        scope: 'notes:read',
      })
      const spam = await fetch(`${url}/oauth/register`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ client_name: 'Spam', redirect_uris: ['https://client.example/cb'] }),
      })
      expect(spam.status).toBe(400)
    }))

  test('security-profiles: publishes the requirements in the metadata', ({ expect }) =>
    running('security-profiles', async ({ url }) => {
      const answer = await fetch(`${url}/.well-known/oauth-authorization-server`)
      expect(await answer.json()).toMatchObject({
        token_endpoint_auth_methods_supported: ['private_key_jwt'],
        require_pushed_authorization_requests: true,
        response_types_supported: ['code'],
      })
    }))

  test.skipIf(withoutRedis)(
    'redis: stores values in Redis with the prefix of the page',
    ({ expect }) =>
      twoAtOnce(async () => {
        await using own = await startRedis()
        const use = async ({ url }: HostProgram) => {
          expect((await fetch(`${url}/login`)).status).toBe(200)
          expect((await fetch(`${url}/health/ready`)).status).toBe(200)
          expect(await own.command('KEYS', '*')).toEqual(['shop:start'])
        }
        await running('redis', use, { REDIS_URL: own.url })
      }),
  )

  test.skipIf(withoutPostgres)('postgres: stores a token in the database', ({ expect }) =>
    twoAtOnce(async () => {
      const own = await makeDatabase()
      try {
        const use = async ({ url }: HostProgram) => {
          const { options } = await fromEnvironment({
            DATABASE_URL: own.url,
            SECRET_KEY: secretKey,
          })
          const { reads } = await tokensOf('', undefined, { store: options.store })
          const ask = callerAt(url)
          expect(await ask(reads)).toEqual([
            200,
            [{ text: expect.stringMatching(/^A note of user \d+$/) }],
          ])
          expect(await ask()).toEqual([401, null])
          expect((await fetch(`${url}/health/ready`)).status).toBe(200)
        }
        await running('postgres', use, { DATABASE_URL: own.url })
      } finally {
        await own.drop()
      }
    }),
  )

  test.skipIf(withoutPostgres)(
    'postgres: writes in a transaction of the application, with its pool',
    ({ expect }) =>
      twoAtOnce(async () => {
        const own = await makeDatabase()
        try {
          const use = async ({ url }: HostProgram) => {
            const { clientId, clientSecret } = (await (await fetch(`${url}/robots`)).json()) as {
              readonly clientId: string
              readonly clientSecret: string
            }
            const rows = await own.query('select client_id from robots')
            expect(rows).toContainEqual({ client_id: clientId })
            const body = new URLSearchParams({
              grant_type: 'client_credentials',
              client_id: clientId,
              client_secret: clientSecret,
            })
            expect((await fetch(`${url}/oauth/token`, { method: 'POST', body })).status).toBe(200)
          }
          await running('postgres-2', use, { DATABASE_URL: own.url })
        } finally {
          await own.drop()
        }
      }),
  )

  test('rotate-secret-key: seals every row again, so that the previous key is no longer needed', ({
    expect,
  }) =>
    twoAtOnce(async () => {
      const cwd = join(folder.path, 'runs', 'rotate-secret-key')
      const database = join(cwd, 'data/app.sqlite')
      const { reads } = await tokensOf(database)
      const next = 'another test secret key of more than 32 bytes'
      const keys = { SECRET_KEY: next, SECRET_KEY_PREVIOUS: secretKey }
      await using program = runNode([join(folder.path, 'rotate-secret-key.js')], {
        cwd,
        env: { ...env, ...keys },
      })
      expect((await program.exited).code, program.stderr).toBe(0)
      // The user, two tokens and their two clients were sealed again.
      expect(program.stdout).toBe('5\n')
      const server = await opened(database, { secretKeys: [next] })
      expect(await server.tokens.find({ accessToken: reads })).toBeDefined()
      await server.close()
    }))

  test('observability: writes the log and spans, and serves metrics to Prometheus', ({ expect }) =>
    twoAtOnce(async () => {
      const cwd = join(folder.path, 'runs', 'observability')
      await mkdir(cwd, { recursive: true })
      const [telemetry, app] = ['observability', 'observability-2'].map((name) =>
        join(folder.path, `${name}.js`),
      )
      const port = String(await freePort())
      const token = 'a-token-for-prometheus-alone'
      await using program = runNode(['--import', telemetry ?? '', app ?? ''], {
        cwd,
        env: { ...env, PORT: port, METRICS_TOKEN: token },
      })
      const ask = async (path: string, accessToken: string) => {
        const headers = { authorization: `Bearer ${accessToken}`, 'x-request-id': 'of-the-test' }
        return fetch(`http://localhost:${port}${path}`, { headers })
      }
      while (!(await ask('/login', 'x').catch(() => undefined))) await wait(50)
      const { reads } = await tokensOf(join(cwd, 'data/app.sqlite'))
      expect((await ask('/', reads)).status).toBe(200)
      expect((await ask('/oauth/ping', reads)).status).toBe(200)
      expect((await ask('/metrics', reads)).status).toBe(401)
      const page = await (await ask('/metrics', token)).text()
      expect(page).toContain('oauth2server_token_lookups_total{oauth2server_outcome="valid"} 2\n')
      await program.stop()
      const entries = program.stderr
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
      expect(entries).toContainEqual(
        expect.objectContaining({
          level: 20,
          name: 'notes',
          part: 'oauth',
          event: 'http.request',
          route: '/oauth/ping',
          requestId: 'of-the-test',
          traceId: expect.stringMatching(/^[0-9a-f]{32}$/),
        }),
      )
      for (const name of [
        'GET /oauth/ping',
        'oauth2server.token_lookup',
        'oauth2server.token_lookups',
      ])
        expect(program.stdout).toContain(`'${name}'`)
    }))

  test('audit: reports a login from a new browser, and collects all events', ({ expect }) =>
    twoAtOnce(async () => {
      const cwd = join(folder.path, 'runs', 'audit')
      await mkdir(cwd, { recursive: true })
      const collected: string[] = []
      const collector = createServer(async (request, response) => {
        let body = ''
        for await (const chunk of request) body += chunk
        collected.push((JSON.parse(body) as { readonly event: string }).event)
        response.end()
      }).listen(0, '127.0.0.1')
      const port = String(await freePort())
      const url = `http://localhost:${port}`
      const { port: itsPort } = collector.address() as AddressInfo
      const COLLECTOR_URL = `http://127.0.0.1:${itsPort}`
      await using program = runNode([join(folder.path, 'audit.js')], {
        cwd,
        env: { ...env, PORT: port, BASE_URL: url, COLLECTOR_URL },
      })
      while (!(await fetch(`${url}/login`).catch(() => undefined))) await wait(50)
      const server = await opened(join(cwd, 'data/app.sqlite'))
      const password = 'a long password'
      const user = await server.users.create({ email: 'ada@example.org', password })
      await server.close()
      const logInBy = (agent: string) =>
        new UserAgent({ 'user-agent': agent }).logIn({ issuer: url, user, password })
      for (const agent of ['one', 'one', 'two']) expect((await logInBy(agent)).status).toBe(303)
      const mail = 'Mail to ada@example.org: a new browser, from 127.0.0.1.\n'
      for (let tries = 0; tries < 200 && collected.length < 3; tries += 1) await wait(50)
      expect(collected).toEqual(['login.succeeded', 'login.succeeded', 'login.succeeded'])
      for (let tries = 0; tries < 200 && program.stdout !== mail + mail; tries += 1) await wait(50)
      expect(program.stdout).toBe(mail + mail)
      collector.close()
    }))

  test('pages: show name, logo, colours, languages and a custom login page', ({ expect }) =>
    twoAtOnce(() =>
      running('pages', async ({ url, database }) => {
        const server = await opened(database)
        const password = 'a long password'
        const user = await server.users.create({ email: 'reader@example.org', password })
        await server.close()

        const german = { 'accept-language': 'de-AT, en;q=0.5' }
        const login = await fetch(`${url}/login`, { headers: german })
        expect(login.headers.get('content-language')).toBe('de')
        expect(login.headers.get('content-security-policy')).toContain("style-src 'self';")
        const html = await login.text()
        expect(html).toContain('<html lang="de" dir="ltr">')
        expect(html).toContain('<title>Anmelden · Notes</title>')
        expect(html).toContain('<h1>Good to see you at Notes</h1>')
        const dutch = await fetch(`${url}/login`, { headers: { 'accept-language': 'nl' } })
        expect(dutch.headers.get('content-language')).toBe('nl')
        expect(await dutch.text()).toContain('<title>Inloggen · Notes</title>')
        const sheet = await (await fetch(`${url}/oauth/style.css`)).text()
        expect(sheet).toContain('--accent: #9a3412;')
        expect(sheet).toContain('--accent: #fdba74;')

        const stranger = new UserAgent(german)
        const asked = await stranger.fetch(`${url}/login?next=/x`)
        const wrong = await stranger.submit(asked, { email: '"><b>', password: 'wrong' })
        expect(wrong.status).toBe(403)
        const again = await wrong.text()
        expect(again).toContain('role="alert">Die E-Mail-Adresse oder das Passwort ist falsch.</p>')
        expect(again).toContain('value="&quot;&gt;&lt;b&gt;"')

        const { agent } = await logIn({ issuer: url, user, password }, german)
        const form = await agent.fetch(`${url}/account/settings/applications/tokens/new/`)
        const page = await form.text()
        expect(page).toContain('<img src="/logo.svg" alt="" height="28"><bdi>Notes</bdi>')
        expect(page).toContain('<legend>Notizen</legend>')
        expect(page).toContain('Deine Notizen lesen <code>notes:read</code>')
        expect((await fetch(`${url}/logo.svg`)).headers.get('content-type')).toMatch(/^image\/svg/)
      }),
    ))

  test('narrower-tokens: runs both commands, with a personal token and with a token of a client', ({
    expect,
  }) =>
    twoAtOnce(() =>
      running('narrower-tokens', async ({ url, database }) => {
        const scopes = ['notes:read', 'notes:write']
        const server = await opened(database, {
          scopes: [new Scope('notes:read'), new Scope('notes:write')],
        })
        const user = await server.users.create({ email: 'reader@example.org', password: null })
        const personal = await server.tokens.createPersonal('Test', user.id, { scopes })
        const { client, clientSecret } = await server.clients.create({ name: 'C', userId: user.id })
        const redemption = { type: 'client', client, subject: user, scopes } as const
        const { accessToken } = await server.tokens.issue(redemption)
        await server.close()
        const given = {
          ...env,
          BASE_URL: url,
          TOKEN: personal.accessToken,
          CLIENT_ID: client.clientId,
          CLIENT_SECRET: clientSecret,
          ACCESS_TOKEN: accessToken,
        }
        const blocks = blocksOf(readPage('docs/how-to/narrower-tokens.md'))
        const printed: string[] = []
        for (const { text } of blocks.filter(({ language }) => language === 'sh')) {
          await using shell = new Program('sh', ['-c', text], { env: given })
          expect((await shell.exited).code, shell.stderr).toBe(0)
          printed.push(shell.stdout)
        }
        const expected = blocks.find(({ language }) => language === 'json')?.text ?? ''
        expect(printed[0]?.trimEnd()).toMatch(asPattern(expected))
        expect(JSON.parse(printed[1] ?? '')).toMatchObject({ scope: 'notes:read' })
        const { access_token } = JSON.parse(printed[0] ?? '')
        expect(await callerAt(`${url}/oauth/ping`)(access_token)).toEqual([200, { ping: 'pong' }])
      }),
    ))

  test('built-in-users: sends a link, with which a visitor creates an account', ({ expect }) =>
    twoAtOnce(() =>
      running('built-in-users', async ({ url, printed }) => {
        const email = 'ada@example.org'
        const visitor = new UserAgent({ 'user-agent': browser })
        await visitor.submit(await visitor.browse(`${url}/login/sign-up`), { email })
        const mail = /^to ada@example\.org: To create your account, open (\S+)$/m
        await vi.waitFor(() => expect(printed()).toMatch(mail))
        const password = 'a long password'
        const page = await visitor.browse(mail.exec(printed())?.[1] ?? '')
        await visitor.submit(page, { new_password: password })
        await logIn({ issuer: url, user: { email } as User, password })
      }),
    ))

  test('leaked-tokens: the commands of the page revoke a token and notify its owner', ({
    expect,
  }) =>
    twoAtOnce(async () => {
      const blocks = blocksOf(readPage('docs/how-to/leaked-tokens.md'))
      const [keys = '', report = ''] = blocks
        .filter(({ language }) => language === 'sh')
        .map(({ text }) => text)
      await using place = await temporaryFolder()
      const inShell = async (text: string, more: Readonly<Record<string, string>> = {}) => {
        const options = { cwd: place.path, env: { ...env, ...more } }
        await using shell = new Program('sh', ['-c', text], options)
        expect((await shell.exited).code, shell.stderr).toBe(0)
        return shell.stdout
      }
      const publicKeys = await inShell(`${keys}\nprintf %s "$LEAK_REPORT_KEYS"`)
      await running(
        'leaked-tokens',
        async ({ url, database }) => {
          const options = { tokenPersonalPrefix: 'notes_' } as HostOptions
          const { reads, nothing } = await tokensOf(database, undefined, options)
          expect(reads).toMatch(/^notes_/)
          const printed = await inShell(report, { BASE_URL: url, TOKEN: reads })
          const expected = blocks.find(({ language }) => language === 'json')?.text ?? ''
          expect(printed.trimEnd()).toMatch(asPattern(expected))
          const ask = callerAt(`${url}/oauth/ping`)
          expect([(await ask(reads))[0], (await ask(nothing))[0]]).toEqual([401, 200])
        },
        { LEAK_REPORT_KEYS: publicKeys },
      )
    }))

  test('tokens-for-other-servers: verifies a token with the published keys, and by introspection', ({
    expect,
  }) =>
    twoAtOnce(async () => {
      const data = join(folder.path, 'runs/tokens-for-other-servers/data')
      await mkdir(data, { recursive: true })
      const server = await opened(join(data, 'app.sqlite'))
      const registered = async () =>
        server.clients.create({ name: 'C', defaultScopes: ['notes:read'] })
      const [files, caller] = [await registered(), await registered()]
      await server.close()
      const resource = 'http://localhost:3001'
      const more = {
        FILES_URL: resource,
        FILES_CLIENT_ID: files.client.clientId,
        FILES_CLIENT_SECRET: files.clientSecret,
      }
      await running(
        'tokens-for-other-servers',
        async ({ url }) => {
          const tokenFor = async (given: Readonly<Record<string, string>>, headers = {}) => {
            const answer = await fetch(`${url}/oauth/token`, {
              method: 'POST',
              headers,
              body: new URLSearchParams({
                grant_type: 'client_credentials',
                client_id: caller.client.clientId,
                client_secret: caller.clientSecret,
                ...given,
              }),
            })
            const { access_token } = (await answer.json()) as { access_token: string }
            return access_token
          }
          const own = await tokenFor({ resource })
          const elsewhere = await tokenFor({ resource: url })
          const ofWhole = await tokenFor({})
          const key = await dpop.generateKeyPair('ES256')
          const proof = await dpop.generateProof(key, `${url}/oauth/token`, 'POST')
          // If a server accepted a key-bound token as a bearer token, anybody who found the token could use it.
          const bound = await tokenFor({ resource }, { dpop: proof })
          for (const name of ['tokens-for-other-servers-2', 'tokens-for-other-servers-3']) {
            await running(
              name,
              async ({ url: at }) => {
                const ask = callerAt(at)
                expect((await ask(own))[0]).toBe(200)
                for (const wrong of [elsewhere, ofWhole, bound, 'x', undefined])
                  expect((await ask(wrong))[0]).toBe(401)
              },
              { ...more, ISSUER: url },
            )
          }
        },
        more,
      )
    }))

  test('settings-api: logs in, and manages clients and tokens', ({ expect }) =>
    twoAtOnce(async () => {
      const page = blocksOf(readPage('docs/how-to/settings-api.md'))
      const script = page.find(({ language }) => language === 'js')?.text ?? ''
      const cwd = join(folder.path, 'runs/settings-api')
      await mkdir(join(cwd, 'public'), { recursive: true })
      await writeFile(join(cwd, 'public/settings.js'), script)
      await writeFile(join(cwd, 'as-in-a-page.js'), runPageScript)
      await running('settings-api', async ({ url, database }) => {
        const server = await opened(database)
        const password = 'a long password'
        const user = await server.users.create({ email: 'reader@example.org', password })
        for (let n = 1; n <= 30; n += 1) await server.tokens.createPersonal(`Token ${n}`, user.id)
        await server.close()

        const to = (await fetch(url, { redirect: 'manual' })).headers.get('location')
        expect(to).toBe('/login?next=/')
        const { agent, cookie, jwt } = await logIn({ issuer: url, user, password })
        const html = await (await agent.fetch(url)).text()
        expect(html).toContain('src="/settings.js"')
        expect(await (await fetch(`${url}/settings.js`)).text()).toBe(script)

        const own = { ...env, PAGE_URL: url, COOKIE: cookie, JWT: jwt, USER_AGENT: browser }
        await using program = runNode([join(cwd, 'as-in-a-page.js')], { cwd, env: own })
        expect((await program.exited).code, program.stderr).toBe(0)
        const { created, scopes, tokens, refused } = JSON.parse(program.stdout)
        const [first] = scopes
        expect(first).toEqual({ id: 'notes:read', help_text: 'Read your notes', group: 'Notes' })
        expect(created).toMatchObject({ name: 'Laptop', scopes: ['notes:read', 'user:email'] })
        expect(tokens).toHaveLength(31)
        expect(tokens[0].name).toBe('Laptop')
        expect(refused).toEqual(['The name is missing.', 'name', 0])
        const ping = await fetch(`${url}/oauth/ping`, {
          headers: { authorization: `Bearer ${created.access_token}` },
        })
        expect(ping.status).toBe(200)
      })
    }))

  test('mcp: an unknown assistant logs its user in, and requests another scope for a tool', ({
    expect,
  }) =>
    twoAtOnce(() =>
      running('mcp', async ({ url, database }) => {
        const server = await opened(database, {
          scopes: [new Scope('notes:read'), new Scope('notes:write')],
        })
        const password = 'a long password'
        const user = await server.users.create({ email: 'reader@example.org', password })
        await server.close()
        const place = { issuer: url, resource: `${url}/mcp`, user, password }
        const assistant = new Assistant(place)
        await assistant.connect()
        expect(await assistant.call('list_notes')).toEqual([])
        expect(assistant.memory.asked).toHaveLength(1)
        expect(await assistant.textResult('add_note', { text: 'Buy milk' })).toBe('Added.')
        expect(assistant.memory.asked).toHaveLength(2)
        expect(await assistant.call('list_notes')).toEqual(['Buy milk'])
        await assistant.close()
      }),
    ))

  test('doctor: passes its test, and prints the lines of the example', ({ expect }) =>
    twoAtOnce(async () => {
      await mkdir(join(folder.path, 'node_modules/.bin'), { recursive: true })
      const program = join(folder.path, 'node_modules/.bin/svc-oauth2server')
      await symlink(join(root, 'dist/cli/main.js'), program)
      const cwd = folder.path
      await using tests = runNode([join(folder.path, 'doctor.js')], { cwd, env })
      expect((await tests.exited).code, tests.stdout + tests.stderr).toBe(0)
      expect(tests.stdout).toMatch(/pass 1\b/)
      await using doctor = runNode([program, 'doctor'], { cwd, env })
      expect((await doctor.exited).code, doctor.stderr).toBe(0)
      const [example] = blocksOf(readPage('docs/how-to/doctor.md')).filter(
        ({ language }) => language === 'text',
      )
      for (const line of example?.text
        .trim()
        .split('\n')
        .filter((one) => one !== '…') ?? [])
        expect(doctor.stdout.split('\n')).toContainEqual(expect.stringMatching(asPattern(line)))
    }))

  test('configure: a command uses the options of the module', ({ expect }) =>
    twoAtOnce(async () => {
      const cli = join(root, 'dist/cli/main.js')
      const args = [cli, 'scopes', 'list', '--config', './configure.js']
      const own = { ...env, DATABASE_URL: 'sqlite:./configure.sqlite' }
      await using command = runNode(args, { cwd: folder.path, env: own })
      expect((await command.exited).code, command.stderr).toBe(0)
      expect(command.stdout).toContain('"id":"notes:read"')
    }))

  test('testing: passes its tests', ({ expect }) =>
    twoAtOnce(async () => {
      await using program = runNode([join(folder.path, 'testing.js')], { cwd: folder.path, env })
      expect((await program.exited).code, program.stdout + program.stderr).toBe(0)
      expect(program.stdout).toMatch(/pass 4\b/)
    }))
})
