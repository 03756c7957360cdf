import { execFileSync } from 'node:child_process'
import { globSync, readFileSync } from 'node:fs'
import { createServer as createHttps, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import type { ClientInput } from 'svc-oauth2server'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { compileCache, freePort, root, runNode, temporaryFolder } from '../support/processes.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { UserAgent } from '../support/user-agent.ts'
import { selfSigned } from './pages/self-signed.ts'

// Runs the official conformance tests of the Model Context Protocol against the authorization server. The runner
// listens for the callback, and prints the authorization URL. The test opens that URL as the browser of a user.

const runner = join(root, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')

const listed = execFileSync(process.execPath, [runner, 'list', '--authorization'], {
  encoding: 'utf8',
})
/** Each scenario with the versions of the specification to which it applies. */
const scenarios = [...listed.matchAll(/^ *- (\S+) \[(.+)\]$/gm)].map(
  ([, name = '', versions = '']) => ({ name, versions: versions.split(',') }),
)
const versions = [...new Set(scenarios.flatMap((scenario) => scenario.versions))]

interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage?: string
}

interface Run {
  readonly app: TestServer
  readonly version: string
  readonly clientId: string
  readonly clientSecret?: string | undefined
  readonly port: number
  readonly resource?: string
}

/** Runs every scenario of a version, and returns the results of its checks. */
const run = async (given: Run): Promise<{ code: number | null; checks: readonly Check[] }> => {
  const { app, version, clientId, clientSecret, port, resource } = given
  await using results = await temporaryFolder()
  const options = [
    ['--url', app.issuer],
    ['--client-id', clientId],
    clientSecret === undefined ? [] : ['--client-secret', clientSecret],
    resource === undefined ? [] : ['--resource', resource],
    ['--port', String(port)],
    ['--spec-version', version],
    ['--output-dir', results.path],
  ].flat()
  await using program = runNode([runner, 'authorization', ...options], { env: compileCache })
  const endpoint = RegExp.escape(`${app.issuer}/oauth/authorize?`)
  const [url] = await program.says(new RegExp(`^${endpoint}\\S+$`, 'm'))
  const answer = await new UserAgent().authorize(app, url)
  expect(`${answer.origin}${answer.pathname}`).toBe(`http://127.0.0.1:${port}/callback`)
  // The runner prints the URL shortly before it listens for the callback.
  await vi.waitFor(async () => (await fetch(answer)).body?.cancel(), 30_000)
  const { code } = await program.exited
  const files = globSync('**/checks.json', { cwd: results.path })
  const checks = files.flatMap(
    (file) => JSON.parse(readFileSync(join(results.path, file), 'utf8')) as Check[],
  )
  return { code, checks }
}

/** Matches the results of a run in which every check succeeded. */
const allPass = (version: string) => ({
  code: 0,
  checks: expect.toSatisfy((checks: readonly Check[]) => {
    const count = scenarios.filter((scenario) => scenario.versions.includes(version)).length
    return checks.length >= count && checks.every(({ status }) => status === 'SUCCESS')
  }),
})

test('the runner lists scenarios and versions', () => {
  expect(scenarios.map(({ name }) => name)).toContain('authorization-code-grant')
  expect(versions.length).toBeGreaterThanOrEqual(4)
})

// The runner uses the method `none` if the server offers it, so each other method needs a server without `none`.
describe.each<[string, readonly NonNullable<ClientInput['tokenEndpointAuthMethod']>[]]>([
  ['none', ['client_secret_basic', 'client_secret_post', 'private_key_jwt', 'none']],
  ['client_secret_post', ['client_secret_basic', 'client_secret_post']],
  ['client_secret_basic', ['client_secret_basic']],
])('a client that authenticates with %s', (method, clientAuthentication) => {
  let app: TestServer
  beforeAll(async () => {
    app = await startServer({ clientAuthentication, clientIdMetadataDocuments: true })
  })
  afterAll(() => app.close())

  test.each(versions)('conforms to version %s of the specification', async (version) => {
    const port = await freePort()
    const isConfidential = method !== 'none'
    const { clientId, clientSecret } = await app.client({
      isConfidential,
      redirectUris: [`http://127.0.0.1:${port}/callback`],
    })
    const secret = isConfidential ? clientSecret : undefined
    const result = await run({ app, version, clientId, clientSecret: secret, port })
    expect(result, JSON.stringify(result)).toEqual(allPass(version))
  })
})

describe('a client with a client ID metadata document', () => {
  let app: TestServer
  let documents: Server
  let host: string
  let port: number
  beforeAll(async () => {
    port = await freePort()
    const { cert, key } = selfSigned('client.example')
    documents = createHttps({ cert, key }, (_request, response) => {
      const document = {
        client_id: `${host}/client.json`,
        client_name: 'Conformance',
        redirect_uris: [`http://127.0.0.1:${port}/callback`],
        token_endpoint_auth_method: 'none',
      }
      response.setHeader('content-type', 'application/json').end(JSON.stringify(document))
    })
    await new Promise<void>((resolve) => documents.listen(0, '127.0.0.1', resolve))
    host = `https://client.example:${(documents.address() as AddressInfo).port}`
    app = await startServer({
      basePath: '/app',
      securityProfile: 'oauth2.1',
      clientIdMetadataDocuments: true,
      dangerouslyAllowPrivateAddresses: true,
      outbound: {
        resolve: async () => [{ address: '127.0.0.1', family: 4 }],
        certificateAuthorities: [cert],
      },
    })
  })
  afterAll(async () => {
    await app.close()
    await new Promise<void>((resolve) => {
      documents.close(() => resolve())
      documents.closeAllConnections()
    })
  })

  test.each(versions)(
    'conforms to version %s of the specification, with a resource, an issuer with a path, and the profile oauth2.1',
    async (version) => {
      const clientId = `${host}/client.json`
      const result = await run({ app, version, clientId, port, resource: app.issuer })
      expect(result, JSON.stringify(result)).toEqual(allPass(version))
    },
  )
})
