import type { UserLinkPurpose } from 'svc-oauth2server'
import { beforeAll, describe, expect, test } from 'vitest'
import { newWorld } from '../../pages/settings/every-page.ts'
import { lacks } from '../../support/needs.ts'
import { violations } from './axe.ts'
import { layoutErrors } from './layout.ts'
import { administration, applications, type Person, useSite } from './site.ts'
import { type Way, ways } from './ways.ts'

/** The invalid input of a form, and the errors that the page must show at once. */
interface Entry {
  readonly as?: 'admin' | 'nobody'
  /** Returns the path of the page. */
  readonly path: (person: Person) => Promise<string> | string
  /** The name of the element that reveals the form. */
  readonly reveal?: string
  readonly typed: Readonly<Record<string, string>>
  readonly submit: string
  /** The fields to which the summary links, once for each error. */
  readonly errors: readonly string[]
  /** The fields whose input the page shows again. Passwords, secrets and confirmations are never shown again. */
  readonly kept: readonly string[]
}

const past = '2001-01-01'
const wrongApplication = {
  name: 'x'.repeat(41),
  description: 'x'.repeat(4_001),
  website: 'ftp://a.example',
  logo_uri: 'http://a.example/logo.png',
  redirect_uris: 'http://a.example\nhttps://b.example/#x',
  post_logout_redirect_uris: 'https://a.example/#x',
  backchannel_logout_uri: 'ftp://a.example',
}
const applicationErrors = [
  ...['name', 'description', 'website', 'logo_uri', 'redirect_uris', 'redirect_uris'],
  ...['post_logout_redirect_uris', 'backchannel_logout_uri'],
]
const inForm = (action: string, ...names: readonly string[]): string =>
  `${action} ${[...names].sort().join(' ')}`
const mail = new Map<UserLinkPurpose, string>()

describe.skipIf(await lacks('chromium'))('every form with as many errors as possible', () => {
  const site = useSite({
    deviceAuthorization: true,
    openidConnect: true,
    signUp: true,
    sendUserLink: ({ purpose, url }) => void mail.set(purpose, url),
  })

  const ownApplication = async ({ user }: Person): Promise<string> => {
    const { clientId } = await site.app.client({ userId: user.id, name: 'Photo Print' })
    return `${applications}clients/${clientId}/`
  }
  const linkTo = (purpose: 'reset_password' | 'sign_up', path: string) => async (who: Person) => {
    const email = purpose === 'sign_up' ? `new-${who.user.email}` : who.user.email
    mail.delete(purpose)
    await who.open(path)
    await who.page.locator('#email').fill(email)
    await who.page.locator('main button[type=submit]').click()
    await expect.poll(() => mail.get(purpose)).toBeDefined()
    return (mail.get(purpose) ?? '').slice(site.app.issuer.length)
  }

  /** Every form with a field in which a user types, by its action and its fields. */
  const forms: Readonly<Record<string, Entry>> = {
    [inForm('/login', 'email', 'password')]: {
      as: 'nobody',
      path: () => '/login',
      typed: { email: 'ada@example.org', password: 'x' },
      submit: 'Log in',
      // The page must not say which of the two is wrong.
      errors: [],
      kept: ['email'],
    },
    [inForm('/login/forgot-password', 'email')]: {
      as: 'nobody',
      path: () => '/login/forgot-password',
      typed: { email: 'ada' },
      submit: 'Send link',
      errors: ['email'],
      kept: ['email'],
    },
    [inForm('/login/sign-up', 'email')]: {
      as: 'nobody',
      path: () => '/login/sign-up',
      // Another text than above: both forms count for the same limit of an address.
      typed: { email: 'grace' },
      submit: 'Send link',
      errors: ['email'],
      kept: ['email'],
    },
    [inForm('/login/link', 'new_password')]: {
      as: 'nobody',
      path: linkTo('reset_password', '/login/forgot-password'),
      typed: { new_password: 'x' },
      submit: 'Set password',
      errors: ['new_password'],
      kept: [],
    },
    [inForm('/oauth/device', 'user_code')]: {
      path: () => '/oauth/device',
      typed: { user_code: 'WDJB-MJHT' },
      submit: 'Continue',
      errors: ['user_code'],
      kept: ['user_code'],
    },
    [inForm('/account/settings/password/', 'current_password', 'new_password')]: {
      path: () => '/account/settings/password/',
      typed: { current_password: '', new_password: 'x' },
      submit: 'Change password',
      errors: ['current_password', 'new_password'],
      kept: [],
    },
    [inForm('/account/settings/leaked/', 'credential')]: {
      path: () => '/account/settings/leaked/',
      typed: { credential: 'x'.repeat(43) },
      submit: 'Look up',
      errors: ['credential'],
      kept: [],
    },
    [inForm(`${applications}clients/new/`, ...Object.keys(wrongApplication))]: {
      path: () => `${applications}clients/new/`,
      reveal: 'Logout (OpenID Connect)',
      typed: wrongApplication,
      submit: 'Register the application',
      errors: applicationErrors,
      kept: Object.keys(wrongApplication),
    },
    [inForm(`${applications}clients/ID/`, ...Object.keys(wrongApplication))]: {
      path: ownApplication,
      reveal: 'Logout (OpenID Connect)',
      typed: wrongApplication,
      submit: 'Save changes',
      errors: applicationErrors,
      kept: Object.keys(wrongApplication),
    },
    [inForm(`${applications}clients/ID/`, 'confirm_name')]: {
      path: ownApplication,
      reveal: 'Delete this application',
      typed: { confirm_name: 'Another name' },
      submit: 'Delete the application',
      errors: ['confirm_name'],
      kept: [],
    },
    [inForm(`${applications}tokens/new/`, 'expires', 'name')]: {
      path: () => `${applications}tokens/new/`,
      typed: { name: 'x'.repeat(41), expires: past },
      submit: 'Create the token',
      errors: ['name', 'expires'],
      kept: ['name', 'expires'],
    },
    [inForm(`${applications}tokens/ID/`, 'expires', 'name')]: {
      path: async ({ user }) => {
        const { id } = await site.app.server.tokens.createPersonal('Backup', user.id)
        return `${applications}tokens/${id}/`
      },
      typed: { name: 'x'.repeat(41), expires: past },
      submit: 'Save changes',
      errors: ['name', 'expires'],
      kept: ['name', 'expires'],
    },
    [inForm(`${administration}ID/`, 'confirm_name')]: {
      as: 'admin',
      path: async ({ user }) => {
        const { clientId } = await site.app.client({ userId: user.id, name: 'Photo Print' })
        return `${administration}${clientId}/`
      },
      reveal: 'Delete Photo Print',
      typed: { confirm_name: 'Another name' },
      submit: 'Delete',
      errors: ['confirm_name'],
      kept: [],
    },
  }
  // Any text is a valid search. A search for a secret is not an error of the input.
  const searches = [
    inForm(administration, 'client'),
    inForm('/admin/tokens/', 'token'),
    inForm('/admin/users/', 'user'),
    inForm('/admin/activity/', 'address', 'client', 'since', 'token', 'until', 'user'),
  ]

  let shown: ReadonlySet<string>
  beforeAll(async () => {
    await using world = await newWorld()
    const pages = await Promise.all(
      world.pages.map(async ({ path, who }) => (await who.get(path)).html),
    )
    shown = new Set(pages.flatMap(typedForms))
  })

  test('has an entry in this table [T2160]', () => {
    expect([...shown].sort()).toEqual([...Object.keys(forms), ...searches].sort())
  })

  describe.each(ways)('$name', (way) => {
    test.each(Object.keys(forms))(
      '%s shows all errors at once, and keeps the input [T2161]',
      (name) => check(site, way, forms[name] as Entry),
    )
  })
})

