import { PassThrough } from 'node:stream'
import { expect, test } from 'vitest'
import { confirm, isTerminal, readSecret } from '../../src/cli/prompt.ts'

/** A terminal at which somebody types; `shown` is what it shows. */
const terminal = (isTTY = true) => {
  const input = Object.assign(new PassThrough(), { isTTY })
  const output = new PassThrough({ encoding: 'utf8' })
  let shown = ''
  output.on('data', (text: string) => {
    shown += text
  })
  return { input, output, shown: () => shown }
}

test('a secret is asked for and not shown', async () => {
  const { shown, ...at } = terminal()
  const answer = readSecret('Token: ', at)
  at.input.write('the secret\r')
  expect(await answer).toBe('the secret')
  expect(shown()).toBe('Token: \n')
})

test('where there is no terminal, all of the input is the secret, and nothing is asked', async () => {
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
])('the answer %j is %j', async (typed, expected) => {
  const { shown, ...at } = terminal()
  const answer = confirm('Delete?', at)
  at.input.write(`${typed}\r`)
  expect(await answer).toBe(expected)
  expect(shown()).toContain('Delete? [y/N] ')
})

test.each([
  ['Ctrl-C', '\x03'],
  ['Ctrl-D', '\x04'],
])('%s is no answer', async (_, key) => {
  const at = terminal()
  const asked = confirm('Delete?', at)
  at.input.write(key)
  await expect(asked).rejects.toThrow('There was no answer; nothing was done.')
})
