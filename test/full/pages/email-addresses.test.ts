import { describe, expect, test } from 'vitest'
import { lacks } from '../../support/needs.ts'
import { en } from '../../support/texts.ts'
import { keyboard } from './hands.ts'
import { useSite } from './site.ts'
import { desktop } from './ways.ts'

describe.skipIf(await lacks('chromium'))('an e-mail address of any script in Chromium', () => {
  const sent: { readonly email: string; readonly url: string }[] = []
  const site = useSite({ signUp: true, sendUserLink: (link) => void sent.push(link) })

  const visitor = async () => {
    const page = await site.newPage(desktop)
    const { type, press } = keyboard(page)
    const email = () => page.getByLabel(en.login.email)
    return {
      page,
      open: (path: string) => page.goto(new URL(path, site.app.issuer).href),
      request: async (path: string, address: string) => {
        await page.goto(`${site.app.issuer}${path}`)
        await type(email(), address)
        await press(page.getByRole('button', { name: en.userLinks.request }))
      },
      setPassword: async (typed: string, button: string) => {
        await page.goto(sent.at(-1)?.url ?? '')
        await type(page.locator('input[name=new_password]'), typed)
        await press(page.getByRole('button', { name: button }))
        await page.getByRole('status').waitFor()
      },
      logIn: async (address: string, typed: string) => {
        await page.goto(`${site.app.issuer}/login`)
        await type(email(), address)
        await type(page.getByLabel(en.login.password), typed)
        await press(page.getByRole('button', { name: en.login.submit }))
      },
    }
  }

  test.each([
    ['ada@bücher.example', 'ada@xn--bcher-kva.example', 'ADA@Bücher.example'],
    ['jörg@example.org', 'jörg@example.org', 'JÖRG@example.org'],
  ])(
    'registers, logs in and resets the password by keyboard: %s [T3819]',
    async (typed, normal, other) => {
      const person = await visitor()
      const [first, second] = ['the first password', 'the second password']
      await person.request('/login/sign-up', typed)
      await person.page.getByRole('status').waitFor()
      expect(sent.at(-1)?.email).toBe(normal)
      await person.setPassword(first, en.userLinks.sign_up.submit)
      await person.logIn(typed, first)
      await person.page.getByRole('main').getByText(normal).waitFor()

      const elsewhere = await visitor()
      await elsewhere.request('/login/forgot-password', other)
      await elsewhere.page.getByRole('status').waitFor()
      await elsewhere.setPassword(second, en.userLinks.reset_password.submit)
      for (const spelling of [normal, other]) {
        const again = await visitor()
        await again.logIn(spelling, second)
        await again.page.getByRole('main').getByText(normal).waitFor()
      }
      // A second registration of the same address is a reset of the same account.
      const before = (await site.app.query('select id from oauth2server_user')).length
      await elsewhere.request('/login/sign-up', other)
      await elsewhere.page.getByRole('status').waitFor()
      await elsewhere.setPassword(first, en.userLinks.reset_password.submit)
      expect(await site.app.query('select id from oauth2server_user')).toHaveLength(before)
    },
  )

  test('a refused address stays in the field, with the reason beside it [T3820]', async () => {
    const person = await visitor()
    for (const [typed, sentence] of [
      ['ada\u200B@example.org', en.problems.emailUnseen],
      ['аda@example.org', en.problems.emailLookAlike],
      ['ada', en.problems.emailInvalid],
    ] as const) {
      await person.request('/login/sign-up', typed)
      await person.page.getByText(sentence).first().waitFor()
      expect(await person.page.getByLabel(en.login.email).inputValue()).toBe(typed)
    }
  })
})
