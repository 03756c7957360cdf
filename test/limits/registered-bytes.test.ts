import { expect, test } from 'vitest'
import { bounds } from '../../src/model/bounds.ts'
import { registered } from '../support/registration.ts'
import { startServer } from '../support/server.ts'
import { databaseKinds, makeDatabase } from '../users/databases.ts'

const p256 = {
  kty: 'EC',
  crv: 'P-256',
  x: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4',
  y: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM',
}

const uris = (length: number) =>
  Array.from({ length: 50 }, (_, index) => `https://client.example/${index}/${'x'.repeat(length)}`)

/** The largest metadata that the server accepts, up to the maximum length of a body. */
const largest = {
  'redirect URIs': { redirect_uris: uris(1_180) },
  'redirect URIs and keys': {
    redirect_uris: uris(900),
    token_endpoint_auth_method: 'private_key_jwt',
    jwks: { keys: [{ ...p256, kid: 'k', x5c: ['x'.repeat(16_000)] }] },
  },
}

test.each(databaseKinds)(
  'a client that registers itself takes at most about as many bytes as the largest request, on %s [T4670]',
  async (kind) => {
    await using all = new AsyncDisposableStack()
    const database = await makeDatabase(kind)
    all.defer(database.remove)
    await using app = await startServer({ store: database.store, dynamicRegistration: 'open' })
    for (const metadata of Object.values(largest)) {
      const { client_id: id } = await registered(app, metadata)
      const [row = {}] = await database.run(
        `select * from oauth2server_client where client_id = '${id}'`,
      )
      const texts = Object.values(row).map((value) => String(value ?? ''))
      const size = Buffer.byteLength(texts.join(''))
      expect(size).toBeGreaterThan(0.5 * JSON.stringify(metadata).length)
      expect(size).toBeLessThan(1.1 * bounds.body)
    }
  },
)
