import { expect, test, vi } from 'vitest'
import { describeAdapter } from '../adapters/embed.ts'
import { expressHost } from '../adapters/hosts/express.ts'

vi.mock('express', () => import('express4' as string))

test('the server runs on Express 4', async () => {
  const { default: express } = await import('express')
  // Prove that the test uses Express 4: Express 5 has no method `del`.
  expect('del' in express()).toBe(true)
})

describeAdapter('Express 4', expressHost)
