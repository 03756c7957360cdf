import { describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/crypto/random.ts'
import { KeyRing } from '../../src/crypto/sealed.ts'
import type { RecordsContext } from '../../src/records/context.ts'
import { TransientValues } from '../../src/records/transient-values.ts'
import { memoryTransients } from '../../src/store/transients/memory-transients.ts'
import { secretKey } from '../support/server.ts'

const end = 1_000

/** Opens the transient values of two kinds in one store. */
const open = () => {
  const transients = memoryTransients()
  const context = {
    transients,
    clock: () => 0,
    random: systemRandom,
    keys: new KeyRing([secretKey]),
  } as unknown as RecordsContext
  return {
    transients,
    notices: new TransientValues<string>('client_refusals', context),
    forms: new TransientValues<string>('leaked_credential', context),
  }
}

describe('named transient values', () => {
  test('are created only if no value has the name, so that one of 20 concurrent calls succeeds', async () => {
    const { forms } = open()
    const claimed = await Promise.all(
      Array.from({ length: 20 }, (_, index) => forms.claim('form', `value ${index}`, end)),
    )
    expect(claimed.filter(Boolean)).toHaveLength(1)
    expect(await forms.get('form')).toBe(`value ${claimed.indexOf(true)}`)
    expect(await forms.claim('form', 'later', end)).toBe(false)
    expect(await forms.claim('another form', 'value', end)).toBe(true)
    await forms.take('form')
    expect(await forms.claim('form', 'later', end)).toBe(true)
  })

  test('can be replaced', async () => {
    const { notices } = open()
    await notices.set('session', 'first', end)
    await notices.set('session', 'second', end)
    expect(await notices.get('session')).toBe('second')
    expect(await notices.take('session')).toBe('second')
    expect(await notices.take('session')).toBeUndefined()
  })

  test('of different kinds may have the same name, and cannot be opened as another kind', async () => {
    const { notices, forms, transients } = open()
    expect(await notices.claim('name', 'notice', end)).toBe(true)
    expect(await forms.claim('name', 'form', end)).toBe(true)
    expect([await notices.get('name'), await forms.get('name')]).toEqual(['notice', 'form'])
    const key = (kind: 'client_refusals' | 'leaked_credential') =>
      `${kind}:${(kind === 'leaked_credential' ? forms : notices).digest('name')}`
    const stored = await transients.take(key('leaked_credential'), 0)
    expect(stored).not.toContain('form')
    await transients.delete(key('client_refusals'))
    await transients.put(key('client_refusals'), stored ?? '', end, 0)
    expect(await notices.get('name')).toBeUndefined()
  })
})
