import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../../support/server.ts'
import { en } from '../../support/texts.ts'
import { clientOf } from '../../support/tokens.ts'
import { at, type Form, type Page, Person } from './support.ts'

// Edits in two tabs, and edits that require a confirmation, because they invalidate tokens, a secret or a verification.

const { losses } = en.client

let app: TestServer
let person: Person
beforeAll(async () => {
  app = await startServer()
  person = await Person.logIn(app)
})
afterAll(() => app.close())

const opened = async (path: string): Promise<Form> => (await person.get(path)).form(path, 'name')

/** The conflicting values on a page: the field, the stored value, and the submitted value. */
const versions = ({ html }: Page): readonly (readonly string[])[] =>
  [
    ...html.matchAll(
      /<a href="#(\w+)">[^<]*<\/a>\s*<dl><dt>[^<]*<\/dt><dd>([\s\S]*?)<\/dd><dt>[^<]*<\/dt><dd>([\s\S]*?)<\/dd>/g,
    ),
  ].map(([, ...cells]) => cells.map((cell) => cell.replaceAll(/<[^>]*>/g, '')))

describe('a form that was changed in another tab', () => {
  test('shows both versions of a client, and saves nothing until the user sends it again [T1112]', async () => {
    const { clientId } = await app.client({ name: 'Before', description: 'One.\nTwo.' })
    const path = at.client(clientId)
    const [first, second] = [await opened(path), await opened(path)]
    expect((await person.send(first, { name: 'First', website: 'https://a.example' })).status).toBe(
      303,
    )
    const page = await person.send(second, { name: 'Second', default_scopes: ['notes:read'] })
    expect(page.status).toBe(409)
    expect(page.text).toContain(en.frame.conflict)
    expect(versions(page)).toEqual([
      ['name', 'First', 'Second'],
      ['website', 'https://a.example', '–'],
      ['default_scopes', '–', 'notes:read'],
    ])
    expect(page.html.match(/ autofocus/g)).toHaveLength(1)
    expect(await clientOf(app, clientId)).toMatchObject({ name: 'First', defaultScopes: [] })
    const again = page.form(path, 'name')
    expect(again.fields).toMatchObject({ name: ['Second'], default_scopes: ['notes:read'] })
    expect((await person.send(again, {})).status).toBe(303)
    expect(await clientOf(app, clientId)).toMatchObject({ name: 'Second', website: '' })
  })

  test('is no conflict if both tabs save the same values [T1113]', async () => {
    const { clientId } = await app.client({ name: 'Before', description: 'One.\nTwo.' })
    const [first, second] = [await opened(at.client(clientId)), await opened(at.client(clientId))]
    const changes = { name: 'After', default_scopes: ['user:email', 'notes:read'] }
    expect((await person.send(first, changes)).status).toBe(303)
    expect((await person.send(second, changes)).status).toBe(303)
  })

  test('saves exactly one of two concurrent changes of a client and of a token [T1114]', async () => {
    const { clientId } = await app.client()
    const token = await app.server.tokens.createPersonal('Before', app.user.id)
    for (const path of [at.client(clientId), at.token(token.id)]) {
      const forms = await Promise.all([1, 2, 3, 4].map(() => opened(path)))
      const pages = await Promise.all(
        forms.map((form, index) => person.send(form, { name: `Tab ${index}` })),
      )
      expect(pages.map(({ status }) => status).sort()).toEqual([303, 409, 409, 409])
    }
  })

  test('remains a conflict after the user corrected an invalid value [T1115]', async () => {
    const { id } = await app.server.tokens.createPersonal('Before', app.user.id)
    const [first, second] = [await opened(at.token(id)), await opened(at.token(id))]
    expect((await person.send(first, { scopes: ['notes:read'] })).status).toBe(303)
    const refused = await person.send(second, { name: '' })
    expect(refused.status).toBe(400)
    const page = await person.send(refused.form(at.token(id), 'name'), { name: 'Second' })
    expect(page.status).toBe(409)
    expect(versions(page)).toEqual([
      ['name', 'Before', 'Second'],
      ['scopes', 'notes:read', '–'],
    ])
  })
})

