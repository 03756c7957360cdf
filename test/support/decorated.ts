import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { compileFunction } from 'node:vm'

const tsc = join(import.meta.dirname, '../../node_modules/.bin/tsc')

/**
 * Compiles and loads a module with standard decorators, which Node does not support yet. The caller passes the modules
 * that the loaded module imports, by the names in its import statements.
 */
export const loadDecorated = async <M>(
  path: string,
  imports: Readonly<Record<string, object>>,
): Promise<M> => {
  const folder = await mkdtemp(join(tmpdir(), 'oauth2server-decorated-'))
  try {
    const args = ['--ignoreConfig', '--noCheck', '--target', 'es2022', '--module', 'commonjs']
    const places = ['--rootDir', dirname(path), '--outDir', folder]
    const compiler = spawn(tsc, [path, ...args, ...places], { stdio: 'inherit' })
    const [code] = await once(compiler, 'close')
    if (code !== 0) throw new Error(`${path} does not compile.`)
    const text = await readFile(join(folder, basename(path).replace(/\.ts$/, '.js')), 'utf8')
    const module = { exports: {} }
    const require = (name: string): object | undefined => imports[name]
    compileFunction(text, ['module', 'exports', 'require'])(module, module.exports, require)
    return module.exports as M
  } finally {
    await rm(folder, { recursive: true })
  }
}
