import { pglite } from '../support/pglite.ts'
import { storeContract } from './contract.ts'

storeContract(
  'PGlite',
  async () => {
    const opener = await pglite()
    return { opener, cleanUp: () => opener.end() }
  },
  { isShared: false },
)
