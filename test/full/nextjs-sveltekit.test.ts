import { randomUUID } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { filesOf, readPage } from '../docs/markdown.ts'
import {
  callerAt,
  type HostProgram,
  opened,
  startHostProgram,
  tokensOf,
} from '../support/host-programs.ts'
import {
  installationTimeout,
  installed,
  run,
  versionOf,
  withoutRegistry,
} from '../support/packed.ts'
import type { TemporaryFolder } from '../support/processes.ts'
import { redirectUri } from '../support/redirect-uris.ts'
import { logIn } from '../support/session.ts'
import { authorizeUrl, newPkce, tokenRequest, UserAgent } from '../support/user-agent.ts'

// Each application consists of the files of its how-to page, of the files that every application of the framework has,
// and of one page for these tests.

interface Application {
  readonly page: string
  readonly packages: readonly string[]
  readonly others: Readonly<Record<string, string>>
  /** The commands that check and build the application: a script in `node_modules`, then its arguments. */
  readonly build: readonly (readonly string[])[]
  /** The command that starts the built application. */
  readonly start: readonly string[]
}

const applications: readonly Application[] = [
  {
    page: 'nextjs',
    packages: ['next@16', 'react@19', 'react-dom@19', '@types/react@19', 'typescript@latest'],
    others: {
      'app/layout.tsx': `import type { ReactNode } from 'react'
        export default function Layout({ children }: { readonly children: ReactNode }) {
          return <html lang="en"><body>{children}</body></html>
        }`,
      // This page is rendered during the build, which must not need the settings of the server.
      'app/about/page.tsx': 'export default function About() { return <p>About</p> }',
    },
    build: [['node_modules/next/dist/bin/next', 'build']],
    start: ['node_modules/next/dist/bin/next', 'start'],
  },
  {
    page: 'sveltekit',
    packages: [
      '@sveltejs/kit@3',
      '@sveltejs/adapter-node@6',
      '@sveltejs/vite-plugin-svelte@7',
      'svelte@5',
      'svelte-check@4',
      'typescript@6',
      'vite@8',
    ],
    others: {
      'src/app.html':
        '<!doctype html><html lang="en"><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>',
      // This page is rendered during the build, which must not need the settings of the server.
      'src/routes/about/+page.ts': 'export const prerender = true',
      'src/routes/about/+page.svelte': '<p>About</p>',
      'tsconfig.json': '{ "extends": "$app/tsconfig", "include": ["src", "*"] }',
    },
    build: [
      ['node_modules/vite/bin/vite.js', 'build'],
      ['node_modules/svelte-check/bin/svelte-check'],
    ],
    start: ['build'],
  },
]

/** Creates a user of the application. */
const accountIn = async (database: string) => {
  const server = await opened(database)
  const password = 'a long password'
  const user = await server.users.create({ email: `${randomUUID()}@example.org`, password })
  await server.close()
  return { user, password }
}

const env = { NEXT_TELEMETRY_DISABLED: '1' }

