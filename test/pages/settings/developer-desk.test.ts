import { spawnSync } from 'node:child_process'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Program } from '../../support/processes.ts'
import { redirectUri, startServer, type TestServer } from '../../support/server.ts'
import { en } from '../../support/texts.ts'
import { clientOf } from '../../support/tokens.ts'
import { tokenRequest } from '../../support/user-agent.ts'
import { at, idIn, type Page, Person } from './support.ts'

let app: TestServer
let person: Person
beforeAll(async () => {
  app = await startServer()
  person = await Person.logIn(app)
})
afterAll(() => app.close())

const deviceGrant = 'urn:ietf:params:oauth:grant-type:device_code'

/** Registers an application of a kind with the form. */
const register = (kind: string, redirectUris = ''): Promise<Page> =>
  person.fill(at.newClient, {
    name: 'Printer',
    application_type: kind,
    redirect_uris: redirectUris,
  })

describe('the kind of a new application', () => {
  test.each([
    ['web', redirectUri, { isConfidential: true, grantTypes: null, responseTypes: null }],
    [
      'spa',
      redirectUri,
      {
        isConfidential: false,
        grantTypes: ['authorization_code', 'refresh_token'],
        responseTypes: ['code'],
      },
    ],
    [
      'native',
      '',
      {
        isConfidential: false,
        grantTypes: ['authorization_code', 'refresh_token', deviceGrant],
        responseTypes: ['code'],
      },
    ],
    [
      'machine',
      '',
      { isConfidential: true, grantTypes: ['client_credentials'], responseTypes: [] },
    ],
  ] as const)('%s sets the type and the grants [T1810]', async (kind, uris, fields) => {
    const { status, location } = await register(kind, uris)
    expect(status).toBe(303)
    expect(await clientOf(app, idIn(location))).toMatchObject(fields)
  })

  test.each([
    ['spa', '', en.problems.redirectUrisMissing],
    ['machine', redirectUri, en.problems.redirectUrisUnused],
  ])(
    '%s refuses unsuitable redirect URIs, and keeps the choice [T1811]',
    async (kind, uris, problem) => {
      const page = await register(kind, uris)
      expect([page.status, page.wrong('redirect_uris')]).toEqual([400, problem])
      expect(page.html).toMatch(new RegExp(`value="${kind}" checked`))
    },
  )

  test('an unknown kind is rejected; a form or script that sets the client type directly does not restrict the grants [T1812]', async () => {
    expect((await register('toaster')).status).toBe(400)
    const form = (await person.get(at.newClient)).form(at.newClient)
    const sent = await person.send(form, {
      name: 'Printer',
      application_type: 'machine',
      is_confidential: 'false',
      redirect_uris: redirectUri,
    })
    expect(await clientOf(app, idIn(sent.location))).toMatchObject({
      isConfidential: false,
      grantTypes: null,
    })
  })
})

describe('the desk of an application', () => {
  test('lists the addresses under their names in the metadata [T1813]', async () => {
    const { clientId } = await app.client()
    const page = await person.get(at.client(clientId))
    const metadata = await fetch(page.copied('endpoint-metadata') ?? '')
    const published = (await metadata.json()) as Record<string, string>
    for (const name of ['issuer', 'authorization_endpoint', 'token_endpoint'])
      expect(page.copied(`endpoint-${name}`)).toBe(published[name])
  })

  test('shows programs with the secret only on the page that shows the secret once [T1814]', async () => {
    const created = await person.follow(await register('machine'))
    const secret = created.copied('client-secret') ?? ''
    const runtimes = [
      ['try-it-curl', 'sh', '-c'],
      ['try-it-JavaScript', process.execPath, '--input-type=module', '-e'],
      ['try-it-Python', 'python3', '-c'],
    ] as const
    for (const [id, command, ...args] of runtimes) {
      const code = created.copied(id) ?? ''
      expect(code).toContain(secret)
      if (spawnSync(command, ['--version']).error) continue
      await using program = new Program(command, [...args, code], { limit: 60_000 })
      expect([id, (await program.exited).code, program.stderr.includes('rror')]).toEqual([
        id,
        0,
        false,
      ])
      expect(program.stdout).toContain('access_token')
    }
    const later = await person.get(at.client(created.copied('client-id') ?? ''))
    expect(later.html).not.toContain(secret)
    for (const [id] of runtimes) expect(later.copied(id)).toContain('SECRET')
  })

  test('only pages without a new secret link back [T1815]', async () => {
    const created = await person.follow(await register('web', redirectUri))
    expect(created.html).not.toContain('class="back"')
    expect(created.html).toMatch(/<a [^>]*target="_blank" rel="noopener">/)
    const later = await person.get(at.client(created.copied('client-id') ?? ''))
    expect(later.html).toContain('class="back"')
  })
})

