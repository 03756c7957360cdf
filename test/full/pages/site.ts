import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { User } from 'svc-oauth2server'
import { afterAll, afterEach, beforeAll, expect } from 'vitest'
import {
  asBrowserCookie,
  beginSession as newSession,
} from '../../../scripts/screenshots/browser-session.ts'
import { launchChromium } from '../../support/chromium.ts'
import { password } from '../../support/known-password.ts'
import { startServer, type TestOptions, type TestServer } from '../../support/server.ts'
import { complaintsOf } from './complaints.ts'
import type { InputDevice } from './hands.ts'
import type { Way } from './ways.ts'

/** A user with a browser. */
export interface Person extends InputDevice {
  readonly user: User
  readonly page: Page
  /** Opens a page of the server. */
  open(path: string): Promise<void>
  /** Returns the same user in another browser, in which the user is not logged in. */
  elsewhere(options?: BrowserContextOptions): Promise<Person>
}

/** The server and the browser that all tests of a file share. */
export interface Site {
  readonly app: TestServer
  /** Creates a user, who is logged in by default. */
  person(way: Way, as?: Partial<PersonOptions>): Promise<Person>
  /** Opens a page in a new browser. Errors on the page make the test fail. */
  newPage(options?: BrowserContextOptions): Promise<Page>
}

interface PersonOptions {
  readonly isAdmin: boolean
  readonly isLoggedIn: boolean
}

const launchArguments = [
  '--lang=en-US',
  // Resolve the host names of all client applications to this machine.
  '--host-resolver-rules=MAP *.example 127.0.0.1',
]

let launched: Promise<Browser> | undefined

/** Returns the browser that all test files of this process share. The browser exits when the process exits. */
const sharedBrowser = async (): Promise<Browser> => {
  if (!(await launched)?.isConnected()) launched = launchChromium(launchArguments)
  return launched as Promise<Browser>
}

/** The path of the settings, relative to the issuer. */
export const applications = '/account/settings/applications/'
export const sessions = '/account/settings/sessions/'
export const administration = '/admin/applications/'

/** Starts the notes application and Chromium for the tests of a file, and stops the application after them. */
export const useSite = (options: TestOptions = {}): Site => {
  let app: TestServer
  let browser: Browser
  let people = 0
  const pages: Page[] = []
  const complaints: string[] = []

  beforeAll(async () => {
    app = await startServer({ clock: () => Date.now(), ...options })
    browser = await sharedBrowser()
  })
  afterAll(() => app?.close())
  afterEach(async () => {
    await Promise.all(pages.splice(0).map((page) => page.context().close()))
    expect(complaints.splice(0)).toEqual([])
    expect(app.log.filter(({ level }) => level === 'error')).toEqual([])
  })

  const newPage = async (contextOptions: BrowserContextOptions = {}): Promise<Page> => {
    const context = await browser.newContext({
      locale: 'en-GB',
      ignoreHTTPSErrors: true,
      // Disable the animation that scrolls a focused element into view.
      reducedMotion: 'reduce',
      ...contextOptions,
    })
    context.setDefaultTimeout(120_000)
    const page = await context.newPage()
    pages.push(page)
    await complaintsOf(page, app.issuer, (complaint) => complaints.push(complaint))
    return page
  }

  const openAs = async (user: User, way: Way, more?: BrowserContextOptions): Promise<Person> => {
    const page = await newPage({ ...way.options, ...more })
    return {
      ...way.hands(page),
      user,
      page,
      open: async (path) => {
        await page.goto(`${app.issuer}${path}`)
      },
      elsewhere: (contextOptions) => openAs(user, way, contextOptions),
    }
  }

  return {
    get app() {
      return app
    },
    newPage,
    async person(way, { isAdmin = false, isLoggedIn = true } = {}) {
      people += 1
      const email = `person-${people}@example.org`
      const user = await app.newUser({ email, isAdmin })
      const person = await openAs(user, way)
      if (isLoggedIn) await beginSession(person, app)
      return person
    },
  }
}

/** Creates a session without using the login page. */
export const beginSession = async ({ user, page }: Person, { server }: TestServer) => {
  const userAgent = String(await page.evaluate('navigator.userAgent'))
  const cookie = await newSession(server, user.id, { address: '127.0.0.1', userAgent })
  await page.context().addCookies([asBrowserCookie(cookie)])
}

/** Logs in on the login page. */
export const logIn = async (person: Person, typed: string = password): Promise<void> => {
  const { page } = person
  await person.type(page.getByLabel('E-mail address'), person.user.email)
  await person.type(page.getByLabel('Password'), typed)
  await person.press(page.getByRole('button', { name: 'Log in' }))
}
