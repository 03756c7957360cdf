import { Scope } from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import { Device } from '../../support/device.ts'
import { lacks } from '../../support/needs.ts'
import { pushed, referenceUrl } from '../../support/pushed-request.ts'
import { testScopes } from '../../support/scopes.ts'
import { TestClient, UserAgent } from '../../support/user-agent.ts'
import { violations } from './axe.ts'
import { touch } from './hands.ts'
import { layoutErrors } from './layout.ts'
import { type Person, useSite } from './site.ts'
import type { Way } from './ways.ts'

const screen = { width: 390, height: 844 }
const onPhone: Way = {
  name: 'on a phone',
  options: { viewport: screen, isMobile: true, hasTouch: true },
  hands: touch,
  hasScripts: true,
}
const scope = 'notes:write notes:read user:email'
const optionalScopes = ['notes:write', 'user:email']

describe.skipIf(await lacks('chromium'))('the consent page on a phone', () => {
  const site = useSite({
    deviceAuthorization: true,
    scopes: [
      ...testScopes,
      new Scope('account:delete', { helpText: 'Delete your account', group: 'User', risk: 'high' }),
    ],
  })

  const askedByCode = async ({ open }: Person, asked: string = scope): Promise<void> => {
    const client = await TestClient.register(site.app, new UserAgent(), { optionalScopes })
    await open(client.url({ scope: asked }).slice(site.app.issuer.length))
  }
  const askedByPush = async ({ open }: Person): Promise<void> => {
    const client = await TestClient.register(site.app, new UserAgent(), { optionalScopes })
    const url = referenceUrl(client, await pushed(client, { scope }))
    await open(url.slice(site.app.issuer.length))
  }
  const askedByDevice = async ({ page, press }: Person): Promise<void> => {
    const device = await Device.register(site.app, { optionalScopes })
    await page.goto((await device.codes({ scope })).verification_uri_complete)
    await press(page.getByRole('button', { name: 'Continue' }))
  }

  test.each([
    ['a code', askedByCode],
    ['a pushed request', askedByPush],
    ['a device', askedByDevice],
  ])(
    'shows three permissions of %s and both buttons on the first screen [T1106]',
    async (_, ask) => {
      const ada = await site.person(onPhone)
      await ask(ada)
      await ada.page.waitForLoadState('load')
      await ada.page.getByRole('link', { name: 'use another account' }).waitFor()
      expect(await ada.page.getByRole('listitem').count()).toBe(3)
      expect(await ada.page.getByRole('checkbox').count()).toBe(2)
      for (const name of ['Allow', 'Refuse']) {
        const box = await ada.page.getByRole('button', { name }).boundingBox()
        expect((box?.y ?? screen.height) + (box?.height ?? 0)).toBeLessThanOrEqual(screen.height)
      }
      expect([...(await violations(ada.page)), ...(await layoutErrors(ada.page))]).toEqual([])
    },
  )

  test('marks a dangerous permission, and needs no sideways scrolling at 400 % zoom [T1107]', async () => {
    const ada = await site.person(onPhone)
    await askedByCode(ada, `${scope} account:delete`)
    const first = ada.page.getByRole('listitem').first()
    expect(await first.textContent()).toContain('Can change High risk')
    // A window of 1280 × 1024 pixels with a zoom of 400 % has this size in CSS pixels.
    await ada.page.setViewportSize({ width: 320, height: 256 })
    expect(await ada.page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(320)
    expect(await violations(ada.page)).toEqual([])
  })
})
