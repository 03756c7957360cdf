import { afterAll } from 'vitest'
import { endPrograms } from './processes.ts'

// Of each file of tests: nothing outlives the one that started it, however that ended.
afterAll(endPrograms)
