import type { ServerResponse } from 'node:http'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { execute, query } from '../support/database.ts'
import { images } from '../support/images.ts'
import { storeOf } from '../support/internals.ts'
import { type Information, manage, registered } from '../support/registration.ts'
import { type RemoteSite, remoteSite } from '../support/remote-site.ts'
import { redirectUri, startServer, type TestOptions, type TestServer } from '../support/server.ts'
import { en } from '../support/texts.ts'
import { authorizeUrl, newPkce } from '../support/user-agent.ts'
import { at, type Page, Person, textOf } from './settings/support.ts'

// When an administrator verifies a client, the server fetches its logo once, and then serves the stored copy.

let site: RemoteSite
let app: TestServer
let admin: Person
beforeAll(async () => {
  site = await remoteSite()
})
afterAll(() => site.close())
beforeEach(async () => {
  app = await start()
  admin = await Person.stranger(app, { isAdmin: true })
  return () => app.close()
})

const start = (options: TestOptions = {}): Promise<TestServer> =>
  startServer({
    dynamicRegistration: 'open',
    dangerouslyAllowPrivateAddresses: true,
    outbound: site.outbound,
    ...options,
  })

const { 'image/png': png, 'image/jpeg': jpeg } = images

let paths = 0
/** Publishes an image. @returns its URL */
const publish = (
  body: Buffer | string = png,
  { type = 'image/png', respond }: { type?: string; respond?: (to: ServerResponse) => void } = {},
): string => {
  const path = `/logo-${++paths}`
  site.respond(path, (_request, response) =>
    respond ? respond(response) : response.writeHead(200, { 'content-type': type }).end(body),
  )
  return site.url(path)
}

const register = (logo_uri: string | undefined, more = {}): Promise<Information> =>
  registered(app, { client_name: 'Printer', ...(logo_uri && { logo_uri }), ...more })

const pageOf = (clientId: string): Promise<Page> => admin.get(at.adminApplication(clientId))

/** Presses a button of a client, as an administrator. */
const press = async (clientId: string, act: string): Promise<Page> => {
  const form = (await pageOf(clientId)).form(at.adminApplication(clientId), 'seen')
  return admin.follow(await admin.send(form, { act }))
}

const rows = () => query(app.database, 'select * from oauth2server_client_logo')

/** Waits until every requested fetch is complete, and returns the rows of the logos. */
const settled = async (): Promise<readonly Record<string, unknown>[]> => {
  for (let tries = 0; tries < 800; tries += 1) {
    const found = await rows()
    if (found.every((row) => row.requested_at === null)) return found
    // Fixed time: the interval of the poll.
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
  throw new Error('The logo was not fetched.')
}

const verify = async (clientId: string): Promise<void> => {
  await press(clientId, 'verify')
  await settled()
}

/** Returns the URL of the logo on a page; undefined without one. */
const logoOn = ({ html }: { readonly html: string }): string | undefined =>
  /<img class="logo" src="([^"]*)" alt=""/.exec(html)?.[1]

const consentOf = async (client_id: string, person: Person = admin): Promise<Page> =>
  person.get(
    authorizeUrl('', {
      client_id,
      redirect_uri: redirectUri,
      code_challenge: newPkce().challenge,
      code_challenge_method: 'S256',
    }).replace(/^https?:\/\/[^/]*/, ''),
  )

const served = (path: string | undefined, server: TestServer = app): Promise<Response> =>
  fetch(`${server.issuer}${path}`)

