import { InvalidField } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { refusal, responseTo, TestClient, UserAgent } from '../support/user-agent.ts'

let app: TestServer
let agent: UserAgent
let native: TestClient

const loopbackUris = ['http://127.0.0.1/cb', 'http://[::1]/cb']

beforeAll(async () => {
  app = await startServer({ allowPrivateUseRedirectUris: true })
  agent = new UserAgent()
  await agent.logIn(app)
  native = await TestClient.register(app, agent, {
    isConfidential: false,
    redirectUris: loopbackUris,
  })
})
afterAll(() => app.close())

const isRefusedHere = async (client: TestClient, redirect_uri: string): Promise<void> => {
  const answer = await agent.fetch(client.url({ redirect_uri }))
  expect(answer.status).toBe(303)
  expect(answer.headers.get('location')).toMatch(/^\/oauth\/errors\?error=invalid_request&/)
}

describe('RFC 8252 §7.3 loopback redirect URIs of public clients', () => {
  test.each([
    'http://127.0.0.1/cb',
    'http://127.0.0.1:1/cb',
    'http://127.0.0.1:80/cb',
    'http://127.0.0.1:51004/cb',
    'http://127.0.0.1:65535/cb',
    'http://[::1]/cb',
    'http://[::1]:9/cb',
  ])(
    'accepts the port of %s, and requires the same URI in the token request [T278]',
    async (redirect_uri) => {
      const page = await agent.browse(native.url({ redirect_uri }))
      const response = await agent.submit(page, { confirm: 'yes' })
      const location = response.headers.get('location') ?? ''
      expect(location.startsWith(`${redirect_uri}?code=`)).toBe(true)
      const code = new URL(location).searchParams.get('code') ?? ''
      const other = redirect_uri.includes('[') ? 'http://[::1]:10/cb' : 'http://127.0.0.1:10/cb'
      for (const wrong of [other, undefined])
        expect(refusal(await native.redeem(code, { redirect_uri: wrong }))).toBe(
          '400 invalid_grant',
        )
      expect((await native.redeem(code, { redirect_uri })).status).toBe(200)
    },
  )

  test.each([
    'http://127.0.0.1:9/other',
    'http://127.0.0.1:9/cb/',
    'http://127.0.0.1:9/CB',
    'http://127.0.0.1:9/cb?x=1',
    'http://127.0.0.1:9/cb?',
    'http://127.0.0.1:9/cb#f',
    'http://127.0.0.1:9',
    'https://127.0.0.1:9/cb',
    'HTTP://127.0.0.1:9/cb',
    'http://localhost:9/cb',
    'http://127.0.0.1:0/cb',
    'http://127.0.0.1:65536/cb',
    'http://127.0.0.1:999999/cb',
    'http://127.0.0.1:/cb',
    'http://127.0.0.1:-1/cb',
    'http://127.0.0.1:9:9/cb',
    'http://127.0.0.1:9@evil.example/cb',
    'http://127.0.0.1.evil.example:9/cb',
    'http://user@127.0.0.1:9/cb',
    'http://127.1:9/cb',
    'http://2130706433:9/cb',
    'http://0.0.0.0:9/cb',
    'http://[::1]:9/other',
    'http://[0:0:0:0:0:0:0:1]:9/cb',
    'http://[::ffff:127.0.0.1]:9/cb',
    'http://[::1%25lo]:9/cb',
  ])('rejects %s, which differs in more than the port [T287]', async (redirect_uri) => {
    await isRefusedHere(native, redirect_uri)
  })

  test('accepts any port of localhost, but not of other host names [T282]', async () => {
    const client = await TestClient.register(app, agent, {
      isConfidential: false,
      redirectUris: ['http://localhost:8080/cb', 'https://client.example/cb'],
    })
    const answer = await client.ask({ redirect_uri: 'http://localhost:4711/cb' })
    expect(answer.port).toBe('4711')
    expect(
      (await client.ask({ redirect_uri: 'http://localhost/cb' })).searchParams.has('code'),
    ).toBe(true)
    await isRefusedHere(client, 'http://127.0.0.1:8080/cb')
    await isRefusedHere(client, 'https://client.example:8443/cb')
  })

  test('decision §4.2 rejects another port for a confidential client [T286]', async () => {
    const client = await TestClient.register(app, agent, { redirectUris: loopbackUris })
    for (const uri of loopbackUris) {
      await isRefusedHere(client, uri.replace('/cb', ':9/cb'))
      const answer = await client.ask({ redirect_uri: uri })
      expect(answer.searchParams.has('code')).toBe(true)
    }
  })

  test('redirects errors to the requested port [T281]', async () => {
    const redirect_uri = 'http://127.0.0.1:9/cb'
    const answer = await native.ask({ redirect_uri, scope: 'bogus' })
    expect(responseTo({ redirectUri: redirect_uri }, answer).error).toBe('invalid_scope')
  })
})