describe('the last refusals of an application', () => {
  const refusalsOn = ({ html }: Page): readonly string[] =>
    [
      ...(/<ul class="refusals">([\s\S]*?)<\/ul>/.exec(html)?.[1] ?? '').matchAll(
        /<li>([\s\S]*?)<\/li>/g,
      ),
    ].map(([, item = '']) => item.replaceAll(/<[^>]+>/g, ' ').replaceAll(/\s+/g, ' '))
  const authorize = (fields: Record<string, string>) =>
    person.session.agent.fetch(
      `${app.issuer}/oauth/authorize?${new URLSearchParams({ response_type: 'code', ...fields })}`,
    )

  test('show the owner the reason: redirect URI, secret, PKCE, scope [T1816]', async () => {
    const { clientId, clientSecret } = await app.client()
    expect(refusalsOn(await person.get(at.client(clientId)))).toEqual([])
    await authorize({ client_id: clientId, redirect_uri: 'https://other.example/<b>' })
    await tokenRequest(
      app.issuer,
      { grant_type: 'client_credentials' },
      { basic: { clientId, clientSecret: `${clientSecret}x` } },
    )
    await authorize({ client_id: clientId, redirect_uri: redirectUri, scope: 'no:such' })
    const open = await app.client({ isConfidential: false })
    await authorize({ client_id: open.clientId, redirect_uri: redirectUri })

    const found = refusalsOn(await person.get(at.client(clientId)))
    expect(found).toHaveLength(3)
    expect(found[0]).toContain('invalid_scope')
    expect(found[1]).toMatch(/invalid_client .*client_secret_basic/)
    expect(found[2]).toMatch(
      /redirect_uri is missing, or not registered.*https:\/\/other\.example\/&lt;b&gt;/,
    )
    expect(found.join()).not.toContain(clientSecret)
    expect(refusalsOn(await person.get(at.client(open.clientId))).join()).toContain(
      'code_challenge',
    )
  })

  test('are limited to twenty, written in batches, retained for seven days, and never stored for unknown clients [T1817]', async () => {
    await using own = await startServer()
    const owner = await Person.logIn(own)
    const { clientId } = await own.client()
    const wrong = (id: string, index: number) =>
      fetch(
        `${own.issuer}/oauth/authorize?${new URLSearchParams({ response_type: 'code', client_id: id, redirect_uri: `https://other.example/${index}` })}`,
        { redirect: 'manual' },
      )
    const rows = async () =>
      Number((await own.query('select count(*) as n from oauth2server_transient'))[0]?.n)
    const before = await rows()
    for (let index = 0; index < 30; index += 1) {
      await wrong(clientId, index)
      await wrong(`unknown-${index}`, index)
    }
    const found = refusalsOn(await owner.get(at.client(clientId)))
    expect(found).toHaveLength(20)
    expect(found[0]).toContain('https://other.example/29')
    // One value for the client, and one for the overview of the administrators.
    expect(await rows()).toBe(before + 2)
    own.advance(8 * 86_400)
    const again = await Person.logIn(own)
    expect(refusalsOn(await again.get(at.client(clientId)))).toEqual([])
  })
})
