import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { builtInGrants } from '../../src/protocol/grants/built-in.ts'
import { startServer } from '../support/server.ts'

const folder = join(import.meta.dirname, '../../src/protocol/grants')

const isGrant = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && 'redeem' in value

test('every file in src/protocol/grants that exports a grant is registered in built-in.ts', async () => {
  const files = (await readdir(folder)).filter((name) => name !== 'built-in.ts')
  const exported: unknown[] = []
  for (const name of files)
    exported.push(...Object.values(await import(pathToFileURL(join(folder, name)).href)))
  expect(new Set(exported.filter(isGrant))).toEqual(new Set(builtInGrants))
})

test('every registered grant is advertised once its setting is on', async () => {
  await using app = await startServer({
    allowedGrantTypes: ['authorization_code', 'client_credentials', 'refresh_token', 'password'],
    deviceAuthorization: true,
    tokenExchange: true,
  })
  const metadata = await fetch(`${app.issuer}/.well-known/oauth-authorization-server`)
  const { grant_types_supported } = (await metadata.json()) as Record<string, string[]>
  const types = builtInGrants.map(({ type }) => type)
  expect(grant_types_supported).toEqual([...types, 'implicit'])
  expect(types.length).toBeGreaterThan(5)
})
