import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { shownText } from '../support/html.ts'
import { keepDescribed } from '../support/internals.ts'
import { languages, textsIn } from '../support/languages.ts'
import { registered } from '../support/registration.ts'
import { redirectUri, startServer, type TestServer } from '../support/server.ts'
import { type LoggedIn, logIn } from '../support/session.ts'
import { authorizeUrl, newPkce } from '../support/user-agent.ts'

// Clients that no user of the server registered cause warnings on the consent page and in the administration.

const document = 'https://assistant.example/oauth/client.json'

let app: TestServer
let session: LoggedIn
beforeAll(async () => {
  app = await startServer({
    dynamicRegistration: 'open',
    applicationName: 'Notes & Co',
    // The server uses the stored metadata, and fetches no document.
    extensions: [
      {
        name: 'kept-documents',
        findClient: (clientId, { clients }) =>
          clientId === document ? clients.find(clientId).then((found) => found ?? null) : undefined,
      },
    ],
  })
  session = await logIn(app)
  const input = {
    name: 'Assistant',
    website: 'https://assistant.example/',
    isConfidential: false,
    redirectUris: ['http://localhost/cb', redirectUri],
  }
  const registration = { registrationToken: null, metadata: '{}' }
  await keepDescribed(app.server, document, input, { origin: 'metadata_document', ...registration })
})
afterAll(() => app.close())

const consent = async (
  clientId: string,
  uri: string = redirectUri,
  more: Record<string, string> = {},
): Promise<string> => {
  const page = await session.agent.fetch(
    authorizeUrl(app.issuer, {
      client_id: clientId,
      redirect_uri: uri,
      code_challenge: newPkce().challenge,
      code_challenge_method: 'S256',
      ...more,
    }),
  )
  expect(page.status).toBe(200)
  return page.text()
}

/** Returns the visible text of the page as one line. */
const shown = (html: string): string => shownText(html).join(' ').replaceAll(/\s+/g, ' ')

const en = textsIn('en')

describe('XS-06 the consent page describes the client truthfully', () => {
  test('warns that a client that registered itself is not verified [T215]', async () => {
    const { client_id } = await registered(app, { client_name: 'Notes & Co' })
    const html = await consent(client_id)
    expect(shown(html)).toContain(
      'This application registered itself. Notes & Co has not verified it: its name and description may be false.',
    )
    expect(html).not.toContain(en.facts.verified)
    // The client has no owner. Its metadata defines the redirect URI.
    expect(shown(html)).not.toContain('Registered by')
    expect(shown(html)).toContain('You will be sent to client.example')
    expect(shown(html)).not.toContain(en.consent.localCaution)
  })

  test('warns that a client describes itself, and shows the host of its metadata document', async () => {
    const html = await consent(document)
    expect(shown(html)).toContain(
      'This application describes itself at assistant.example . Its name and description are not verified',
    )
    expect(html).toContain('<code dir="ltr">assistant.example</code>')
  })

  test('warns about an unverified client with a loopback redirect URI, because any program can imitate the client [T078]', async () => {
    const redirect_uris = ['http://localhost:8000/cb', 'http://127.0.0.1/cb', 'http://[::1]/cb']
    const { client_id } = await registered(app, {
      redirect_uris,
      token_endpoint_auth_method: 'none',
    })
    for (const uri of redirect_uris)
      expect(shown(await consent(client_id, uri))).toContain(en.consent.localCaution)
    expect(shown(await consent(document, 'http://localhost:9/cb'))).toContain(
      en.consent.localCaution,
    )
    expect(shown(await consent(document))).not.toContain(en.consent.localCaution)
  })

  test('RFC 7591 §2 shows the website, the terms and the policy of a client as statements of the client [T186]', async () => {
    const { client_id } = await registered(app, {
      client_name: 'Assistant',
      client_uri: 'https://assistant.example/',
      tos_uri: 'https://assistant.example/terms?a=b&c=d',
      policy_uri: 'https://assistant.example/privacy',
      logo_uri: 'https://assistant.example/logo.png',
      contacts: ['maker@assistant.example'],
    })
    const html = await consent(client_id)
    const [own = ''] = /<figure class="description">[\s\S]*?<\/figure>/.exec(html) ?? []
    expect(shown(`<body>${own}</body>`)).toBe(
      'What Assistant says about itself: Website https://assistant.example/ Terms of use https://assistant.example/terms?a=b&c=d Privacy policy https://assistant.example/privacy',
    )
    expect(own.match(/rel="noopener noreferrer nofollow"/g)).toHaveLength(3)
    expect(html.replace(own, '')).not.toContain('assistant.example')
    // XS-03: the page does not load the logo of the client.
    expect(html).not.toContain('logo.png')
  })

  test('omits the statements of a client without website, terms and policy', async () => {
    const { client_id } = await registered(app)
    expect(await consent(client_id)).not.toContain('class="description"')
  })

  test('shows the text "Verified" and no warning for a client that an administrator verified [T498]', async () => {
    const { client_id } = await registered(app, {
      redirect_uris: ['http://localhost/cb'],
      client_uri: 'https://assistant.example/',
    })
    await app.server.clients.mark(client_id, { isVerified: true })
    const text = shown(await consent(client_id, 'http://localhost/cb'))
    expect(text).toContain(en.facts.verified)
    expect(text).not.toContain('registered itself')
    expect(text).not.toContain(en.consent.localCaution)
    expect(text).toContain('says about itself')
  })

  test('does not describe a client as self-registered if a user registered the client', async () => {
    const { clientId } = await app.client({ redirectUris: ['http://localhost/cb'] })
    const text = shown(await consent(clientId, 'http://localhost/cb'))
    expect(text).toContain('Notes & Co has not verified this application.')
    expect(text).not.toContain('itself')
    expect(text).not.toContain(en.consent.localCaution)
  })

  test.each(Object.entries(languages))(
    'shows the warnings in the language %s [T216]',
    async (language, texts) => {
      const { client_id } = await registered(app, {
        redirect_uris: ['http://localhost/cb'],
        tos_uri: 'https://assistant.example/terms',
        policy_uri: 'https://assistant.example/privacy',
      })
      const withoutSpaces = (text: string) => text.replaceAll(/\s+/g, '')
      const of = async (id: string, uri: string) =>
        withoutSpaces(shown(await consent(id, uri, { ui_locales: language })))
      const own = await of(client_id, 'http://localhost/cb')
      for (const text of [
        texts.consent.selfRegistered('Notes & Co'),
        texts.consent.localCaution,
        texts.consent.terms,
        texts.consent.privacy,
      ])
        expect(own).toContain(withoutSpaces(text))
      expect(await of(document, redirectUri)).toContain(
        withoutSpaces(texts.consent.selfDescribed('assistant.example')),
      )
    },
  )
})

test('the administration shows which clients registered or describe themselves', async () => {
  await registered(app, { client_name: 'By itself' })
  await app.server.users.setAdmin(app.user.id, true)
  const page = await session.agent.fetch(`${app.issuer}/admin/applications/`)
  const text = shown(await page.text())
  expect(text).toContain('By itself Confidential Registered itself')
  expect(text).toContain('Assistant Public Describes itself')
})
