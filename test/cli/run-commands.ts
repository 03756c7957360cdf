import { Readable } from 'node:stream'

// Runs commands in this process, one after the other. Starting Node for each command would take most of the time.

/** A command that another process sends. The response is an `Outcome`. */
export interface Order {
  readonly folder: string
  readonly env: Readonly<Record<string, string>>
  readonly args: readonly string[]
  readonly stdin: string
}

let input = ''
Object.defineProperty(process, 'stdin', {
  value: { [Symbol.asyncIterator]: () => Readable.from([input])[Symbol.asyncIterator]() },
})
// The module reads `process.stdin`, so load it afterwards.
const { run } = await import('../../src/cli/program.ts')

const capture = (stream: NodeJS.WriteStream, add: (text: string) => void): (() => void) => {
  const write = stream.write.bind(stream)
  stream.write = ((text: string | Uint8Array) => {
    add(String(text))
    return true
  }) as typeof stream.write
  return () => {
    stream.write = write
  }
}

process.on('disconnect', () => process.exit())
process.on('message', async ({ folder, env, args, stdin }: Order) => {
  process.chdir(folder)
  for (const name of Object.keys(process.env)) delete process.env[name]
  Object.assign(process.env, env)
  input = stdin
  const outcome = { code: 0, stdout: '', stderr: '' }
  const restore = [
    capture(process.stdout, (text) => {
      outcome.stdout += text
    }),
    capture(process.stderr, (text) => {
      outcome.stderr += text
    }),
  ]
  outcome.code = await run(args)
  for (const end of restore) end()
  process.send?.(outcome)
})
process.send?.('ready')
