import { beforeAll, describe, expect, test } from 'vitest'
import { lacks } from '../../support/needs.ts'
import type { TestServer } from '../../support/server.ts'
import { ping } from '../../support/user-agent.ts'
import { violations } from './axe.ts'
import { startClientSite } from './client-site.ts'
import { allow, arrives, begin } from './flow.ts'
import { layoutErrors } from './layout.ts'
import { administration, type Person, useSite } from './site.ts'
import { desktop, phone, usual, ways } from './ways.ts'

const done = ({ page }: Person, sentence: string) =>
  page.getByRole('status').getByText(sentence).waitFor()

/** Searches the list of applications or of tokens. */
const find = async ({ page, press, type }: Person, list: string, text: string): Promise<void> => {
  const form = page.getByRole('search', { name: `Search ${list}` })
  await type(form.getByRole('searchbox'), text)
  await press(form.getByRole('button', { name: 'Apply' }))
  await form.getByRole('link', { name: 'Show everything' }).waitFor()
}

/** Creates 100 applications with a token each, and 900 personal tokens. */
const fill = async ({ server, user }: TestServer): Promise<void> => {
  const batch = 250
  for (let from = 0; from < 1_000; from += batch)
    await server.transaction(async (tx) => {
      for (let row = from; row < from + batch; row += 1) {
        if (row % 10 > 0) {
          const scopes = ['notes:read', 'notes:write']
          await tx.tokens.createPersonal(`Script ${row}`, user.id, { scopes, expiresIn: row * 600 })
          continue
        }
        const { client } = await tx.clients.create({
          name: `A rather long name of application ${row}`,
          userId: user.id,
          redirectUris: ['https://client.example/cb'],
        })
        const refreshable = row % 20 === 0
        const scopes = ['notes:read', 'notes:write']
        await tx.tokens.issue({ type: 'user', client, subject: user, scopes, refreshable })
      }
    })
}

describe.skipIf(await lacks('chromium'))('administration', () => {
  const site = useSite()

  describe.each(ways)('$name', (way) => {
    test('an administrator finds, verifies, disables, enables and deletes an application', async () => {
      const [admin, grace] = [await site.person(way, { isAdmin: true }), await site.person(way)]
      const { page, press, type } = admin
      const name = `Free Money ${grace.user.id}`
      const client = await startClientSite(site.app, { name, userId: grace.user.id })
      await begin(grace, client)
      await allow(grace)
      await arrives(grace, client)
      const token = client.tokens[0]?.access_token ?? ''

      const act = async (label: string): Promise<void> => {
        await admin.open(administration)
        await find(admin, 'applications', name)
        await press(page.getByRole('link', { name, exact: true }))
        await press(page.getByRole('button', { name: label, exact: true }))
      }
      await act('Verify')
      await done(admin, `“${name}” is shown as verified.`)
      await begin(grace, client, 'notes:write')
      await grace.page.getByText('Verified').waitFor()
      expect(await grace.page.getByText('has not verified').count()).toBe(0)

      await act('Disable')
      await done(admin, `“${name}” was disabled`)
      expect(await ping(site.app, token)).toBe(401)
      await act('Enable')
      await done(admin, `“${name}” is enabled again.`)
      expect(await ping(site.app, token)).toBe(200)

      // The list itself disables and enables an application, and keeps the search.
      await admin.open(administration)
      await find(admin, 'applications', grace.user.email)
      await press(page.getByRole('button', { name: `Disable: ${name}` }))
      await done(admin, `“${name}” was disabled`)
      await press(page.getByRole('button', { name: `Enable: ${name}` }))
      await done(admin, `“${name}” is enabled again.`)

      await press(page.getByRole('link', { name, exact: true }))
      await press(page.getByText(`Delete ${name}`, { exact: true }))
      await type(page.getByLabel('To confirm, type its name'), 'Something else')
      await press(page.getByRole('button', { name: 'Delete', exact: true }))
      await page.getByRole('alert').getByText('This is not the name').waitFor()
      await type(page.getByLabel('To confirm, type its name'), name)
      await press(page.getByRole('button', { name: 'Delete', exact: true }))
      await done(admin, `The application “${name}” was deleted.`)
      expect(await page.getByRole('searchbox').inputValue()).toBe(grace.user.email)
      expect(await ping(site.app, token)).toBe(401)

      await press(page.getByRole('link', { name: 'Recent activity' }))
      await page.getByRole('heading', { name: 'Recent activity', level: 1 }).waitFor()
      const acts = page.getByRole('main').getByRole('listitem').filter({ hasText: name })
      const [latest = ''] = await acts.allTextContents()
      expect(latest).toContain('Deleted an application')
      expect(latest).toContain(admin.user.email)
    })

    test('an administrator finds and deletes a token', async () => {
      const [admin, grace] = [await site.person(way, { isAdmin: true }), await site.person(way)]
      const name = `Lost script ${grace.user.id}`
      const { tokens } = site.app.server
      const { accessToken } = await tokens.createPersonal(name, grace.user.id)
      await admin.open('/account/settings/applications/')
      await admin.press(admin.page.getByRole('link', { name: 'Administration' }))
      const main = admin.page.getByRole('main')
      await admin.press(main.getByRole('link', { name: 'Tokens', exact: true }))
      await find(admin, 'tokens', grace.user.email)
      await admin.press(admin.page.locator('.rows summary'))
      await admin.press(admin.page.getByRole('button', { name: `Delete ${name} #` }))
      await done(admin, `The token “${name}” was deleted.`)
      expect(await admin.page.getByRole('searchbox').inputValue()).toBe(grace.user.email)
      expect(await ping(site.app, accessToken)).toBe(401)
    })
  })
})