describe.skipIf(withoutRegistry).each(applications)(
  'the application of docs/how-to/$page',
  ({ page, packages, others, build, start }) => {
    let folder: TemporaryFolder
    let program: HostProgram

    beforeAll(async () => {
      folder = await installed([...packages, await versionOf('@types/node')])
      const files = { ...others, ...filesOf(readPage(`docs/how-to/${page}.md`)) }
      for (const [name, text] of Object.entries(files)) {
        const path = join(folder.path, name)
        await mkdir(dirname(path), { recursive: true })
        await writeFile(path, text)
      }
      const there = { cwd: folder.path, env }
      for (const command of build)
        await run(process.execPath, command, { ...there, limit: installationTimeout })
      program = await startHostProgram(start, there)
    }, installationTimeout)
    afterAll(async () => {
      await program?.[Symbol.asyncDispose]()
      await folder?.[Symbol.asyncDispose]()
    })

    test('guards a route', async () => {
      const { url, database } = program
      const ask = callerAt(`${url}/api/notes`)
      const { reads, nothing } = await tokensOf(database)
      expect(await ask()).toEqual([401, null])
      const note = { text: expect.stringMatching(/^A note of user \d+$/) }
      expect(await ask(reads)).toEqual([200, [note]])
      expect(await ask(nothing)).toEqual([403, null])
    })

    test('logs a user in, asks for consent, and issues a token with which the route responds', async () => {
      const { url, database } = program
      const account = await accountIn(database)
      const server = await opened(database)
      const { client, clientSecret } = await server.clients.create({
        name: 'Printer',
        userId: account.user.id,
        redirectUris: [redirectUri],
      })
      await server.close()
      const { clientId } = client
      const { verifier, challenge } = newPkce()
      const asked = authorizeUrl(url, {
        client_id: clientId,
        redirect_uri: redirectUri,
        scope: 'notes:read',
        state: 'xyz',
        code_challenge: challenge,
        code_challenge_method: 'S256',
      })
      const answer = await new UserAgent().authorize({ issuer: url, ...account }, asked)
      expect(answer.href).toMatch(`${redirectUri}?`)
      const redeem = {
        grant_type: 'authorization_code',
        code: answer.searchParams.get('code') ?? '',
        redirect_uri: redirectUri,
        code_verifier: verifier,
      }
      const basic = { clientId, clientSecret }
      const { status, body } = await tokenRequest(url, redeem, { basic })
      expect([status, body.scope]).toEqual([200, 'notes:read'])
      const notes = await callerAt(`${url}/api/notes`)(String(body.access_token))
      expect(notes).toEqual([200, [{ text: `A note of user ${account.user.id}` }]])
    })

    test('shows the logged-in user on a page, and accepts API requests with the JWT of the page', async () => {
      const { url, database } = program
      const account = await accountIn(database)
      expect(await (await fetch(url)).text()).toContain('href="/login"')
      const { agent, jwt, csrfToken } = await logIn({ issuer: url, ...account })
      const home = await agent.fetch(url)
      expect(home.headers.get('cache-control')).toContain('no-store')
      expect(await home.text()).toContain(account.user.email)
      const notes = (headers: Record<string, string>) =>
        agent.fetch(`${url}/api/notes`, { headers })
      expect((await notes({})).status).toBe(400)
      expect((await notes({ authorization: `Bearer ${jwt}` })).status).toBe(200)
      const logout = (token: string) =>
        agent.fetch(`${url}/logout`, {
          method: 'POST',
          body: new URLSearchParams({ csrf_token: token }),
        })
      expect((await logout('wrong')).status).toBe(403)
      expect((await logout(csrfToken)).status).toBe(303)
      expect(await (await agent.fetch(url)).text()).toContain('href="/login"')
    })

    test('passes the paths of the authorization server to this server, and handles all other paths in the application', async () => {
      const { url, database } = program
      const server = await opened(database)
      await server.close()
      const paths = server.addresses.map((path) => path.replace('*', 'nothing-here'))
      for (const path of paths) {
        const response = await fetch(`${url}${path}`, { redirect: 'manual' })
        expect([path, response.headers.has('x-request-id')]).toEqual([path, true])
      }
      expect(await (await fetch(`${url}/about`)).text()).toContain('<p>About</p>')
      for (const path of ['/elsewhere', '/account', '/admin', '/oauth2']) {
        const response = await fetch(`${url}${path}`)
        const expected = [path, 404, false]
        expect([path, response.status, response.headers.has('x-request-id')]).toEqual(expected)
      }
    })

    if (page === 'nextjs') {
      test('binds a session to the address that the proxy adds', async () => {
        const { url, database } = program
        const account = await accountIn(database)
        const from = (address: string) => ({ 'x-forwarded-for': `198.51.100.1, ${address}` })
        const { agent } = await logIn({ issuer: url, ...account }, from('203.0.113.7'))
        const homeFrom = async (address: string) =>
          (await agent.fetch(url, { headers: from(address) })).text()
        expect(await homeFrom('203.0.113.7')).toContain(account.user.email)
        expect(await homeFrom('203.0.113.8')).not.toContain(account.user.email)
      })
    }

    if (page === 'sveltekit') {
      test('rejects forms of another site, except at the paths of the server and of the REST API', async () => {
        const { url } = program
        const submit = async (path: string, headers: Record<string, string>) => {
          const body = new URLSearchParams({ a: 'b' })
          return (await fetch(`${url}${path}`, { method: 'POST', body, headers })).status
        }
        expect(await submit('/', {})).toBe(403)
        expect(await submit('/', { origin: 'https://evil.example' })).toBe(403)
        // The page has no form action, and the REST API has no method POST.
        expect(await submit('/', { origin: url })).toBe(405)
        expect(await submit('/api/notes', {})).toBe(405)
        expect(await submit('/oauth/token', {})).toBe(400)
      })
    }
  },
)
