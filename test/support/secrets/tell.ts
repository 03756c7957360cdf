import { appendFileSync } from 'node:fs'
import { watchSecrets } from './drawn.ts'

// Node loads this module first in programs that a test starts. The module reports their secrets in a file.
const { TEST_SECRETS: file } = process.env
if (file) watchSecrets((secret) => appendFileSync(file, `${JSON.stringify(secret)}\n`))
