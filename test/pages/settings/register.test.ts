import { Scope } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { count } from '../../support/database.ts'
import { hostileTexts, shownText, skeleton } from '../../support/html.ts'
import { forbiddenRedirectUris } from '../../support/redirect-uris.ts'
import { startServer, type TestServer, testScopes } from '../../support/server.ts'
import { en } from '../../support/texts.ts'
import { clientOf } from '../../support/tokens.ts'
import { tokenRequest } from '../../support/user-agent.ts'
import { Script, written } from '../api/script.ts'
import { at, type Fields, idIn, type Page, Person } from './support.ts'

const { problems } = en

let app: TestServer
let person: Person
beforeAll(async () => {
  app = await startServer({ scopes: [...testScopes, new Scope('plain')] })
  person = await Person.logIn(app)
})
afterAll(() => app.close())

const register = (changes: Fields, as = person): Promise<Page> => as.fill(at.newClient, changes)

const secretOn = (page: Page): string | undefined => page.copied('client-secret')

/** Registers a client with the form, and returns the client. */
const registered = async (changes: Fields) => {
  const { status, location } = await register({ name: 'Printer', ...changes })
  expect(status).toBe(303)
  expect(location).toBe(at.client(idIn(location)))
  return clientOf(app, idIn(location))
}

