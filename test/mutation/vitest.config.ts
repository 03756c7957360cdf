import { defineConfig } from 'vitest/config'
import base from '../../vitest.config.ts'

const seconds = 1000

// Only fast tests that run the mutated code in this process: without child processes, a browser or PostgreSQL.
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
      // Excluded, because they start servers in other processes or are slow.
      'test/attacks/{cd,ds,ft,rf,st}.test.ts',
    ],
    isolate: false,
    testTimeout: 60 * seconds,
    hookTimeout: 60 * seconds,
  },
})
