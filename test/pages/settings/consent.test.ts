import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../../support/server.ts'
import { en } from '../../support/texts.ts'
import { authorizeUrl, newPkce } from '../../support/user-agent.ts'
import { at, type Fields, idIn, type Page, Person } from './support.ts'

// Owners register an application with a form. The consent page shows the values of the form.

const { consent } = en

let app: TestServer
let owner: Person
let user: Person
beforeAll(async () => {
  app = await startServer({ applicationName: 'The Notes' })
  owner = await Person.stranger(app, { email: 'maker@example.org' })
  user = await Person.logIn(app)
})
afterAll(() => app.close())

const typed = {
  name: 'Note Reader',
  description: 'Reads your notes to you.\n\nEvery evening.',
  website: 'https://reader.example/about',
  redirect_uris: 'https://callback.example:8443/cb?a=b',
  default_scopes: ['notes:read', 'user:email'],
  optional_scopes: 'user:email',
}

const register = async (changes: Fields = {}): Promise<string> =>
  idIn((await owner.fill(at.newClient, { ...typed, ...changes })).location)

const ask = (clientId: string, given: Record<string, string> = {}): Promise<Page> =>
  user.get(
    authorizeUrl(app.issuer, {
      client_id: clientId,
      code_challenge: newPkce().challenge,
      code_challenge_method: 'S256',
      ...given,
    }),
  )

const boxes = (page: Page): readonly (string | undefined)[] =>
  [...page.html.matchAll(/<input type="checkbox" name="optional_scope" value="([^"]*)"/g)].map(
    ([, id]) => id,
  )

describe('the consent page of an application that a user registered', () => {
  test('shows the name, the owner and the description of the application, and the redirect target', async () => {
    const page = await ask(await register())
    expect(page.status).toBe(200)
    expect(page.title).toBe(`${consent.title('Note Reader')} · The Notes`)
    expect(page.fact(consent.owner)).toBe('maker@example.org')
    expect(page.fact(consent.website)).toBe('https://reader.example/about')
    expect(page.fact(consent.destination)).toBe('callback.example:8443')
    expect(page.fact(consent.user)).toBe(`${app.user.email} ${consent.otherAccount}`)
    expect(page.text).toContain('Reads your notes to you. Every evening.')
    expect(page.text).toContain(consent.unverified('The Notes'))
    expect(page.html).not.toContain(`href="${at.list}"`)
  })

  test('lists the default scopes, and has checkboxes for the optional scopes', async () => {
    const page = await ask(await register())
    expect(page.text).toContain('Read your notes notes:read')
    expect(page.text).toContain('user:email')
    expect(boxes(page)).toEqual(['user:email'])
  })

  test('omits fields without a value', async () => {
    const page = await ask(
      await register({ description: '', website: '', optional_scopes: undefined }),
    )
    expect(page.fact(consent.website)).toBeUndefined()
    expect(page.html).not.toContain('<blockquote')
    expect(boxes(page)).toEqual([])
  })

  test('shows changed values from the next request, even to users who consented before', async () => {
    const clientId = await register()
    await user.send((await ask(clientId)).form('/oauth/authorize'), { confirm: 'yes' })
    await owner.fill(at.client(clientId), {
      name: 'Calendar Reader',
      website: '',
      redirect_uris: 'http://localhost:9/cb',
      optional_scopes: ['notes:read', 'user:email'],
    })
    const page = await ask(clientId, { prompt: 'consent' })
    expect(page.title).toBe(`${consent.title('Calendar Reader')} · The Notes`)
    expect(page.fact(consent.website)).toBeUndefined()
    expect(page.fact(consent.destination)).toContain('localhost:9')
    expect(page.fact(consent.destination)).toContain(consent.local)
    expect(boxes(page)).toEqual(['notes:read', 'user:email'])
  })

  test('rejects the decision of the user if the application changed after the page was loaded', async () => {
    const clientId = await register()
    const form = (await ask(clientId)).form('/oauth/authorize')
    await owner.fill(at.client(clientId), { optional_scopes: undefined })
    const response = await user.send(form, { confirm: 'yes' })
    expect([response.status, response.location]).toEqual([400, null])
    expect(response.text).toContain(en.problem.clientChanged)
    expect(await app.server.consents.find(app.user.id, clientId)).toBeUndefined()
  })

  test('cannot show a name with bidirectional characters, and warns about a name with mixed alphabets', async () => {
    const hebrew = await ask(await register({ name: 'שלום' }))
    expect(hebrew.html).toContain('<bdi>שלום</bdi>')
    const mixed = await ask(await register({ name: 'Nоte Reader' }))
    expect(mixed.text).toContain(consent.mixesAlphabets)
  })

  test('does not open for a deleted or disabled application', async () => {
    const clientId = await register()
    await app.server.clients.mark(clientId, { isDisabled: true })
    expect((await ask(clientId)).location).toMatch(/^\/oauth\/errors\?/)
    const fields = { delete: 'yes', confirm_name: 'Note Reader' }
    expect((await owner.post(at.client(clientId), fields)).status).toBe(303)
    expect((await ask(clientId)).location).toMatch(/^\/oauth\/errors\?/)
  })
})
