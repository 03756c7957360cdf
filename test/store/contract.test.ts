import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sqlite } from 'svc-oauth2server/sqlite'
import { memoryTransients } from '../../src/store/transients/memory-transients.ts'
import { databaseFolder } from '../support/database-folder.ts'
import { storeContract } from './contract.ts'
import { transientsContract } from './transients-contract.ts'

storeContract(
  'SQLite file',
  async () => {
    const folder = await databaseFolder()
    return {
      opener: sqlite(join(folder, 'test.sqlite')),
      cleanUp: () => rm(folder, { recursive: true }),
    }
  },
  { isShared: true },
)

storeContract(
  'SQLite in memory',
  async () => ({ opener: sqlite(':memory:'), cleanUp: async () => undefined }),
  { isShared: false },
)

const memory = memoryTransients()
transientsContract('in memory', () => ({ one: memory, other: memory }))