describe('the logo of a client', () => {
  test('is fetched once when an administrator verifies the client, and is served from this server [T2824]', async () => {
    const uri = publish()
    const { client_id } = await register(uri)
    const asked = () => site.requests.filter(({ url }) => site.url(url ?? '') === uri).length
    expect(logoOn(await consentOf(client_id))).toBeUndefined()
    expect(asked()).toBe(0)
    await verify(client_id)
    const page = await consentOf(client_id)
    const path = logoOn(page)
    expect(path).toMatch(/^\/oauth\/logos\/[\w-]{43}$/)
    expect(page.html).not.toContain(uri)
    expect(page.headers.get('content-security-policy')).toContain("img-src 'self' data:;")
    await consentOf(client_id)
    expect(asked()).toBe(1)
    const image = await served(path)
    expect(Buffer.from(await image.arrayBuffer()).equals(png)).toBe(true)
    expect(Object.fromEntries(image.headers)).toMatchObject({
      'content-type': 'image/png',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cache-control': 'public, max-age=31536000, immutable',
      'cross-origin-resource-policy': 'same-origin',
    })
  })

  test('can be set by the owner in the form of the application, and is shown after the verification [T3178]', async () => {
    const owner = await Person.stranger(app)
    const created = await owner.fill(at.newClient, { name: 'Printer', logo_uri: publish() })
    expect(created.status).toBe(303)
    const path = created.location ?? ''
    const clientId = path.split('/').at(-2) ?? ''
    await app.server.clients.update(clientId, { redirectUris: redirectUri })
    expect(logoOn(await owner.get(path))).toBeUndefined()
    await verify(clientId)
    expect(logoOn(await owner.get(path))).toBeDefined()
    expect(logoOn(await consentOf(clientId))).toBeDefined()

    const other = publish(jpeg)
    const asked = await owner.fill(path, { logo_uri: other })
    expect([asked.status, asked.text]).toEqual([
      200,
      expect.stringContaining(en.client.losses.verification),
    ])
    expect(logoOn(await consentOf(clientId))).toBeDefined()
    await owner.send(asked.form(path, 'name'))
    expect(logoOn(await consentOf(clientId))).toBeUndefined()
    await verify(clientId)
    const image = await served(logoOn(await consentOf(clientId)))
    expect(Buffer.from(await image.arrayBuffer()).equals(jpeg)).toBe(true)

    await owner.send((await owner.fill(path, { logo_uri: '' })).form(path, 'name'))
    expect((await owner.get(path)).form(path, 'name').fields.logo_uri).toEqual([''])
    expect(logoOn(await consentOf(clientId))).toBeUndefined()
  })

  test.each([
    'http://printer.example/logo.png',
    'https://user@printer.example/logo.png',
    'javascript:alert(1)',
    'logo.png',
    `https://printer.example/${'x'.repeat(2_000)}`,
  ])('cannot be %s [T3179]', async (logo_uri) => {
    const page = await admin.fill(at.newClient, { name: 'Printer', logo_uri })
    expect(page.status).toBe(400)
    expect(page.wrong('logo_uri')).toBe(en.problems.websiteInvalid)
    expect(page.form(at.newClient).fields.logo_uri).toEqual([logo_uri])
  })

  test('remains when the owner changes another field, also with other metadata [T3180]', async () => {
    const { client_id } = await register(publish(), { contacts: ['ada@example.org'] })
    await app.server.clients.update(client_id, { userId: admin.user.id })
    await verify(client_id)
    const before = await app.server.clients.find(client_id)
    const path = at.client(client_id)
    expect((await admin.fill(path, { default_scopes: ['notes:read'] })).status).toBe(303)
    const after = await app.server.clients.find(client_id)
    expect(after).toMatchObject({ isVerified: true, metadata: before?.metadata })
    const [edited] = await app.query(
      "select details from oauth2server_audit where event = 'client.edited' order by id desc",
    )
    expect(JSON.parse(String(edited?.details)).fields).toEqual(['default_scopes'])
  })

  test('is shown in the list and on the pages of the application [T2825]', async () => {
    const { client_id } = await register(publish())
    await verify(client_id)
    const own = { userId: admin.user.id, clientId: client_id, scopes: ['notes:read'] }
    await app.server.consents.grant(own.userId, own.clientId, own.scopes)
    expect(logoOn(await admin.get(at.authorized))).toBeDefined()
    expect(logoOn(await pageOf(client_id))).toBeDefined()
    await app.server.clients.update(client_id, { userId: admin.user.id })
    await verify(client_id)
    expect(logoOn(await admin.get(at.client(client_id)))).toBeDefined()
  })

  test('is served with the type of its content, regardless of the type in the fetched response [T2826]', async () => {
    const { client_id } = await register(publish(jpeg, { type: 'image/png; charset=utf-8' }))
    await verify(client_id)
    const image = await served(logoOn(await consentOf(client_id)))
    expect(image.headers.get('content-type')).toBe('image/jpeg')
    await image.body?.cancel()
  })

  test('is neither shown nor served after the verification is removed, and is deleted [T2827]', async () => {
    const { client_id } = await register(publish())
    await verify(client_id)
    const path = logoOn(await consentOf(client_id))
    await press(client_id, 'unverify')
    expect(logoOn(await consentOf(client_id))).toBeUndefined()
    const { status } = await served(path)
    expect(status).toBe(404)
    expect(await rows()).toEqual([])
    expect((await app.server.clients.find(client_id))?.logo).toBeNull()
  })

  test.each([
    ['NUL', '%00'],
    ['a byte that is not UTF-8', '%ff'],
    ['a path', '..%2f'],
    ['a short text', 'x'],
    ['a long text', 'x'.repeat(5_000)],
    ['SQL', '%25%27%22;--'],
  ])('is not found for %s instead of a digest [T2843]', async (_, digest) => {
    const response = await fetch(`${app.issuer}/oauth/logos/${digest}`)
    expect([400, 404, 414]).toContain(response.status)
  })

  test('is removed with the verification if the client changes its image or its name [T2828]', async () => {
    for (const change of [{ logo_uri: publish(jpeg) }, { client_name: 'Your bank' }]) {
      const uri = publish()
      const information = await register(uri)
      const { client_id } = information
      await verify(client_id)
      const path = logoOn(await consentOf(client_id))
      const metadata = { client_name: 'Printer', logo_uri: uri, redirect_uris: [redirectUri] }
      expect((await manage('PUT', information, { client_id, ...metadata })).status).toBe(200)
      expect(logoOn(await consentOf(client_id))).toBe(path)
      await manage('PUT', information, { client_id, ...metadata, ...change })
      expect(logoOn(await consentOf(client_id))).toBeUndefined()
      expect((await served(path)).status).toBe(404)
      expect(await rows()).toEqual([])
    }
  })

  test('remains if the ID of the client is reset or all its tokens are revoked, and is deleted with the client [T2829]', async () => {
    const { client_id } = await register(publish())
    await verify(client_id)
    const { clientId } = await app.server.clients.resetClientId(client_id)
    await app.server.clients.endTokens(clientId)
    const path = logoOn(await consentOf(clientId))
    expect((await served(path)).status).toBe(200)
    await app.server.clients.delete(clientId)
    expect((await served(path)).status).toBe(404)
    expect(await rows()).toEqual([])
  })

  test('is served while at least one of the clients with the same image is verified [T2830]', async () => {
    const uri = publish()
    const clients = [await register(uri), await register(uri)]
    for (const { client_id } of clients) await verify(client_id)
    const [first, second] = clients as [Information, Information]
    const path = logoOn(await consentOf(first.client_id))
    await press(first.client_id, 'unverify')
    expect((await served(path)).status).toBe(200)
    await press(second.client_id, 'unverify')
    expect((await served(path)).status).toBe(404)
  })

  test('that was changed in the database is not served [T2831]', async () => {
    const { client_id } = await register(publish())
    await verify(client_id)
    const path = logoOn(await consentOf(client_id))
    const other = jpeg.toString('base64')
    execute(app.database, `update oauth2server_client_logo set image = '${other}'`)
    expect((await served(path)).status).toBe(404)
    execute(app.database, `update oauth2server_client_logo set image = 'PHNjcmlwdD4='`)
    expect((await served(path)).status).toBe(404)
  })

  test('is verified only with the URL that the administrator saw [T2832]', async () => {
    const information = await register(publish())
    const { client_id } = information
    const page = await pageOf(client_id)
    expect(page.fact(en.admin.logo)).toContain('/logo-')
    const form = page.form(at.adminApplication(client_id), 'seen')
    const metadata = { client_id, client_name: 'Printer', redirect_uris: [redirectUri] }
    await manage('PUT', information, { ...metadata, logo_uri: publish(jpeg) })
    const answer = await admin.send(form, { act: 'verify' })
    expect([answer.status, answer.alert]).toEqual([400, en.problems.changedMeanwhile])
    expect(await rows()).toEqual([])
  })
})

