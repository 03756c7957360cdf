import { appendFileSync } from 'node:fs'
import { watchSecrets } from './drawn.ts'

// Programs that a test starts load this module first.
const { TEST_SECRETS: file } = process.env
if (file) watchSecrets((secret) => appendFileSync(file, `${JSON.stringify(secret)}\n`))
