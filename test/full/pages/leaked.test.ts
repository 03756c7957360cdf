import { describe, expect, test } from 'vitest'
import { lacks } from '../../support/needs.ts'
import { ping } from '../../support/user-agent.ts'
import { violations } from './axe.ts'
import { counting } from './effort.ts'
import { layoutErrors } from './layout.ts'
import { type Person, useSite } from './site.ts'
import { taskWays, ways } from './ways.ts'

const done = ({ page }: Person, sentence: string) =>
  page.getByRole('status').getByText(sentence).waitFor()

describe.skipIf(await lacks('chromium'))('a leaked secret', () => {
  const site = useSite()

  describe.each(taskWays)('$name', (way) => {
    test('an administrator pastes a leaked value and revokes it, with four key presses or clicks [T1370]', async () => {
      const [admin, grace] = [await site.person(way, { isAdmin: true }), await site.person(way)]
      const { accessToken } = await site.app.server.tokens.createPersonal('Backup', grace.user.id)
      await admin.open('/')
      const { page } = admin
      await page.goto(`${site.app.issuer}/account/settings/applications/`)
      const { hands, report } = counting(admin, way)
      await hands.press(page.getByRole('link', { name: 'Leaked secret' }))
      await hands.type(page.getByLabel('The leaked secret'), `Authorization: Bearer ${accessToken}`)
      await hands.press(page.getByRole('button', { name: 'Look up' }))
      await page.getByRole('heading', { name: 'Personal token Backup' }).waitFor()
      expect(await page.getByRole('main').textContent()).toContain(grace.user.email)
      await hands.press(page.getByText('End this secret', { exact: true }).first())
      await hands.press(page.getByRole('button', { name: 'End this secret' }))
      await done(admin, 'The secret no longer works.')
      report('A leaked value ended, found by pasting', { actions: 5, keys: 30 })
      expect(await ping(site.app, accessToken)).toBe(401)
      for (const text of [page.url(), await page.content()]) expect(text).not.toContain(accessToken)
    })
  })

  describe.each(ways)('$name', (way) => {
    test('an administrator who pastes a valid value into the search finds it with three more key presses or clicks [T1371]', async () => {
      const [admin, grace] = [await site.person(way, { isAdmin: true }), await site.person(way)]
      const { accessToken } = await site.app.server.tokens.createPersonal('Backup', grace.user.id)
      await admin.open('/admin/tokens/')
      const { page } = admin
      const addresses: string[] = []
      page.on('request', (request) => addresses.push(request.url()))
      const form = page.getByRole('search', { name: 'Search tokens' })
      const { hands, report } = counting(admin, way)
      await hands.type(form.getByRole('searchbox'), accessToken)
      await hands.press(form.getByRole('button', { name: 'Apply' }))
      await page.getByRole('heading', { name: 'Personal token Backup' }).waitFor()
      await hands.press(page.getByText('End this secret', { exact: true }).first())
      await hands.press(page.getByRole('button', { name: 'End this secret' }))
      await done(admin, 'The secret no longer works.')
      report('A leaked value ended, found by the search', { actions: 4, keys: 40 })
      expect(await ping(site.app, accessToken)).toBe(401)
      expect(addresses.length).toBeGreaterThan(1)
      expect(addresses.filter((address) => address.includes(accessToken))).toEqual([])
    })

    test('a user revokes an own value; the value of another user is reported as unknown and remains valid [T1372]', async () => {
      const [ada, grace] = [await site.person(way), await site.person(way)]
      const { tokens } = site.app.server
      const mine = await tokens.createPersonal('Mine', ada.user.id)
      const theirs = await tokens.createPersonal('Theirs', grace.user.id)
      const { page } = ada
      await ada.open('/account/settings/leaked/')
      await ada.type(page.getByLabel('The leaked secret'), theirs.accessToken)
      await ada.press(page.getByRole('button', { name: 'Look up' }))
      await page.getByRole('alert').getByText('This text contains none of your secrets').waitFor()
      expect(await page.getByLabel('The leaked secret').inputValue()).toBe('')
      await ada.type(page.getByLabel('The leaked secret'), `curl -u x:${mine.accessToken}`)
      await ada.press(page.getByRole('button', { name: 'Look up' }))
      await ada.press(page.getByText('End all my tokens', { exact: true }).first())
      await ada.press(page.getByRole('button', { name: 'End all my tokens' }))
      await done(ada, 'All your tokens were ended.')
      expect(await ping(site.app, mine.accessToken)).toBe(401)
      expect(await ping(site.app, theirs.accessToken)).toBe(200)
    })

    test('an administrator finds and deactivates a user, and the activity shows the deactivation [T1373]', async () => {
      const [admin, grace] = [await site.person(way, { isAdmin: true }), await site.person(way)]
      const { page } = admin
      await admin.open('/admin/overview/')
      await admin.press(page.getByRole('link', { name: 'Users', exact: true }))
      await admin.type(page.getByRole('searchbox'), grace.user.email)
      await admin.press(page.getByRole('button', { name: 'Search' }))
      await admin.press(page.getByRole('link', { name: grace.user.email }))
      await admin.press(page.getByText('Deactivate the user', { exact: true }).first())
      await admin.press(page.getByRole('button', { name: 'Deactivate the user' }))
      await done(admin, `${grace.user.email} was deactivated.`)
      await grace.open('/account/settings/applications/')
      expect(grace.page.url()).toContain('/login')
      await admin.press(page.getByRole('link', { name: 'All activity of this user' }))
      const acts = page
        .getByRole('main')
        .getByRole('listitem')
        .filter({ hasText: 'Deactivated a user' })
      expect(await acts.first().textContent()).toContain(admin.user.email)
    })
  })

  // 400 % zoom on a screen of 1,280 pixels leaves 320 CSS pixels.
  test.each(['en-GB', 'ar'])('fits 320 pixels, and passes axe, in %s [T1374]', async (locale) => {
    const [way] = ways
    if (!way) throw new Error('There is no way.')
    const narrow = { ...way, options: { viewport: { width: 320, height: 640 }, locale } }
    const admin = await site.person(narrow, { isAdmin: true })
    const { accessToken } = await site.app.server.tokens.createPersonal(
      'W'.repeat(40),
      admin.user.id,
    )
    const { page } = admin
    await admin.open('/account/settings/leaked/')
    await page.locator('#credential').fill(accessToken)
    await page.locator('main button[type=submit]').click()
    await page.locator('#credential-0').waitFor()
    await page.locator('summary').first().click()
    const found: string[] = []
    const look = async (): Promise<void> => {
      const width = await page.evaluate('document.documentElement.scrollWidth')
      if (Number(width) > 320) found.push(`${page.url()} is ${width} pixels wide.`)
      found.push(...(await violations(page)), ...(await layoutErrors(page)))
      await page.setViewportSize({ width: 320, height: 640 })
    }
    await look()
    for (const path of [
      '/admin/overview/',
      '/admin/users/',
      `/admin/users/${admin.user.id}/`,
      '/admin/activity/',
      '/account/settings/activity/',
    ]) {
      await admin.open(path)
      await look()
    }
    expect(found).toEqual([])
  })
})
