import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { withRefusals } from '../../../src/records/clients/refused-clients.ts'
import { redirectUri, startServer, type TestServer } from '../../support/server.ts'
import { en } from '../../support/texts.ts'
import { tokenRequest } from '../../support/user-agent.ts'
import { at, type Page, Person, textOf } from './support.ts'

let app: TestServer
let admin: Person
beforeAll(async () => {
  app = await startServer()
  admin = await Person.stranger(app, { isAdmin: true })
})
afterAll(() => app.close())

const authorize = (fields: Record<string, string>) =>
  fetch(
    `${app.issuer}/oauth/authorize?${new URLSearchParams({ response_type: 'code', ...fields })}`,
    {
      redirect: 'manual',
    },
  )

const wrongSecret = (clientId: string) =>
  tokenRequest(
    app.issuer,
    { grant_type: 'client_credentials' },
    { basic: { clientId, clientSecret: 'wrong' } },
  )

/** The applications of the overview, as text. */
const overview = ({ html }: Page): readonly string[] => {
  const [, list = ''] = html.split(`<summary>${en.admin.mostRefused}</summary>`)
  return (list.split('</details>')[0] ?? '')
    .split('<li><time')
    .slice(1)
    .map((item) => textOf(`<time${item}`))
}

describe('the refusals of applications for administrators', () => {
  test('shows the applications that are refused most, with the reasons and a link [T2120]', async () => {
    expect(overview(await admin.get(at.adminHome))).toEqual([])
    const { clientId: often } = await app.client({ name: 'Often' })
    const { clientId: once } = await app.client({ name: 'Once' })
    const { clientId: gone } = await app.client({ name: 'Gone' })
    for (let index = 0; index < 30; index += 1) await wrongSecret(often)
    await authorize({ client_id: often, redirect_uri: 'https://other.example/' })
    await authorize({ client_id: once, redirect_uri: `${redirectUri}/` })
    await wrongSecret(gone)
    await app.server.clients.delete(gone)

    const page = await admin.get(at.adminHome)
    const found = overview(page)
    expect(found).toHaveLength(2)
    expect(found[0]).toMatch(/Often 31 × 19 × .*client_secret_basic.* 1 × redirect_uri is missing/)
    expect(found[1]).toMatch(/Once 1 × 1 × redirect_uri is missing, or not registered/)
    const path = at.adminApplication(often)
    expect(page.html).toContain(`<a href="${path}"><bdi>Often</bdi></a>`)
    expect((await admin.get(path)).html).toContain('https://other.example/')

    app.advance(8 * 86_400)
    const later = await Person.logIn(app, { user: admin.user })
    expect(overview(await later.get(at.adminHome))).toEqual([])
    expect((await later.get(path)).html).not.toContain('https://other.example/')
  })

  test('stores only the 100 applications that were refused most recently [T2121]', () => {
    const day = 86_400_000
    const added = Array.from({ length: 150 }, (_, index) => ({
      clientId: `${index}`,
      at: 10 * day + index,
      count: 1,
    }))
    const all = withRefusals([], added, 3 * day)
    expect(all.map(({ clientId }) => Number(clientId))).toEqual(
      Array.from({ length: 100 }, (_, index) => 149 - index),
    )
    const later = withRefusals(all, [{ clientId: '149', at: 11 * day, count: 2 }], 10 * day + 149)
    expect(later).toEqual([{ clientId: '149', at: 11 * day, days: { 10: 1, 11: 2 } }])
  })
})
