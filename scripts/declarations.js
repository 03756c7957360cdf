import { copyFile, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'

const reference = /(?:from|import\() ?["'](\.[^"']+)["']/g

/**
 * Removes the declarations to which no export of the package refers. Some of these declarations refer to packages that
 * an application does not install.
 * @param {string} root the directory of the package
 * @param {string} directory the directory of the declarations
 */
export const removeInternalDeclarations = async (root, directory) => {
  const { exports } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  /** @type {string[]} */
  const types = Object.values(exports).flatMap(({ types }) => types ?? [])
  const found = new Set(types.map((path) => resolve(directory, path.replace('./dist/', ''))))
  // The loop also visits the paths that it adds to the set.
  for (const path of found) {
    const text = await readFile(path, 'utf8')
    for (const [, module = ''] of text.matchAll(reference))
      found.add(resolve(dirname(path), module.replace(/\.[jt]s$/, '.d.ts')))
  }
  const all = await readdir(directory, { recursive: true, withFileTypes: true })
  const declarations = all.filter(({ name }) => name.endsWith('.d.ts'))
  const paths = declarations.map(({ parentPath, name }) => join(parentPath, name))
  await Promise.all(paths.filter((path) => !found.has(path)).map((path) => rm(path)))
  await replaceZod(directory, [...found])
}

/**
 * Lets declarations refer to `zod.d.ts` instead of zod, which an application does not install.
 * @param {string} directory the directory of the declarations
 * @param {readonly string[]} paths
 */
const replaceZod = async (directory, paths) => {
  const types = join(directory, 'zod.d.ts')
  await copyFile(join(import.meta.dirname, 'zod.d.ts'), types)
  for (const path of paths) {
    const text = await readFile(path, 'utf8')
    const module = relative(dirname(path), types).replace(/\.d\.ts$/, '.js')
    const name = module.startsWith('.') ? module : `./${module}`
    const replaced = text.replaceAll("from 'zod'", `from '${name}'`)
    if (replaced !== text) await writeFile(path, replaced)
  }
}
