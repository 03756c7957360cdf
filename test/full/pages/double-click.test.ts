import type { Page } from 'playwright-core'
import { describe, expect, test, vi } from 'vitest'
import { lacks } from '../../support/needs.ts'
import { startClientSite, startSite } from './client-site.ts'
import { begin } from './flow.ts'
import { applications, logIn, type Person, useSite } from './site.ts'
import { ways } from './ways.ts'

const delays = [50, 120, 400]

/** Replaces the parts of a text that differ between users and times. */
const plain = (text: string): string =>
  text
    .replaceAll(/[A-Za-z0-9_-]{20,}/g, 'VALUE')
    .replaceAll(/…\w{4}/g, 'END')
    .replaceAll(/person-\d+/g, 'PERSON')
    .replaceAll(/\d+/g, '#')
    .replaceAll(/\s+/g, ' ')

/** Fills in the form of a button, opens its question, and clicks on it once or twice, with a delay of the network. */
const press = async (page: Page, index: number, clicks: number, delay: number): Promise<void> => {
  await page.locator('details').evaluateAll((all) => {
    for (const each of all) each.open = true
  })
  const button = page.locator(buttons).nth(index)
  await button.evaluate((element, values) => {
    element.form.noValidate = true
    for (const field of element.form.elements)
      for (const [name, value] of values)
        if (field.name === name && field.type !== 'hidden') field.value = value
  }, Object.entries(typed))
  const network = await page.context().newCDPSession(page)
  await network.send('Network.enable')
  await network.send('Network.emulateNetworkConditions', {
    offline: false,
    latency: delay,
    downloadThroughput: -1,
    uploadThroughput: -1,
  })
  const requests = requestsOf(page)
  await button.click({ clickCount: clicks, delay: 20 })
  await requests.ended()
  await page.waitForLoadState('load')
}

/** Counts the requests of a page from now on. */
const requestsOf = (page: Page) => {
  let forms = 0
  let open = 0
  let quietPolls = 0
  page.on('request', (request) => {
    open += 1
    if (request.method() === 'POST') forms += 1
  })
  for (const end of ['requestfinished', 'requestfailed'] as const)
    page.on(end as 'requestfinished', () => {
      open -= 1
    })
  return {
    /** Waits until the page has sent a form, and neither this request nor a following one is open in two polls. */
    ended: () =>
      vi.waitFor(
        () => {
          quietPolls = forms > 0 && open <= 0 ? quietPolls + 1 : 0
          expect(quietPolls).toBeGreaterThan(1)
        },
        { interval: 100 },
      ),
  }
}

const buttons = 'main form[method="post"] button:not([tabindex="-1"])'

const typed = {
  name: 'Twice',
  confirm_name: 'Printer',
  redirect_uris: 'https://twice.example/cb',
  current_password: 'a wrong password',
  new_password: 'a new and better password',
}

const [way] = ways
// With scripts, the page ignores the second click.
const withoutScripts = ways.find(({ hasScripts }) => !hasScripts)

describe.skipIf((await lacks('chromium')) || !way || !withoutScripts)('a double click', () => {
  const site = useSite({ deviceAuthorization: true })

  let origin: Promise<string> | undefined

  /** Creates a user with one object of each kind, and returns the paths of its pages by their names. */
  const newPerson = async () => {
    const person = await site.person(withoutScripts as NonNullable<typeof way>)
    const { app } = site
    origin ??= startSite(() => '<main>The client</main>')
    const redirectUris = [`${await origin}/cb`]
    const { clientId } = await app.client({ userId: person.user.id, name: 'Printer', redirectUris })
    const { id } = await app.server.tokens.createPersonal('Laptop', person.user.id)
    await app.server.consents.grant(person.user.id, clientId, [])
    return {
      person,
      pathOf: (name: string) => name.replace(':token', `${id}`).replace(':client', clientId),
      nameOf: (path: string) =>
        path.replace(clientId, ':client').replace(`tokens/${id}/`, 'tokens/:token/'),
    }
  }

  /** Follows every link from the start page, and returns the names of the pages with forms. */
  const pagesWithForms = async (): Promise<readonly string[]> => {
    const { person, pathOf, nameOf } = await newPerson()
    const found: string[] = []
    const names = new Set([
      applications,
      // The list of tokens leads to this page by a form.
      `${applications}tokens/selected/?id=:token`,
      '/oauth/logout',
      '/oauth/authorize?response_type=code&client_id=:client&prompt=consent',
    ])
    for (const name of names) {
      await person.open(pathOf(name))
      if ((await person.page.locator(buttons).count()) > 0) found.push(name)
      const links = await person.page
        .locator('a[href^="/"]:not([download])')
        .evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''))
      // Only pages of the server, without the same page in another order.
      for (const link of links)
        if (/^\/(?:account|oauth)\/[^?]*$/.test(link)) names.add(nameOf(link.replace(/#.*/, '')))
    }
    return found
  }

  /** Returns the page and the data after a number of clicks on a button. */
  const outcome = async (name: string, index: number, clicks: number, delay: number) => {
    const { person, pathOf } = await newPerson()
    const { page, user } = person
    await person.open(pathOf(name))
    await press(page, index, clicks, delay)
    const url = new URL(page.url())
    // A refused form is processed again, so a wrong password counts for each submission.
    const events = await site.app.query(
      `select event, count(*) as n from oauth2server_audit where user_id = '${user.id}' and event <> 'login.failed' group by event order by event`,
    )
    const text = (await page.locator('main').textContent()) ?? ''
    const values = [...text.matchAll(/\w{40,}/g)].length
    await page.context().close()
    return { url: plain(url.pathname + url.search), text: plain(text), values, events: [...events] }
  }

  test('on each button of each page has the result of a single click, with a slow network [T3740]', async () => {
    const { person, pathOf } = await newPerson()
    const names = await pagesWithForms()
    expect(names).toContain(`${applications}clients/:client/`)
    const different: unknown[] = []
    let pressed = 0
    for (const name of names) {
      await person.open(pathOf(name))
      const count = await person.page.locator(buttons).count()
      for (let index = 0; index < count; index += 1) {
        pressed += 1
        const control = outcome(name, index, 1, 50)
        const twice = delays.map((delay) => outcome(name, index, 2, delay))
        const [single, ...doubles] = await Promise.all([control, ...twice])
        for (const [each, double] of doubles.entries())
          if (JSON.stringify(double) !== JSON.stringify(single))
            different.push({ name, index, delay: delays[each], single, double })
      }
    }
    expect(different).toEqual([])
    expect(pressed).toBeGreaterThan(15)
  })

  test.each(delays)(
    'on Log in and on Allow reaches the client with a code, with a delay of %i ms [T3741]',
    async (delay) => {
      const client = await startClientSite(site.app, { name: 'Photo Print' })
      const person: Person = await site.person(way as NonNullable<typeof way>, {
        isLoggedIn: false,
      })
      const { page } = person
      await begin(person, client)
      await logIn({
        ...person,
        press: async (target) => {
          if ((await target.getAttribute('type')) !== 'submit') return target.click()
          await press(page, 0, 2, delay)
        },
      })
      await press(page, 0, 2, delay)
      await page.getByRole('heading', { name: 'Welcome to Photo Print' }).waitFor()
      expect(client.tokens).toHaveLength(1)
    },
  )
})
