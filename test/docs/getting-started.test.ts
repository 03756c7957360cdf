import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { expect, test } from 'vitest'
import { freePort, Program, temporaryFolder } from '../support/processes.ts'
import { asPattern, type Block, blocksOf, readPage } from './markdown.ts'

const [install, greeting, ...steps] = blocksOf(readPage('docs/getting-started.md'))

/** The PATH of a new user, without the folders of `node_modules`. */
const plainPath = (process.env.PATH ?? '')
  .split(delimiter)
  .filter((folder) => !folder.includes('node_modules'))
  .join(delimiter)

const isThere = (command: string): boolean => spawnSync(command, ['--version']).status === 0
const missing = ['bash', 'curl'].filter((command) => !isThere(command))
if (missing.length > 0) {
  const message = `the walk-through needs ${missing.join(' and ')}. To get it: apt-get install ${missing.join(' ')}`
  if (process.env.CI === 'true') throw new Error(message)
  console.warn(`SKIPPED: ${message}`)
}

const marker = (index: number): string => `--- step ${index} ---`

const expectOutput = (output: string, { text, line }: Block, port: number): void =>
  expect(output.trim(), `the output of the block in line ${line}`).toMatch(
    asPattern(
      text.replaceAll('localhost:3000', `localhost:${port}`).replaceAll('%3A3000', `%3A${port}`),
    ),
  )

test('the README shows the first part of the walk-through', () => {
  const [inReadme, printed] = blocksOf(readPage('README.md'))
  expect(inReadme?.text).toBe(install?.text)
  expect(printed?.text).toBe(greeting?.text)
})

test.skipIf(missing.length > 0)(
  'every command of the walk-through works as written and prints the documented output',
  async () => {
    await using folder = await temporaryFolder()
    const port = await freePort()
    const env = {
      PATH: plainPath,
      PORT: String(port),
      DATABASE_URL: `sqlite:${join(folder.path, 'oauth2server.sqlite')}`,
      // npx stores the programs of the checkout in this cache.
      npm_config_cache: join(folder.path, 'npm'),
    }

    // The test does not repeat `npm ci`: without it, this test could not run.
    expect(install?.text).toBe('npm ci && npm start\n')
    await using server = new Program('npm', ['start'], { env })
    await server.says(/Stop with Ctrl-C.*\n/, { within: 60_000 })
    const [, printed = ''] = /^(A demo user[\s\S]*)/m.exec(server.stdout) ?? []
    if (!greeting) throw new Error('The walk-through does not contain the output of the start.')
    expectOutput(printed, greeting, port)

    const secret = (name: string) => new RegExp(`^ *${name} +(\\S+)$`, 'm').exec(printed)?.[1]
    const script = join(folder.path, 'walk-through.sh')
    const responses = join(folder.path, 'answers')
    const commands = steps.map(({ language, text }, index) =>
      language === 'sh' ? `echo; echo '${marker(index)}'\n${text}` : '',
    )
    await writeFile(script, `set -eu -o pipefail\n${commands.join('')}`)
    await writeFile(responses, `${secret('personal access token')}\n${secret('password')}\n`)
    await using walk = new Program('bash', ['-c', `bash '${script}' < '${responses}'`], { env })
    const { code } = await walk.exited
    expect(code, `${walk.stdout}\n${walk.stderr}`).toBe(0)

    steps.forEach((block, index) => {
      if (block.language === 'sh') return
      const before = steps[index - 1]
      expect(before?.language, `the block before line ${block.line}`).toBe('sh')
      const [, after = ''] = walk.stdout.split(`${marker(index - 1)}\n`)
      const [output = ''] = after.split('\n--- step ')
      expectOutput(output, block, port)
    })
  },
  120_000,
)
