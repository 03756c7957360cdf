import { describe, expect, test } from 'vitest'
import { lacks } from '../../support/needs.ts'
import { ping } from '../../support/user-agent.ts'
import { violations } from './axe.ts'
import { copied } from './copied.ts'
import { counting } from './effort.ts'
import { layoutErrors } from './layout.ts'
import { type Person, useSite } from './site.ts'
import { desktop, taskWays, usual, ways } from './ways.ts'

const settings = '/account/settings/'
const tokens = `${settings}applications/tokens/`

/** Creates 50 applications, and 300 personal tokens. */
const fill = async ({ user }: Person, { server }: ReturnType<typeof useSite>['app']) =>
  server.transaction(async (tx) => {
    for (let index = 1; index <= 50; index += 1)
      await tx.clients.create({ name: `Application ${index}`, userId: user.id, redirectUris: [] })
    const made = []
    for (let index = 1; index <= 300; index += 1)
      made.push(
        await tx.tokens.createPersonal(`Script ${index}`, user.id, {
          scopes: ['notes:read', 'notes:write'],
          expiresIn: 86_400 * index,
        }),
      )
    return made
  })

// For comparison: at commit 6b1dbd8, one page listed all tokens and applications.
// With only the keyboard, creating a token took 3 actions, 53 keys and 7.2 s. Deleting one of 300 tokens took
// 9 actions, 424 keys and 40.3 s. On a phone without JavaScript, creating a token took 3 actions and 0.6 s, and
// deleting a token took 9 actions and 2.2 s.
describe.skipIf(await lacks('chromium'))('a user with 50 applications and 300 tokens', () => {
  const site = useSite()

  describe.each(taskWays)('$name', (way) => {
    test('creates a token within a minute [T1219]', async () => {
      const ada = await site.person(way)
      await fill(ada, site.app)
      const { page } = ada
      await ada.open(settings)
      const { hands, report } = counting(ada, way)
      await hands.press(page.getByRole('link', { name: 'Create a token' }))
      await hands.type(page.getByLabel('Name'), 'Backup')
      await hands.press(page.getByRole('button', { name: 'Create the token' }))
      await page.getByText('It is not shown again').waitFor()
      report('A token in a minute', { actions: 3, keys: 30 })
      expect(await ping(site.app, await copied(ada, way, '#access-token'))).toBe(200)
      await page.getByText('90 days').first().waitFor({ state: 'attached' })
    })

    test('finds and deletes one of 300 tokens, and can undo the deletion [T1220]', async () => {
      const ada = await site.person(way)
      const made = await fill(ada, site.app)
      const wanted = made[149]?.accessToken ?? ''
      const { page } = ada
      await ada.open(settings)
      const { hands, report } = counting(ada, way)
      await hands.press(
        page.getByRole('navigation', { name: 'Account' }).getByRole('link', { name: 'Tokens' }),
      )
      await hands.type(page.getByRole('searchbox'), 'script 150')
      await hands.press(page.getByRole('button', { name: 'Apply' }))
      await hands.press(page.getByRole('button', { name: 'Delete Script 150' }))
      await page.getByRole('status').getByText('“Script 150” was deleted').waitFor()
      report('One of 300 tokens found and ended', { actions: 4, keys: 25 })
      expect(await ping(site.app, wanted)).toBe(401)
      expect(page.url()).toContain('q=script')
      await hands.press(page.getByRole('button', { name: 'Undo' }))
      await page.getByRole('status').getByText('1 token is valid again').waitFor()
      expect(await ping(site.app, wanted)).toBe(200)
    })
  })

  describe.each(ways)('$name', (way) => {
    test('selects two tokens, and deletes both with one confirmation [T1221]', async () => {
      const ada = await site.person(way)
      const made = await fill(ada, site.app)
      const { page, press, choose } = ada
      await ada.open(tokens)
      await choose(page.getByLabel('Show'), 'Never used')
      await press(page.getByRole('button', { name: 'Apply' }))
      await page.getByRole('heading', { name: '300 entries' }).waitFor()
      await press(page.getByLabel('Select Script 299'))
      await press(page.getByLabel('Select Script 298'))
      await press(page.getByRole('button', { name: 'Delete selected tokens' }))
      await page.getByRole('heading', { name: 'Delete 2 tokens?' }).waitFor()
      await press(page.getByRole('button', { name: 'Delete selected tokens' }))
      await page.getByRole('status').getByText('2 tokens were deleted').waitFor()
      const statuses = [297, 298, 299].map((index) =>
        ping(site.app, made[index]?.accessToken ?? ''),
      )
      expect(await Promise.all(statuses)).toEqual([401, 401, 200])
    })

    test('goes to the next page and back, and the focus stays at the list [T1222]', async () => {
      const ada = await site.person(way)
      await fill(ada, site.app)
      const { page, press } = ada
      const top = () => page.locator('#list').evaluate((list) => list.getBoundingClientRect().top)
      await ada.open(tokens)
      await press(page.getByRole('link', { name: 'Next page' }))
      await page.getByRole('heading', { name: 'Script 275', exact: true }).waitFor()
      expect(await top()).toBeLessThan(100)
      expect(await page.locator('#list').evaluate((list) => list.matches(':focus'))).toBe(true)
      await press(page.getByRole('link', { name: 'Previous page' }))
      await page.getByRole('heading', { name: 'Script 300', exact: true }).waitFor()
      expect(await top()).toBeLessThan(100)
    })

    test('chooses a day, and the page shows this day in the time zone of the user [T1223]', async () => {
      const ada = await site.person(way)
      const far = await ada.elsewhere({ timezoneId: 'America/Los_Angeles' })
      const cookies = await ada.page.context().cookies()
      await far.page.context().addCookies(cookies)
      const { page, press, type, typeDay } = far
      await far.open(`${tokens}new/`)
      await type(page.getByLabel('Name'), 'Backup')
      await press(page.getByRole('radio', { name: 'On a day' }))
      const day = new Date(Date.now() + 40 * 86_400_000).toISOString().slice(0, 10)
      await typeDay(page.locator('#expires'), day)
      await press(page.getByRole('button', { name: 'Create the token' }))
      const shown = page.locator('dd time').nth(0)
      await shown.waitFor()
      const date = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeZone: 'UTC' })
      expect(await shown.textContent()).toContain(date.format(new Date(day)))
    })
  })

  test('sees rows of at most 72 px, and pages of at most 2,400 px [T1224]', async () => {
    const ada = await site.person(usual)
    await fill(ada, site.app)
    const { page } = ada
    await page.setViewportSize(desktop.viewport ?? { width: 1280, height: 800 })
    for (const list of ['', 'tokens/', 'clients/', 'authorized/']) {
      await ada.open(`${settings}applications/${list}`)
      const heights = await page
        .locator('.rows > li')
        .evaluateAll((rows) => rows.map((row) => row.getBoundingClientRect().height))
      const height = await page.locator('html').evaluate((root) => root.scrollHeight)
      console.info(`${list}: ${height} px, rows of up to ${Math.max(0, ...heights)} px`)
      expect(Math.max(0, ...heights), list).toBeLessThanOrEqual(72)
      expect(height, list).toBeLessThanOrEqual(2_400)
    }
  })

  test('sees the link that ends a search in line with the button beside it [T3177]', async () => {
    const ada = await site.person(usual)
    await fill(ada, site.app)
    const { page } = ada
    const middle = (selector: string): Promise<number> =>
      page.locator(selector).evaluate((element) => {
        const { top, bottom } = element.getBoundingClientRect()
        return (top + bottom) / 2
      })
    for (const [path, link] of [
      [`${settings}activity/?since=2001-01-01`, 'Show all'],
      [`${tokens}?q=script`, 'Show everything'],
    ] as const) {
      await ada.open(path)
      const ends = `form.filter a:text("${link}")`
      expect(Math.abs((await middle(ends)) - (await middle('form.filter button')))).toBeLessThan(2)
    }
  })

  test('sees every state of the lists pass the checks of axe, also at 320 px and 400 % [T1225]', async () => {
    const ada = await site.person(usual)
    const made = await fill(ada, site.app)
    const { page } = ada
    const ids = made.slice(0, 3).map(({ id }) => `id=${id}`)
    const found: string[] = []
    for (const path of [
      tokens,
      `${tokens}?q=nothing`,
      `${tokens}?filter=expiring&sort=expires`,
      `${tokens}selected/?${ids.join('&')}`,
      `${tokens}selected/`,
      `${settings}applications/clients/`,
      `${settings}applications/authorized/`,
      `${tokens}new/?name=x&scopes=notes:read`,
    ]) {
      await page.setViewportSize({ width: 1280, height: 800 })
      await ada.open(path)
      await page.waitForLoadState('load')
      const errors = [...(await violations(page)), ...(await layoutErrors(page))]
      found.push(...errors.map((line) => `${path}: ${line}`))
    }
    expect(found).toEqual([])
  })
})
