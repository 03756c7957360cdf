/** Different bytes that a secret must have at least. */
const fewestBytes = 8
/** Pairs of neighbours that a secret must have at least, of those that neither repeat nor count on. */
const fewestPairs = 16

const placeholder = /change.?(?:me|this|it)|your.?secret|replace.?(?:me|this)|placeholder/i

/**
 * Why somebody could guess a secret that is long enough: it is repeated, a sequence or a placeholder. Undefined for
 * what could be random. It recognises what people type, and cannot prove that a secret is random.
 */
export const weaknessOf = (secret: string): string | undefined => {
  const bytes = Buffer.from(secret)
  if (new Set(bytes).size < fewestBytes) return `has fewer than ${fewestBytes} different characters`
  if (placeholder.test(secret)) return 'is a placeholder'
  const pairs = new Set<string>()
  for (let at = 2; at < bytes.length; at += 1) {
    const [first = 0, second = 0, third = 0] = bytes.subarray(at - 2, at + 1)
    if (third - second !== second - first) pairs.add(`${second} ${third}`)
  }
  return pairs.size < fewestPairs ? 'repeats a short piece, or is a sequence' : undefined
}
