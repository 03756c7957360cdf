import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const pathOf = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url))

const runs = (command: string, args: readonly string[], expected: number): boolean => {
  try {
    execFileSync(command, args, { stdio: 'ignore' })
    return true
  } catch (error) {
    return error instanceof Error && 'status' in error && error.status === expected
  }
}

/** Installs the peers and builds the package if necessary. @throws Error in one line if a program is missing */
export const meetRequirements = (): void => {
  // wrk exits with the status 1 after it has printed its version.
  const missing = [
    ...(runs('wrk', ['--version'], 1) ? [] : ['wrk']),
    ...(runs('taskset', ['--version'], 0) ? [] : ['util-linux']),
  ]
  if (missing.length > 0)
    throw new Error(`The benchmark needs Linux with: apt-get install ${missing.join(' ')}`)
  const inherit = { stdio: 'inherit' } as const
  if (!existsSync(pathOf('bench/node_modules/oidc-provider'))) {
    process.stderr.write('npm ci --prefix bench\n')
    execFileSync('npm', ['ci', '--prefix', pathOf('bench')], inherit)
  }
  execFileSync(process.execPath, [pathOf('scripts/build.js'), '--if-stale'], inherit)
}
