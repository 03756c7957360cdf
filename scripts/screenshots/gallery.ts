import type { Page } from 'playwright-core'
import type { Registered } from './authorization.ts'
import { loopback, type Mailbox, type Sample } from './sample.ts'

/** A state of a page, and the steps that lead to it. */
export interface Picture {
  readonly name: string
  /** The user who looks at the page; `nobody` is not logged in. */
  readonly as: 'viewer' | 'newcomer' | 'collector' | 'nobody'
  readonly open: (page: Page) => Promise<void>
}

const safari =
  'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/26.0 Safari/605.1.15'

const settings = '/account/settings/applications/'

/** Lists every page in each of its states. */
export const gallery = (issuer: string, sample: Sample, mailbox: Mailbox): readonly Picture[] => {
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

  /** Submits the form that edits an object. A wrong `version` causes a conflict. */
  const edit = (path: string, fields: Readonly<Record<string, string>>) => async (page: Page) => {
    await at(path)(page)
    await page.locator('form:has([name="version"])').evaluate((form, values) => {
      for (const [name, value] of Object.entries(values)) form.elements[name].value = value
      form.noValidate = true
      form.requestSubmit()
    }, fields)
    await page.locator('[role=alert]').waitFor()
  }

  const client = `${settings}clients/${sample.clientId}/`
  const token = `${settings}tokens/${sample.tokenId}/`
  const leaked = '/account/settings/leaked/'
  const forgot = '/login/forgot-password'
  const signUp = '/login/sign-up'
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
  /** Requests a link by e-mail, and opens it. */
  const openLink =
    (purpose: 'reset_password' | 'sign_up', path: string, email: string) => async (page: Page) => {
      if (!mailbox.has(purpose)) await submit(path, path, { email }, '[role=status]')(page)
      // The server sends the link after its response.
      while (!mailbox.has(purpose)) await page.waitForTimeout(50)
      await page.goto(mailbox.get(purpose) ?? '')
    }
  const created = 'Release script'
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
        await page.route('**/login', (route) =>
          route.continue({ headers: { ...route.request().headers(), 'user-agent': safari } }),
        )
        await at('/login')(page)
        await page.unrouteAll()
      },
    },
    {
      name: 'login-logged-in',
      as: 'viewer',
      open: at('/login?prompt=login'),
    },
    { name: 'forgot-password', as: 'nobody', open: at(forgot) },
    {
      name: 'forgot-password-refused',
      as: 'nobody',
      open: submit(forgot, forgot, { email: 'ada' }, '[role=alert]'),
    },
    {
      name: 'forgot-password-sent',
      as: 'nobody',
      open: submit(forgot, forgot, { email: 'ada@example.org' }, '[role=status]'),
    },
    {
      name: 'forgot-password-link',
      as: 'nobody',
      open: openLink('reset_password', forgot, sample.collector.email),
    },
    {
      name: 'forgot-password-link-refused',
      as: 'nobody',
      open: async (page) => {
        await openLink('reset_password', forgot, sample.collector.email)(page)
        await page.locator('#new_password').evaluate((field) => {
          field.value = 'x'
          field.form.submit()
        })
        await page.locator('[role=alert]').waitFor()
      },
    },
    { name: 'link-invalid', as: 'nobody', open: at('/login/link?token=x') },
    { name: 'sign-up', as: 'nobody', open: at(signUp) },
    {
      name: 'sign-up-link',
      as: 'nobody',
      open: openLink('sign_up', signUp, 'newcomer@example.org'),
    },
    { name: 'logout', as: 'viewer', open: at(`/oauth/logout?client_id=${clientId}`) },
    { name: 'logged-out', as: 'nobody', open: at('/oauth/logout') },
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
      name: 'device-wrong-code',
      as: 'viewer',
      open: submit('/oauth/device', '/oauth/device', { user_code: 'WDJB-MJHT' }, '[role=alert]'),
    },
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
    {
      name: 'error-of-the-owner',
      as: 'viewer',
      open: at(
        `/oauth/authorize?response_type=code&client_id=${sample.clientId}&redirect_uri=https://x.example`,
      ),
    },
    { name: 'not-found', as: 'viewer', open: at(`${settings}clients/gone/`) },
    { name: 'applications', as: 'viewer', open: at(settings) },
    { name: 'applications-empty', as: 'newcomer', open: at(settings) },
    { name: 'tokens', as: 'viewer', open: at(`${settings}tokens/`) },
    { name: 'tokens-empty', as: 'newcomer', open: at(`${settings}tokens/`) },
    { name: 'tokens-many', as: 'collector', open: at(`${settings}tokens/`) },
    {
      name: 'tokens-found',
      as: 'collector',
      open: at(`${settings}tokens/?q=script+1&filter=never_used&sort=expires`),
    },
    { name: 'tokens-nothing-found', as: 'viewer', open: at(`${settings}tokens/?q=nothing`) },
    { name: 'tokens-selected-none', as: 'viewer', open: at(`${settings}tokens/selected/`) },
    {
      name: 'tokens-selected',
      as: 'viewer',
      open: at(`${settings}tokens/selected/?id=${sample.tokenId}&id=${sample.expiredTokenId}`),
    },
    { name: 'clients', as: 'viewer', open: at(`${settings}clients/`) },
    { name: 'clients-empty', as: 'newcomer', open: at(`${settings}clients/`) },
    { name: 'clients-many', as: 'collector', open: at(`${settings}clients/`) },
    { name: 'clients-nothing-found', as: 'viewer', open: at(`${settings}clients/?q=nothing`) },
    { name: 'authorized', as: 'viewer', open: at(`${settings}authorized/`) },
    { name: 'authorized-empty', as: 'newcomer', open: at(`${settings}authorized/`) },
    { name: 'authorized-many', as: 'collector', open: at(`${settings}authorized/`) },
    {
      name: 'authorized-selected',
      as: 'viewer',
      open: at(`${settings}authorized/selected/?id=${sample.larger.clientId}`),
    },
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
    {
      name: 'application-conflict',
      as: 'viewer',
      open: edit(client, { version: 'x', name: 'Photo Prints' }),
    },
    {
      name: 'application-warnings',
      as: 'viewer',
      open: edit(client, { is_confidential: 'false', name: 'Photo Prints' }),
    },
    {
      name: 'application-registered',
      as: 'newcomer',
      open: submit(
        `${settings}clients/new/`,
        `${settings}clients/new/`,
        { name: created, redirect_uris: 'https://release.example/callback' },
        '#client-secret',
      ),
    },
    {
      name: 'application-deleted',
      as: 'newcomer',
      open: async (page) => {
        await page.locator('#confirm_name').evaluate((field, name) => {
          field.value = name
          field.form.submit()
        }, created)
        await page.locator('[role=status]').waitFor()
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
      name: 'token-refused',
      as: 'viewer',
      open: edit(token, { name: '' }),
    },
    {
      name: 'token-conflict',
      as: 'viewer',
      open: edit(token, { version: 'x', name: 'Backup' }),
    },
    {
      name: 'token-created',
      as: 'newcomer',
      open: submit(
        `${settings}tokens/new/`,
        `${settings}tokens/new/`,
        { name: created },
        '#access-token',
      ),
    },
    {
      name: 'tokens-undo',
      as: 'newcomer',
      open: async (page) => {
        await at(`${settings}tokens/`)(page)
        await page.locator('.rows form button').first().click()
        await page.locator('[role=status]').waitFor()
      },
    },
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
    {
      name: 'activity-nothing-found',
      as: 'viewer',
      open: at('/account/settings/activity/?since=2001-01-01&until=2001-01-02'),
    },
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
      open: at(`/admin/tokens/?token=${'x'.repeat(60)}`),
    },
    { name: 'users', as: 'viewer', open: at('/admin/users/') },
    { name: 'users-search', as: 'viewer', open: at('/admin/users/?user=nobody') },
    { name: 'user', as: 'viewer', open: at(`/admin/users/${sample.newcomer.id}/`) },
    { name: 'user-own', as: 'viewer', open: at(`/admin/users/${sample.viewer.id}/`) },
    { name: 'administration-overview', as: 'viewer', open: at('/admin/overview/') },
    { name: 'administration', as: 'viewer', open: at(admin) },
    {
      name: 'administration-search',
      as: 'viewer',
      open: at(`${admin}?${new URLSearchParams({ client: sample.search, sort: 'name' })}`),
    },
    {
      name: 'administration-application',
      as: 'viewer',
      open: at(`${admin}${sample.clientId}/`),
    },
    {
      name: 'administration-application-not-deleted',
      as: 'viewer',
      open: async (page) => {
        await at(`${admin}${sample.clientId}/`)(page)
        await page.locator('#confirm_name').evaluate((field) => {
          field.value = 'Something else'
          field.form.submit()
        })
        await page.locator('[role=alert]').waitFor()
      },
    },
    { name: 'administration-tokens', as: 'viewer', open: at('/admin/tokens/') },
    {
      name: 'administration-tokens-question',
      as: 'viewer',
      open: async (page) => {
        await at('/admin/tokens/?kind=personal')(page)
        await page.locator('.rows summary').first().click()
      },
    },
    {
      name: 'administration-tokens-nothing-found',
      as: 'viewer',
      open: at('/admin/tokens/?token=nobody+at+all&filter=expired'),
    },
  ]
}
