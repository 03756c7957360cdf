import { execFileSync } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

export interface Installed {
  readonly packages: number
  readonly bytes: number
}

const bytesBelow = (folder: string): number => {
  let bytes = 0
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.name === 'node_modules') continue
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += bytesBelow(path)
    else if (entry.isFile()) bytes += statSync(path).size
  }
  return bytes
}

const isRoot = (folder: string): boolean => dirname(folder) === folder

/** Returns the directory of a package that a module in `from` imports; undefined if it is not installed. */
const find = (name: string, from: string): string | undefined => {
  for (let folder = from; !isRoot(folder); folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name)
    if (existsSync(join(path, 'package.json'))) return realpathSync(path)
  }
  return undefined
}

/**
 * Returns the size of a package in bytes. For a checkout, counts only the files that npm would publish.
 */
const ownBytes = (folder: string): number => {
  if (folder.includes('node_modules')) return bytesBelow(folder)
  const args = ['pack', '--dry-run', '--json', '--ignore-scripts']
  const packed = JSON.parse(execFileSync('npm', args, { cwd: folder, encoding: 'utf8' }))
  return [packed].flat()[0].unpackedSize
}

/**
 * Returns the number and size of packages with all their dependencies. Skips optional dependencies that are missing.
 */
export const installed = (names: readonly string[], from: string): Installed => {
  const folders = new Set<string>()
  const add = (name: string, at: string, isNeeded: boolean): void => {
    const folder = find(name, at)
    if (folder === undefined) {
      if (isNeeded) throw new Error(`${name} is not installed.`)
      return
    }
    if (folders.has(folder)) return
    folders.add(folder)
    const { dependencies = {}, optionalDependencies = {} } = JSON.parse(
      readFileSync(join(folder, 'package.json'), 'utf8'),
    )
    for (const one of Object.keys(dependencies)) add(one, folder, !(one in optionalDependencies))
  }
  for (const name of names) add(name, from, true)
  let bytes = 0
  for (const folder of folders) bytes += ownBytes(folder)
  return { packages: folders.size, bytes }
}
