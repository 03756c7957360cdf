interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** The result of an item that its batch did not run. The item then runs alone. */
export const leftOut = Symbol('left out')

export interface BatchOptions<Item, Result> {
  /**
   * Runs a batch atomically. May leave out items.
   * @returns the results in the order of the items, with `leftOut` for each item that was not run
   */
  readonly run: (items: readonly Item[]) => Promise<readonly (Result | typeof leftOut)[]>
  /** Runs a single item after its batch left it out or was rolled back. It may run concurrently with later batches. */
  readonly runAlone: (item: Item) => Promise<Result>
  /** Returns whether an error proves that the batch had no effect, so that each item can be retried alone. */
  readonly isUndone: (error: unknown) => boolean
  /** The maximum number of items in a batch. */
  readonly maxItems: number
  /** The maximum number of concurrent batches. Further items wait for the next batch. */
  readonly maxConcurrent: number
}

/**
 * Combines the calls of consecutive turns of the event loop, until a turn adds no call: requests that arrived together
 * call in different turns. The callers receive their results after the whole batch. If an error rolled back the batch,
 * each item is retried alone.
 */
export const batched = <Item, Result>({
  run,
  runAlone,
  isUndone,
  maxItems,
  maxConcurrent,
}: BatchOptions<Item, Result>): ((item: Item) => Promise<Result>) => {
  const waiting: Waiting<Item, Result>[] = []
  let running = 0
  let isScheduled = false

  // Do not wait for the item: it may be slow, and could delay the next batch.
  const settleAlone = ({ item, resolve, reject }: Waiting<Item, Result>): void => {
    runAlone(item).then(resolve, reject)
  }
  const settle = async (batch: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await run(batch.map(({ item }) => item))
      for (const [index, entry] of batch.entries()) {
        const result = results[index]
        if (result === leftOut) settleAlone(entry)
        else entry.resolve(result as Result)
      }
    } catch (error) {
      if (isUndone(error)) batch.forEach(settleAlone)
      else for (const { reject } of batch) reject(error)
    }
  }

  const begin = (): void => {
    isScheduled = false
    const batch = waiting.splice(0, maxItems)
    running += 1
    void settle(batch).then(() => {
      running -= 1
      schedule()
    })
    schedule()
  }

  const schedule = (): void => {
    if (isScheduled || waiting.length === 0 || running >= maxConcurrent) return
    isScheduled = true
    let before = 0
    const look = (): void => {
      const { length } = waiting
      if (length === before || length >= maxItems) begin()
      else {
        before = length
        setImmediate(look)
      }
    }
    setImmediate(look)
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      schedule()
    })
}

/** Batches look-ups. Look-ups of the same key in one batch share the query and the result object. */
export const batchedLookup = <Result>(
  run: (keys: readonly string[]) => Promise<ReadonlyMap<string, Result>>,
  options: Omit<BatchOptions<string, Result | undefined>, 'run' | 'runAlone'>,
): ((key: string) => Promise<Result | undefined>) =>
  batched({
    ...options,
    runAlone: async (key) => (await run([key])).get(key),
    async run(keys) {
      const found = await run(keys.length === 1 ? keys : [...new Set(keys)])
      return keys.map((key) => found.get(key))
    },
  })
