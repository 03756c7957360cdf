/** Whether a scope permits only reading data, or also changing data. */
export type ScopeAccess = 'read' | 'write'

const writing = new Set(
  'write add admin all change control create delete edit full manage modify pay publish send update'.split(
    ' ',
  ),
)
const reading = new Set('read readonly list view get'.split(' '))

/**
 * Derives the access from the words of a scope's ID, such as `notes:read` or `write:org`.
 * @returns undefined if no word of the ID is known
 */
export const accessIn = (id: string): ScopeAccess | undefined => {
  const words = id.toLowerCase().split(/[^a-z]+/)
  if (words.some((word) => writing.has(word))) return 'write'
  return words.some((word) => reading.has(word)) ? 'read' : undefined
}
