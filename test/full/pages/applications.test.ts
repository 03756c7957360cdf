import { describe, expect, test } from 'vitest'
import { lacks } from '../../support/needs.ts'
import { Program } from '../../support/processes.ts'
import { tokenRequest } from '../../support/user-agent.ts'
import { startSite } from './client-site.ts'
import { copied } from './copied.ts'
import { applications, beginSession, type Person, useSite } from './site.ts'
import { usual, ways } from './ways.ts'

const done = ({ page }: Person, sentence: string) =>
  page.getByRole('status').getByText(sentence).waitFor()

/** Fills in and sends the form that registers an application. */
const register = async (person: Person, name: string, redirectUris: string): Promise<void> => {
  const { page, type, press } = person
  await type(page.getByLabel('Name', { exact: true }), name)
  await type(page.getByLabel('Redirect URIs'), redirectUris)
  await press(page.getByRole('button', { name: 'Register the application' }))
}

describe.skipIf(await lacks('chromium'))('my applications', () => {
  const site = useSite()

  const isAccepted = async (clientId: string, clientSecret: string): Promise<boolean> => {
    const basic = { clientId, clientSecret }
    const response = await tokenRequest(
      site.app.issuer,
      { grant_type: 'client_credentials' },
      { basic },
    )
    return response.status === 200
  }

  describe.each(ways)('$name', (way) => {
    test('a user registers an application after an error, tries it, changes it, resets its secret, and deletes it [T660]', async () => {
      const ada = await site.person(way)
      const { page, press, type, choose } = ada
      const redirectUri = `${await startSite(() => '<h1>Back at the client</h1>')}/cb`
      await ada.open(applications)
      await page.getByText('You have not registered any application yet.').waitFor()
      await press(page.getByRole('link', { name: 'Register an application' }))

      await type(page.getByLabel('Description'), 'Prints your notes on paper.\nFrom anywhere.')
      await type(page.getByLabel('Website'), 'https://photo-print.example/')
      await register(ada, 'Photo Print', `${redirectUri}\nhttp://photo-print.example/cb`)
      await page.getByRole('alert').getByText('The address must begin with https://').waitFor()
      const uris = page.getByLabel('Redirect URIs')
      expect(await uris.getAttribute('aria-invalid')).toBe('true')
      const besideIt = await uris.getAttribute('aria-describedby')
      expect(besideIt).toContain('redirect_uris-problem')
      const wrong = await page.locator('#redirect_uris-problem').textContent()
      expect(wrong).toContain('Line 2: The address must begin with https://')
      expect(wrong).toContain('http://photo-print.example/cb')
      expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Photo Print')
      expect(await site.app.server.clients.ofOwner(ada.user.id, { after: null, limit: 9 })).toEqual(
        { items: [], next: null },
      )

      await type(uris, redirectUri)
      await press(page.getByRole('button', { name: 'Register the application' }))
      await done(ada, 'The application is registered.')
      const clientId = await copied(ada, way, '#client-id')
      const secret = await copied(ada, way, '#client-secret')
      expect(await isAccepted(clientId, secret)).toBe(true)
      const details = page.getByText('Start the flow, as your application would')
      if (!(await details.isVisible())) await press(page.getByText('Try it', { exact: true }))
      const curl = (await page.locator('#try-it-curl').textContent()) ?? ''
      expect(curl).toContain(`:${secret}`)
      // The flow opens in a new tab, so the page with the secret stays open.
      const opened = page.context().waitForEvent('page')
      await press(details)
      const tab = await opened
      await tab.getByRole('button', { name: 'Allow' }).click()
      await tab.getByRole('heading', { name: 'Back at the client' }).waitFor()
      const code = new URL(tab.url()).searchParams.get('code') ?? ''
      await tab.close()
      await page.locator('#client-secret').waitFor()
      const line = curl.replace('CODE', code)
      await using command = new Program('sh', ['-c', `${line} -s`], { limit: 60_000 })
      await command.exited
      expect(JSON.parse(command.stdout)).toMatchObject({ token_type: 'Bearer' })

      await ada.open(applications)
      await press(page.getByRole('link', { name: 'Photo Print' }))
      await page.getByRole('heading', { name: 'Photo Print' }).waitFor()
      // The page shows the secret only once.
      expect(await page.locator('#client-secret').count()).toBe(0)
      expect(await page.content()).not.toContain(secret)
      await type(page.getByLabel('Name', { exact: true }), 'Photo Book')
      const scopes = page.getByRole('group', { name: 'Default permissions' })
      await press(scopes.getByLabel('Read your notes'))
      await press(page.getByRole('button', { name: 'Save changes' }))
      await done(ada, 'The changes were saved.')
      await page.getByRole('heading', { name: 'Photo Book' }).waitFor()
      expect(await scopes.getByLabel('Read your notes').isChecked()).toBe(true)

      await press(page.getByText('New client secret'))
      await choose(page.getByLabel('Keep the old secret valid for'), '1 hour')
      await press(page.getByRole('button', { name: 'Create a new secret' }))
      await done(ada, 'The application has a new secret.')
      await page.getByText('The former secret is valid until').waitFor()
      const newSecret = await copied(ada, way, '#client-secret')
      expect(newSecret).not.toBe(secret)
      expect(await isAccepted(clientId, newSecret)).toBe(true)
      expect(await isAccepted(clientId, secret)).toBe(true)

      await press(page.getByText('Delete this application'))
      await type(page.getByLabel('To confirm, type the name'), 'Photo Print')
      await press(page.getByRole('button', { name: 'Delete the application' }))
      await page.getByRole('alert').getByText('This is not the name').waitFor()
      await type(page.getByLabel('To confirm, type the name'), 'Photo Book')
      await press(page.getByRole('button', { name: 'Delete the application' }))
      await done(ada, 'The application “Photo Book” was deleted.')
      await page.getByText('You have not registered any application yet.').waitFor()
      expect(await isAccepted(clientId, newSecret)).toBe(false)
    })

    test('a user registers a public application', async () => {
      const ada = await site.person(way)
      await ada.open(`${applications}clients/new/`)
      await ada.press(ada.page.getByRole('radio', { name: 'Native application' }))
      await register(ada, 'Notes on the phone', 'http://localhost/cb')
      await done(ada, 'The application is registered.')
      expect(await ada.page.locator('#client-secret').count()).toBe(0)
    })
  })

  test('a double click registers one application', async () => {
    const ada = await site.person(usual)
    await ada.open(`${applications}clients/new/`)
    const { page } = ada
    await page.getByLabel('Name', { exact: true }).fill('Twice')
    await page.getByLabel('Redirect URIs').fill('https://twice.example/cb')
    await page.getByRole('button', { name: 'Register the application' }).dblclick()
    await done(ada, 'The application is registered.')
    await ada.open(applications)
    expect(await page.getByRole('link', { name: 'Twice' }).count()).toBe(1)
  })

  test('the server returns a form from before the latest login again, with the typed values', async () => {
    const ada = await site.person(usual)
    await ada.open(`${applications}clients/new/`)
    await beginSession(ada, site.app)
    await register(ada, 'Typed before', 'https://typed.example/cb')
    await ada.page
      .getByRole('alert')
      .getByText('Check what you entered, and send it again.')
      .waitFor()
    expect(await ada.page.getByLabel('Redirect URIs').inputValue()).toBe('https://typed.example/cb')
    await ada.press(ada.page.getByRole('button', { name: 'Register the application' }))
    await done(ada, 'The application is registered.')
  })
})
