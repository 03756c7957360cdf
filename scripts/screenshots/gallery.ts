import type { Page } from 'playwright-core'
import type { Registered } from './authorization.ts'
import { loopback, type Sample } from './sample.ts'

/** A state of a page, and the steps that lead to it. */
export interface Picture {
  readonly name: string
  /** The user who looks at the page; `nobody` is not logged in. */
  readonly as: 'viewer' | 'newcomer' | 'nobody'
  readonly open: (page: Page) => Promise<void>
}

const safari =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15'

const settings = '/account/settings/applications/'

/** Lists every page in each of its states. */
export const gallery = (issuer: string, sample: Sample): readonly Picture[] => {
  const at = (path: string) => async (page: Page) => {
    await page.goto(`${issuer}${path}`)
  }
  /** Opens a page, submits the form with the given action, and waits for a selector of the result. */
  const submit =
    (path: string, action: string, fields: Readonly<Record<string, string>>, then: string) =>
    async (page: Page) => {
      await at(path)(page)
      const form = page.locator(`form[method="post"][action="${action}"]`)
      for (const [name, value] of Object.entries(fields))
        await form.locator(`[name="${name}"]`).evaluate((field, text) => {
          field.value = text
        }, value)
      const button = form.locator('button[type="submit"]').first()
      await button.evaluate((element) => {
        element.form.noValidate = true
        element.click()
      })
      await page.locator(then).first().waitFor()
    }

  const client = `${settings}clients/${sample.clientId}/`
  const token = `${settings}tokens/${sample.tokenId}/`
  const leaked = '/account/settings/leaked/'
  const admin = '/admin/applications/'
  const { clientId, scope } = sample.asking
  const asks = (scopes: string, { clientId, redirectUri }: Registered = sample.asking): string =>
    `/oauth/authorize?${new URLSearchParams({ response_type: 'code', client_id: clientId, redirect_uri: redirectUri, scope: scopes })}`
  const uncheckedAsks = (which: keyof Sample['unchecked']): string =>
    `/oauth/authorize?${new URLSearchParams({ response_type: 'code', client_id: sample.unchecked[which], redirect_uri: loopback, scope, code_challenge: 'x'.repeat(43), code_challenge_method: 'S256' })}`
  /** Requests a device code for an application. @returns the user code */
  const userCode = async (): Promise<string> => {
    const { clientSecret } = sample.asking
    const response = await fetch(`${issuer}/oauth/device_authorization`, {
      method: 'POST',
      body: new URLSearchParams({ client_id: clientId, client_secret: clientSecret, scope }),
    })
    const { user_code } = (await response.json()) as { readonly user_code: string }
    return user_code
  }
  /** Runs the sample application until it shows its token. */
  const runSample = async (page: Page): Promise<void> => {
    await at('/sample/start')(page)
    await page.locator('button[name="confirm"][value="yes"]').click()
    await page.locator('.steps').waitFor()
  }
  /** Opens the start page with the answers to a session, a personal token and the sample application. */
  const threeCalls = async (page: Page): Promise<void> => {
    await runSample(page)
    await at('/')(page)
    await page.locator('form[action="/personal-token"] button').click()
    await page.locator('[data-call] .answer').waitFor()
  }
  const wrongUris = 'https://photo-print.example/callback\nhttp://photo-print.example/callback'

  return [
    { name: 'login', as: 'nobody', open: at('/login') },
    {
      name: 'login-refused',
      as: 'nobody',
      open: submit('/login', '/login', { email: 'ada@example.org', password: 'x' }, '[role=alert]'),
    },
    {
      name: 'login-safari',
      as: 'nobody',
      open: async (page) => {
        await page.setExtraHTTPHeaders({ 'user-agent': safari })
        await at('/login')(page)
        await page.setExtraHTTPHeaders({})
      },
    },
    { name: 'login-before-consent', as: 'nobody', open: at(asks(scope)) },
    { name: 'start-page', as: 'viewer', open: at('/start') },
    { name: 'start-page-of-nobody', as: 'nobody', open: at('/start') },
    { name: 'notes', as: 'viewer', open: threeCalls },
    { name: 'notes-of-nobody', as: 'nobody', open: at('/') },
    { name: 'notes-not-found', as: 'viewer', open: at('/no/such/page') },
    { name: 'sample-application', as: 'viewer', open: runSample },
    { name: 'sample-application-refused', as: 'viewer', open: at('/sample/callback?state=x') },
    { name: 'consent', as: 'viewer', open: at(asks(scope)) },
    {
      name: 'consent-to-more',
      as: 'viewer',
      open: at(asks(sample.larger.scope, sample.larger)),
    },
    { name: 'consent-to-nothing', as: 'viewer', open: at(asks('')) },
    { name: 'consent-registered', as: 'viewer', open: at(uncheckedAsks('registered')) },
    { name: 'consent-described', as: 'viewer', open: at(uncheckedAsks('described')) },
    { name: 'device', as: 'viewer', open: at('/oauth/device') },
    {
      name: 'device-decision',
      as: 'viewer',
      open: async (page) =>
        submit('/oauth/device', '/oauth/device', { user_code: await userCode() }, 'p.code')(page),
    },
    {
      name: 'device-refused',
      as: 'viewer',
      open: async (page) => {
        const code = { user_code: await userCode() }
        await submit('/oauth/device', '/oauth/device', code, 'p.code')(page)
        await page.locator('button.refuse').click()
        await page.getByRole('status').waitFor()
      },
    },
    {
      name: 'error',
      as: 'nobody',
      open: at(
        `/oauth/authorize?response_type=code&client_id=${clientId}&redirect_uri=https://x.example`,
      ),
    },
    { name: 'not-found', as: 'viewer', open: at(`${settings}clients/gone/`) },
    { name: 'applications', as: 'viewer', open: at(settings) },
    { name: 'applications-empty', as: 'newcomer', open: at(settings) },
    { name: 'register', as: 'viewer', open: at(`${settings}clients/new/`) },
    {
      name: 'register-refused',
      as: 'viewer',
      open: submit(
        `${settings}clients/new/`,
        `${settings}clients/new/`,
        { name: 'Photo Print', redirect_uris: wrongUris },
        '[role=alert]',
      ),
    },
    { name: 'application', as: 'viewer', open: at(client) },
    {
      name: 'application-new-secret',
      as: 'viewer',
      open: submit(client, `${client}reset/`, { overlap: '86400' }, '#client-secret'),
    },
    {
      name: 'application-not-deleted',
      as: 'viewer',
      open: async (page) => {
        await at(client)(page)
        await page.locator('#confirm_name').evaluate((field) => {
          field.value = 'Something else'
          field.form.submit()
        })
        await page.locator('[role=alert]').waitFor()
      },
    },
    { name: 'new-token', as: 'viewer', open: at(`${settings}tokens/new/`) },
    {
      name: 'new-token-refused',
      as: 'viewer',
      open: submit(
        `${settings}tokens/new/`,
        `${settings}tokens/new/`,
        { expires: '2001-01-01', name: 'Backup' },
        '[role=alert]',
      ),
    },
    { name: 'token', as: 'viewer', open: at(token) },
    {
      name: 'token-new-value',
      as: 'viewer',
      open: submit(token, `${token}rotate/`, { overlap: '3600' }, '#access-token'),
    },
    {
      name: 'token-expired',
      as: 'viewer',
      open: at(`${settings}tokens/${sample.expiredTokenId}/`),
    },
    {
      name: 'authorization',
      as: 'viewer',
      open: at(`${settings}tokens/${sample.deviceTokenId}/view/`),
    },
    { name: 'sessions', as: 'viewer', open: at('/account/settings/sessions/') },
    { name: 'password', as: 'viewer', open: at('/account/settings/password/') },
    {
      name: 'password-refused',
      as: 'viewer',
      open: submit(
        '/account/settings/password/',
        '/account/settings/password/',
        { current_password: 'x', new_password: 'a new password' },
        '.wrong',
      ),
    },
    { name: 'activity', as: 'viewer', open: at('/account/settings/activity/') },
    { name: 'activity-empty', as: 'newcomer', open: at('/account/settings/activity/?after=0.0') },
    { name: 'leaked', as: 'newcomer', open: at(leaked) },
    {
      name: 'leaked-unknown',
      as: 'newcomer',
      open: submit(leaked, leaked, { credential: 'x'.repeat(43) }, '.wrong'),
    },
    {
      name: 'leaked-token',
      as: 'viewer',
      open: async (page) => {
        await submit(leaked, leaked, { credential: sample.leaked }, '#credential-0')(page)
        await page.locator('summary').first().click()
      },
    },
    {
      name: 'leaked-secret',
      as: 'viewer',
      open: submit(leaked, leaked, { credential: sample.asking.clientSecret }, '#credential-0'),
    },
    { name: 'administration-activity', as: 'viewer', open: at('/admin/activity/') },
    {
      name: 'administration-activity-search',
      as: 'viewer',
      open: at(`/admin/activity/?${new URLSearchParams({ event: 'user.deleted', user: 'x' })}`),
    },
    {
      name: 'administration-search-for-a-secret',
      as: 'viewer',
      open: at(`${admin}?token=${'x'.repeat(60)}`),
    },
    { name: 'users', as: 'viewer', open: at('/admin/users/') },
    { name: 'users-search', as: 'viewer', open: at('/admin/users/?user=nobody') },
    { name: 'user', as: 'viewer', open: at(`/admin/users/${sample.newcomer.id}/`) },
    { name: 'user-own', as: 'viewer', open: at(`/admin/users/${sample.viewer.id}/`) },
    { name: 'administration', as: 'viewer', open: at(admin) },
    {
      name: 'administration-search',
      as: 'viewer',
      open: at(
        `${admin}?${new URLSearchParams({ client: sample.search, token: 'nobody at all' })}`,
      ),
    },
  ]
}
