/**
 * Builds `dist` from `src` in a temporary directory, and then renames the directory to `dist`. A failed build does not
 * change `dist`.
 *
 *     node scripts/build.js             builds
 *     node scripts/build.js --if-stale  builds only if a source is newer than the last build
 *
 * Writes nothing to stdout. If another build of this checkout is running, waits for it, and then builds only if `dist`
 * is still stale.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { rmSync } from 'node:fs'
import {
  chmod,
  copyFile,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  utimes,
  writeFile,
} from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join, resolve } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { bundle } from './bundle.js'
import { removeInternalDeclarations } from './declarations.js'

const root = resolve(import.meta.dirname, '..')
const src = join(root, 'src')
const locales = join(root, 'locales')
const dist = join(root, 'dist')
const stamp = join(dist, '.built')
const temporary = join(root, `.dist-${process.pid}`)
const lock = join(root, '.dist-lock')

/** The build is stale if one of these inputs is newer. */
const inputs = [
  'src',
  'locales',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
  'scripts/build.js',
  'scripts/bundle.js',
  'scripts/declarations.js',
  'scripts/zod.d.ts',
]

const executables = ['cli/main.js']

/** The age of an abandoned lock. A running build updates the modification time of its lock every second. */
const abandonedAfterMs = 10_000

/** The age at which the temporary directory of a killed build is removed. */
const leftoverAfterMs = 3_600_000

const abortController = new AbortController()

/**
 * Returns the result of a file operation, or undefined if the file does not exist.
 * @template T
 * @param {Promise<T>} operation
 * @returns {Promise<T | undefined>}
 */
const ifExists = (operation) =>
  operation.catch((error) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

/** @param {string} path */
const modifiedAt = async (path) => (await ifExists(stat(path)))?.mtimeMs

/** @param {string} directory */
const entriesBelow = (directory) => readdir(directory, { recursive: true, withFileTypes: true })

const isStale = async () => {
  const built = await modifiedAt(stamp)
  if (built === undefined) return true
  const paths = inputs.map((path) => join(root, path))
  // Include directories: if a file was removed, or an old file was added, only the time of its directory is new.
  for (const directory of [src, locales])
    for (const entry of await entriesBelow(directory))
      paths.push(join(entry.parentPath, entry.name))
  const times = await Promise.all(paths.map(modifiedAt))
  return times.some((time) => time !== undefined && time > built)
}

/**
 * Returns whether a file or directory exists and was last modified longer ago than the given time.
 * @param {string} path
 * @param {number} milliseconds
 */
const isOlderThan = async (path, milliseconds) => {
  const touched = await modifiedAt(path)
  return touched !== undefined && Date.now() - touched > milliseconds
}

/**
 * Removes an abandoned lock. Renames the lock first, so that only one of several waiting builds removes it. Then checks
 * the age again, and restores a lock that another build has acquired in the meantime.
 */
const takeOver = async () => {
  const moved = `${temporary}-lock`
  if ((await ifExists(rename(lock, moved).then(() => true))) === undefined) return
  if (!(await isOlderThan(moved, abandonedAfterMs))) {
    await rename(moved, lock).catch(() => undefined)
  }
  await rm(moved, { recursive: true, force: true })
}

/** @returns {Promise<{ waited: boolean, release: () => void }>} */
const acquireLock = async () => {
  for (let waited = false; ; waited = true) {
    const isAcquired = await mkdir(lock).then(
      () => true,
      (error) => {
        if (error.code === 'EEXIST') return false
        throw error
      },
    )
    if (isAcquired) {
      const touch = setInterval(() => {
        const now = new Date()
        utimes(lock, now, now).catch(() => undefined)
      }, 1000)
      const release = () => {
        clearInterval(touch)
        rmSync(lock, { recursive: true, force: true })
      }
      return { waited, release }
    }
    if (await isOlderThan(lock, abandonedAfterMs)) await takeOver()
    else await sleep(50)
  }
}

/** Checks the TypeScript sources and writes their declarations. The output of the compiler goes to stderr. */
const writeDeclarations = async () => {
  const require = createRequire(import.meta.url)
  const manifest = require.resolve('typescript/package.json')
  const { bin } = JSON.parse(await readFile(manifest, 'utf8'))
  const tsc = join(dirname(manifest), bin.tsc)
  const args = [
    tsc,
    '-p',
    join(root, 'tsconfig.json'),
    '--emitDeclarationOnly',
    '--outDir',
    temporary,
  ]
  const { signal } = abortController
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    signal,
    killSignal: 'SIGKILL',
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error('the build failed; dist is unchanged')
}

const copyAssets = async () => {
  const copies = (await entriesBelow(src))
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.ts'))
    .map((entry) => {
      const from = join(entry.parentPath, entry.name)
      return { from, to: join(temporary, from.slice(src.length)) }
    })
  for (const { from, to } of copies) {
    await mkdir(dirname(to), { recursive: true })
    await copyFile(from, to)
  }
}

const swapIn = async () => {
  const previous = `${temporary}-previous`
  await ifExists(rename(dist, previous))
  await rename(temporary, dist)
  await rm(previous, { recursive: true, force: true })
}

/** Removes temporary directories of killed builds. */
const sweep = async () => {
  const left = (await readdir(root)).filter((name) => /^\.dist-\d+/.test(name))
  for (const path of left.map((name) => join(root, name))) {
    if (await isOlderThan(path, leftoverAfterMs)) await rm(path, { recursive: true, force: true })
  }
}

const build = async () => {
  process.stderr.write('building…\n')
  const startedAt = new Date()
  await sweep()
  await rm(temporary, { recursive: true, force: true })
  await Promise.all([writeDeclarations(), bundle(root, temporary)])
  await removeInternalDeclarations(root, temporary)
  await copyAssets()
  for (const path of executables) await ifExists(chmod(join(temporary, path), 0o755))
  // Date the stamp to the start of the build, so that the build is stale if a source changed during the build.
  await writeFile(join(temporary, '.built'), '')
  await utimes(join(temporary, '.built'), startedAt, startedAt)
  await swapIn()
}

const onlyIfStale = process.argv.includes('--if-stale')
if (onlyIfStale && !(await isStale())) process.exit()

const { waited, release } = await acquireLock()
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  process.on(signal, () => {
    process.exitCode = 1
    abortController.abort()
  })
}
try {
  if (waited || onlyIfStale ? await isStale() : true) await build()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
  rmSync(temporary, { recursive: true, force: true })
} finally {
  release()
}
