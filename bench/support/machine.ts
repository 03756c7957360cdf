import { readFileSync } from 'node:fs'
import { cpus, totalmem, type } from 'node:os'
import type { Definition } from '../targets.ts'
import { postgresVersion } from './databases.ts'
import type { Described, Machine } from './results.ts'

export const describeMachine = async (): Promise<Machine> => {
  const postgres = await postgresVersion()
  const cores = cpus()
  return {
    processor: cores[0]?.model.trim() ?? 'unknown',
    cores: cores.length,
    memoryInGiB: Math.round(totalmem() / 2 ** 30),
    system: type(),
    node: process.versions.node,
    sqlite: process.versions.sqlite ?? 'none',
    ...(postgres && { postgres }),
  }
}

const versionOf = (name: string): string => {
  const path = new URL(`../node_modules/${name}/package.json`, import.meta.url)
  return JSON.parse(readFileSync(path, 'utf8')).version
}

/** Returns the description of a server for the results. */
export const describe = ({ name, title, role, packages: [first] = [] }: Definition): Described => ({
  name,
  title,
  role,
  ...(first && { version: versionOf(first) }),
})
