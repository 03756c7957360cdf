import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../../support/server.ts'
import { en } from '../../support/texts.ts'
import { at, Person } from './support.ts'

const { leaked, problems } = en

let app: TestServer
let admin: Person
beforeAll(async () => {
  app = await startServer()
  admin = await Person.stranger(app, { isAdmin: true })
})
afterAll(() => app.close())

describe('a search of an administrator', () => {
  test.each([
    ['tokens', at.adminTokens, { search: 'token' }, 'token'],
    ['tokens, sent to the former address', at.admin, { search: 'token' }, 'token'],
    ['applications', at.admin, { search: 'client' }, 'client'],
    ['users', at.adminUsers, {}, 'user'],
    ['events', at.adminActivity, {}, 'user'],
  ] as const)(
    'for a valid token among %s shows the result for the token, and puts no token into a URL [T1350]',
    async (_, path, fields, name) => {
      const { accessToken } = await app.server.tokens.createPersonal('Backup', app.user.id)
      const sent = await admin.post(path, { ...fields, [name]: accessToken })
      expect(sent.location).toMatch(/^\/account\/settings\/leaked\/\?found=\w+$/)
      expect(sent.location).not.toContain(accessToken)
      const page = await admin.follow(sent)
      expect(page.text).toContain(`${leaked.kinds.personal_token} Backup`)
      expect(page.fact(en.admin.user)).toBe(app.user.email)
    },
  )

  test('for an unknown text that looks like a token is rejected without repeating the text [T1351]', async () => {
    const text = 'x'.repeat(60)
    for (const [path, fields] of [
      [at.adminTokens, { search: 'token', token: text }],
      [at.admin, { search: 'client', client: text }],
      [at.adminUsers, { user: text }],
    ] as const) {
      const page = await admin.post(path, fields)
      expect(page.status).toBe(400)
      expect(page.alert).toContain(problems.looksLikeSecret)
      expect(page.html).toContain(`<a href="${at.leaked}">`)
      expect(page.html).not.toContain(text)
    }
  })

  test('neither reports that a token in an old URL does not exist, nor repeats the token [T1352]', async () => {
    const { accessToken } = await app.server.tokens.createPersonal('Backup', app.user.id)
    const sent = await admin.get(`${at.adminTokens}?token=${accessToken}`)
    expect(sent.location).toBe(at.adminTokens)
    const page = await admin.follow(sent)
    expect(page.alert).toContain(problems.looksLikeSecret)
    expect(page.text).not.toContain(en.list.nothing)
    const former = await admin.get(`${at.admin}?token=${accessToken}`)
    for (const { html } of [page, former]) expect(html).not.toContain(accessToken)
  })

  test('for a client ID, an e-mail address or an ID shows the results [T1353]', async () => {
    const { clientId } = await app.client()
    for (const token of [
      clientId,
      app.user.email,
      '7',
      'a-name-of-more-than-twenty-two@example.org',
    ]) {
      const choices = { sort: 'used', filter: 'expiring', kind: 'personal', scope: '' }
      const sent = await admin.post(at.adminTokens, { search: 'token', token, ...choices })
      const { scope: _, ...kept } = choices
      expect(sent.location).toBe(
        `${at.adminTokens}?${new URLSearchParams({ token, ...kept })}#list`,
      )
    }
    const secret = 'x'.repeat(60)
    const sent = await admin.post(at.admin, { search: 'client', client: 'Cl', sort: secret })
    expect(sent.location).toBe(`${at.admin}?client=Cl#list`)
  })

  test('remains, with the page of the list, after an action [T1354]', async () => {
    const { id } = await app.server.tokens.createPersonal('Gone', app.user.id)
    for (let row = 0; row < 30; row += 1)
      await app.server.tokens.createPersonal(`Script ${row}`, app.user.id)
    const query = new URLSearchParams({ token: app.user.email, kind: 'personal' })
    const first = await admin.get(`${at.adminTokens}?${query}`)
    const [, next = ''] = /href="([^"]*)" rel="next"/.exec(first.html) ?? []
    const path = next.replaceAll('&amp;', '&')
    expect(path).toMatch(/^\/admin\/tokens\/\?token=.*&kind=personal&after=.*#list$/)
    const page = await admin.get(path)
    const form = page.forms.find(({ fields }) => fields.token_id?.[0] === String(id))
    const sent = await admin.send(form ?? expect.fail('no form'))
    expect(sent.location).toBe(path)
    const after = await admin.follow(sent)
    expect(after.done).toBe(en.done.tokenDeleted('Gone'))
    expect(after.html).toContain(`value="${app.user.email}"`)
  })

  test('asks for one confirmation before a token is deleted, as before every other action [T1355]', async () => {
    const { id } = await app.server.tokens.createPersonal('Asked', app.user.id)
    const { html } = await admin.get(`${at.adminTokens}?token=${id}`)
    const summary = `<summary aria-label="Delete Asked #${id}">Delete</summary>`
    const [, rest = ''] = html.split(summary)
    const [question = ''] = rest.split('</details>')
    expect(question).toContain(en.leaked.acts.end.about)
    expect(question).toContain(`name="token_id" value="${id}"`)
    expect(html.split(`name="token_id" value="${id}"`)).toHaveLength(2)
  })
})
