import { describe, expect, test } from 'vitest'
import { lacks } from '../../support/needs.ts'
import { ping } from '../../support/user-agent.ts'
import { type ClientSite, startClientSite } from './client-site.ts'
import { allow, arrives, begin } from './flow.ts'
import { applications, beginSession, type Person, useSite } from './site.ts'
import { type Way, ways } from './ways.ts'

const firefox = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:140.0) Gecko/20100101 Firefox/140.0'

const done = ({ page }: Person, sentence: string) =>
  page.getByRole('status').getByText(sentence).waitFor()

describe.skipIf(await lacks('chromium'))('authorized applications', () => {
  const site = useSite()

  const statuses = ({ tokens }: ClientSite): Promise<number[]> =>
    Promise.all(tokens.map(({ access_token }) => ping(site.app, access_token)))

  /** Returns a user who authorized an application in two browsers. */
  const withTwoDevices = async (way: Way): Promise<{ ada: Person; diary: ClientSite }> => {
    const ada = await site.person(way)
    const diary = await startClientSite(site.app, { name: 'Travel Diary' })
    await begin(ada, diary)
    await allow(ada)
    await arrives(ada, diary)
    const elsewhere = await ada.elsewhere({ userAgent: firefox })
    await beginSession(elsewhere, site.app)
    await begin(elsewhere, diary)
    await arrives(elsewhere, diary)
    expect(await statuses(diary)).toEqual([200, 200])
    return { ada, diary }
  }

  describe.each(ways)('$name', (way) => {
    test('a user revokes an application on one device, then on all devices [T737]', async () => {
      const { ada, diary } = await withTwoDevices(way)
      const { page, press } = ada
      await ada.open(applications)
      await page.getByRole('heading', { name: 'Travel Diary' }).waitFor()
      await press(page.getByText('2 devices'))
      await press(page.getByRole('link', { name: 'Firefox' }))
      await page.getByRole('heading', { name: 'What Travel Diary may do' }).waitFor()
      await page.getByText('Read your notes').waitFor()
      await page.getByText('from 127.0.0.1').waitFor()
      await press(page.getByRole('button', { name: 'Revoke on this device' }))
      await page.getByRole('status').waitFor()
      await page.getByRole('heading', { name: 'Applications', exact: true }).waitFor()
      expect(await statuses(diary)).toEqual([200, 401])

      await press(page.getByText('1 device'))
      expect(await page.getByRole('link', { name: 'Firefox' }).count()).toBe(0)
      await press(page.getByRole('button', { name: 'Revoke Travel Diary' }))
      await done(ada, '“Travel Diary” can no longer act for you.')
      await page.getByText('You have not given any application access').waitFor()
      expect(await statuses(diary)).toEqual([401, 401])

      // The application must request consent again.
      await begin(ada, diary)
      await page.getByRole('heading', { name: 'Allow Travel Diary?' }).waitFor()
    })

    test('a user revokes all applications', async () => {
      const { ada, diary } = await withTwoDevices(way)
      const { page, press } = ada
      const print = await startClientSite(site.app, { name: 'Photo Print' })
      await begin(ada, print)
      await allow(ada)
      await arrives(ada, print)
      await ada.open(`${applications}authorized/`)
      await press(page.getByText('Revoke all applications').first())
      await press(page.getByRole('button', { name: 'Revoke all applications' }))
      await done(ada, 'No application can act for you any more.')
      expect([...(await statuses(diary)), ...(await statuses(print))]).toEqual([401, 401, 401])
    })
  })
})
