import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { launchChromium } from '../../support/chromium.ts'
import { lacks } from '../../support/needs.ts'
import { type RunningServer, startNotes, temporaryFolder } from '../../support/processes.ts'
import { violations } from './axe.ts'
import { complaintsOf } from './complaints.ts'
import { layoutErrors } from './layout.ts'
import { type Way, ways } from './ways.ts'

const email = 'demo@example.org'

describe.skipIf(await lacks('chromium'))('the start page of `npm start`', () => {
  let browser: Browser
  let app: RunningServer
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  beforeAll(async () => {
    browser = await launchChromium(['--lang=en-US'])
    folder = await temporaryFolder()
    app = await startNotes({ data: folder.path, limit: 600_000 })
  })
  afterAll(async () => {
    await browser?.close()
    await app?.[Symbol.asyncDispose]()
    await folder?.[Symbol.asyncDispose]()
  })

  /** Opens the start page in a new browser. The test fails if the page reports an error. */
  const open = async (way: Way) => {
    const context = await browser.newContext({ reducedMotion: 'reduce', ...way.options })
    context.setDefaultTimeout(120_000)
    const page = await context.newPage()
    const complaints: string[] = []
    await complaintsOf(page, app.url, (complaint) => complaints.push(complaint))
    await page.goto(app.url)
    return {
      page,
      ...way.hands(page),
      complaints,
      [Symbol.asyncDispose]: () => context.close(),
    }
  }

  const logIn = async ({ page, press, type }: Awaited<ReturnType<typeof open>>) => {
    const password = /password +(\S+)/.exec(app.program.stdout)?.[1] ?? ''
    await press(page.getByRole('main').getByRole('link', { name: 'Log in' }))
    await type(page.getByLabel('E-mail address'), email)
    await type(page.getByLabel('Password'), password)
    await press(page.getByRole('button', { name: 'Log in' }))
    await page.getByText('You are logged in as demo@example.org, an administrator.').waitFor()
  }

  const card = (page: Page, heading: string) =>
    page.getByRole('article').filter({ has: page.getByRole('heading', { name: heading }) })

  describe.each(ways)('$name', (way) => {
    test('shows notes, and the same response to a session, a personal token and the sample application [T1800]', async () => {
      await using visitor = await open(way)
      const { page, press, type } = visitor
      await logIn(visitor)
      await page.getByRole('listitem').getByText('Call the plumber').waitFor()
      const note = `written ${way.name}`
      await type(page.getByLabel('New note'), note)
      await press(page.getByRole('button', { name: 'Add' }))
      await page.getByRole('listitem').getByText(note).waitFor()

      const isFirst = await page
        .getByRole('button', { name: 'Create a token and call' })
        .isVisible()
      const create = isFirst ? 'Create a token and call' : 'Use another token'
      await press(page.getByRole('button', { name: create }))
      await card(page, 'A personal token').getByText('200').waitFor()
      await press(card(page, 'An application').getByRole('link'))
      await press(page.getByRole('button', { name: 'Allow' }))
      await page.getByRole('heading', { name: 'Sample application', level: 1 }).waitFor()
      await page.getByText('"scope": "notes:read').waitFor()
      await press(page.getByRole('link', { name: 'Compare with the other callers' }))

      const answers = ['A personal token', 'An application']
      if (way.hasScripts) answers.push('Your session')
      else await card(page, 'Your session').getByText('Without JavaScript').waitFor()
      for (const name of answers) {
        await card(page, name).getByText('200').waitFor()
        const text = await card(page, name).getByRole('group', { name: 'Answer' }).textContent()
        const texts = JSON.parse(text ?? '').map((one: { readonly text: string }) => one.text)
        expect(texts.slice(0, 3)).toEqual([
          'Return the library books',
          'Call the plumber',
          'Book a table for Friday',
        ])
        expect(texts.at(-1)).toBe(note)
      }
      expect(visitor.complaints).toEqual([])
    })

    test('shows why the sample application received no token, and rejects a forged response [T1801]', async () => {
      await using visitor = await open(way)
      const { page, press } = visitor
      await logIn(visitor)
      await press(card(page, 'An application').getByRole('link'))
      await press(page.getByRole('button', { name: 'Refuse' }))
      await page.getByRole('alert').getByText('The application received no token.').waitFor()
      await page.goto(`${app.url}/sample/callback?code=x&state=forged&iss=${app.url}`)
      await page.getByRole('alert').getByText('does not belong to a request').waitFor()

      await page.getByRole('link', { name: 'Try again' }).waitFor()
    })
  })

  test('links only to existing pages, and has its own 404 page for unknown paths [T1802]', async () => {
    const [way] = ways as [Way]
    await using visitor = await open(way)
    const { page, press } = visitor
    await logIn(visitor)
    const links = await page
      .getByRole('region', { name: 'Every page' })
      .getByRole('link')
      .evaluateAll((all) => all.map((link) => link.href))
    expect(links.length).toBeGreaterThan(10)
    for (const link of links) {
      const response = await page.request.get(link)
      expect([link, response.status()]).toEqual([link, 200])
    }
    const response = await page.goto(`${app.url}/no/such/page`)
    expect([response?.status(), await page.title()]).toEqual([404, 'Not found · Notes'])
    await press(page.getByRole('main').getByRole('link', { name: 'Start page' }))
    await page.waitForURL(`${app.url}/`)
    const api = await fetch(`${app.url}/api/no/such/thing`)
    expect([api.status, await api.json()]).toEqual([404, expect.objectContaining({ status: 404 })])
  })

  test('passes the checks of axe and of the layout in each state [T1803]', async () => {
    const [way] = ways as [Way]
    await using visitor = await open(way)
    const { page, press } = visitor
    const found: string[] = []
    const look = async (state: string) => {
      const screen = page.viewportSize()
      const errors = [...(await violations(page)), ...(await layoutErrors(page))]
      found.push(...errors.map((line) => `${state}: ${line}`))
      if (screen) await page.setViewportSize(screen)
      await page.emulateMedia({ colorScheme: 'light' })
    }
    await look('nobody')
    await page.reload()
    await logIn(visitor)
    await look('logged in')
    await page.goto(`${app.url}/sample/start`)
    await press(page.getByRole('button', { name: 'Allow' }))
    await page.getByRole('heading', { name: 'Sample application', level: 1 }).waitFor()
    await look('sample application')
    await page.goto(app.url)
    await page.locator('[data-call] .answer').waitFor()
    await look('with answers')
    await page.goto(`${app.url}/nothing`)
    await look('not found')
    expect(found).toEqual([])
  })
})
