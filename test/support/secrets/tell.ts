import { appendFileSync } from 'node:fs'
import { watchSecrets } from './drawn.ts'

// Loaded into the programs that a test starts, before anything else of theirs.
const { TEST_SECRETS: file } = process.env
if (file) watchSecrets((secret) => appendFileSync(file, `${JSON.stringify(secret)}\n`))
