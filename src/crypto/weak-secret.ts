/** The minimum number of different bytes of a secret. */
const minBytes = 8
/** The minimum number of different pairs of adjacent bytes, without pairs that continue a sequence. */
const minPairs = 16

const placeholder = /change.?(?:me|this|it)|your.?secret|replace.?(?:me|this)|placeholder/i

/**
 * Returns why a long secret could be guessed: the secret, or its decoded base64 or hexadecimal, is repetitive, a
 * sequence or a placeholder. Returns undefined for a secret that looks random.
 */
export const weaknessOf = (secret: string): string | undefined => {
  if (placeholder.test(secret)) return 'is a placeholder'
  const problems = [Buffer.from(secret), ...decoded(secret)].map(repetitionOf)
  return problems.find((problem) => problem !== undefined)
}

const decoded = (secret: string): readonly Buffer[] => [
  ...(/^(?:[0-9a-f]{2})+$/i.test(secret) ? [Buffer.from(secret, 'hex')] : []),
  ...(/^[\w+/-]+={0,2}$/.test(secret) ? [Buffer.from(secret, 'base64')] : []),
]

const repetitionOf = (bytes: Buffer): string | undefined => {
  if (new Set(bytes).size < minBytes) return `has fewer than ${minBytes} different characters`
  const pairs = new Set<string>()
  for (let at = 2; at < bytes.length; at += 1) {
    const [first = 0, second = 0, third = 0] = bytes.subarray(at - 2, at + 1)
    if (third - second !== second - first) pairs.add(`${second} ${third}`)
  }
  // A decoded hexadecimal secret of 128 bits has only 16 bytes, so require fewer pairs.
  const enough = Math.min(minPairs, bytes.length / 2)
  return pairs.size < enough ? 'repeats a short piece, or is a sequence' : undefined
}
