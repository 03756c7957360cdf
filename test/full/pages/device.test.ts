import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { Device } from '../../support/device.ts'
import { lacks } from '../../support/needs.ts'
import { ping, refusal } from '../../support/user-agent.ts'
import { violations } from './axe.ts'
import { beginSession, logIn, type Person, type Site, useSite } from './site.ts'
import { isWhole, usual, ways } from './ways.ts'

const submit = ({ page, press }: Person, name: string): Promise<void> =>
  press(page.getByRole('button', { name }))

/** Returns the width by which the page exceeds its window, in CSS pixels. */
const overflow = (page: Page): Promise<number> =>
  page
    .locator('html')
    .evaluate((html) => html.scrollWidth - html.ownerDocument.defaultView.innerWidth)

const newDevice = ({ app }: Site): Promise<Device> =>
  Device.register(app, {
    name: 'Photo Frame',
    description: 'Shows your notes on the wall of your living room.',
    website: 'https://photo-frame.example/',
    optionalScopes: ['notes:write'],
  })
const scope = 'notes:read notes:write user:email'

describe.skipIf(await lacks('chromium'))('a device without a browser', () => {
  const site = useSite({ deviceAuthorization: true })

  describe.each(ways)('$name', (way) => {
    test('a user logs in, enters the code, unticks optional scopes, and allows the request', async () => {
      const ada = await site.person(way, { isLoggedIn: false })
      const { page } = ada
      const device = await newDevice(site)
      const codes = await device.codes({ scope })
      await page.goto(codes.verification_uri)
      await logIn(ada)
      await page.getByRole('heading', { name: 'Connect a device' }).waitFor()
      await ada.type(page.getByLabel('Code'), codes.user_code.toLowerCase().replace('-', ' '))
      await submit(ada, 'Continue')
      await page.getByRole('heading', { name: 'Allow Photo Frame?' }).waitFor()
      await page.getByText(codes.user_code, { exact: true }).waitFor()
      await page.getByText('has not verified this application').waitFor()
      const write = page.getByLabel('Write and delete your notes')
      expect(await write.isChecked()).toBe(true)
      await ada.press(write)
      await submit(ada, 'Allow')
      await page.getByRole('heading', { name: 'Allowed' }).waitFor()
      const { status, body } = await device.poll(codes)
      expect([status, body.scope]).toEqual([200, 'notes:read user:email'])
      expect(await ping(site.app, body.access_token)).toBe(200)
    })

    test('a user follows the link of the device, and denies the request', async () => {
      const ada = await site.person(way)
      const { page } = ada
      const device = await newDevice(site)
      const codes = await device.codes({ scope })
      await page.goto(codes.verification_uri_complete)
      expect(await page.getByLabel('Code').inputValue()).toBe(codes.user_code)
      await submit(ada, 'Continue')
      await submit(ada, 'Refuse')
      await page.getByRole('heading', { name: 'Refused' }).waitFor()
      expect(refusal(await device.poll(codes))).toBe('400 access_denied')
    })

    test('a user corrects a mistyped code', async () => {
      const ada = await site.person(way)
      const { page } = ada
      const { user_code } = await (await newDevice(site)).codes()
      await ada.open('/oauth/device')
      await ada.type(page.getByLabel('Code'), 'WDJB-MJH1')
      await submit(ada, 'Continue')
      await page.getByRole('alert').getByText('This code is not valid').waitFor()
      await ada.type(page.getByLabel('Code'), user_code)
      await submit(ada, 'Continue')
      await page.getByRole('heading', { name: 'Allow Photo Frame?' }).waitFor()
    })
  })
})

describe.skipIf(await lacks('chromium'))('the pages for a device', () => {
  const site = useSite({ deviceAuthorization: true })

  // every-page.test.ts checks these pages in English on a desktop.
  describe.each([
    ['Arabic', 'ar', 320],
    ['German', 'de', 320],
    ...(isWhole
      ? ([
          ['English', 'en-GB', 1280],
          ['English', 'en-GB', 320],
          ['Arabic', 'ar', 1280],
          ['Japanese', 'ja', 320],
        ] as const)
      : []),
  ] as const)('in %s (%s), %i pixels wide', (_, locale, width) => {
    test('pass axe in light and dark mode, and fit the window', async () => {
      const somebody = await site.person(usual)
      const ada = await somebody.elsewhere({ locale, viewport: { width, height: 800 } })
      const { page } = ada
      await beginSession(ada, site.app)
      const { user_code } = await (await newDevice(site)).codes({ scope })
      const look = async (name: string): Promise<void> => {
        expect(await violations(page), name).toEqual([])
        expect(await overflow(page), name).toBeLessThanOrEqual(0)
      }
      const button = (nth: number) =>
        page.locator('main button[type=submit]:not([aria-hidden])').nth(nth)
      await ada.open('/oauth/device')
      await look('enter')
      // Enter a wrong code in few languages only, because one IP address may enter at most five wrong codes.
      if (locale === 'en-GB' || locale === 'ar') {
        await page.locator('#user_code').fill('WWWW-WWWW')
        await button(0).click()
        await page.getByRole('alert').waitFor()
        await look('wrong')
      }
      await page.locator('#user_code').fill(user_code)
      await button(0).click()
      await page.locator('p.code').waitFor()
      expect(
        await page
          .locator('p.code')
          .evaluate((code) => code.ownerDocument.defaultView.getComputedStyle(code).direction),
      ).toBe('ltr')
      await look('decide')
      await button(0).click()
      await page.getByRole('status').waitFor()
      await look('done')
    })
  })
})
