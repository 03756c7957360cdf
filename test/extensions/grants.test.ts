import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { builtInGrants } from '../../src/protocol/grants/built-in.ts'
import { startServer } from '../support/server.ts'

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
