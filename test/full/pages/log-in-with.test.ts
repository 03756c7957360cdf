import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { filesOf, readPage } from '../../docs/markdown.ts'
import { launchChromium } from '../../support/chromium.ts'
import { lacks } from '../../support/needs.ts'
import {
  freePort,
  notesEnvironment,
  type Program,
  type RunningServer,
  root,
  runNode,
  startNotes,
  type TemporaryFolder,
  temporaryFolder,
} from '../../support/processes.ts'

// The applications of examples/log-in-with let users log in at the notes application, which runs as with `npm start`.

test('the how-to page contains the code of the applications [T2407]', () => {
  const files = filesOf(readPage('docs/how-to/log-in-with.md'))
  const there = [
    'auth-js.ts',
    'passport.ts',
    'single-page/app.js',
    'single-page/index.html',
    'single-page/serve.ts',
  ]
  expect(Object.keys(files)).toEqual(there)
  for (const [path, text] of Object.entries(files))
    expect(text).toBe(readFileSync(join(root, 'examples/log-in-with', path), 'utf8'))
})

describe.skipIf(await lacks('chromium'))('Log in with the notes application', () => {
  let folder: TemporaryFolder
  let notes: RunningServer
  let browser: Browser
  let password: string
  beforeAll(async () => {
    folder = await temporaryFolder()
    notes = await startNotes({ data: folder.path })
    password = /^ *password +(\S+)$/m.exec(notes.program.stdout)?.[1] ?? ''
    browser = await launchChromium()
  })
  afterAll(async () => {
    await browser?.close()
    await notes?.[Symbol.asyncDispose]()
    await folder?.[Symbol.asyncDispose]()
  })

  /** Registers the application on the command line. @returns its credentials */
  const register = async (args: readonly string[]): Promise<Record<string, string>> => {
    const command = ['clients', 'create', '--name', 'Photos', '--user', 'demo@example.org']
    await using program = runNode([join(root, 'dist/cli/main.js'), ...command, ...args], {
      env: notesEnvironment(notes.port, folder.path),
    })
    expect((await program.exited).code, program.stderr).toBe(0)
    const { client_id: CLIENT_ID, client_secret: CLIENT_SECRET } = JSON.parse(program.stdout)
    return { CLIENT_ID, ...(CLIENT_SECRET && { CLIENT_SECRET }) }
  }

  const start = async (
    file: string,
    { port, ...env }: { readonly port: number; readonly [name: string]: string | number },
  ): Promise<Program> => {
    const program = runNode([join(root, 'examples/log-in-with', file)], {
      env: { ISSUER: notes.url, PORT: String(port), ...env } as Record<string, string>,
    })
    await program.says(/Open/)
    return program
  }

  const loggedIn = 'Logged in as demo@example.org'

  /** Completes the login page of the notes application. */
  const logIn = async (page: Page): Promise<void> => {
    await page.fill('[name=email]', 'demo@example.org')
    await page.fill('[name=password]', password)
    await page.click('button[type=submit]')
  }

  /** Completes the login page and the consent page of the notes application. */
  const consent = async (page: Page): Promise<void> => {
    await logIn(page)
    await page.click('button[value=yes]')
    await page.getByText(loggedIn).waitFor()
  }

  /** Whether the browser still has a session at the notes application. */
  const hasSession = async (page: Page, issuer = notes.url): Promise<boolean> => {
    const answer = await page.request.get(`${issuer}/account/settings/applications/`)
    return answer.url().includes('/account/')
  }

  test('Auth.js logs in, refreshes and logs out [T2400]', async () => {
    const port = await freePort()
    const url = `http://localhost:${port}`
    const callback = `${url}/auth/callback/notes`
    const credentials = await register([
      ...['--redirect-uri', callback],
      ...['--post-logout-redirect-uri', url],
    ])
    const secret = 'a secret of the application with more than 32 bytes'
    // Another process of the same server, whose access tokens expire soon.
    const lifetime = 2
    await using short = await startNotes({
      data: folder.path,
      env: { OAUTH2_PROVIDER_TOKEN_EXPIRES_IN: String(lifetime) },
    })
    await using _app = await start('auth-js.ts', {
      ...{ port, ISSUER: short.url, AUTH_SECRET: secret },
      ...credentials,
    })
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(url)
    await page.click('text=Log in')
    await page.click('text=Sign in with Notes')
    await consent(page)
    const session = await (await page.request.get(`${url}/auth/session`)).json()
    expect(session).toMatchObject({
      id: expect.stringMatching(/^\d+$/),
      user: { email: 'demo@example.org' },
    })
    // Fixed time: the access token expires.
    await wait(lifetime * 1000)
    await page.reload()
    await page.getByText(loggedIn).waitFor()
    const later = await (await page.request.get(`${url}/auth/session`)).json()
    expect(later.expiresAt).toBeGreaterThan(session.expiresAt)
    await page.click('text=Log out')
    await page.click('button')
    await page.getByText('Log in').waitFor()
    expect(page.url()).toBe(`${url}/`)
    expect(await hasSession(page, short.url)).toBe(false)

    // After a logout at the server, the refresh fails, and the application ends its session.
    await page.click('text=Log in')
    await page.click('text=Sign in with Notes')
    await logIn(page)
    await page.getByText(loggedIn).waitFor()
    await page.goto(`${short.url}/oauth/logout`)
    await page.click('button[type=submit]')
    // Fixed time: the access token expires.
    await wait(lifetime * 1000)
    await page.goto(url)
    await page.getByText('Log in').waitFor()
    await context.close()
  })

  test('passport logs in, refreshes and logs out [T2401]', async () => {
    const port = await freePort()
    const url = `http://localhost:${port}`
    const credentials = await register([
      ...['--redirect-uri', `${url}/callback`],
      ...['--post-logout-redirect-uri', url],
    ])
    const secret = 'a secret of the application with more than 32 bytes'
    await using _app = await start('passport.ts', { port, ...credentials, SESSION_SECRET: secret })
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.goto(url)
    await page.click('text=Log in')
    await consent(page)
    // A refused refresh ends the session of the application.
    for (let count = 0; count < 2; count++) {
      const shown = page.waitForResponse(`${url}/`)
      await page.click('text=Refresh')
      expect(await (await shown).text()).toContain(loggedIn)
    }
    await page.click('text=Log out')
    await page.getByText('Log in').waitFor()
    expect(page.url()).toBe(`${url}/`)
    expect(await hasSession(page)).toBe(false)
    // Without a login, a refresh leads to the start page.
    expect((await page.request.post(`${url}/refresh`)).url()).toBe(`${url}/`)
    await context.close()
  })

  test('a single page application logs in, refreshes and logs out with oidc-client-ts [T2402]', async () => {
    const port = await freePort()
    const url = `http://localhost:${port}`
    const uri = `${url}/`
    const credentials = await register([
      '--public',
      ...['--redirect-uri', uri],
      ...['--post-logout-redirect-uri', uri],
    ])
    await using _app = await start('single-page/serve.ts', { port, ...credentials })
    const context = await browser.newContext()
    const page = await context.newPage()
    const complaints: string[] = []
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text())
    })
    await page.goto(url)
    await page.click('text=Log in')
    await logIn(page)
    await page.click('button[value=no]')
    await page.getByText('Not logged in').waitFor()
    await page.click('text=Log in')
    await page.click('button[value=yes]')
    await page.getByText(loggedIn).waitFor()
    const tokenIn = () =>
      page.evaluate(() => {
        const [name = ''] = Object.keys(sessionStorage).filter((key) => key.startsWith('oidc.user'))
        return JSON.parse(sessionStorage.getItem(name) ?? '{}')
      })
    const before = await tokenIn()
    expect(before.profile).toMatchObject({
      sub: expect.stringMatching(/^\d+$/),
      email: 'demo@example.org',
    })
    const refreshed = page.waitForResponse(`${notes.url}/oauth/token`)
    await page.click('text=Refresh')
    expect((await refreshed).status()).toBe(200)
    await expect.poll(async () => (await tokenIn()).access_token).not.toBe(before.access_token)
    const { access_token } = await tokenIn()
    const statusOfToken = async () => {
      const headers = { authorization: `Bearer ${access_token}` }
      return (await fetch(`${notes.url}/oauth/userinfo`, { headers })).status
    }
    expect(await statusOfToken()).toBe(200)
    // The library can also revoke the tokens, which the application does not do.
    const settings = {
      authority: notes.url,
      client_id: credentials.CLIENT_ID ?? '',
      redirect_uri: uri,
    }
    await page.evaluate(async (given) => {
      type Library = typeof import('oidc-client-ts')
      const { UserManager } = (globalThis as unknown as { readonly oidc: Library }).oidc
      await new UserManager(given).revokeTokens(['refresh_token'])
    }, settings)
    expect(await statusOfToken()).toBe(401)
    await page.click('text=Log out')
    await page.getByText('Not logged in').waitFor()
    expect(await hasSession(page)).toBe(false)
    expect(complaints).toEqual([])
    await context.close()
  })
})
