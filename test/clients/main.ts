/**
 * Runs client libraries of other languages, without changes to their code, against this server. Each program prints one
 * line of JSON per check:
 *
 *     npm run test:clients [-- go python java rust]
 *
 * Skips the languages whose toolchain is not installed, and names them. Exits with status 1 if a check failed.
 * If CLIENTS_OUT names a directory, the packages and built programs remain there, and the next run is faster.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startBrowser } from './browser.ts'
import { type Command, type Language, languages } from './languages.ts'
import { startClientsServer } from './server.ts'

interface Check {
  readonly library: string
  readonly check: string
  readonly ok: boolean
  readonly detail?: string
}

interface Ended {
  readonly status: number | null
  readonly output: string
}

const maxMinutes = 20

/** Runs a command to its end. The status is null if the program is not installed. */
const run = async (
  [program, ...args]: Command,
  options: { cwd?: string; env?: Record<string, string | undefined>; quiet?: boolean } = {},
): Promise<Ended> => {
  const { quiet = false, ...place } = options
  const stdio: ['ignore', 'pipe', 'ignore' | 'inherit'] = [
    'ignore',
    'pipe',
    quiet ? 'ignore' : 'inherit',
  ]
  const child = spawn(program, args, { stdio, timeout: maxMinutes * 60_000, ...place })
  let output = ''
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text
  })
  try {
    const [status] = (await once(child, 'close')) as [number | null]
    return { status, output }
  } catch {
    return { status: null, output }
  }
}

const isInstalled = async ({ needs }: Language): Promise<boolean> => {
  for (const command of needs) if ((await run(command, { quiet: true })).status !== 0) return false
  return true
}

const failed = (library: string, detail: string): Check => ({
  library,
  check: 'runs',
  ok: false,
  detail,
})

/** Builds and runs the programs of a language in a copy of their directory, which a build may change. */
const checksOf = async (
  language: Language,
  root: string,
  variables: Record<string, string>,
): Promise<Check[]> => {
  const { name } = language
  const out = join(root, name, 'out')
  const cwd = join(root, name, 'source')
  await mkdir(out, { recursive: true })
  await cp(join(import.meta.dirname, name), cwd, { recursive: true })
  for (const command of language.build(out)) {
    const { status, output } = await run(command, { cwd, env: process.env })
    if (status !== 0) return [failed(name, `${command.join(' ')} failed: ${output}`)]
  }
  const checks: Check[] = []
  for (const command of language.run(out)) {
    const { status, output } = await run(command, { cwd, env: { ...process.env, ...variables } })
    const lines = output.split('\n').filter((line) => line.startsWith('{"library"'))
    checks.push(...lines.map((line) => JSON.parse(line) as Check))
    if (status !== 0 || lines.length === 0) checks.push(failed(name, `status ${status}: ${output}`))
  }
  return checks
}

const chosen = process.argv.slice(2)
const unknown = chosen.filter((one) => !languages.some(({ name }) => name === one))
if (unknown.length > 0) throw new Error(`Unknown languages: ${unknown.join(', ')}`)

const kept = process.env.CLIENTS_OUT
const root = kept ?? (await mkdtemp(join(tmpdir(), 'oauth2server-clients-')))
const opaque = await startClientsServer('opaque')
const signed = await startClientsServer('jwt')
const browser = await startBrowser([opaque, signed])
try {
  const variables = {
    ...opaque.variables,
    ...Object.fromEntries(
      Object.entries(signed.variables).map(([name, value]) => [`JWT_${name}`, value]),
    ),
    BROWSER: browser.url,
  }
  let passes = 0
  let failures = 0
  const skipped: string[] = []
  for (const language of languages) {
    if (chosen.length > 0 && !chosen.includes(language.name)) continue
    if (!(await isInstalled(language))) {
      skipped.push(language.name)
      continue
    }
    for (const { library, check, ok, detail } of await checksOf(language, root, variables)) {
      console.log(`${ok ? 'ok  ' : 'FAIL'} ${library}: ${check}${detail ? ` – ${detail}` : ''}`)
      if (ok) passes += 1
      else failures += 1
    }
  }
  if (skipped.length > 0) console.log(`Skipped, toolchain not installed: ${skipped.join(', ')}`)
  console.log(`${passes} passed, ${failures} failed, ${skipped.length} skipped`)
  process.exitCode = failures === 0 && passes > 0 ? 0 : 1
} finally {
  await Promise.all([browser.close(), opaque.close(), signed.close()])
  if (kept === undefined) await rm(root, { recursive: true, force: true })
}
