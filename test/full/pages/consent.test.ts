import { describe, expect, test } from 'vitest'
import { lacks } from '../../support/needs.ts'
import { en } from '../../support/texts.ts'
import { ping } from '../../support/user-agent.ts'
import { startClientSite } from './client-site.ts'
import { counting } from './effort.ts'
import { allow, arrives, begin } from './flow.ts'
import { logIn, type Person, useSite } from './site.ts'
import { isWhole, taskWays, ways } from './ways.ts'

/** Returns the result that the page of the client displays. */
const result = ({ page }: Person) => page.getByRole('status').textContent()

describe.skipIf(await lacks('chromium'))('consent to the request of a real OAuth client', () => {
  const site = useSite()

  describe.each(ways)('$name', (way) => {
    // Each way to use the pages tests one kind of client. `npm run test:nodes` tests both kinds with every way.
    const program = ['a program on this computer', undefined] as const
    const website = ['an https site', 'photo-print.example'] as const
    test.each(isWhole ? [program, website] : way.hasScripts ? [program] : [website])(
      'a user logs in, allows the request of %s, and returns to the client',
      async (_, host) => {
        const ada = await site.person(way, { isLoggedIn: false })
        const client = await startClientSite(site.app, { ...(host !== undefined && { host }) })
        const { page } = ada
        await begin(ada, client)
        await logIn(ada)
        await page.getByRole('heading', { name: 'Allow Photo Print?' }).waitFor()
        await page.getByText('has not verified this application').waitFor()
        await page.getByText('Read your notes').waitFor()
        expect(await page.getByRole('main').textContent()).toContain(client.host)
        await allow(ada)
        await arrives(ada, client)
        expect(await result(ada)).toBe('notes:read user:email')
        expect(await ping(site.app, client.tokens[0]?.access_token ?? '')).toBe(200)

        // The consent is stored, so the next flow shows no consent page.
        await begin(ada, client)
        await arrives(ada, client)
        expect(client.tokens).toHaveLength(2)

        // A flow in another browser requires a login, but also shows no consent page.
        const elsewhere = await ada.elsewhere()
        await begin(elsewhere, client)
        await logIn(elsewhere)
        await arrives(elsewhere, client)
      },
    )

    test('a user denies the request', async () => {
      const ada = await site.person(way)
      const client = await startClientSite(site.app, { host: 'refused.example' })
      await begin(ada, client)
      await ada.press(ada.page.getByRole('button', { name: 'Refuse' }))
      await ada.page.getByRole('heading', { name: 'No access' }).waitFor()
      expect(await result(ada)).toBe('access_denied')
      expect(client.tokens).toEqual([])
    })

    test('requests consent again if the client requests more scopes', async () => {
      const ada = await site.person(way)
      const client = await startClientSite(site.app)
      for (const scope of ['notes:read', 'notes:read notes:write']) {
        await begin(ada, client, scope)
        await allow(ada)
        await arrives(ada, client)
        expect(await result(ada)).toBe(scope)
      }
    })
  })

  describe.each(taskWays)('$name', (way) => {
    test('grants only the optional scopes that remain ticked [T2165]', async () => {
      const ada = await site.person(way)
      const client = await startClientSite(site.app, {
        scope: 'notes:read notes:write user:email',
        optionalScopes: ['notes:write', 'user:email'],
      })
      await begin(ada, client)
      const write = ada.page.getByLabel('Write and delete your notes')
      expect(await write.isChecked()).toBe(true)
      const { hands, report } = counting(ada, way)
      await hands.press(write)
      expect(await write.isChecked()).toBe(false)
      await allow({ ...ada, ...hands })
      await arrives(ada, client)
      report('Consent refused in part', { actions: 2, keys: 10 })
      expect(await result(ada)).toBe('notes:read user:email')
    })
  })

  test('Enter on an optional scope decides nothing, and keeps the choice', async () => {
    const [way] = ways
    if (!way) throw new Error('There is no way to use the pages.')
    const ada = await site.person(way)
    const client = await startClientSite(site.app, {
      scope: 'notes:read notes:write user:email',
      optionalScopes: ['notes:write', 'user:email'],
    })
    await begin(ada, client)
    const write = ada.page.getByLabel('Write and delete your notes')
    await write.uncheck()
    await write.press('Enter')
    await ada.page.getByRole('alert').waitFor()
    expect(await ada.page.getByRole('alert').textContent()).toBe(en.consent.undecided)
    expect(await write.isChecked()).toBe(false)
    expect(client.tokens).toEqual([])
    await allow(ada)
    await arrives(ada, client)
    expect(await result(ada)).toBe('notes:read user:email')
  })
})
