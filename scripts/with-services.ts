/**
 * Runs a command with a new PostgreSQL cluster and Redis, and removes both when the command exits:
 *
 *     npm run with-services -- npm run bench
 *
 * The variables TEST_POSTGRES_URL and TEST_REDIS_URL contain the URLs of the services. A service is not started if its
 * URL is already set, or if its programs are not installed. `npm test` does not need this script, because vitest starts
 * the services itself.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import { tied } from '../test/support/processes.ts'
import { startServices } from '../test/support/services.ts'

const [command, ...args] = process.argv.slice(2)
if (command === undefined) {
  process.stderr.write('usage: npm run with-services -- COMMAND [ARGUMENT…]\n')
  process.exit(2)
}

let interrupted: NodeJS.Signals | undefined
let running: ChildProcess | undefined
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => {
    interrupted = signal
    // Don't forward SIGINT, which the terminal also sends to the command. A second SIGINT would interrupt the clean-up
    // of the command.
    if (signal !== 'SIGINT') running?.kill(signal)
  })

const services = await startServices()
const exitCode = (code: number | null, signal: NodeJS.Signals): number =>
  code ?? 128 + constants.signals[signal]
try {
  if (interrupted) process.exitCode = exitCode(null, interrupted)
  else {
    running = spawn(...tied(command, args, 'SIGKILL'), {
      stdio: 'inherit',
      env: { ...process.env, ...services.env },
    })
    const [code, signal] = await once(running, 'close')
    process.exitCode = exitCode(code, signal)
  }
} catch (error) {
  process.stderr.write(`${command} cannot be run: ${(error as Error).message}\n`)
  process.exitCode = 127
} finally {
  await services.stop()
}
