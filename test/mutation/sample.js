import { createHash } from 'node:crypto'

/**
 * A Stryker plug-in that tests a random sample of the mutants. `MUTATION_SAMPLE` is the size of the sample, from 0 to 1.
 * The same `MUTATION_SEED` chooses the same mutants. Excluded mutants do not count.
 */
const { MUTATION_SAMPLE: share = '1', MUTATION_SEED: seed = '1' } = process.env

/** @param {{ fileName: string, location: object, replacement: string }} mutant */
const isInSample = ({ fileName, location, replacement }) => {
  const file = fileName.slice(fileName.lastIndexOf('/src/'))
  const name = JSON.stringify([seed, file, location, replacement])
  const drawn = createHash('sha256').update(name).digest().readUInt32BE() / 2 ** 32
  return drawn < Number(share)
}

const sample = () => ({
  async init() {},
  /** @param {readonly any[]} mutants */
  async check(mutants) {
    const leftOut = { status: 'compileError', reason: 'not in the sample' }
    return Object.fromEntries(
      mutants.map((mutant) => [mutant.id, isInSample(mutant) ? { status: 'passed' } : leftOut]),
    )
  },
  /** @param {readonly { id: string }[]} mutants */
  async group(mutants) {
    return [mutants.map(({ id }) => id)]
  },
})

export const strykerPlugins = [{ kind: 'Checker', name: 'sample', factory: sample }]
