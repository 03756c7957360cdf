import { describe, expect, test } from 'vitest'
import { lacks } from '../../support/needs.ts'
import { ping } from '../../support/user-agent.ts'
import { startClientSite } from './client-site.ts'
import { allow, arrives, begin } from './flow.ts'
import { administration, type Person, useSite } from './site.ts'
import { ways } from './ways.ts'

const done = ({ page }: Person, sentence: string) =>
  page.getByRole('status').getByText(sentence).waitFor()

/** Searches the list of applications or of tokens. */
const find = async ({ page, press, type }: Person, list: string, text: string): Promise<void> => {
  const form = page.getByRole('search', { name: `Search ${list}` })
  await type(form.getByRole('searchbox'), text)
  await press(form.getByRole('button', { name: 'Search' }))
  await form.getByRole('link', { name: 'Show all' }).waitFor()
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
        const row = page.getByRole('listitem').filter({
          has: page.getByRole('heading', { name, exact: true }),
          hasText: client.clientId,
        })
        await press(row.getByRole('button', { name: label, exact: true }))
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

      await find(admin, 'applications', grace.user.email)
      await press(page.getByText(`Delete ${name}`, { exact: true }).first())
      await type(page.getByLabel('To confirm, type its name'), 'Something else')
      await press(page.getByRole('button', { name: 'Delete', exact: true }).first())
      await page.getByRole('alert').getByText('This is not the name').waitFor()
      await find(admin, 'applications', grace.user.email)
      await press(page.getByText(`Delete ${name}`, { exact: true }).first())
      await type(page.getByLabel('To confirm, type its name'), name)
      await press(page.getByRole('button', { name: 'Delete', exact: true }).first())
      await done(admin, `The application “${name}” was deleted.`)
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
      await find(admin, 'tokens', grace.user.email)
      await admin.press(admin.page.getByText(`Delete ${name}`, { exact: true }))
      await admin.press(admin.page.getByRole('button', { name: 'Delete', exact: true }))
      await done(admin, `The token “${name}” was deleted.`)
      expect(await ping(site.app, accessToken)).toBe(401)
    })
  })
})
