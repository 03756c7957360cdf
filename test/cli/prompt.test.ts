import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { confirm, isTerminal, readSecret } from '../../src/cli/prompt.ts'

/** Simulates a terminal at which a user types; `shown` is its output. */
const terminal = (isTTY = true) => {
  const input = Object.assign(new PassThrough(), { isTTY })
  const output = new PassThrough({ encoding: 'utf8' })
  let shown = ''
  output.on('data', (text: string) => {
    shown += text
  })
  return { input, output, shown: () => shown }
}

test('reads a secret from the terminal without showing it', async () => {
  const { shown, ...at } = terminal()
  const response = readSecret('Token: ', at)
  at.input.write('the secret\r')
  expect(await response).toBe('the secret')
  expect(shown()).toBe('Token: \n')
})

test('without a terminal, reads the whole input as the secret and prints no prompt', async () => {
  const { shown, ...at } = terminal(false)
  expect(isTerminal(at)).toBe(false)
  at.input.end('the secret\n')
  expect(await readSecret('Token: ', at)).toBe('the secret')
  expect(shown()).toBe('')
})

test.each([
  ['y', true],
  ['Yes', true],
  ['', false],
  ['n', false],
  ['yesterday', false],
])('parses the answer %j as %j', async (typed, expected) => {
  const { shown, ...at } = terminal()
  const response = confirm('Delete?', at)
  at.input.write(`${typed}\r`)
  expect(await response).toBe(expected)
  expect(shown()).toContain('Delete? [y/N] ')
})

test.each([
  ['Ctrl-C', '\x03'],
  ['Ctrl-D', '\x04'],
])('rejects %s as an answer', async (_, key) => {
  const at = terminal()
  const asked = confirm('Delete?', at)
  at.input.write(key)
  await expect(asked).rejects.toThrow('There was no answer; nothing was done.')
})
