import { run } from '../../src/cli/program.ts'

// Runs several commands in this process. Starting Node for each command would take most of the test's time.
// The argument is a JSON list of command lines. The result is a JSON list of outcomes.

type Write = typeof process.stdout.write

const capture = (stream: NodeJS.WriteStream, add: (text: string) => void): (() => void) => {
  const write = stream.write.bind(stream)
  stream.write = ((text: string | Uint8Array) => {
    add(String(text))
    return true
  }) as Write
  return () => {
    stream.write = write
  }
}

const outcomes = []
for (const args of JSON.parse(process.argv[2] ?? '[]') as readonly string[][]) {
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
  outcomes.push(outcome)
}
process.stdout.write(JSON.stringify(outcomes))
