import { describe, expect, test } from 'vitest'
import { lacks } from '../../support/needs.ts'
import { Program } from '../../support/processes.ts'
import { ping } from '../../support/user-agent.ts'
import { copied } from './copied.ts'
import { applications, type Person, useSite } from './site.ts'
import { ways } from './ways.ts'

const done = ({ page }: Person, sentence: string) =>
  page.getByRole('status').getByText(sentence).waitFor()

/** Returns the date that is the given number of days after today. */
const dayIn = (days: number): string =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

describe.skipIf(await lacks('chromium'))('my personal tokens', () => {
  const site = useSite()

  const scopesOf = async (value: string): Promise<unknown> => {
    const headers = { authorization: `Bearer ${value}` }
    const response = await fetch(`${site.app.issuer}/oauth/info`, { headers })
    return ((await response.json()) as { scopes: unknown }).scopes
  }

  describe.each(ways)('$name', (way) => {
    test('a user creates a token after an error, uses it, changes it, rotates it, and deletes it [T663]', async () => {
      const ada = await site.person(way)
      const { page, press, type, typeDay, choose } = ada
      await ada.open(applications)
      await page.getByText('You have no personal tokens yet.').waitFor()
      await press(page.getByRole('link', { name: 'Create a token' }))
      // The browser accepts a name that consists of spaces, so the server must reject it.
      await type(page.getByLabel('Name'), ' ')
      await press(page.getByRole('radio', { name: 'On a day' }))
      await typeDay(page.locator('#expires'), dayIn(40))
      await press(page.getByLabel('Read your notes'))
      await press(page.getByRole('button', { name: 'Create the token' }))
      await page.getByRole('alert').getByText('Enter a name.').waitFor()
      expect(await page.getByLabel('Name').getAttribute('aria-invalid')).toBe('true')
      expect(await page.locator('#expires').inputValue()).toBe(dayIn(40))
      expect(await page.getByLabel('Read your notes').isChecked()).toBe(true)
      await type(page.getByLabel('Name'), 'Backup script')
      await press(page.getByRole('button', { name: 'Create the token' }))
      await done(ada, 'The token was created.')
      await page.getByText('It is not shown again').waitFor()
      const value = await copied(ada, way, '#access-token')
      const line = await copied(ada, way, '#curl')
      await using command = new Program('sh', ['-c', `${line} -s`], { limit: 60_000 })
      await command.exited
      expect(JSON.parse(command.stdout)).toEqual({ ping: 'pong' })

      await ada.open(applications)
      await page.getByRole('region', { name: 'My personal tokens' }).getByText('from 127').waitFor()
      await press(page.getByRole('link', { name: 'Backup script' }))
      await page.getByRole('heading', { name: 'Backup script' }).waitFor()
      expect(await page.content()).not.toContain(value)
      await type(page.getByLabel('Name'), 'Nightly backup')
      await press(page.getByLabel('Read your notes'))
      await press(page.getByLabel('Write and delete your notes'))
      await press(page.getByRole('button', { name: 'Save changes' }))
      await done(ada, 'The changes were saved.')
      await page.getByRole('heading', { name: 'Nightly backup' }).waitFor()
      expect(await page.getByLabel('Read your notes').isChecked()).toBe(false)
      expect(await scopesOf(value)).toEqual(['notes:write'])

      await press(page.getByText('New value', { exact: true }))
      await choose(page.getByLabel('Keep the old value valid for'), '1 day')
      await press(page.getByRole('button', { name: 'Create a new value' }))
      await done(ada, 'The token has a new value.')
      await page.getByText('The former value is valid until').waitFor()
      const newValue = await copied(ada, way, '#access-token')
      expect(newValue).not.toBe(value)
      expect(await ping(site.app, newValue)).toBe(200)
      expect(await ping(site.app, value)).toBe(200)

      await press(page.getByText('Delete this token'))
      await press(page.getByRole('button', { name: 'Delete the token' }))
      await done(ada, 'The token “Nightly backup” was deleted.')
      await page.getByText('You have no personal tokens yet.').waitFor()
      expect(await ping(site.app, newValue)).toBe(401)
      expect(await ping(site.app, value)).toBe(401)
    })
  })
})
