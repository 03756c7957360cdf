import { afterAll } from 'vitest'
import { endPrograms } from './processes.ts'

// Runs after each test file, even if it failed, so that no program outlives the file that started it.
afterAll(endPrograms)
