import { expect, test, vi } from 'vitest'
import { describeAdapter } from '../adapters/embed.ts'
import { expressHost } from '../adapters/hosts/express.ts'

vi.mock('express', () => import('express4' as string))

test('runs on Express 4', async () => {
  const { default: express } = await import('express')
  // Express 5 does not have this method, so this is Express 4.
  expect('del' in express()).toBe(true)
})

describeAdapter('Express 4', expressHost)
