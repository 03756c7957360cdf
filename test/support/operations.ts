import type { AroundStore } from '../../src/store/store.ts'

/** Operations that a timer starts up to a second after a request, and thus possibly during the next request. */
const deferred: ReadonlySet<string> = new Set(['audit.addMany', 'auditCounts.put'])

/** Records the names of the store operations of requests. A test empties the list with `length = 0`. */
export const recordOperations = (): {
  readonly operations: string[]
  readonly aroundStore: AroundStore
} => {
  const operations: string[] = []
  return {
    operations,
    aroundStore({ name }, run) {
      if (!deferred.has(name)) operations.push(name)
      return run()
    },
  }
}