test('the logo of a client with a metadata document remains while the document contains its URL [T2840]', async () => {
  await using own = await start({ clientIdMetadataDocuments: true })
  const person = await Person.logIn(own)
  const uri = publish()
  const clientId = site.url('/client.json')
  const document = { client_id: clientId, client_name: 'Printer', redirect_uris: [redirectUri] }
  site.serve('/client.json', { ...document, logo_uri: uri })
  const page = await consentOf(clientId, person)
  expect(logoOn(page)).toBeUndefined()
  await person.send(page.form('/oauth/authorize'), { confirm: 'yes' })
  await own.server.clients.mark(clientId, { isVerified: true })
  const found = () => own.server.clients.find(clientId)
  await expect.poll(async () => (await found())?.logo).not.toBeNull()
  const path = logoOn(await consentOf(clientId, person))
  expect((await served(path, own)).status).toBe(200)
  // The server fetches the unchanged document again, which must not remove the logo.
  own.advance(7_200)
  expect(logoOn(await consentOf(clientId, person))).toBe(path)
  expect((await found())?.logo).not.toBeNull()
  site.serve('/client.json', { ...document, logo_uri: publish(jpeg) })
  own.advance(7_200)
  expect(logoOn(await consentOf(clientId, person))).toBeUndefined()
  expect((await served(path, own)).status).toBe(404)
})