test('RFC 8252 §7.2 treats the client of a claimed https URI as public, and compares the port [T277]', async () => {
  const redirectUris = ['https://app.example.com/oauth2redirect/example-provider']
  const client = await TestClient.register(app, agent, { isConfidential: false, redirectUris })
  // The client must send the verifier, and the user must consent again, because the client is public.
  const code = await client.code()
  expect(refusal(await client.redeem(code, { code_verifier: undefined }))).toBe('400 invalid_grant')
  expect((await client.redeem(code)).status).toBe(200)
  expect((await agent.browse(client.url())).status).toBe(200)
  await isRefusedHere(client, 'https://app.example.com:8443/oauth2redirect/example-provider')
})

describe('RFC 8252 §7.1 private-use URI schemes', () => {
  test('decision §4.2 accepts com.example.app:/cb for a public client if the setting allows it [T276]', async () => {
    const client = await TestClient.register(app, agent, {
      isConfidential: false,
      redirectUris: ['com.example.app:/cb'],
    })
    const page = await agent.browse(client.url())
    const response = await agent.submit(page, { confirm: 'yes' })
    const location = response.headers.get('location') ?? ''
    expect(location.startsWith('com.example.app:/cb?code=')).toBe(true)
    expect((await client.redeem(new URL(location).searchParams.get('code') ?? '')).status).toBe(200)
    for (const wrong of [
      'com.example.app:/',
      'com.example.app:/cb/',
      'COM.example.app:/cb',
      'com.example.app://cb',
    ])
      await isRefusedHere(client, wrong)
  })

  test.each([
    'myapp:/cb',
    'com.example.app:',
    'com.example.app:cb',
    'com.example.app://cb',
    'com.example.app:/cb#f',
    'com.example.app:/c b',
    'javascript.x:alert(1)',
    'http.example:cb',
  ])('decision §4.2 refuses to register %s even with the setting [T279]', async (uri) => {
    const input = { isConfidential: false, redirectUris: [uri] }
    await expect(app.client(input)).rejects.toThrow(InvalidField)
  })

  test('decision §4.2 rejects private-use schemes for confidential clients and without the setting [T284]', async () => {
    const redirectUris = ['com.example.app:/cb']
    await expect(app.client({ redirectUris })).rejects.toThrow(InvalidField)
    await using plain = await startServer()
    await expect(plain.client({ isConfidential: false, redirectUris })).rejects.toThrow(
      InvalidField,
    )
  })

  test('decision §4.2 does not let a public client with a private-use URI become confidential [T285]', async () => {
    const { clientId } = await app.client({
      isConfidential: false,
      redirectUris: ['com.example.app:/cb'],
    })
    await expect(app.server.clients.update(clientId, { isConfidential: true })).rejects.toThrow(
      InvalidField,
    )
  })
})

test('RFC 8252 §8.1 rejects an intercepted code without its verifier [T275]', async () => {
  const code = await native.code({ redirect_uri: 'http://127.0.0.1:9/cb' })
  const stolen = { redirect_uri: 'http://127.0.0.1:9/cb', code_verifier: undefined }
  expect(refusal(await native.redeem(code, stolen))).toBe('400 invalid_grant')
})

test('RFC 8252 §8.4 shows on the consent page that the code is sent to a program on this computer', async () => {
  const html = await (
    await agent.browse(native.url({ redirect_uri: 'http://127.0.0.1:9/cb' }))
  ).text()
  expect(html).toContain('127.0.0.1:9')
  expect(html).toContain('a program on this computer')
})

test('RFC 8252 §8.6 always asks for consent for a native client [T288]', async () => {
  for (let round = 0; round < 2; round += 1) {
    const page = await agent.browse(native.url({ redirect_uri: 'http://127.0.0.1:9/cb' }))
    expect(page.status).toBe(200)
    expect((await agent.submit(page, { confirm: 'yes' })).headers.get('location')).toContain(
      'code=',
    )
  }
})
