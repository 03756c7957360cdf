import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join, posix, relative, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import { rolldown } from 'rolldown'

/** Modules that run in worker threads. Each needs a separate output file, because a worker is started by its path. */
const workers = ['crypto/passwords/hash-worker', 'store/sql/sqlite/worker']

/** Returns a placeholder for the URL of a module. `renderChunk` replaces it with a URL relative to the chunk. */
const own = (/** @type {string} */ path) => `__ownAddress(${JSON.stringify(path)})`
const ownAddress = /__ownAddress\("([^"]+)"\)/g

/**
 * Preserves `import.meta.url` of each module. Otherwise it would be the URL of the chunk, and relative paths, such as
 * the path of a stylesheet, would be wrong.
 * @param {string} src
 * @returns {import('rolldown').Plugin}
 */
const keepAddresses = (src) => ({
  name: 'keep-addresses',
  transform(code, id) {
    // Without the comment, webpack adds every file of the package to the bundle.
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text of a bundled module
    if (code.includes('import(`${getPackageName()}`)'))
      return {
        code: code.replace('import(`$', 'import(/* webpackIgnore: true */ `$'),
        map: null,
      }
    if (!id.startsWith(src + sep) || !code.includes('import.meta.url')) return null
    const path = relative(src, id).split(sep).join('/').replace(/\.ts$/, '.js')
    return { code: code.replaceAll('import.meta.url', own(path)), map: null }
  },
  renderChunk(code, { fileName }) {
    // The runtime of the bundler finds modules of Node with `require`. Bundlers of applications change `createRequire`.
    if (code.includes('createRequire(import.meta.url)'))
      return {
        code: code.replace('createRequire(import.meta.url)', 'process.getBuiltinModule'),
        map: null,
      }
    if (!code.includes('__ownAddress(')) return null
    const address = (/** @type {string} */ _, /** @type {string} */ path) =>
      // A bundle of CommonJS modules has no `import.meta.url`.
      `(import.meta.url && new URL(/* webpackIgnore: true */ ${JSON.stringify(posix.relative(posix.dirname(fileName), path))}, import.meta.url).href)`
    return { code: code.replaceAll(ownAddress, address), map: null }
  },
})

/**
 * Replaces the module that reads the style sheets with their texts, so that a bundle of the application contains them.
 * @param {string} src
 * @returns {import('rolldown').Plugin}
 */
const embedStylesheets = (src) => ({
  name: 'embed-stylesheets',
  async load(id) {
    if (id !== join(src, 'protocol/endpoints/assets/stylesheet-sources.ts')) return null
    const files = [
      fileURLToPath(import.meta.resolve('simpledotcss/simple.min.css')),
      join(src, 'pages/pages.css'),
    ]
    const texts = await Promise.all(files.map((file) => readFile(file, 'utf8')))
    return {
      code: `export const stylesheetSources = async () => ${JSON.stringify(texts)}`,
      moduleType: 'js',
    }
  },
})

/**
 * Replaces the module that reads the directory of the languages with an import of each file, so that each language is a
 * chunk, which is loaded when the language is first used.
 * @param {string} root
 * @returns {import('rolldown').Plugin}
 */
const importLocales = (root) => ({
  name: 'import-locales',
  async load(id) {
    if (id !== join(root, 'src/pages/messages/locales.ts')) return null
    const directory = join(root, 'locales')
    const entries = (await readdir(directory)).sort().map((file) => {
      const path = JSON.stringify(join(directory, file))
      return `[${JSON.stringify(file.replace('.json', ''))}, async () => (await import(${path})).default]`
    })
    return { code: `export const locales = new Map([${entries}])`, moduleType: 'js' }
  },
})

const licenseFiles = ['LICENSE', 'LICENSE.md', 'LICENSE.txt', 'license', 'LICENCE', 'license.md']

/**
 * Returns the packages whose modules are in a bundle, with the texts of their licenses.
 * @param {readonly string[]} modules
 */
