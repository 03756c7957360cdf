import { describe, expect, test } from 'vitest'
import { lacks } from '../../support/needs.ts'
import { beginSession, type Person, sessions, useSite } from './site.ts'
import { ways } from './ways.ts'

const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0'
const safari =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 26_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Mobile/15E148 Safari/604.1'

describe.skipIf(await lacks('chromium'))('sessions', () => {
  const site = useSite()

  const inBrowser = async (ada: Person, userAgent: string): Promise<Person> => {
    const elsewhere = await ada.elsewhere({ userAgent })
    await beginSession(elsewhere, site.app)
    return elsewhere
  }

  const isLoggedIn = async (person: Person): Promise<boolean> => {
    await person.open(sessions)
    return new URL(person.page.url()).pathname === sessions
  }

  describe.each(ways)('$name', (way) => {
    test('a user sees all logins, logs one other browser out, and then all other browsers', async () => {
      const ada = await site.person(way)
      const { page, press } = ada
      const onWindows = await inBrowser(ada, firefox)
      const onPhone = await inBrowser(ada, safari)
      const onAnotherPhone = await inBrowser(ada, safari)
      await ada.open('/account/settings/applications/')
      await press(page.getByRole('link', { name: 'Sessions' }))
      const others = page.locator('main .items > li')
      await expect.poll(() => others.count()).toBe(4)
      const own = others.filter({ hasText: 'This browser' })
      await own.getByRole('heading', { name: 'Chrome' }).waitFor()

      await press(page.getByRole('button', { name: 'Log out Firefox' }))
      await page.getByRole('status').getByText('That browser was logged out.').waitFor()
      await expect.poll(() => others.count()).toBe(3)
      await page.getByText('You logged out a browser from another browser.').waitFor()
      expect(await isLoggedIn(onWindows)).toBe(false)
      expect(await isLoggedIn(onPhone)).toBe(true)

      await press(page.getByRole('button', { name: 'Log out everywhere else' }))
      await page.getByRole('status').getByText('All other browsers were logged out.').waitFor()
      await page.getByText('You are not logged in anywhere else.').waitFor()
      expect(await isLoggedIn(onPhone)).toBe(false)
      expect(await isLoggedIn(onAnotherPhone)).toBe(false)
      expect(await isLoggedIn(ada)).toBe(true)
    })
  })

  test('on a wide screen, the header and the content begin at the same place [T2842]', async () => {
    const [way] = ways
    if (!way) throw new Error('There is no way.')
    const { page, open } = await site.person(way)
    await open(sessions)
    const startOf = async (selector: string): Promise<number> =>
      Math.round((await page.locator(selector).boundingBox())?.x ?? 0)
    for (const width of [1_900, 1_664]) {
      await page.setViewportSize({ width, height: 900 })
      expect(await startOf('.brand')).toBe((width - 800) / 2)
      expect(await startOf('main h1')).toBe((width - 800) / 2)
    }
  })
})