describe('a logo that cannot be accepted', () => {
  const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
  const huge = Buffer.concat([png, Buffer.alloc(102_400)])
  const bomb = Buffer.from(png)
  bomb.writeUInt32BE(60_000, 16)

  test.each<readonly [string, () => string, string]>([
    [
      'an SVG image',
      () => publish(svg, { type: 'image/svg+xml' }),
      'Its content type is not image/png or image/jpeg or image/webp or image/gif.',
    ],
    ['an SVG image as PNG', () => publish(svg), 'It is not a PNG, JPEG, WebP or GIF image.'],
    [
      'HTML as PNG',
      () => publish('<!doctype html><script>alert(1)</script>'),
      'It is not a PNG, JPEG, WebP or GIF image.',
    ],
    [
      'a polyglot',
      () => publish(Buffer.concat([png, Buffer.from('<script>alert(1)</script>')])),
      'It is incomplete, or the file contains more data.',
    ],
    [
      'a decompression bomb',
      () => publish(bomb),
      'It has 60000 × 6 pixels: the width and the height must be from 1 to 1024.',
    ],
    ['a huge file', () => publish(huge), 'It is larger than 102400 bytes.'],
    ['an endless file', () => publish('', { respond: endless }), 'It is larger than 102400 bytes.'],
    [
      'a redirect to the loopback interface',
      () => publish('', { respond: redirecting('http://127.0.0.1/') }),
      'It is a redirect, which the server does not follow.',
    ],
    [
      'a redirect to a metadata service',
      () => publish('', { respond: redirecting('http://169.254.169.254/latest/') }),
      'It is a redirect, which the server does not follow.',
    ],
    [
      'a missing file',
      () => publish('', { respond: (to) => to.writeHead(404).end() }),
      'Its host responded with the status 404.',
    ],
    [
      'a closed connection',
      () => publish('', { respond: (to) => to.destroy() }),
      'Its host could not be reached, or closed the connection.',
    ],
  ])(
    '%s: the administrator learns the reason, and nothing is shown [T2833]',
    async (_what, make, reason) => {
      const { client_id } = await register(make())
      await verify(client_id)
      const page = await pageOf(client_id)
      expect(textOf(page.html)).toContain(`${en.admin.logoFailed} ${reason}`)
      expect(logoOn(page)).toBeUndefined()
      expect(logoOn(await consentOf(client_id))).toBeUndefined()
      expect(await rows()).toMatchObject([{ image: null, digest: null, problem: reason }])
      expect(app.log).toContainEqual(
        expect.objectContaining({
          event: 'client_logo.failed',
          level: 'warn',
          clientId: client_id,
        }),
      )
    },
  )

  test('a slow host does not delay the verification, and the fetch of its image is aborted after 5 seconds [T2834]', async () => {
    const { client_id } = await register(publish('', { respond: () => undefined }))
    await press(client_id, 'verify')
    // The verification did not wait for the result of the fetch.
    expect((await rows()).filter(({ problem }) => problem !== null)).toEqual([])
    expect(textOf((await pageOf(client_id)).html)).toContain(en.admin.logoRequested)
    expect(await settled()).toMatchObject([{ problem: 'It did not arrive within 5 seconds.' }])
  })

  test('the server connects to no private address [T2835]', async () => {
    await using strict = await start({ dangerouslyAllowPrivateAddresses: false })
    const before = site.requests.length
    const uris = [
      publish(),
      `https://127.0.0.1:${site.port}/logo.png`,
      `https://[::1]:${site.port}/logo.png`,
      'https://169.254.169.254/latest/meta-data/',
      'https://localhost/logo.png',
    ]
    for (const logo_uri of uris) {
      const { client_id } = await registered(strict, { logo_uri })
      await strict.server.clients.mark(client_id, { isVerified: true })
    }
    const state = () => query(strict.database, 'select * from oauth2server_client_logo')
    await expect.poll(async () => (await state()).map(({ problem }) => problem)).not.toContain(null)
    for (const row of await state()) expect(row.image).toBeNull()
    expect(site.requests).toHaveLength(before)
  })

  test('can be fetched again by an administrator [T2836]', async () => {
    let isBack = false
    const respond = (to: ServerResponse) =>
      isBack ? to.writeHead(200, { 'content-type': 'image/png' }).end(png) : to.writeHead(503).end()
    const { client_id } = await register(publish('', { respond }))
    await verify(client_id)
    expect(logoOn(await consentOf(client_id))).toBeUndefined()
    isBack = true
    expect((await press(client_id, 'fetch_logo')).done).toBe(en.done.logoRequested('Printer'))
    await settled()
    const path = logoOn(await consentOf(client_id))
    expect(path).toBeDefined()
    // After a later failure, the former image remains.
    isBack = false
    await press(client_id, 'fetch_logo')
    await settled()
    expect(textOf((await pageOf(client_id)).html)).toContain(en.admin.logoFailed)
    expect(logoOn(await consentOf(client_id))).toBe(path)
    expect((await served(path)).status).toBe(200)
  })

  test('is not fetched for a client that is not verified or names no image [T2837]', async () => {
    const without = await register(undefined)
    await verify(without.client_id)
    const unverified = await register(publish())
    for (const { client_id } of [without, unverified]) {
      const answer = await admin.post(at.admin, { client_id, act: 'fetch_logo' })
      expect(answer.status).toBe(400)
    }
    expect(await rows()).toEqual([])
    const stranger = await Person.stranger(app)
    const denied = await stranger.post(at.admin, {
      client_id: without.client_id,
      act: 'fetch_logo',
    })
    expect(denied.status).toBe(404)
  })
})

