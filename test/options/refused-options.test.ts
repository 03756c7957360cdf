import { postgres } from 'svc-oauth2server/postgres'
import { redis } from 'svc-oauth2server/redis'
import { sqlite } from 'svc-oauth2server/sqlite'
import { createTestServer } from 'svc-oauth2server/testing'
import { expect, test } from 'vitest'
// The wrapper of the tests reads the options, so import the function itself.
import { createAuthorizationServer } from '../../src/server/create-authorization-server.ts'

// biome-ignore lint/suspicious/noExplicitAny: the options of this test have types that the declarations do not permit
type Wrong = any

const url = 'postgres://127.0.0.1:1/none'

test.each([
  [() => postgres(url, { poolSize: 0 }), 'poolSize must be a whole number from 1 to 10000'],
  [() => postgres(url, { poolSize: 1.5 }), 'poolSize must be'],
  [() => postgres(url, { poolSize: 10_001 }), 'poolSize must be'],
  // Without a timeout, a request could wait forever. A timer of more than 31 bits would end immediately.
  [() => postgres(url, { connectTimeout: 0 }), 'connectTimeout must be whole milliseconds from 1'],
  [() => postgres(url, { connectTimeout: 2 ** 31 }), 'connectTimeout must be'],
  [() => postgres(url, { statementTimeout: 2 ** 31 }), 'statementTimeout must be'],
  [() => redis('redis://localhost', { connectTimeout: -1 }), 'connectTimeout must be'],
  [() => redis('redis://localhost', { commandTimeout: 3_600_001 }), 'commandTimeout must be'],
  [() => redis('redis://localhost', { keyPrefix: 'x'.repeat(201) }), 'at most 200 characters'],
  [() => sqlite(':memory:', { synchronous: 'OFF' as Wrong }), 'one of NORMAL, FULL'],
  [() => sqlite(''), 'the path must be the path of a file'],
  [() => sqlite(5 as Wrong), 'the path must be the path of a file'],
])('%s: the option of a store is refused outside of its range [T4205]', (call, sentence) => {
  expect(call).toThrow(TypeError)
  expect(call).toThrow(sentence)
})

test.each<[unknown, string]>([
  [{ store: undefined }, 'store must be the result of sqlite() or postgres().'],
  [{ transients: 'redis://localhost' }, 'transients must be the result of redis().'],
  [{ scopes: ['notes:read'] }, 'scopes: each member must be a Scope.'],
  [{ extensions: [null] }, 'extensions: each member: the options must be an object.'],
  [{ extensions: [{ name: 'x', endpoints: {} }] }, 'endpoints must be an array.'],
  [{ extensions: [{ name: 'x', grants: [{}] }] }, 'grants: each member: type must be a string.'],
  [
    { extensions: [{ name: 'x', names: { extension: 'x', declared: { limits: [] } } }] },
    'names: declared: limits must be an object.',
  ],
  [{ resources: [null] }, 'resources: each member: the options must be an object.'],
  [{ users: { name: 'people' } }, 'users: columns must be an object.'],
  [{ users: null }, 'users: the options must be an object.'],
  [{ views: ['/error'] }, 'views must be an object.'],
  [{ outbound: { certificateAuthorities: 'x' } }, 'certificateAuthorities must be an array.'],
  [{ limits: { wrongTokens: null } }, 'limits: wrongTokens: the options must be an object.'],
  [{ requireDpopNonce: true, dpop: 'off' }, 'requireDpopNonce (OAUTH2SERVER_REQUIRE_DPOP_NONCE)'],
])('a server does not start with %j, and says why [T4206]', async (options, sentence) => {
  const error = await createTestServer(options as Wrong).then(String, (reason) => reason)
  expect(error).toMatchObject({ name: 'InvalidSettings' })
  expect(error.message).toContain(sentence)
})

test.each([undefined, null, [], 'x'])('the options %j are refused [T4207]', async (options) => {
  await expect(createAuthorizationServer(options as Wrong)).rejects.toThrow(
    'createAuthorizationServer(): the options must be an object.',
  )
})
