import { defineConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

const seconds = 1000

// Fast tests that run the mutated code in this process: no processes, no browser, no other database.
export default defineConfig({
  resolve: base.resolve ?? {},
  test: {
    include: [
      'test/{rfc,session,extensions,attacks,users,http,flows}/**/*.test.ts',
      'test/adapters/guards.test.ts',
    ],
    exclude: [
      'test/attacks/*-slow.test.ts',
      'test/attacks/auditor.test.ts',
      // They run servers in other processes, or are slow by nature.
      'test/attacks/{cd,ds,ft,rf,st}.test.ts',
    ],
    isolate: false,
    testTimeout: 60 * seconds,
    hookTimeout: 60 * seconds,
  },
})
