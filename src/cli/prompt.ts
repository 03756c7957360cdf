import { createInterface } from 'node:readline'
import { Writable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { CommandError } from './errors.ts'

/** The terminal on which commands ask questions. Tests replace it. */
export interface Terminal {
  readonly input: NodeJS.ReadableStream & { readonly isTTY?: boolean }
  readonly output: NodeJS.WritableStream
}

const standard: Terminal = { input: process.stdin, output: process.stderr }

/** Returns whether the input is an interactive terminal. */
export const isTerminal = ({ input }: Terminal = standard): boolean => input.isTTY === true

/**
 * Reads a secret. Asks for a line without echo if the input is a terminal; otherwise reads the whole input. Removes blanks
 * at the beginning and the end.
 */
export const readSecret = async (question: string, terminal = standard): Promise<string> => {
  if (!isTerminal(terminal)) return (await text(terminal.input)).trim()
  const response = await ask(question, terminal, { hidden: true })
  return response.trim()
}

/** Asks for confirmation. Returns true only for the answer `y` or `yes`, in upper or lower case. */
export const confirm = async (question: string, terminal = standard): Promise<boolean> =>
  /^\s*y(?:es)?\s*$/i.test(await ask(`${question} [y/N] `, terminal, { hidden: false }))

const nowhere = (): Writable => new Writable({ write: (_chunk, _encoding, done) => done() })

const ask = (
  question: string,
  { input, output }: Terminal,
  { hidden }: { readonly hidden: boolean },
): Promise<string> =>
  new Promise((resolve, reject) => {
    if (hidden) output.write(question)
    const lines = createInterface({ input, output: hidden ? nowhere() : output, terminal: true })
    if (!hidden) {
      lines.setPrompt(question)
      lines.prompt()
    }
    let response: string | undefined
    lines.once('line', (line) => {
      response = line
      lines.close()
    })
    lines.once('close', () => {
      // Write the line break, which the terminal did not echo.
      if (hidden || response === undefined) output.write('\n')
      if (response !== undefined) resolve(response)
      else reject(new CommandError('There was no answer; nothing was done.'))
    })
  })
