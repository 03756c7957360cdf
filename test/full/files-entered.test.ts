import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { root } from '../docs/markdown.ts'

/** The most files that each kind of request may enter, without the adapter. */
const most = {
  'bearer check': 20,
  client_credentials: 45,
}

test('a request enters few source files [T4750]', async () => {
  const run = promisify(execFile)
  const { stdout } = await run(process.execPath, ['scripts/files-entered.ts', '--json'], {
    cwd: root,
  })
  const entered = JSON.parse(stdout) as Record<string, string[]>
  for (const [request, count] of Object.entries(most)) {
    const files = entered[request]?.filter((file) => !file.startsWith('adapters/')) ?? []
    expect(files, request).toContain('crypto/digest.ts')
    expect(files.length, files.join('\n')).toBeLessThanOrEqual(count)
  }
})