const packagesOf = (modules) => {
  const directories = modules.map((id) => /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(id)?.[1])
  const found = [...new Set(directories)].filter((directory) => directory !== undefined).sort()
  return Promise.all(
    found.map(async (directory) => {
      const manifest = await readFile(join(directory, 'package.json'), 'utf8')
      const { name, version, license } = JSON.parse(manifest)
      for (const file of licenseFiles) {
        const text = await readFile(join(directory, file), 'utf8').catch(() => undefined)
        if (text !== undefined) return { name, version, license, text: text.trim() }
      }
      throw new Error(`The package ${name} has no license text.`)
    }),
  )
}

/** @typedef {Awaited<ReturnType<typeof packagesOf>>} Packages */

/**
 * Returns the license texts of the packages. The licenses require that every copy of a package contains this text.
 * @param {Packages} packages
 */
const noticesOf = (packages) =>
  packages
    .map(({ name, version, license, text }) => `${name} ${version} (${license})\n\n${text}\n`)
    .join(`\n${'-'.repeat(80)}\n\n`)

/**
 * Returns a bill of materials in the format CycloneDX, from which scanners read the versions of the bundled packages.
 * @param {Packages} packages
 */
const materialsOf = (packages) => ({
  bomFormat: 'CycloneDX',
  specVersion: '1.5',
  version: 1,
  components: packages.map(({ name, version, license }) => ({
    type: 'library',
    name,
    version,
    licenses: [{ license: { id: license } }],
    purl: `pkg:npm/${name.replace('@', '%40')}@${version}`,
  })),
})

/**
 * Returns a function that returns whether the bundle imports a module instead of containing it. The Hono adapter
 * imports the application's copy of Hono, and all other modules use the bundled copy.
 * @param {{ readonly dependencies: object, readonly peerDependencies: object }} manifest
 * @returns {(id: string, importer: string | undefined) => boolean}
 */
const externalOf = ({ dependencies, peerDependencies }) => {
  const names = Object.keys({ ...dependencies, ...peerDependencies })
  const isFrom = (/** @type {string} */ id, /** @type {string} */ name) =>
    id === name || id.startsWith(`${name}/`)
  return (id, importer = '') =>
    isFrom(id, 'hono')
      ? importer.endsWith(join('src', 'adapters', 'hono.ts'))
      : names.some((name) => isFrom(id, name))
}

/**
 * Bundles the sources with the packages that they use. Node loads the bundle in a third of the time of 800 separate
 * files. Each entry point and each program is a separate file. The files share chunks, so that each class exists only
 * once.
 * @param {string} root the directory of the package
 * @param {string} directory the directory of the output
 * @throws Error if a bundled package has no license text, or the bundler warns
 */
export const bundle = async (root, directory) => {
  const src = join(root, 'src')
  const manifest = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
  /** @type {string[]} */
  const files = [
    ...Object.values(manifest.exports).map((entry) => entry.default),
    ...Object.values(manifest.bin),
  ]
  const names = files.filter(Boolean).map((file) => file.replace('./dist/', '').replace('.js', ''))
  const build = await rolldown({
    input: Object.fromEntries(
      [...names, ...workers].map((name) => [name, join(src, `${name}.ts`)]),
    ),
    platform: 'node',
    transform: { target: 'es2024' },
    external: externalOf(manifest),
    plugins: [embedStylesheets(src), importLocales(root), keepAddresses(src)],
    onLog: (level, log) => {
      if (level === 'warn') throw new Error(`The bundler warns: ${log.message}`)
    },
  })
  const { output } = await build.write({
    dir: directory,
    format: 'esm',
    sourcemap: true,
    sourcemapExcludeSources: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunks/[name]-[hash].js',
  })
  const modules = output.flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
  const packages = await packagesOf(modules)
  const materials = JSON.stringify(materialsOf(packages), undefined, 2)
  await writeFile(join(directory, 'THIRD-PARTY-NOTICES.txt'), noticesOf(packages))
  await writeFile(join(directory, 'bundled.cdx.json'), `${materials}\n`)
}
