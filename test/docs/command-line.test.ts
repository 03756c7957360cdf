import { afterEach, expect, test, vi } from 'vitest'
import { run } from '../../src/cli/program.ts'
import { readPage } from './markdown.ts'

afterEach(() => vi.restoreAllMocks())

const help = async (...command: readonly string[]): Promise<string> => {
  let text = ''
  // Each run adds a listener to stdout. All runs of this test share one stdout, which would warn of a leak.
  vi.spyOn(process.stdout, 'on').mockReturnThis()
  vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
    text += chunk
    return true
  })
  expect(await run([...command, '--help'])).toBe(0)
  return text
}

/** Returns the commands of a help text, except `help`. */
const commandsIn = (text: string): readonly string[] =>
  [...(text.split('\nCommands:\n')[1]?.split('\n\n')[0] ?? '').matchAll(/^ {2}([a-z-]+)/gm)]
    .map(([, name = '']) => name)
    .filter((name) => name !== 'help')

const optionsIn = (text: string): readonly string[] =>
  [...new Set([...text.matchAll(/--([a-z-]+)/g)].map(([, name = '']) => name))].sort()

const everyCommand = async (): Promise<readonly (readonly string[])[]> => {
  const found: (readonly string[])[] = []
  for (const name of commandsIn(await help())) {
    const text = await help(name)
    const members = commandsIn(text)
    // A group of commands has no option except the help. `audit` is a group and also a command.
    if (members.length === 0 || /\nOptions:\n {2}--/.test(text)) found.push([name])
    found.push(...members.map((member) => [name, member]))
  }
  return found
}

/** Returns each command of the page with its options, collected from all rows of the command. */
const documented = (): ReadonlyMap<string, readonly string[]> => {
  const rows = [...readPage('docs/reference/command-line.md').matchAll(/^\| `([^`]+)`/gm)]
  const usages = rows.map(([, usage = '']) => usage)
  const commandOf = (usage: string) => /^[a-z-]+(?: (?!-)[a-z-]+)*/.exec(usage)?.[0] ?? ''
  return new Map(
    usages.map((usage) => {
      const same = usages.filter((other) => commandOf(other) === commandOf(usage))
      return [commandOf(usage), optionsIn(same.join(' '))]
    }),
  )
}

test('the page lists every command with every option, and no others', async () => {
  const actual = new Map<string, readonly string[]>()
  for (const command of await everyCommand()) {
    const [, options = ''] = /\nOptions:\n([\s\S]*?)(?:\n\n|$)/.exec(await help(...command)) ?? []
    const flags = [...options.matchAll(/^ {2}(?:-\w, )?--([a-z-]+)/gm)].map(
      ([, flag]) => flag ?? '',
    )
    actual.set(command.join(' '), flags.filter((flag) => flag !== 'help').sort())
  }
  expect(actual.size).toBeGreaterThan(10)
  expect(Object.fromEntries(documented())).toEqual(Object.fromEntries(actual))
})