describe.skipIf(await lacks('chromium'))('with 100 applications and 1,000 tokens', () => {
  const site = useSite()
  beforeAll(async () => {
    await fill(site.app)
    for (let person = 0; person < 30; person += 1)
      await site.app.newUser({ email: `list-${person}@example.org` })
  })
  const lists = [
    administration,
    `${administration}?sort=name&filter=unverified`,
    '/admin/tokens/',
    '/admin/tokens/?kind=personal&sort=expires',
    '/admin/tokens/?kind=refresh',
    '/admin/users/',
    '/admin/activity/',
    '/admin/overview/',
  ]

  test('each list of the administration has rows of at most 72 px and pages of at most 2,400 px [T3004]', async () => {
    const admin = await site.person(usual, { isAdmin: true })
    const { page } = admin
    await page.setViewportSize(desktop.viewport ?? { width: 1280, height: 800 })
    const found: string[] = []
    for (const path of lists) {
      await admin.open(path)
      await page.waitForLoadState('load')
      const rows = await page
        .locator('.rows > li')
        .evaluateAll((all) => all.map((row) => row.getBoundingClientRect().height))
      const height = await page.locator('html').evaluate((root) => root.scrollHeight)
      const highest = Math.max(0, ...rows)
      console.info(`${path}: ${height} px, ${rows.length} rows of up to ${highest} px`)
      if (height > 2_400 || highest > 72) found.push(`${path}: ${height} px, ${highest} px`)
      if (path.includes('/applications/') || path.includes('/tokens/'))
        expect(rows, path).toHaveLength(25)
    }
    expect(found).toEqual([])
  })

  test('each list fits on a phone, and passes the checks of axe [T3005]', async () => {
    const { page } = await site.person({ ...usual, options: phone }, { isAdmin: true })
    const found: string[] = []
    for (const path of lists) {
      await page.setViewportSize(phone.viewport ?? { width: 360, height: 740 })
      await page.goto(`${site.app.issuer}${path}`)
      await page.waitForLoadState('load')
      const width = await page
        .locator('html')
        .evaluate((root) => root.scrollWidth - root.clientWidth)
      if (width > 0) found.push(`${path}: ${width} px too wide`)
      const errors = [...(await violations(page)), ...(await layoutErrors(page))]
      found.push(...errors.map((line) => `${path}: ${line}`))
    }
    expect(found).toEqual([])
  })

  test('an administrator goes to the next page and back, and the focus stays at the list [T3006]', async () => {
    const admin = await site.person(usual, { isAdmin: true })
    const { page, press } = admin
    const list = page.locator('#list')
    const top = () => list.evaluate((heading) => heading.getBoundingClientRect().top)
    for (const path of ['/admin/tokens/?kind=personal&sort=name', `${administration}?sort=name`]) {
      await admin.open(path)
      const first = await page.locator('.rows h3').first().textContent()
      await press(page.getByRole('link', { name: 'Next page' }))
      await page.getByRole('link', { name: 'Previous page' }).waitFor()
      expect(await top()).toBeLessThan(100)
      expect(await list.evaluate((heading) => heading.matches(':focus'))).toBe(true)
      expect(await page.locator('.rows h3').first().textContent()).not.toBe(first)
      await press(page.getByRole('link', { name: 'Previous page' }))
      await expect.poll(() => page.locator('.rows h3').first().textContent()).toBe(first)
      expect(page.url()).toContain('sort=name')
    }
  })
})
