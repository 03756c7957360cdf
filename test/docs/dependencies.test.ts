import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { expect, test } from 'vitest'
import { root } from './markdown.ts'

const read = (path: string) => JSON.parse(readFileSync(resolve(root, path), 'utf8'))
const exact = /^(?:npm:[a-z0-9-]+@)?\d+\.\d+\.\d+(?:-[\w.]+)?$/
/** An entry of a lock file. */
interface Locked {
  readonly version: string
  readonly integrity?: string
  readonly link?: boolean
  readonly hasInstallScript?: boolean
  readonly dev?: boolean
  readonly optional?: boolean
}

/** Returns the dependencies that are not pinned to one version. */
const loose = (dependencies: Readonly<Record<string, string>>): readonly string[] =>
  Object.entries(dependencies)
    .filter(([, version]) => !exact.test(version) && !version.startsWith('file:'))
    .map(([name]) => name)

test('the tools and the benchmark have exact versions, so that each checkout measures the same', () => {
  const bench = read('bench/package.json')
  expect(loose(read('package.json').devDependencies)).toEqual([])
  expect(loose({ ...bench.dependencies, ...bench.devDependencies })).toEqual([])
})

test('an application can update each runtime dependency to a later compatible version', () => {
  const { dependencies } = read('package.json')
  const pinned = Object.entries<string>(dependencies).filter(
    ([, range]) => !/^\^\d+\.\d+\.\d+$/.test(range),
  )
  expect(pinned).toEqual([])
})

test('the lock file has a hash for every package that an application installs, and no such package runs a script', () => {
  const packages = Object.entries<Locked>(read('package-lock.json').packages)
  const ours = packages.filter(([path, { dev }]) => path !== '' && !dev)
  expect(ours.length).toBeGreaterThan(Object.keys(read('package.json').dependencies).length - 1)
  expect(ours.filter(([, { integrity }]) => !integrity)).toEqual([])
  expect(ours.filter(([, { hasInstallScript }]) => hasInstallScript)).toEqual([])
})

test('only the package node may run an install script', () => {
  const { allowScripts } = read('package.json')
  expect(Object.keys(allowScripts).filter((name) => allowScripts[name])).toEqual(['node'])
})
