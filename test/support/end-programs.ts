import { afterAll } from 'vitest'
import { endPrograms } from './processes.ts'

// End programs after each test file, even after a failure, so that no program affects later test files.
afterAll(endPrograms)
