import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './markdown.ts'

const read = (path: string) => JSON.parse(readFileSync(resolve(root, path), 'utf8'))
const exact = /^(?:npm:[a-z0-9-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/
/** Dependencies of which the application and this package must share one copy: a version range lets npm find it. */
const shared = ['@opentelemetry/api']

/** An entry of a lock file. */
interface Locked {
  readonly version: string
  readonly integrity?: string
  readonly link?: boolean
  readonly hasInstallScript?: boolean
  readonly dev?: boolean
  readonly optional?: boolean
}

test.each(['package.json', 'bench/package.json'])(
  '%s pins each dependency to one version',
  (path) => {
    const { dependencies, devDependencies } = read(path)
    const all = Object.entries<string>({ ...dependencies, ...devDependencies })
    expect(all.length).toBeGreaterThan(0)
    const loose = all.filter(([name, version]) => !exact.test(version) && !shared.includes(name))
    expect(loose.filter(([, version]) => !version.startsWith('file:'))).toEqual([])
  },
)

test('the lock file has a hash for every package that an application installs, and no such package runs a script', () => {
  const packages = Object.entries<Locked>(read('package-lock.json').packages)
  const ours = packages.filter(([path, { dev }]) => path !== '' && !dev)
  expect(ours.length).toBeGreaterThan(Object.keys(read('package.json').dependencies).length - 1)
  expect(ours.filter(([, { integrity }]) => !integrity)).toEqual([])
  expect(ours.filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([])
})

test('only scripts of listed dependencies run', () => {
  expect(read('package.json').allowScripts).toEqual({ node: true })
})
