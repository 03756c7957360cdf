import { describe, expect, test } from 'vitest'
import { lacks } from '../../support/needs.ts'
import { applications, logIn, useSite } from './site.ts'
import { ways } from './ways.ts'

describe.skipIf(await lacks('chromium'))('login and related pages', () => {
  const site = useSite()

  describe.each(ways)('$name', (way) => {
    test('a user logs in after a wrong password, and logs out', async () => {
      const ada = await site.person(way, { isLoggedIn: false })
      const { page } = ada
      await ada.open('/')
      await ada.press(page.getByRole('link', { name: 'Log in' }))
      await logIn(ada, 'not the password')
      await page.getByRole('alert').getByText('is wrong').waitFor()
      expect(await page.getByLabel('E-mail address').inputValue()).toBe(ada.user.email)
      expect(await page.getByLabel('Password').inputValue()).toBe('')
      await logIn(ada)
      await page.getByRole('main').getByText(ada.user.email).waitFor()

      await ada.open(applications)
      await ada.press(page.getByRole('button', { name: 'Log out' }))
      await page.getByText('Nobody is logged in').waitFor()
      await ada.open(applications)
      expect(new URL(page.url()).pathname).toBe('/login')
    })

    test('a user who requests another page logs in, and continues to that page', async () => {
      const ada = await site.person(way, { isLoggedIn: false })
      await ada.open(applications)
      await logIn(ada)
      await ada.page.getByRole('heading', { name: 'Applications', level: 1 }).waitFor()
    })

    test('an authorization request with an unknown client shows the error page instead of redirecting', async () => {
      const { page, open, press } = await site.person(way, { isLoggedIn: false })
      await open('/oauth/authorize?client_id=unknown&response_type=code')
      await page.getByRole('heading', { name: 'This did not work' }).waitFor()
      await page.getByText('most likely an error of the application, not yours').waitFor()
      await page.getByText('invalid_request').waitFor()
      await press(page.getByRole('link', { name: 'To the start page' }))
      await page.waitForURL(`${site.app.issuer}/`)
    })

    test('an unknown path shows a 404 page with a link to the start page', async () => {
      const ada = await site.person(way)
      const { page, open, press } = ada
      for (const path of [
        '/oauth/nothing',
        `${applications}tokens/12345/`,
        `${applications}clients/unknown/`,
        '/admin/overview/',
      ]) {
        await open(path)
        await page.getByRole('heading', { name: 'Not found' }).waitFor()
      }
      await press(page.getByRole('link', { name: 'To the start page' }))
      await page.getByRole('main').getByText(ada.user.email).waitFor()
    })
  })
})