describe('a valid registration form', () => {
  test('requires only a name, and sets other fields to the specified defaults [T657]', async () => {
    const client = await registered({})
    expect(client).toMatchObject({
      name: 'Printer',
      description: '',
      website: '',
      userId: app.user.id,
      isConfidential: true,
      isInternal: false,
      isPersonal: false,
      isVerified: false,
      isDisabled: false,
      redirectUris: [],
      defaultScopes: [],
      optionalScopes: [],
      allowedScopes: null,
    })
  })

  test('explains that the default permissions limit client_credentials, which the token endpoint enforces', async () => {
    const form = await person.get(at.newClient)
    expect(form.text).toContain(
      'With client_credentials, without a user, your application can get only the default permissions.',
    )
    const allowed = await registered({ default_scopes: ['notes:read'] })
    const none = await registered({})
    const ask = async ({ clientId }: typeof allowed) => {
      const { clientSecret } = await app.server.clients.resetClientSecret(clientId)
      const fields = { grant_type: 'client_credentials', scope: 'notes:read' }
      const { status } = await tokenRequest(app.issuer, fields, {
        basic: { clientId, clientSecret },
      })
      return status
    }
    expect([await ask(allowed), await ask(none)]).toEqual([200, 400])
  })

  test('stores every field without surrounding spaces, and the name without repeated spaces', async () => {
    const client = await registered({
      name: '  Ünï  ¡Printer! ',
      description: ' Prints\n\n what you\twrote. ',
      website: ' https://printer.example/?a=b&c=d ',
      redirect_uris: 'https://printer.example/cb',
      is_confidential: 'false',
      default_scopes: ['notes:read', 'plain'],
      optional_scopes: ['plain'],
    })
    expect(client).toMatchObject({
      name: 'Ünï ¡Printer!',
      description: 'Prints\n\n what you\twrote.',
      website: 'https://printer.example/?a=b&c=d',
      redirectUris: ['https://printer.example/cb'],
      isConfidential: false,
      defaultScopes: ['notes:read', 'plain'],
      optionalScopes: ['plain'],
    })
  })

  test.each<[string, string | undefined, boolean]>([
    ['missing', undefined, true],
    ['empty', '', true],
    ['true', 'true', true],
    ['false', 'false', false],
  ])(
    'decision §2 sets the client type if the field is_confidential is %s',
    async (_, is_confidential, expected) => {
      expect((await registered({ is_confidential })).isConfidential).toBe(expected)
    },
  )

  test('stores one redirect URI per line, in order, without surrounding spaces [T658]', async () => {
    const lines = '\n  https://a.example/cb \n\n\thttp://localhost:9/b\n https://c.example\n\n'
    const uris = ['https://a.example/cb', 'http://localhost:9/b', 'https://c.example']
    expect((await registered({ redirect_uris: lines })).redirectUris).toEqual(uris)
    // The server also accepts LF instead of CRLF, and a repeated field with one URI in each.
    const unix = await person.request(at.newClient, {
      method: 'POST',
      body: new URLSearchParams({
        csrf_token: person.session.csrfToken,
        name: 'x',
        redirect_uris: lines,
      }),
    })
    expect((await clientOf(app, idIn(unix.location))).redirectUris).toEqual(uris)
    expect((await registered({ redirect_uris: uris })).redirectUris).toEqual(uris)
  })

  test('ignores submitted fields that it does not have', async () => {
    const client = await registered({
      client_id: 'mine',
      client_secret: 'mine',
      user_id: '999',
      is_internal: 'true',
      is_personal: 'true',
      is_verified: 'true',
      is_disabled: 'true',
      allowed_scopes: 'test:scope',
      grant_types: 'password',
      token_endpoint_auth_method: 'none',
      __proto__: 'x',
      constructor: 'x',
    })
    expect(client).toMatchObject({
      userId: app.user.id,
      isInternal: false,
      isPersonal: false,
      isVerified: false,
      isDisabled: false,
      allowedScopes: null,
      grantTypes: null,
      tokenEndpointAuthMethod: null,
    })
    expect(client.clientId).toHaveLength(40)
  })

  test('ignores fields in the query', async () => {
    const before = written(app)
    const { csrfToken } = person.session
    const query = new URLSearchParams({ csrf_token: csrfToken, name: 'x' })
    expect((await person.postRaw(`${at.newClient}?${query}`, {})).status).toBe(403)
    const page = await person.post(`${at.newClient}?${query}`)
    expect([page.status, page.wrong('name')]).toEqual([400, problems.nameMissing])
    expect(written(app)).toEqual(before)
  })

  test('creates a page of the client that shows its type and a command to try the client', async () => {
    const page = await person.follow(
      await register({ name: 'Printer', redirect_uris: 'https://printer.example/cb' }),
    )
    expect(page.status).toBe(200)
    expect(page.done).toBe(en.done.clientCreated)
    expect(page.copied('client-id')).toMatch(/^[A-Za-z0-9]{40}$/)
    expect(page.fact(en.facts.users)).toBe('0')
    expect(page.fact(en.facts.type)).toBe(en.facts.confidential)
    expect(page.copied('try-it-curl')).toContain(page.copied('client-id'))
  })

  test('adds the client to the list of its owner, and to no other list', async () => {
    const { clientId } = await registered({ name: 'Listed once' })
    const list = await person.get(`${at.clients}?q=Listed`)
    expect(list.item('Listed once')).toContain(`href="${at.client(clientId)}"`)
    expect((await (await Person.stranger(app)).get(at.clients)).html).not.toContain('Listed once')
  })
})

