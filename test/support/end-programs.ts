import { afterAll } from 'vitest'
import { endPrograms } from './processes.ts'

// Runs after each test file, so that no program outlives the file that started it, however it ended.
afterAll(endPrograms)
