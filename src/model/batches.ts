/**
 * Yields all rows of a list, and reads them in batches.
 * @param read returns the rows after this row, or the first rows; fewer than `size` if no further rows exist
 */
export async function* rowsInBatches<Row>(
  size: number,
  read: (after: Row | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<Row, void, void> {
  let rows: readonly Row[] = []
  do {
    rows = await read(rows.at(-1))
    yield* rows
  } while (rows.length === size)
}

interface Page<Item> {
  readonly items: readonly Item[]
  readonly next: string | null
}

/** Yields the items of all pages of a list, and reads pages of this size. */
export async function* itemsOfPages<Item>(
  size: number,
  read: (cursor: { readonly after: string | null; readonly limit: number }) => Promise<Page<Item>>,
): AsyncGenerator<Item, void, void> {
  let after: string | null = null
  do {
    const { items, next }: Page<Item> = await read({ after, limit: size })
    yield* items
    after = next
  } while (after !== null)
}
