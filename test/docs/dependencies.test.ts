import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './markdown.ts'

const read = (path: string) => JSON.parse(readFileSync(resolve(root, path), 'utf8'))
const exact = /^(?:npm:[a-z0-9-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/
/** One copy has to serve the application and us: a range, so that npm finds one that suits both. */
const shared = ['@opentelemetry/api']

/** Where a package of that name stands in a lock file. */
interface Locked {
  readonly version: string
  readonly integrity?: string
  readonly link?: boolean
  readonly hasInstallScript?: boolean
  readonly dev?: boolean
  readonly optional?: boolean
}

test.each(['package.json', 'bench/package.json'])(
  '%s pins what it depends on to one version each',
  (path) => {
    const { dependencies, devDependencies } = read(path)
    const all = Object.entries<string>({ ...dependencies, ...devDependencies })
    expect(all.length).toBeGreaterThan(0)
    const loose = all.filter(([name, version]) => !exact.test(version) && !shared.includes(name))
    expect(loose.filter(([, version]) => !version.startsWith('file:'))).toEqual([])
  },
)

test('the lock file has a hash for all that an application gets, and none of it runs a script', () => {
  const packages = Object.entries<Locked>(read('package-lock.json').packages)
  const ours = packages.filter(([path, { dev }]) => path !== '' && !dev)
  expect(ours.length).toBeGreaterThan(Object.keys(read('package.json').dependencies).length - 1)
  expect(ours.filter(([, { integrity }]) => !integrity)).toEqual([])
  expect(ours.filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([])
})

test('scripts of dependencies run by name alone', () => {
  expect(read('package.json').allowScripts).toEqual({ node: true })
})