describe('the expiry of a token', () => {
  const day = 86_400_000

  test('causes a conflict if another tab changed it [T2110]', async () => {
    const { id } = await app.server.tokens.createPersonal('Short', app.user.id, { expiresIn: 600 })
    const [first, second] = [await opened(at.token(id)), await opened(at.token(id))]
    expect((await person.send(first, { expiry: '7' })).status).toBe(303)
    const page = await person.send(second, { expiry: 'never' })
    expect([page.status, page.text]).toEqual([409, expect.stringContaining(en.frame.conflict)])
    expect(versions(page)).toEqual([['expires', expect.stringMatching(/\d{4}/), en.facts.never]])
    const stored = async () =>
      (await app.server.personalTokens.find(app.user.id, id))?.token.expires
    expect(await stored()).toBe(app.now() + 7 * day)
    expect((await person.send(page.form(at.token(id), 'name'))).status).toBe(303)
    expect(await stored()).toBeNull()
  })

  test('causes no conflict if both tabs choose the same expiry, or if the second tab changes nothing [T2111]', async () => {
    const { id } = await app.server.tokens.createPersonal('Short', app.user.id, { expiresIn: 600 })
    const forms = [
      await opened(at.token(id)),
      await opened(at.token(id)),
      await opened(at.token(id)),
    ]
    for (const [index, expiry] of ['30', '30', 'keep'].entries()) {
      expect((await person.send(forms[index] as Form, { expiry })).status).toBe(303)
      app.advance(1)
    }
  })
})

describe('a change that removes the verification, tokens or the secret', () => {
  test('asks for confirmation once before a verification is removed [T1116]', async () => {
    const { clientId } = await app.client({ name: 'Checked' })
    await app.server.clients.mark(clientId, { isVerified: true })
    const path = at.client(clientId)
    const page = await person.send(await opened(path), { name: 'Renamed' })
    expect([page.status, page.title]).toEqual([200, expect.not.stringContaining('Error')])
    expect(page.text).toContain(`${en.frame.confirmLosses} ${losses.verification}`)
    expect(page.text).not.toContain(losses.secret)
    expect(page.html).toContain(`<button type="submit" class="danger">${en.frame.saveAnyway}<`)
    expect(await clientOf(app, clientId)).toMatchObject({ name: 'Checked', isVerified: true })
    const form = page.form(path, 'name')
    expect(form.fields).toMatchObject({ name: ['Renamed'], confirmed: ['verification'] })
    expect((await person.send(form, {})).status).toBe(303)
    expect(await clientOf(app, clientId)).toMatchObject({ name: 'Renamed', isVerified: false })
  })

  test('asks for confirmation again if the user confirmed a different loss [T1117]', async () => {
    const { clientId } = await app.client()
    await app.server.clients.mark(clientId, { isVerified: true })
    const path = at.client(clientId)
    const page = await person.send(await opened(path), { name: 'Renamed' })
    const more = await person.send(page.form(path, 'name'), { is_confidential: 'false' })
    expect(more.status).toBe(200)
    for (const text of Object.values(losses)) expect(more.text).toContain(text)
    expect(await clientOf(app, clientId)).toMatchObject({ isConfidential: true })
    const saved = await person.send(more.form(path, 'name'), { is_confidential: 'false' })
    expect(saved.status).toBe(303)
    expect(await clientOf(app, clientId)).toMatchObject({ isConfidential: false })
  })

  test('saves without confirmation if nothing is lost [T1118]', async () => {
    const { clientId } = await app.client()
    await app.server.clients.mark(clientId, { isVerified: true })
    const changed = await person.send(await opened(at.client(clientId)), {
      default_scopes: ['notes:read'],
    })
    expect(changed.status).toBe(303)
    expect(await clientOf(app, clientId)).toMatchObject({ isVerified: true })
  })
})
