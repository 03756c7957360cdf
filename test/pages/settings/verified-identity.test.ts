import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { verifiedIdentity } from '../../../src/records/clients/verified-identity.ts'
import { startServer, type TestServer } from '../../support/server.ts'
import { clientOf } from '../../support/tokens.ts'
import { at, type Page, Person } from './support.ts'

// An administrator verifies exactly the data that the page showed.

let app: TestServer
let admin: Person
beforeAll(async () => {
  app = await startServer({ dynamicRegistration: 'open', openidConnect: true })
  admin = await Person.stranger(app, { isAdmin: true })
})
afterAll(() => app.close())

const metadata = {
  client_name: 'Reviewed Application',
  redirect_uris: ['https://reviewed.example/cb', 'https://reviewed.example/second'],
  client_uri: 'https://reviewed.example/about',
  logo_uri: 'https://reviewed.example/logo.png',
  tos_uri: 'https://reviewed.example/terms',
  policy_uri: 'https://reviewed.example/privacy',
  post_logout_redirect_uris: ['https://reviewed.example/out'],
}

interface Registered {
  readonly client_id: string
  readonly registration_access_token: string
  readonly registration_client_uri: string
}

const register = async (): Promise<Registered> => {
  const answer = await fetch(`${app.issuer}/oauth/register`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(metadata),
  })
  return (await answer.json()) as Registered
}

const change = async (registered: Registered, changed: object): Promise<void> => {
  const answer = await fetch(registered.registration_client_uri, {
    method: 'PUT',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${registered.registration_access_token}`,
    },
    body: JSON.stringify({ ...metadata, client_id: registered.client_id, ...changed }),
  })
  expect(answer.status).toBe(200)
}

const pageOf = ({ client_id }: Registered): Promise<Page> =>
  admin.get(at.adminApplication(client_id))

const verify = async ({ client_id }: Registered, page: Page): Promise<boolean> => {
  await admin.send(page.form(at.adminApplication(client_id), 'seen'), { act: 'verify' })
  return (await clientOf(app, client_id)).isVerified
}

test('the page shows an administrator everything that the verification covers [T4040]', async () => {
  const registered = await register()
  await app.server.clients.update(registered.client_id, { description: 'It reviews things.' })
  const { text } = await pageOf(registered)
  const client = await clientOf(app, registered.client_id)
  // An application that registered itself has no owner.
  const { userId, ...identity } = verifiedIdentity(client)
  expect(userId).toBeNull()
  for (const [name, value] of Object.entries(identity)) {
    const texts = [value].flat()
    expect(texts.length, name).toBeGreaterThan(0)
    for (const one of texts) {
      expect(one, name).not.toBe('')
      expect(text, name).toContain(one)
    }
  }
})

describe.each([
  ['the name', { client_name: 'Another Application' }],
  ['the website', { client_uri: 'https://other.example/' }],
  ['the logo', { logo_uri: 'https://other.example/logo.png' }],
  ['the terms', { tos_uri: 'https://other.example/terms' }],
  ['the privacy policy', { policy_uri: 'https://other.example/privacy' }],
  ['a redirect URI', { redirect_uris: [...metadata.redirect_uris, 'https://other.example/cb'] }],
  ['a post-logout redirect URI', { post_logout_redirect_uris: ['https://other.example/out'] }],
])('%s', (_what, changed) => {
  test('a change after the page was shown prevents the verification [T4041]', async () => {
    const registered = await register()
    const page = await pageOf(registered)
    await change(registered, changed)
    expect(await verify(registered, page)).toBe(false)
    expect(await verify(registered, await pageOf(registered))).toBe(true)
  })

  test('a change after the verification ends the verification [T4042]', async () => {
    const registered = await register()
    expect(await verify(registered, await pageOf(registered))).toBe(true)
    await change(registered, changed)
    expect((await clientOf(app, registered.client_id)).isVerified).toBe(false)
  })
})
