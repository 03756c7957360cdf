import { afterAll, describe, expect, test } from 'vitest'
import { formsIn, textOf } from '../pages/settings/support.ts'
import type { RawResponse } from '../support/raw-http.ts'
import { en } from '../support/texts.ts'
import {
  type Accepted,
  type Change,
  EveryEndpoint,
  encoded,
  type Fields,
  type Operation,
} from './every-endpoint.ts'

// Rules that every form of the running server's pages obeys. A new page is tested here without a change of this file.

const world = await EveryEndpoint.start()
afterAll(() => world.app.close())

const { origin } = new URL(world.app.issuer)
const isSettings = ({ pattern }: Operation): boolean => /^\/(?:account|admin)\//.test(pattern)
/** Other sites may send these requests, which only lead to a page that asks the user. */
const forOtherSites = ['/oauth/authorize', '/oauth/logout']
const forms = world.operations
  .filter(({ method, endpoint }) => method === 'POST' && endpoint.errors === 'page')
  .filter(({ pattern }) => !forOtherSites.includes(pattern))
  .map((operation) => [operation.name, operation] as const)
const settings = world.operations
  .filter((one) => isSettings(one) && one.pattern !== '/account/settings/')
  .map((operation) => [operation.name, operation] as const)

/** Expects that a rejected request writes nothing, and starts no session. */
const refused = async (
  one: Operation,
  change: (accepted: Accepted) => Change,
  status = 403,
): Promise<RawResponse & { readonly typed: Fields }> => {
  const accepted = await world.accepted(one)
  const before = await world.written()
  const response = await world.sendAs(one, accepted, change(accepted))
  expect(response.status, response.text).toBe(status)
  expect(response.headers.get('set-cookie') ?? '').not.toMatch(/session=[^;]/)
  expect(await world.written()).toEqual(before)
  return { ...response, typed: accepted.form ?? {} }
}

/** Changes the CSRF token of the form. A list repeats the token. */
const withToken =
  (change: (token: string) => string | readonly string[] | undefined) =>
  ({ form: { csrf_token = '', ...rest } = {} }: Accepted): Change => {
    const token = change(String(csrf_token))
    return { body: encoded({ ...rest, ...(token !== undefined && { csrf_token: token }) }) }
  }

const tokens: readonly (readonly [string, (accepted: Accepted) => Change])[] = [
  ['that is missing', withToken(() => undefined)],
  ['that is empty', withToken(() => '')],
  ['that the server did not issue', withToken(() => 'x'.repeat(43))],
  ['of another session', withToken(() => world.otherSession.csrfToken)],
  ['that is the JWT of the session', withToken(() => world.session.jwt)],
  ['with an appended character', withToken((token) => `${token}x`)],
  [
    'in the query only',
    ({ form: { csrf_token, ...form } = {} }) => ({
      query: `csrf_token=${csrf_token}`,
      body: encoded(form),
    }),
  ],
  [
    'in a header only',
    ({ form: { csrf_token, ...form } = {} }) => ({
      headers: { 'x-csrf-token': String(csrf_token) },
      body: encoded(form),
    }),
  ],
]

describe.each(forms)('%s', (_, one) => {
  test.each(tokens)(
    'with a CSRF token %s returns 403 and the typed values, and writes nothing',
    async (_name, change) => {
      const { text, typed } = await refused(one, change)
      if (!isSettings(one)) return
      // The page about a leaked secret never shows the secret again.
      if (!one.pattern.includes('leaked')) expect(textOf(text)).toContain(en.problems.stale)
      const again = formsIn(text)
      expect(again.length).toBeGreaterThan(0)
      for (const { fields } of again) expect(fields.csrf_token).toEqual([typed.csrf_token])
      if (!('name' in typed)) return
      const [form] = again.filter(({ fields }) => 'name' in fields)
      const { form_id, ...fields } = form?.fields ?? {}
      expect(form_id).toHaveLength(1)
      for (const [name, value] of Object.entries(typed).filter(([key]) => key !== 'form_id'))
        expect([name, fields[name]?.toSorted()]).toEqual([name, [value].flat().toSorted()])
    },
  )

  test.each<[string, Record<string, string>]>([
    ['a site with another Origin', { origin: 'https://evil.example' }],
    ['a site with another port', { origin: 'http://localhost:1' }],
    ['a site with another scheme', { origin: 'https://localhost' }],
    ['another site', { 'sec-fetch-site': 'cross-site' }],
    ['another origin of the same site', { 'sec-fetch-site': 'same-site' }],
    ['another site that sends our Origin', { 'sec-fetch-site': 'cross-site', origin }],
  ])(
    'from %s returns 403 even with a valid CSRF token, and writes nothing',
    async (_name, headers) => {
      const { text, headers: given } = await refused(one, () => ({ headers }))
      expect(given.get('set-cookie')).toBeNull()
      const { problem, login } = en
      expect(textOf(text)).toContain(one.pattern === '/login' ? login.foreign : problem.foreign)
    },
  )
})

describe('the settings', () => {
  test.each(settings)(
    '%s leads to the login without a valid session, and writes nothing',
    async (_, one) => {
      const withoutCookie = { cookie: '' }
      for (const headers of [
        withoutCookie,
        { cookie: 'oauth2server_session=x' },
        // A session is bound to its browser.
        { 'user-agent': 'curl' },
      ]) {
        const { headers: given } = await refused(one, () => ({ headers }), 303)
        expect(given.get('location')).toMatch(/^\/login\?next=/)
      }
    },
  )
})