const check = async (
  site: ReturnType<typeof useSite>,
  way: Way,
  { as, path, reveal, typed, submit, errors, kept }: Entry,
): Promise<void> => {
  const ada = await site.person(way, { isAdmin: as === 'admin', isLoggedIn: as !== 'nobody' })
  const { page } = ada
  await ada.open(await path(ada))
  if (reveal !== undefined) await ada.press(page.getByText(reveal, { exact: true }).first())
  const names = Object.keys(typed)
  const form = page
    .locator('form[method=post]')
    .filter({ has: page.locator(names.map((name) => `[name="${name}"]`).at(-1) ?? '') })
    .filter({ visible: true })
  if (names.includes('expires')) await ada.press(page.getByRole('radio', { name: 'On a day' }))
  for (const name of names) {
    const field = form.locator(`[name="${name}"]`)
    const text = typed[name] ?? ''
    // Each key of a long text takes time.
    if (name === 'expires') await ada.typeDay(field, text)
    else if (text.length > 100 || text.includes('\n')) await field.fill(text)
    else await ada.type(field, text)
  }
  // The browser would show one error at a time.
  await page.locator('form').evaluateAll((all) => {
    for (const one of all) one.noValidate = true
  })
  await ada.press(form.getByRole('button', { name: submit, exact: true }))
  const alert = page.getByRole('alert')
  await alert.waitFor()
  expect(await page.title()).toMatch(/^Error: /)
  const links = alert.getByRole('link')
  expect(await links.evaluateAll((all) => all.map((link) => link.hash.slice(1)))).toEqual(errors)
  for (const name of kept)
    expect(await page.locator(`#${name}`).inputValue(), name).toBe(typed[name])
  for (const name of names.filter((one) => !kept.includes(one)))
    expect(await page.locator(`[name="${name}"]`).first().inputValue(), name).toBe('')
  if (errors.length === 0) return
  expect(await alert.evaluate((summary) => summary.matches(':focus'))).toBe(true)
  for (const name of new Set(errors)) {
    const field = page.locator(`#${name}`)
    expect(await field.getAttribute('aria-invalid'), name).toBe('true')
    expect(await field.getAttribute('aria-describedby'), name).toContain(`${name}-problem`)
  }
  await ada.press(links.last())
  const last = page.locator(`#${errors.at(-1)}`)
  expect(await last.evaluate((field) => field.matches(':focus'))).toBe(true)
  if (way.hasScripts)
    expect([...(await violations(page)), ...(await layoutErrors(page))]).toEqual([])
}

/** Returns the action and the fields of each form on a page in which a user types. */
const typedForms = (html: string): readonly string[] =>
  [
    ...html.matchAll(/<form\b[^>]*\smethod="post" action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g),
  ].flatMap(([, action = '', content = '']) => {
    const names = [...content.matchAll(/<(input|textarea)\b([^>]*)\sname="([^"]+)"([^>]*)>/g)]
      .filter(
        ([, , before = '', , after = '']) =>
          !/type="(hidden|checkbox|radio|submit)"/.test(`${before} ${after}`),
      )
      .map(([, , , name = '']) => name)
    const path = action
      .replace(/[?#].*$/, '')
      .replace(/\/(clients|tokens|admin\/applications)\/(?!new\/)[^/]+\//, '/$1/ID/')
    return names.length === 0 ? [] : [inForm(path, ...names)]
  })
