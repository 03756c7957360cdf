/** A text that may cost a reader much time. It is repeated until the request has the wanted size. */
export interface Text {
  readonly name: string
  /** Returns the repetition with this number; most texts ignore the number. */
  readonly unit: (number: number) => string
}

const same = (name: string, unit: string): Text => ({ name, unit: () => unit })

/** Texts for any value. */
export const texts: readonly Text[] = [
  same('blanks', ' '),
  same('dots', '.'),
  same('commas', ','),
  same('semicolons', ';'),
  same('quotes', '"'),
  same('apostrophes', "'"),
  same('backslashes', '\\'),
  same('escaped quotes', '\\"'),
  same('percent signs', '%'),
  same('encoded letters', '%41'),
  same('equals signs', '='),
  same('ampersands', '&'),
  same('brackets', '['),
  same('objects', '{"a":'),
  same('combining characters', '\u0301'),
  same('letters with marks', 'a\u0323\u0301'),
  same('unordered marks', '\u0301\u0323'),
  same('ligatures', '\uFDFA'),
  same('invisible characters', '\u200B'),
  same('emoji', '😀'),
  same('digits', '9'),
  same('labels', 'a.'),
  same('letters', 'A'),
  same('slashes', '/'),
  same('colons', ':'),
  same('at signs', '@'),
  same('hyphens', '-'),
  same('underscores', '_'),
  same('words', 'a '),
  same('pairs', 'a=1; '),
  same('plus signs', '+'),
  same('tabs', '\t'),
  { name: 'distinct words', unit: (number) => `w${number} ` },
  { name: 'distinct items', unit: (number) => `i${number},` },
  { name: 'distinct fields', unit: (number) => `f${number}=1&` },
  { name: 'addresses', unit: (number) => `https://h${number}.example/cb\n` },
  { name: 'lines', unit: () => '\n' },
]

/** Returns as many repetitions of a text as fit into `size` bytes. @param bytesOf returns the bytes of a part */
export const repeated = (
  { unit }: Text,
  size: number,
  bytesOf: (text: string) => number,
): string => {
  const first = unit(0)
  if (first === unit(1)) return first.repeat(Math.floor(size / bytesOf(first)))
  const parts: string[] = []
  let left = size
  for (let number = 0; ; number += 1) {
    const part = unit(number)
    left -= bytesOf(part)
    if (left < 0) return parts.join('')
    parts.push(part)
  }
}