describe('the page of a new client', () => {
  const named = { name: 'Printer' }

  test('shows a valid secret after the redirect, but not after a reload [T659]', async () => {
    const sent = await register({ ...named, default_scopes: ['notes:read'] })
    const page = await person.follow(sent)
    const secret = secretOn(page) ?? ''
    expect(secret).toMatch(/^[A-Za-z0-9]{60}$/)
    // The page contains the secret once, and once in each of the three programs.
    expect(page.html.split(secret)).toHaveLength(5)
    expect(page.text).toContain(en.client.secretOnce)
    const { status } = await tokenRequest(
      app.issuer,
      { grant_type: 'client_credentials' },
      { basic: { clientId: idIn(sent.location), clientSecret: secret } },
    )
    expect(status).toBe(200)
    for (const again of [await person.follow(sent), await person.get(at.list)]) {
      expect(secretOn(again)).toBeUndefined()
      expect(again.html).not.toContain(secret)
      expect(again.done).toBe('')
    }
  })

  test('shows no secret in another session, and then shows the secret in the session that registered the client', async () => {
    const other = await Person.logIn(app)
    const sent = await register(named)
    expect(secretOn(await other.follow(sent))).toBeUndefined()
    expect((await other.follow(sent)).done).toBe('')
    expect(secretOn(await person.follow(sent))).toMatch(/^\w{60}$/)
  })

  test('shows the secret although the user opened other pages first', async () => {
    const first = await register(named)
    const second = await register({ ...named, name: 'Other' })
    await person.get(at.list)
    await person.get(at.newClient)
    const secrets = [secretOn(await person.follow(second)), secretOn(await person.follow(first))]
    expect(secrets.every((secret) => secret?.length === 60)).toBe(true)
    expect(secrets[0]).not.toBe(secrets[1])
  })

  test('shows the secret although HEAD requests, rejected forms and JSON requests came first', async () => {
    const sent = await register(named)
    const path = sent.location ?? ''
    const head = await person.request(path, { method: 'HEAD' })
    expect([head.status, head.html]).toEqual([200, ''])
    const refused = await person.post(path, { name: '' })
    expect([refused.status, secretOn(refused)]).toEqual([400, undefined])
    const stale = await person.postRaw(path, { name: 'x' })
    expect([stale.status, secretOn(stale)]).toEqual([403, undefined])
    const json = await person.get(path, {
      accept: 'application/json',
      authorization: `Bearer ${person.session.jwt}`,
    })
    expect([json.status, json.html.includes('secret"')]).toEqual([200, false])
    expect(secretOn(await person.follow(sent))).toMatch(/^\w{60}$/)
  })

  test('shows the secret although the browser prefetched the page', async () => {
    const sent = await register(named)
    for (const [name, value] of [
      ['sec-purpose', 'prefetch'],
      ['sec-purpose', 'prefetch;prerender'],
      ['purpose', 'prefetch'],
      ['x-moz', 'prefetch'],
      ['x-purpose', 'preview'],
    ] as const)
      expect(secretOn(await person.get(sent.location ?? '', { [name]: value }))).toBe(undefined)
    expect(secretOn(await person.follow(sent))).toMatch(/^\w{60}$/)
  })

  test('shows the secret although the user sent another form first', async () => {
    const sent = await register(named)
    const saved = await person.post(sent.location ?? '', { name: 'Renamed' })
    const page = await person.follow(saved)
    expect(page.done).toBe(en.done.clientSaved)
    expect(secretOn(page)).toMatch(/^\w{60}$/)
  })

  test('shows the secret although the URL has a query or no trailing slash', async () => {
    const first = await register(named)
    expect(secretOn(await person.get(`${first.location}?ui_locales=de`))).toMatch(/^\w{60}$/)
    const second = await register(named)
    const moved = await person.get(second.location?.slice(0, -1) ?? '')
    expect(moved.status).toBe(308)
    expect(secretOn(await person.get(moved.location ?? ''))).toMatch(/^\w{60}$/)
  })

  test('shows the secret until the browser confirms that it received a page with the secret [T3710]', async () => {
    const location = (await register(named)).location ?? ''
    const lost = await Promise.all([1, 2].map(() => person.rawRequest(location)))
    const arrived = await person.rawRequest(location)
    const secret = secretOn(arrived)
    expect(secret).toMatch(/^\w{60}$/)
    expect(lost.map(secretOn)).toEqual([secret, secret])
    const image = await person.rawRequest(arrived.seen ?? '')
    expect([image.status, image.headers.get('content-type')]).toEqual([200, 'image/svg+xml'])
    expect(secretOn(await person.rawRequest(location))).toBeUndefined()
  })

  test('shows the secret for at most a minute if the browser loads no images [T3711]', async () => {
    const location = (await register(named)).location ?? ''
    expect(secretOn(await person.rawRequest(location))).toMatch(/^\w{60}$/)
    app.advance(61)
    expect(secretOn(await person.rawRequest(location))).toBeUndefined()
  })

  test('retains the secret if another session or another ID confirms the page [T3712]', async () => {
    const location = (await register(named)).location ?? ''
    const { seen = '' } = await person.rawRequest(location)
    const again = await Person.logIn(app)
    await again.rawRequest(seen)
    await person.rawRequest(`${location}?seen=guessed`)
    expect(secretOn(await person.rawRequest(location))).toMatch(/^\w{60}$/)
  })

  test('does not show the secret after five minutes', async () => {
    const sent = await register(named)
    app.advance(301)
    expect(secretOn(await person.follow(sent))).toBeUndefined()
  })

  test('shows no secret for a public client', async () => {
    const page = await person.follow(await register({ ...named, is_confidential: 'false' }))
    expect(page.done).toBe(en.done.clientCreated)
    expect(secretOn(page)).toBeUndefined()
    expect(page.fact(en.facts.clientSecret)).toBeUndefined()
    expect(page.forms.some(({ action }) => action.endsWith('/reset/'))).toBe(false)
  })

  test('shows a secret that neither a URL nor the log contains', async () => {
    const sent = await register(named)
    const secret = secretOn(await person.follow(sent)) ?? ''
    expect(sent.location).not.toContain(secret)
    expect(JSON.stringify(app.log)).not.toContain(secret)
  })
})

