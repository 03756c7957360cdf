import { describe, expect, test } from 'vitest'
import { digestOf } from '../../src/crypto/digest.ts'
import { Client, type ClientContext } from '../../src/model/client.ts'
import type { ClientFields } from '../../src/model/entities/client.ts'
import { clientRow } from '../store/rows.ts'

const client = (over: Partial<ClientFields> = {}, active = true): Client =>
  new Client(
    clientRow({ userId: 1, clientSecret: digestOf('client_secret', 'current'), ...over }).fields,
    { id: 1, email: 'a@example.org', emailVerified: true, active, isAdmin: false },
    {} as ClientContext,
  )

describe('checkSecret', () => {
  const previousClientSecret = digestOf('client_secret', 'former')
  const accepted = (of: Client, now: number) =>
    ['current', 'former', '', 'x', previousClientSecret].filter((secret) =>
      of.checkSecret(secret, now),
    )

  test('accepts only the current secret without a previous secret', () => {
    expect(accepted(client(), 0)).toEqual(['current'])
  })

  test('also accepts the previous secret until it expires', () => {
    const both = client({ previousClientSecret, previousClientSecretExpires: 10 })
    expect(accepted(both, 9)).toEqual(['current', 'former'])
    expect(accepted(both, 10)).toEqual(['current'])
    expect(accepted(both, 11)).toEqual(['current'])
  })

  test('ignores a previous secret without an expiry, and an expiry without a previous secret', () => {
    expect(accepted(client({ previousClientSecret }), 0)).toEqual(['current'])
    expect(accepted(client({ previousClientSecretExpires: 10 }), 0)).toEqual(['current'])
  })
})

describe('isActive', () => {
  test('returns true if the client is enabled and its owner is active', () => {
    expect(client().isActive).toBe(true)
    expect(client({}, false).isActive).toBe(false)
    expect(client({ isDisabled: true }).isActive).toBe(false)
    expect(client({ isDisabled: true, userId: null }).isActive).toBe(false)
    expect(client({ userId: null }, false).isActive).toBe(true)
  })
})
