import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { systemRandom } from '../../src/crypto/random.ts'
import { KeyRing } from '../../src/crypto/sealed.ts'
import { heldKinds, openHeld, sealHeld } from '../../src/protocol/session/held-values.ts'
import { shortLivedKinds } from '../../src/records/short-lived-kinds.ts'
import { TransientValues } from '../../src/records/transient-values.ts'
import { root } from '../support/processes.ts'
import { secretKey } from '../support/server.ts'

// Browsers and clients hold sealed values: in cookies, form fields, URLs and headers. Each value names its kind, what it
// belongs to, and its expiry.

const keys = new KeyRing([secretKey])
const at = 1_800_000_000_000
const sealing = (now = at) => ({ keys, clock: () => now })
const value = (kind: string) => ({ kind, until: at + 1_000 })

describe('a sealed value that a browser or a client holds', () => {
  const pairs = heldKinds.flatMap((kind) => heldKinds.map((other) => [kind, other] as const))

  test.each(pairs)('of the kind %s is valid only as this kind: %s [T4250]', (kind, other) => {
    const sealed = sealHeld(kind, ['A'], value(kind), sealing())
    const opened = openHeld<{ kind: string }>(other, ['A'], sealed, sealing())
    expect(opened?.kind).toBe(kind === other ? kind : undefined)
  })

  test.each(heldKinds)(
    'of the kind %s is refused after its time, elsewhere, and changed [T4251]',
    (kind) => {
      const sealed = sealHeld(kind, ['A'], value(kind), sealing())
      const open = (text: string | undefined, bound: readonly string[] = ['A'], now = at) =>
        openHeld(kind, bound, text, sealing(now))
      expect([open(sealed), open(sealed, ['A'], at + 999)]).toEqual([value(kind), value(kind)])
      expect(open(sealed, ['A'], at + 1_000)).toBeUndefined()
      for (const bound of [[], ['B'], ['A', 'A'], ['A', '']])
        expect(open(sealed, bound)).toBeUndefined()
      for (const text of [
        undefined,
        '',
        'x',
        `${sealed}x`,
        `${sealed}=`,
        ` ${sealed}`,
        sealed.slice(1),
      ])
        expect(open(text)).toBeUndefined()
      const foreign = new KeyRing(['another secret key of more than 32 bytes'])
      const theirs = sealHeld(kind, ['A'], value(kind), { keys: foreign, clock: () => at })
      expect(open(theirs)).toBeUndefined()
    },
  )

  test('is not valid as a row of the database, nor a row as such a value [T4252]', async () => {
    const rows = new Map<string, string>()
    const context = {
      transients: {
        get: async (keys: string[]) => keys.map((key) => ({ value: rows.get(key) })),
        put: async (key: string, text: string) => rows.size < rows.set(key, text).size,
      },
      keys,
      clock: () => at,
      random: systemRandom,
    } as unknown as ConstructorParameters<typeof TransientValues>[1]
    const stored = Object.keys(shortLivedKinds) as (keyof typeof shortLivedKinds)[]
    for (const kind of stored) {
      const values = new TransientValues<number>(kind, context)
      await values.claim('name', 7, at + 1_000, 'owner')
      const [[key = '', row = ''] = []] = [...rows].filter(([, text]) => text !== '').slice(-1)
      expect(await values.get('name')).toBe(7)
      for (const held of heldKinds) {
        expect(openHeld(held, [], row, sealing())).toBeUndefined()
        expect(openHeld(held, [key], row, sealing())).toBeUndefined()
        for (const bound of [[], [key], ['name']]) {
          rows.set(key, sealHeld(held, bound, value(held), sealing()))
          expect(await values.get('name')).toBeUndefined()
        }
      }
      rows.delete(key)
    }
  })

  test('is sealed and opened by one function only [T4253]', () => {
    const sources = globSync('src/**/*.ts', { cwd: root })
    const found = sources.filter((file) =>
      /\b(?:seal|open)\(\s*'transient'/.test(readFileSync(join(root, file), 'utf8')),
    )
    expect(found.sort()).toEqual([
      'src/protocol/session/held-values.ts',
      'src/records/transient-values.ts',
    ])
  })
})