describe('an invalid registration form', () => {
  const typed = {
    name: 'Printer <1>',
    description: ' Prints "it".\nTwice. ',
    website: 'https://printer.example',
    redirect_uris: 'https://a.example/cb\n\nhttps://b.example/cb ',
    is_confidential: 'false',
    default_scopes: ['plain'],
    optional_scopes: ['notes:read', 'plain'],
  }

  const refused = async (changes: Fields): Promise<Page> => {
    const clients = count(app.database, 'oauth2server_client')
    const page = await register({ ...typed, ...changes })
    expect(page.status).toBe(400)
    expect(page.location).toBeNull()
    expect(count(app.database, 'oauth2server_client')).toBe(clients)
    return page
  }

  /** Returns the fields that a browser would submit from the page, with LF instead of CRLF. */
  const again = (page: Page): Fields => {
    const { csrf_token, form_id, ...fields } = page.form(at.newClient).fields
    expect(csrf_token).toEqual([person.session.csrfToken])
    expect(form_id).toHaveLength(1)
    return Object.fromEntries(
      Object.entries(fields).map(([name, values]) => [
        name,
        values.map((value) => value.replaceAll('\r\n', '\n')),
      ]),
    )
  }

  const lists = (fields: Fields): Fields =>
    Object.fromEntries(Object.entries(fields).map(([name, value = []]) => [name, [value].flat()]))

  test.each<[string, Fields, field: string, sentence: string]>([
    ['a missing name', { name: '' }, 'name', problems.nameMissing],
    ['a name of spaces', { name: ' \t\u00A0\u3000 ' }, 'name', problems.nameMissing],
    ['a name of invisible characters', { name: '\u200B\uFEFF' }, 'name', problems.nameMissing],
    ['a name of 41 characters', { name: 'x'.repeat(41) }, 'name', problems.nameTooLong(40)],
    ['a name of 41 emoji', { name: '😀'.repeat(41) }, 'name', problems.nameTooLong(40)],
    ['a name of 30,000 characters', { name: 'x'.repeat(30_000) }, 'name', problems.nameTooLong(40)],
    [
      'a bidirectional override in the name',
      { name: 'a\u202Eb' },
      'name',
      problems.unseenCharacter,
    ],
    ['a bidirectional mark in the name', { name: 'a\u200Fb' }, 'name', problems.unseenCharacter],
    ['a null character in the name', { name: 'a\u0000b' }, 'name', problems.unseenCharacter],
    ['a line break in the name', { name: 'a\nb' }, 'name', problems.unseenCharacter],
    ['a zero-width space in the name', { name: 'a\u200Bb' }, 'name', problems.unseenCharacter],
    [
      'a name with too many combining marks',
      { name: `a${'\u0301'.repeat(40)}` },
      'name',
      problems.tooManyMarks,
    ],
    [
      'a long description',
      { description: 'x'.repeat(4_001) },
      'description',
      problems.descriptionTooLong(4_000),
    ],
    [
      'a bidirectional isolate in the description',
      { description: 'a\u2066b' },
      'description',
      problems.unseenCharacter,
    ],
    [
      'a null character in the description',
      { description: 'a\u0000' },
      'description',
      problems.unseenCharacter,
    ],
    ...[
      'x',
      'javascript:alert(1)',
      'data:text/html,x',
      'http://printer.example',
      'https://user@printer.example',
      'https://printer.example/"x',
      'https://printer.example/\u202E',
      `https://printer.example/${'x'.repeat(2_000)}`,
    ].map((website): [string, Fields, string, string] => [
      `the website ${website.slice(0, 40)}`,
      { website },
      'website',
      problems.websiteInvalid,
    ]),
    [
      'the value "maybe" of is_confidential',
      { is_confidential: 'maybe' },
      'is_confidential',
      problems.other,
    ],
    [
      'the value "TRUE" of is_confidential',
      { is_confidential: 'TRUE' },
      'is_confidential',
      problems.other,
    ],
    [
      'an internal scope',
      { default_scopes: ['plain', 'test:scope'] },
      'default_scopes',
      problems.scopeUnknown('test:scope'),
    ],
    [
      'an unknown scope',
      { default_scopes: 'rw:all' },
      'default_scopes',
      problems.scopeUnknown('rw:all'),
    ],
    [
      'several scopes in one value',
      { default_scopes: 'plain notes:read' },
      'default_scopes',
      problems.scopeUnknown('plain notes:read'),
    ],
    [
      'an internal optional scope',
      { optional_scopes: 'test:scope' },
      'optional_scopes',
      problems.scopeUnknown('test:scope'),
    ],
  ])(
    'returns 400 with the submitted values and an error at the field, and stores nothing: %s',
    async (_, changes, field, sentence) => {
      const page = await refused(changes)
      expect(page.wrong(field)).toBe(sentence)
      expect(page.alert).toContain(sentence)
      expect(page.html.match(/ aria-invalid="true"/g)).toHaveLength(1)
      expect(page.html.match(/<p class="wrong"/g)).toHaveLength(1)
      const sent = lists({ ...typed, ...changes })
      const shown = again(page)
      for (const [name, values] of Object.entries(sent)) {
        // The form offers no checkbox for an invalid scope, and no choice for an invalid value.
        if (name.endsWith('_scopes') && name === field) continue
        if (name === 'is_confidential' && name === field) continue
        expect([name, shown[name]]).toEqual([name, values])
      }
    },
  )

  test('can be corrected in the returned form', async () => {
    const page = await refused({ name: '' })
    const sent = await person.send(page.form(at.newClient), { name: 'Corrected' })
    const client = await clientOf(app, idIn(sent.location))
    expect(client).toMatchObject({
      name: 'Corrected',
      description: 'Prints "it".\nTwice.',
      redirectUris: ['https://a.example/cb', 'https://b.example/cb'],
      isConfidential: false,
      defaultScopes: ['plain'],
      optionalScopes: ['notes:read', 'plain'],
    })
  })

  const fiveErrors = {
    name: '',
    description: 'x'.repeat(4_001),
    website: 'ftp://a.example',
    redirect_uris: 'http://a.example\nhttps://b.example\nhttps://c.example/#x',
  }

  test('shows all errors at once, with a focused summary of links [T1110]', async () => {
    const page = await register(fiveErrors)
    expect(page.status).toBe(400)
    expect(page.title).toMatch(/^Error: Register an application · /)
    expect(page.summary).toEqual([
      'Name Enter a name.',
      'Description The description must not be longer than 4,000 characters.'.replace(',', ''),
      'Website Enter an address that begins with https://, or leave the field empty.',
      expect.stringMatching(/^Redirect URIs Line 1: The address must begin with https/),
      'Redirect URIs Line 3: Remove the # and everything after it.',
    ])
    const [, autofocus, ...more] = page.html.split(' autofocus')
    expect(autofocus).toMatch(/^>\s*<p>Please correct the following:/)
    expect(more).toEqual([])
    for (const [, field] of page.html.matchAll(/<li><a href="#([a-z_]+)">/g)) {
      expect(page.html).toMatch(new RegExp(`id="${field}"[^>]* aria-invalid="true"`))
      expect(page.wrong(String(field))).toBeDefined()
    }
    expect(page.wrong('redirect_uris')).toMatch(/^Line 1: .* http:\/\/a\.example Line 3: .*#x$/)
  })

  test('returns all errors to a script [T1111]', async () => {
    const script = new Script(app, person.session)
    const sent = { ...fiveErrors, redirect_uris: fiveErrors.redirect_uris.split('\n') }
    const { status, body } = await script.post(at.newClient, {
      ...sent,
      default_scopes: ['test:scope'],
    })
    const error = body as { field: string; errors: { field: string; line?: number }[] }
    expect([status, error.field]).toEqual([400, 'name'])
    expect(error.errors.map(({ field, line }) => [field, line])).toEqual([
      ['name', undefined],
      ['description', undefined],
      ['website', undefined],
      ['redirect_uris', 1],
      ['redirect_uris', 3],
      ['default_scopes', undefined],
    ])
    const types = await script.post(at.newClient, { name: 1, website: 2, is_confidential: 'x' })
    expect((types.body as typeof error).errors.map(({ field }) => field)).toEqual([
      'name',
      'website',
      'is_confidential',
    ])
    const one = await script.post(at.newClient, { name: '' })
    expect(one.body).toEqual({
      error: 'invalid_request',
      error_description: 'The name is missing.',
      field: 'name',
    })
  })

  describe('an invalid redirect URI in the registration form', () => {
    test.each<[string, string, line: number, wrong: string]>([
      ['the only URI', 'ftp://x', 1, 'ftp://x'],
      ['the last URI', 'https://a.example\nhttp://b.example', 2, 'http://b.example'],
      ['the only invalid URI of two', 'http://a.example\nhttps://b.example', 1, 'http://a.example'],
      ['a URI after blank lines', '\n\nhttps://a.example\n\n  x  \n', 5, 'x'],
      ['a URI after lines of spaces', '   \n\t\nhttps://a.example\nx', 4, 'x'],
      ['the last of 50 URIs', `${'https://a.example\n'.repeat(49)}x`, 50, 'x'],
    ])(
      'causes an error with the number of the invalid line: %s',
      async (_, redirect_uris, line, wrong) => {
        for (const breaks of ['\r\n', '\n']) {
          const page = await person.request(at.newClient, {
            method: 'POST',
            body: new URLSearchParams({
              csrf_token: person.session.csrfToken,
              name: 'x',
              redirect_uris: redirect_uris.replaceAll('\n', breaks),
            }),
          })
          expect(page.status).toBe(400)
          const sentence = page.wrong('redirect_uris') ?? ''
          expect(sentence).toMatch(new RegExp(`^Line ${line}: .* ${wrong}$`))
          expect(again(page).redirect_uris).toEqual([redirect_uris])
        }
      },
    )

    test('AZ-09 returns an error for every URI that clients must not register', async () => {
      const clients = count(app.database, 'oauth2server_client')
      for (const uri of forbiddenRedirectUris) {
        const redirect_uris = `https://a.example/cb\n${uri}`
        for (const is_confidential of ['true', 'false']) {
          const page = await register({ name: 'x', redirect_uris, is_confidential })
          expect(page.status, uri).toBe(400)
          expect(page.wrong('redirect_uris'), uri).toMatch(/^Line [23]: /)
        }
      }
      expect(count(app.database, 'oauth2server_client')).toBe(clients)
    })

    test('returns an error for a line with a carriage return without a line feed', async () => {
      const page = await register({
        name: 'x',
        redirect_uris: 'https://a.example\rhttps://b.example',
      })
      expect(page.wrong('redirect_uris')).toContain(
        en.frame.line({ line: 1, sentence: problems.redirectUriCharacter }),
      )
    })

    test('returns an error for more than 50 redirect URIs', async () => {
      const uris = Array.from({ length: 51 }, (_, index) => `https://a.example/${index}`)
      const page = await refused({ redirect_uris: uris.join('\n') })
      expect(page.wrong('redirect_uris')).toBe(problems.tooManyRedirectUris(50))
    })
  })
})

describe('XS-01, XS-04 the name and the description of a client on every page', () => {
  test.each(hostileTexts)('escapes %s', async (text) => {
    const owner = await Person.stranger(app)
    const name = [...text].slice(0, 40).join('')
    const wrong = await register({ name: text, description: text, website: text }, owner)
    const harmless = await register({ name: 'x', description: 'x', website: 'x' }, owner)
    expect(wrong.status).toBe(400)
    expect(skeleton(wrong.html)).toEqual(skeleton(harmless.html))
    const { fields } = wrong.form(at.newClient)
    expect([fields.name, fields.description, fields.website]).toEqual([[text], [text], [text]])

    const uris = await register({ name, redirect_uris: text }, owner)
    expect(uris.status).toBe(400)
    expect(uris.form(at.newClient).fields.redirect_uris).toEqual([text])
    expect(skeleton(uris.html)).toEqual(
      skeleton((await register({ name, redirect_uris: 'x' }, owner)).html),
    )
    const scope = await register({ name, default_scopes: text }, owner)
    expect(scope.wrong('default_scopes')).toContain(text.trim().replaceAll(/\s+/g, ' '))

    const sent = await register({ name, description: text }, owner)
    const other = await register({ name: 'x', description: 'x' }, owner)
    const page = await owner.follow(sent)
    expect(skeleton(page.html)).toEqual(skeleton((await owner.follow(other)).html))
    expect(page.title.startsWith(`${name} · `)).toBe(true)
    expect(shownText(page.html)).toContain(name.trim())
    const list = await owner.get(at.list)
    expect(list.names.toSorted()).toEqual(['x', name.replaceAll(/\s+/g, ' ').trim()].toSorted())
    const deleted = await owner.send(page.form(sent.location ?? '', 'confirm_name'), {
      confirm_name: name,
    })
    const last = await owner.follow(deleted)
    expect(last.done).toBe(en.done.clientDeleted(name).replaceAll(/\s+/g, ' '))
    expect(skeleton(last.html).join('')).not.toMatch(/onerror|onfocus|onload|onmouseover|<base/)
  })

  test('isolates the writing direction of each name in a bdi element', async () => {
    for (const name of ['שלום עולם', 'مرحبا', 'a שלום b']) {
      const page = await person.follow(await register({ name }))
      expect(page.html).toContain(`<h1><bdi>${name}</bdi></h1>`)
      expect(page.html).toContain(`<strong><bdi>${name}</bdi></strong>`)
      expect((await person.get(at.list)).item(name)).toContain(`<bdi>${name}</bdi>`)
    }
  })

  test('accepts a name of 40 characters of any kind', async () => {
    for (const letter of ['x', 'W', '😀', '漢', 'ي']) {
      const { name } = await registered({ name: letter.repeat(40) })
      expect(name).toBe(letter.repeat(40))
    }
  })
})
