import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { lacks } from '../../support/needs.ts'
import { clientOf } from '../../support/tokens.ts'
import { violations } from './axe.ts'
import { layoutErrors } from './layout.ts'
import { applications, type Person, useSite } from './site.ts'
import { ways } from './ways.ts'

const save = ({ page, press }: Person, name: string): Promise<void> =>
  press(page.getByRole('button', { name, exact: true }))

/** Returns the text of the focused element. */
const focused = ({ page }: Person): Promise<string> =>
  page.locator(':focus').evaluate((element) => element.textContent.replaceAll(/\s+/g, ' ').trim())

// axe needs scripts.
const errorsOn = async (page: Page): Promise<readonly string[]> => [
  ...(await violations(page)),
  ...(await layoutErrors(page)),
]

const withoutChecksOfTheBrowser = ({ page }: Person): Promise<void> =>
  page.locator('form').evaluateAll((forms) => {
    for (const form of forms) form.noValidate = true
  })

describe.skipIf(await lacks('chromium'))('forms with errors', () => {
  const site = useSite()

  describe.each(ways)('$name', (way) => {
    test('shows five errors at once, focuses the summary, and its links lead to the fields [T1119]', async () => {
      const ada = await site.person(way)
      const { page } = ada
      await ada.open(`${applications}clients/new/`)
      await ada.type(page.locator('#name'), 'x'.repeat(41))
      await page.getByLabel('Description').fill('x'.repeat(4_001))
      await page.getByLabel('Website').fill('ftp://a.example')
      await page.getByLabel('Redirect URIs').fill('http://a.example\nhttps://b.example/#x')
      await withoutChecksOfTheBrowser(ada)
      await save(ada, 'Register the application')
      await page.getByRole('alert').waitFor()
      expect(await page.title()).toMatch(/^Error: Register an application/)
      expect(await page.getByRole('alert').getByRole('listitem').count()).toBe(5)
      expect(await focused(ada)).toMatch(/^Please correct the following: Name The name must not/)
      await ada.press(page.getByRole('alert').getByRole('link', { name: 'Website' }))
      expect(await page.getByLabel('Website').evaluate((field) => field.matches(':focus'))).toBe(
        true,
      )
      expect(await page.getByLabel('Website').inputValue()).toBe('ftp://a.example')
      if (way.hasScripts) expect(await errorsOn(page)).toEqual([])
    })

    test('asks for confirmation before a change removes the verification and the secret, and then saves the change [T1120]', async () => {
      const ada = await site.person(way)
      const { page } = ada
      const { clientId } = await site.app.client({ userId: ada.user.id, name: 'Photo Print' })
      await site.app.server.clients.mark(clientId, { isVerified: true })
      await ada.open(`${applications}clients/${clientId}/`)
      await ada.type(page.locator('#name'), 'Photo Prints')
      await ada.press(page.getByRole('radio', { name: /^Public/ }))
      await save(ada, 'Save changes')
      await page.getByRole('alert').waitFor()
      expect(await focused(ada)).toContain('The verification ends.')
      expect(await focused(ada)).toContain('The client secret becomes invalid.')
      if (way.hasScripts) expect(await violations(page)).toEqual([])
      await save(ada, 'Save anyway')
      await page.getByText('The changes were saved.').waitFor()
      expect(await clientOf(site.app, clientId)).toMatchObject({ isConfidential: false })
    })

    test('shows both versions after a change in another tab [T1121]', async () => {
      const ada = await site.person(way)
      const { page } = ada
      const { clientId } = await site.app.client({ userId: ada.user.id, name: 'Photo Print' })
      await ada.open(`${applications}clients/${clientId}/`)
      await site.app.server.clients.update(clientId, { name: 'Other tab' })
      await ada.type(page.locator('#name'), 'This tab')
      await save(ada, 'Save changes')
      await page.getByRole('alert').waitFor()
      expect(await focused(ada)).toMatch(/Name Saved meanwhile ?Other tab ?Your version ?This tab/)
      if (way.hasScripts) expect(await errorsOn(page)).toEqual([])
      await save(ada, 'Save changes')
      await page.getByText('The changes were saved.').waitFor()
      expect((await clientOf(site.app, clientId)).name).toBe('This tab')
    })
  })
})
