import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { endpointsReference } from '../../scripts/endpoints-reference.js'
import { builtInExtensions } from '../../src/protocol/extensions/built-in.ts'
import { builtInGrants } from '../../src/protocol/grants/built-in.ts'
import { parseSettings } from '../../src/settings/parse-settings.ts'
import { Contract } from '../pages/api/contract.ts'
import { endpointsOf, plugInsOf } from '../support/endpoints.ts'
import { everything } from '../support/observed-server.ts'
import { redirectUri, startServer } from '../support/server.ts'

const folder = join(import.meta.dirname, '../../src/protocol/grants')

const isGrant = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'redeem' in value

test('registers every grant that a file in src/protocol/grants exports', async () => {
  const files = (await readdir(folder)).filter((name) => name !== 'built-in.ts')
  const exported: unknown[] = []
  for (const name of files)
    exported.push(...Object.values(await import(pathToFileURL(join(folder, name)).href)))
  expect(new Set(exported.filter(isGrant))).toEqual(new Set(builtInGrants))
})

test('lists every registered grant in the metadata if the settings enable it', async () => {
  await using app = await startServer({ ...everything, trustedProxies: [] })
  const metadata = await fetch(`${app.issuer}/.well-known/oauth-authorization-server`)
  const { grant_types_supported } = (await metadata.json()) as Record<string, string[]>
  const types = builtInGrants.map(({ type }) => type)
  expect(grant_types_supported).toEqual([...types, 'implicit'])
  expect(types.length).toBeGreaterThan(5)
})

test('only grants that need the consent of a user are open to clients that register themselves [T1900]', async () => {
  await using app = await startServer({ ...everything, trustedProxies: [] })
  const open: string[] = []
  for (const { type } of builtInGrants) {
    const response = await fetch(`${app.issuer}/oauth/register`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({
        redirect_uris: [redirectUri],
        grant_types: ['authorization_code', type],
      }),
    })
    if (response.status === 201) open.push(type)
    else expect(await response.json()).toMatchObject({ error: 'invalid_client_metadata' })
  }
  const withConsent = builtInGrants.filter(({ worksWithoutConsent }) => !worksWithoutConsent)
  expect(open).toEqual(withConsent.map(({ type }) => type))
  expect(open).not.toEqual(builtInGrants.map(({ type }) => type))
})

test('the soak test sends requests for every grant, and the fuzz test enables every grant [T1902]', async () => {
  const settings = parseSettings(everything)
  // The fuzz test derives requests for each grant type from the document.
  expect(builtInGrants.filter(({ isOn }) => !isOn(settings)).map(({ type }) => type)).toEqual([])
  const soak = await readFile(join(import.meta.dirname, '../soak/steps.ts'), 'utf8')
  const missing = builtInGrants
    .map(({ type }) => type)
    .filter((type) => !soak.includes(`'${type}'`))
  // The soak test does not hash passwords, which would be most of its work.
  expect(missing).toEqual(['password'])
})

test('the table of standards lists the file of every grant and every extension [T3035]', async () => {
  const table = await readFile(join(import.meta.dirname, '../../docs/standards.md'), 'utf8')
  const ofNoStandard = ['leak-reports.ts']
  for (const directory of ['grants', 'extensions']) {
    const path = join(import.meta.dirname, '../../src/protocol', directory)
    const names = (await readdir(path)).filter((name) => name !== 'built-in.ts')
    const missing = names.filter(
      (name) => !table.includes(`(../src/protocol/${directory}/${name})`),
    )
    expect(missing.filter((name) => !ofNoStandard.includes(name))).toEqual([])
  }
})

test('the fuzz test sends requests to every endpoint, and a table lists each path [T2000]', async () => {
  await using app = await startServer({ ...everything, trustedProxies: [] })
  const { document } = await Contract.of(app)
  const { extensions } = plugInsOf(everything)
  const all = endpointsOf(everything).map(({ path }) => path.replaceAll(/:(\w+)/g, '{$1}'))
  expect(all.length).toBeGreaterThan(30)
  const off = builtInExtensions.filter((extension) => !extensions.includes(extension))
  // This extension needs another server, which reports leaks.
  expect(off.map(({ name }) => name)).toEqual(['leak-reports'])
  // The fuzz test derives requests from the document, and the reference of the endpoints too.
  const others = all.filter((path) => !(path in document.paths))
  const seeds = await readFile(join(import.meta.dirname, '../fuzz/seeds.ts'), 'utf8')
  const isSent = (path: string) =>
    seeds.includes(`'${path}'`) || seeds.includes(`\`${path.split('{')[0]}$`)
  expect(others.filter((path) => !isSent(path))).toEqual([])

  const decisions = await readFile(
    join(import.meta.dirname, '../../docs/protocol-decisions.md'),
    'utf8',
  )
  const [, section = ''] = decisions.split('\n## 2. ')
  const table = section.split('\n## 3. ')[0] ?? ''
  expect(others.filter((path) => !table.includes(`\`${path}\``))).toEqual([])
})

test('the reference of the endpoints is up to date; to update it, run npm run build && npm run reference [T4840]', async () => {
  const reference = join(import.meta.dirname, '../../docs/reference/endpoints.md')
  expect(await readFile(reference, 'utf8')).toBe(await endpointsReference())
})
