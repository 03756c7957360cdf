/** Appends numbers to equal names, so that the buttons of different entries have different names in screen readers. */
export const distinctNames = (names: readonly string[]): readonly string[] => {
  const taken = new Set<string>()
  return names.map((name) => {
    let distinct = name
    for (let number = 2; taken.has(distinct); number += 1) distinct = `${name} (${number})`
    taken.add(distinct)
    return distinct
  })
}

/** Returns the name of an entry of a list, with a number if an earlier entry has the same name. */
export const nameAmong = <Entry extends { readonly name: string }>(
  entry: Entry,
  entries: readonly Entry[],
): string => distinctNames(entries.map(({ name }) => name))[entries.indexOf(entry)] ?? entry.name
