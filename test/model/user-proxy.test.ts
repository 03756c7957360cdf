import { type User, UserProxy } from 'svc-oauth2server'
import { describe, expect, test } from 'vitest'
import type { UserSource } from '../../src/model/user.ts'

const record = {
  id: 7,
  email: 'user-a@example.org',
  emailVerified: true,
  active: true,
  isAdmin: false,
  nickname: 'a',
  greet() {
    return `Hello ${this.email}`
  },
}

const source: UserSource = {
  find: async (id) => (id === record.id ? record : undefined),
  checkPassword: async (id, password) => id === record.id && password === 'secret',
}

describe('UserProxy', () => {
  const proxy = new UserProxy(record, source)

  test('reads unknown attributes from the user record [T721]', () => {
    expect(proxy.email).toBe('user-a@example.org')
    expect(Reflect.get(proxy, 'nickname')).toBe('a')
    expect((proxy as unknown as typeof record).greet()).toBe('Hello user-a@example.org')
    expect(Reflect.get(proxy, 'nothing')).toBeUndefined()
    expect('nickname' in proxy).toBe(true)
    expect('nothing' in proxy).toBe(false)
    expect(proxy).toBeInstanceOf(UserProxy)
  })

  test('returns the identifier of the user as its id [T722]', () => {
    expect(proxy.id).toBe(7)
    expect(new UserProxy({ ...record, id: 'uuid' }, source).id).toBe('uuid')
  })

  test('is serialized as the user ID, and restored by a look-up [T723]', async () => {
    const stored = JSON.stringify({ user: proxy })
    expect(stored).toBe('{"user":7}')
    const again = await UserProxy.fromId(JSON.parse(stored).user, source)
    expect(again).toBeInstanceOf(UserProxy)
    expect(again?.email).toBe('user-a@example.org')
    expect(await UserProxy.fromId(8, source)).toBeUndefined()
  })

  test('verifies a password [T725]', async () => {
    expect(await proxy.checkPassword('secret')).toBe(true)
    expect(await proxy.checkPassword('wrong')).toBe(false)
    const { checkPassword } = proxy
    expect(await checkPassword('secret')).toBe(true)
  })

  test('can be awaited, returned from async functions and compared like an ordinary object', async () => {
    expect(await Promise.resolve(proxy)).toBe(proxy)
    const user: User = proxy
    expect(user.active).toBe(true)
  })
})
