/** Reads up to `limit` items of a list after the cursor `after`. `next` is the cursor of the next page. */
type ReadPage<T> = (cursor: { readonly after: string | null; readonly limit: number }) => Promise<{
  readonly items: readonly T[]
  readonly next: string | null
}>

const pageSize = 200

/** Iterates over the items of all pages of a list. */
export async function* allPages<T>(read: ReadPage<T>): AsyncGenerator<T> {
  let after: string | null = null
  do {
    const { items, next }: Awaited<ReturnType<ReadPage<T>>> = await read({ after, limit: pageSize })
    yield* items
    after = next
  } while (after !== null)
}
