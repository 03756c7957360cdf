/**
 * Builds `dist` from `src`: aside, and then swapped in by rename, so that a failed build changes nothing.
 *
 *     node scripts/build.js             builds
 *     node scripts/build.js --if-stale  builds only when a source is newer than the last build
 *
 * Says nothing on stdout. Several builds of one checkout take turns; whoever waited builds only what is still stale.
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

const root = resolve(import.meta.dirname, '..')
const src = join(root, 'src')
const dist = join(root, 'dist')
const stamp = join(dist, '.built')
const aside = join(root, `.dist-${process.pid}`)
const lock = join(root, '.dist-lock')

/** What makes a build stale when it is newer. */
const inputs = ['src', 'package.json', 'package-lock.json', 'tsconfig.json', 'scripts/build.js']

/** Files from elsewhere, and where in `dist` they go. */
/** @type {{ from: string, to: string }[]} */
const assets = []

const executables = ['cli/main.js']

/** The owner touches its lock once a second, so a lock this old belongs to nobody. */
const abandonedAfterMs = 10_000

/** Long after any build has ended, what it left aside is litter. */
const litterAfterMs = 3_600_000

const stopped = new AbortController()

/**
 * The value, or undefined where the file does not exist.
 * @template T
 * @param {Promise<T>} operation
 * @returns {Promise<T | undefined>}
 */
const ifThere = (operation) =>
  operation.catch((error) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })

/** @param {string} path */
const modifiedAt = async (path) => (await ifThere(stat(path)))?.mtimeMs

/** @param {string} directory */
const entriesBelow = (directory) => readdir(directory, { recursive: true, withFileTypes: true })

const isStale = async () => {
  const built = await modifiedAt(stamp)
  if (built === undefined) return true
  const paths = inputs.map((path) => join(root, path))
  // Directories count as well: their time tells of a file that was removed or moved in with an old time.
  for (const entry of await entriesBelow(src)) paths.push(join(entry.parentPath, entry.name))
  const times = await Promise.all(paths.map(modifiedAt))
  return times.some((time) => time !== undefined && time > built)
}

/**
 * Whether a file or directory is there, and has not been touched for so long.
 * @param {string} path
 * @param {number} milliseconds
 */
const isOlderThan = async (path, milliseconds) => {
  const touched = await modifiedAt(path)
  return touched !== undefined && Date.now() - touched > milliseconds
}

/**
 * Removes a lock that its owner left behind. It is first renamed, so that of several waiting builds one removes it, and
 * looked at again, so that a lock taken in the meantime is given back.
 */
const takeOver = async () => {
  const moved = `${aside}-lock`
  if ((await ifThere(rename(lock, moved).then(() => true))) === undefined) return
  if (!(await isOlderThan(moved, abandonedAfterMs))) {
    await rename(moved, lock).catch(() => undefined)
  }
  await rm(moved, { recursive: true, force: true })
}

/** @returns {Promise<{ waited: boolean, release: () => void }>} */
const acquireLock = async () => {
  for (let waited = false; ; waited = true) {
    const mine = await mkdir(lock).then(
      () => true,
      (error) => {
        if (error.code === 'EEXIST') return false
        throw error
      },
    )
    if (mine) {
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

/** Compiles the TypeScript sources; what the compiler says goes to stderr. */
const compile = async () => {
  const require = createRequire(import.meta.url)
  const manifest = require.resolve('typescript/package.json')
  const { bin } = JSON.parse(await readFile(manifest, 'utf8'))
  const tsc = join(dirname(manifest), bin.tsc)
  const args = [tsc, '-p', join(root, 'tsconfig.json'), '--outDir', aside]
  const { signal } = stopped
  const child = spawn(process.execPath, args, {
    cwd: root,
    stdio: ['ignore', 2, 2],
    signal,
    killSignal: 'SIGKILL',
  })
  const [code] = await once(child, 'close')
  if (code !== 0) throw new Error('the build failed; dist is as it was before')
}

const copyAssets = async () => {
  const copies = (await entriesBelow(src))
    .filter((entry) => entry.isFile() && !entry.name.endsWith('.ts'))
    .map((entry) => {
      const from = join(entry.parentPath, entry.name)
      return { from, to: join(aside, from.slice(src.length)) }
    })
  const require = createRequire(import.meta.url)
  for (const { from, to } of assets) {
    copies.push({ from: require.resolve(from), to: join(aside, to) })
  }
  for (const { from, to } of copies) {
    await mkdir(dirname(to), { recursive: true })
    await copyFile(from, to)
  }
}

const swapIn = async () => {
  const previous = `${aside}-previous`
  await ifThere(rename(dist, previous))
  await rename(aside, dist)
  await rm(previous, { recursive: true, force: true })
}

/** Removes what builds that were killed left behind. */
const sweep = async () => {
  const left = (await readdir(root)).filter((name) => /^\.dist-\d+/.test(name))
  for (const path of left.map((name) => join(root, name))) {
    if (await isOlderThan(path, litterAfterMs)) await rm(path, { recursive: true, force: true })
  }
}

const build = async () => {
  process.stderr.write('building…\n')
  const startedAt = new Date()
  await sweep()
  await rm(aside, { recursive: true, force: true })
  await compile()
  await copyAssets()
  for (const path of executables) await ifThere(chmod(join(aside, path), 0o755))
  // The time of the start: what changes during the build makes it stale.
  await writeFile(join(aside, '.built'), '')
  await utimes(join(aside, '.built'), startedAt, startedAt)
  await swapIn()
}

const onlyIfStale = process.argv.includes('--if-stale')
if (onlyIfStale && !(await isStale())) process.exit()

const { waited, release } = await acquireLock()
for (const signal of /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP'])) {
  process.on(signal, () => {
    process.exitCode = 1
    stopped.abort()
  })
}
try {
  if (waited || onlyIfStale ? await isStale() : true) await build()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`)
  process.exitCode = 1
  rmSync(aside, { recursive: true, force: true })
} finally {
  release()
}