describe('with several nodes', () => {
  test('the sweeper of any node fetches an image whose first fetch ended with its process [T2838]', async () => {
    const uri = publish()
    const { client_id } = await register(uri)
    const { clients } = app.server
    const store = storeOf(app.server)
    await clients.mark(client_id, { isVerified: true })
    await settled()
    const client = await clients.find(client_id)
    // Simulate a process that exited before its fetch: the fetch is requested, but no process performs the fetch.
    await store.clientLogos.update(
      { clientKey: client?.clientKey ?? 0 },
      { requestedAt: app.now() },
    )
    const asked = () => site.requests.filter(({ url }) => site.url(url ?? '') === uri).length
    await app.server.sweep()
    expect(asked()).toBe(1)
    app.advance(61)
    await using second = await start({ beside: app })
    await Promise.all([app.server.sweep(), second.server.sweep()])
    expect(asked()).toBe(2)
    expect(await rows()).toMatchObject([{ requested_at: null, problem: null }])
    const path = logoOn(await consentOf(client_id))
    expect((await served(path, second)).status).toBe(200)
  })

  test('a verification that is removed during the fetch remains removed [T2839]', async () => {
    let answer = (): void => undefined
    const respond = (to: ServerResponse) => {
      answer = () => to.writeHead(200, { 'content-type': 'image/png' }).end(png)
    }
    const { client_id } = await register(publish('', { respond }))
    const before = site.requests.length
    const second = await start({ beside: app })
    await second.server.clients.mark(client_id, { isVerified: true })
    await expect.poll(() => site.requests.length).toBeGreaterThan(before)
    await app.server.clients.mark(client_id, { isVerified: false })
    answer()
    // Waits for the fetch.
    await second.close()
    expect(await rows()).toEqual([])
  })
})

const endless = (to: ServerResponse): void => {
  to.writeHead(200, { 'content-type': 'image/png' })
  const more = (): boolean => to.write(png)
  const timer = setInterval(() => {
    for (let n = 0; n < 400 && more(); n += 1);
  }, 1)
  to.on('close', () => clearInterval(timer))
}

const redirecting =
  (location: string) =>
  (to: ServerResponse): void =>
    void to.writeHead(302, { location }).end()
