interface Waiting<Item, Result> {
  readonly item: Item
  readonly resolve: (result: Result) => void
  readonly reject: (error: unknown) => void
}

/** The result of an item that was left out of its batch and has to be run alone. */
export const leftOut = Symbol('left out')

export interface BatchOptions<Item, Result> {
  /** Does all but what it leaves out or, where it throws, nothing. @returns the results in the order of the items */
  readonly run: (items: readonly Item[]) => Promise<readonly (Result | typeof leftOut)[]>
  /** Runs an item that was left out, or whose batch was undone, beside the batches. */
  readonly runAlone: (item: Item) => Promise<Result>
  /** Whether an error leaves no doubt that nothing was done, so that each may be tried alone. */
  readonly isUndone: (error: unknown) => boolean
  /** Items of one batch at most. */
  readonly most: number
  /** Batches under way at most. What comes meanwhile is gathered for the next. */
  readonly atOnce: number
}

/**
 * Joins what many callers ask for within one turn of the event loop: nobody waits longer than until that is
 * over, and everybody is answered after the whole is done. Where one of them spoils it, each goes alone.
 */
export const batched = <Item, Result>({
  run,
  runAlone,
  isUndone,
  most,
  atOnce,
}: BatchOptions<Item, Result>): ((item: Item) => Promise<Result>) => {
  let waiting: Waiting<Item, Result>[] = []
  let underWay = 0
  let isPlanned = false

  // What runs alone is not waited for: it may take long, and the next batch needs the place.
  const settleAlone = ({ item, resolve, reject }: Waiting<Item, Result>): void => {
    runAlone(item).then(resolve, reject)
  }
  const settle = async (batch: readonly Waiting<Item, Result>[]): Promise<void> => {
    try {
      const results = await run(batch.map(({ item }) => item))
      for (const [index, one] of batch.entries()) {
        const result = results[index]
        if (result === leftOut) settleAlone(one)
        else one.resolve(result as Result)
      }
    } catch (error) {
      if (isUndone(error)) batch.forEach(settleAlone)
      else for (const { reject } of batch) reject(error)
    }
  }

  const begin = (): void => {
    isPlanned = false
    while (waiting.length > 0 && underWay < atOnce) {
      const batch = waiting.length > most ? waiting.splice(0, most) : waiting
      if (batch === waiting) waiting = []
      underWay += 1
      void settle(batch).then(() => {
        underWay -= 1
        begin()
      })
    }
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      if (isPlanned || underWay >= atOnce) return
      isPlanned = true
      setImmediate(begin)
    })
}

/** The same where several may ask for the same: it is looked up once, and all get the very same answer. */
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
