import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { runNode } from '../support/processes.ts'
import { readReports, secretNet } from '../support/secrets/net.ts'
import { secretKey, startServer, type TestServer } from '../support/server.ts'
import { logIn } from '../support/session.ts'
import { TestClient } from '../support/user-agent.ts'

// Tests the detector of leaked secrets, which runs in all test files (test/support/secrets).

const net = secretNet()
let app: TestServer
beforeAll(async () => {
  app = await startServer({ logLevel: 'debug' })
})
afterAll(() => app.close())

/** Returns the findings in an entry. Fails if earlier findings were not collected. */
const detected = (what: unknown): readonly string[] => {
  expect(net.leaks()).toEqual([])
  net.addText('a test', what)
  return net.leaks()
}

test('detects every issued secret in any field of a log entry', async () => {
  const { agent, identifier, jwt, csrfToken } = await logIn(app)
  const client = await TestClient.register(app, agent)
  const code = await client.code()
  const { body } = await client.redeem(code)
  const secrets = {
    password: app.password,
    secretKey,
    identifier,
    jwt,
    csrfToken,
    clientSecret: client.clientSecret,
    verifier: client.pkce.verifier,
    code,
    accessToken: body.access_token,
    refreshToken: body.refresh_token,
    personalToken: await app.personalToken(),
    basic: `Basic ${Buffer.from(`${client.clientId}:${client.clientSecret}`).toString('base64')}`,
  }
  for (const [name, secret] of Object.entries(secrets)) {
    expect(detected({ level: 'info', message: `It was ${secret}.` }), name).toHaveLength(1)
    expect(detected({ userId: 1, [name]: secret, at: 0 }), name).toHaveLength(1)
    expect(detected(`prefix_${secret}suffix`), name).toHaveLength(1)
  }
})

test('detects a secret in the message, the stack and the cause of an error', async () => {
  const token = await app.personalToken()
  expect(detected(new Error(`No ${token}.`))).toHaveLength(1)
  expect(detected({ error: new Error('No.', { cause: new Error(token) }) })).toHaveLength(1)
  const changed = new Error('No.')
  changed.message = token
  expect(detected(changed)).toHaveLength(1)
})

test('ignores a client ID, a path and text that is not random', async () => {
  const { clientId } = await app.client()
  expect(detected({ clientId, requestId: crypto.randomUUID() })).toEqual([])
  expect(detected('GET /account/settings/applications/clients/:client_id/')).toEqual([])
  expect(detected(new Error('withoutAnySecretInThisVeryLongNameOfAFunction'))).toEqual([])
})

test('ignores a password of an earlier test file', () => {
  net.addSecret({ kind: 'whole', text: 'javascript:alert(2)' })
  expect(detected('It was javascript:alert(2).')).toHaveLength(1)
  net.forgetInputs()
  expect(detected('It was javascript:alert(2).')).toEqual([])
})

test('detects a secret in the log of a server without further calls', async () => {
  const token = await app.personalToken()
  let isFailing = false
  await using loud = await startServer({
    beside: app,
    logLevel: 'debug',
    aroundStore: (_operation, run) =>
      isFailing ? Promise.reject(new TypeError(`The statement had ${token}.`)) : run(),
  })
  isFailing = true
  const { status } = await ping(loud, token)
  expect(status).toBe(500)
  const leaks = net.leaks().filter((leak) => leak.startsWith('the log: '))
  expect(leaks).toEqual([expect.stringContaining(`The statement had ${token}.`)])
})

const ping = ({ issuer }: TestServer, token: string): Promise<Response> =>
  fetch(`${issuer}/oauth/ping`, { headers: { authorization: `Bearer ${token}` } })

test('detects a secret that a program creates and writes to its stderr', async () => {
  const program = `
    const { randomBytes } = await import('node:crypto')
    console.error('issued ' + randomBytes(32).toString('base64url'))`
  await using running = runNode(['--input-type=module', '--eval', program])
  await running.exited
  readReports()
  const [leak = ''] = net.leaks()
  expect(leak).toContain(running.stderr.trim())
})

test('detects a secret that an error response repeats', async () => {
  const secret = randomBytes(24).toString('hex')
  const refused = Response.json(
    { error: 'invalid_request', error_description: secret },
    { status: 400 },
  )
  await refused.json()
  expect(net.leaks()).toEqual([expect.stringContaining(secret)])
})
